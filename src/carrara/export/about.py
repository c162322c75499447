"""What stands beside everything that is exported: where it comes from, what may be done with it, what not."""

from pathlib import Path

from carrara import __version__
from carrara.rng import Split
from carrara.util.errors import UsageError

CANARY = "carrara:5f0d6a52-93a1-4f7e-8c1b-2d6be1f4a7c9"
"""In whatever is exported: who gathers texts to train on can leave these out, and be asked whether he did."""
CARD = "README.md"
MADE = "Made by Carrara"
LICENCE = "apache-2.0"
OTHER = "other"
TEXTS = ("haystack", "pool")
"""Parameters that name somebody's own text."""


def licence(own_text: bool) -> str:
    """Of what is exported: the text of a corpus that somebody names is his, or another's."""
    return OTHER if own_text else LICENCE


def terms(own_text: bool, split: Split) -> str:
    """What may be done with it, what not."""
    texts = (
        "The filler is of texts that whoever made this has named, and under their licence; all else is Apache-2.0."
        if own_text
        else "Items are Apache-2.0; the built-in texts that fill contexts are in the public domain."
    )
    use = (
        "**To be trained on**: of the split `train`, which shares no item with what is tested."
        if split == "train"
        else "**Not to be trained on**: these are items of tasks (`--split train` makes items to train on)."
    )
    return f"{use} Canary: `{CANARY}`.\n\n**Licence.** {texts}\n"


def about(command: str, own_text: bool, split: Split) -> str:
    """A few paragraphs in Markdown."""
    return f"""{MADE} {__version__} (`pip install carrara`):

```sh
{command}
```

The same command makes the same items anywhere; another `--seed` makes other items. Every item is named by its id, and
`carrara score` grades replies by these ids with the tasks' own scorers, which count what a reply says and not what it
happens to contain.

{terms(own_text, split)}"""


def check_folder(out: Path) -> None:
    """Nobody's own README is written over."""
    card = out / CARD
    if card.exists() and MADE not in card.read_text("utf-8", errors="replace"):
        raise UsageError(f"{card} is there and was not made here: give another `out`")

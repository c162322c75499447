"""The notice in every export: its origin, its licence, and what it must not be used for."""

from pathlib import Path

from carrara._version import __version__
from carrara.rng import Split
from carrara.util.errors import UsageError

CANARY = "carrara:5f0d6a52-93a1-4f7e-8c1b-2d6be1f4a7c9"
"""The canary: a string in every export, by which training data can be filtered, and models be tested for it."""
CARD = "README.md"
MADE = "Made by Carrara"
LICENCE = "apache-2.0"
OTHER = "other"
TEXTS = ("haystack", "pool")
"""Parameters that name text of the user."""


def licence(own_text: bool) -> str:
    """Return the licence of an export, which is another one if it contains text that the user named."""
    return OTHER if own_text else LICENCE


def terms(own_text: bool, split: Split) -> str:
    """Return the terms of use."""
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
    """Return a description in Markdown."""
    return f"""{MADE} {__version__} (`pip install carrara`):

```sh
{command}
```

The same command makes the same items anywhere; another `--seed` makes other items. Every item is named by its id, and
`carrara score` grades replies by these ids with the tasks' own scorers, which count what a reply says and not what it
happens to contain.

{terms(own_text, split)}"""


def check_folder(out: Path) -> None:
    """Raise rather than overwrite a README that somebody else wrote."""
    card = out / CARD
    if card.exists() and MADE not in card.read_text("utf-8", errors="replace"):
        raise UsageError(f"{card} is there and was not made here: give another `out`")

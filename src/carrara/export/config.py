"""Settings of an export: which items, how many of them, and the folder to write to."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import field, frozen
from cyclopts import Group, Parameter

from carrara._version import __version__
from carrara.options import (
    PYTHON_ONLY,
    ItemOptions,
    LargeOptions,
    Selections,
    WorkerOptions,
    at_least,
    folder_of,
    lengths_of,
)
from carrara.rng import Split
from carrara.util.errors import UsageError
from carrara.util.files import whole_file
from carrara.util.quantities import check_count
from carrara.util.quoting import shell_word

if TYPE_CHECKING:
    from carrara.items.item_id import ItemId


CANARY = "carrara:5f0d6a52-93a1-4f7e-8c1b-2d6be1f4a7c9"
"""The canary: a string in every export, by which training data can be filtered, and models be tested for it."""
CARD = "README.md"
ORIGIN = "Made by Carrara"
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
    return f"""{ORIGIN} {__version__} (`pip install carrara`):

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
    if card.exists() and ORIGIN not in card.read_text("utf-8", errors="replace"):
        raise UsageError(f"{card} is there and was not made here: give another `out`")


@frozen(kw_only=True, slots=False)
class ExportConfig(ItemOptions, WorkerOptions, LargeOptions):
    """Settings of an export."""

    group = Group("Export", sort_key=10)
    tasks: Selections = field(kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`; or loaded with their parameters."""
    out: Path = field(converter=folder_of)
    """Folder to write to."""
    lengths: tuple[int, ...] = field(default="0", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. By default 0, which is a prompt without filler."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=20, validator=at_least(1))
    """Instances for each task and length."""
    command_words: Sequence[str] = field(default=(), metadata=PYTHON_ONLY)
    """The words of the command line, for the README of the folder."""
    chunk: int | None = field(default=None, validator=at_least(1), metadata=PYTHON_ONLY)
    """The size of the chunks that are labelled, where a format has labels."""

    @cached_property
    def jobs(self) -> "list[ItemId]":
        """The first item of each task at each length. The folder is checked before: it must not be somebody else's."""
        check_folder(self.out)
        jobs_to_write = self.item_ids(self.tasks, self.lengths)
        check_count(len(jobs_to_write) * self.n, "contexts", self.allow_large)
        return jobs_to_write

    @property
    def command(self) -> str:
        """The command line for the README of the folder, which names the folder without its path."""
        name, words = os.path.basename(os.path.realpath(str(self.out))), list(self.command_words)
        for at in [at for at, word in enumerate(words) if word == "--out" or word.startswith("--out=")]:
            words[at : at + (2 if words[at] == "--out" else 1)] = ["--out", name]
        return " ".join(map(shell_word, words))

    @property
    def has_own_text(self) -> bool:
        """Whether prompts may contain text that the user named, with a licence that is not known."""
        return any(name in TEXTS for name in self.params)

    @property
    def notice(self) -> str:
        """The notice of every export: its origin, its licence, and its terms of use."""
        return about(self.command, self.has_own_text, self.split)

    def write_card(self, *texts: str) -> None:
        """Write the README of the folder.

        Args:
            texts: Paragraphs above the notice, about the files and how they are used.
        """
        with whole_file(self.out / CARD) as file:
            file.write("\n\n".join([*texts, self.notice]))

"""Settings of an export: which items, how many of them, and the folder to write to."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import field, frozen
from cyclopts import Group, Parameter

from carrara.export.about import CARD, TEXTS, about, check_folder
from carrara.options import Flag, ItemOptions, Selections, at_least, folder_of, lengths_of, one_of
from carrara.util.files import whole_file
from carrara.util.parallel import ENGINES, Engine
from carrara.util.quantities import check_count

if TYPE_CHECKING:
    from carrara.items.item_id import ItemId


@Parameter(name="*", group=Group("Export", sort_key=10))
@frozen(kw_only=True, slots=False)
class ExportOptions:
    """The size of an export, its folder, and the processes that write it."""

    out: Path = field(converter=folder_of)
    """Folder to write to."""
    lengths: tuple[int, ...] = field(default="0", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. By default 0, which is a prompt without filler."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=20, validator=at_least(1))
    """Instances for each task and length."""
    workers: Annotated[int | None, Parameter(metavar="N")] = field(default=None, validator=at_least(1))
    """Processes that work at the same time. By default one for each core."""
    engine: Engine = field(default="local", validator=one_of(ENGINES))
    """Where the processes run, on this machine or on a Ray cluster (RAY_ADDRESS, or a Ray on this machine)."""
    allow_large: Flag = False
    """Lift the limits on how much is made or sent, and do not ask for confirmation."""


@Parameter(name="*", group=Group("Export", sort_key=10))
@frozen(kw_only=True, slots=False)
class RowOptions(ExportOptions):
    """The options of formats whose rows may have further columns."""

    chunk: Annotated[int | None, Parameter(metavar="N")] = field(default=None, validator=at_least(1))
    """Add labels for dense rewards: the positions of the needed facts, and whether each chunk of N tokens has a part of
    one."""


@frozen(kw_only=True, slots=False)
class ExportConfig(RowOptions, ItemOptions):
    """Settings of an export."""

    tasks: Selections = field(kw_only=False)
    """Tasks by name, suite or pattern, separated by commas; or loaded with their parameters."""
    command: str = ""
    """The command line, as the README of the folder shows it."""

    @cached_property
    def jobs(self) -> "list[ItemId]":
        """The first item of each task at each length. The folder is checked before: it must not be somebody else's."""
        check_folder(self.out)
        found = self.item_ids(self.tasks, self.lengths)
        check_count(len(found) * self.n, "contexts", self.allow_large)
        return found

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

"""Settings for making a guard, and for checking one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import converters, field, frozen
from cyclopts import Group, Parameter

from carrara.guard.guard_file import Guard, read
from carrara.options import ConnectionOptions, File, ServerOptions, at_least, file_of, is_text, lengths_of, text

if TYPE_CHECKING:
    from carrara.servers.function_model import Function


@Parameter(name="*", group=Group("Guard", sort_key=20))
@frozen(kw_only=True, slots=False)
class MakeGuardOptions:
    """The items of a guard."""

    lengths: tuple[int, ...] = field(default="8k,32k,128k", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. By default 8k,32k,128k."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=5, validator=at_least(1))
    """The most items of each capability at each length."""
    times: int = field(default=3, validator=at_least(2))
    """How often an item has to be answered right."""
    work: Path | None = field(default=None, converter=converters.optional(file_of))
    """Folder of the guard's runs, by default beside its file. The same command resumes."""
    tokenizer: Annotated[str, text("TOKENIZER")] = field(default="", validator=is_text)
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. By default the model's own."""


@frozen(kw_only=True, slots=False)
class MakeGuardConfig(MakeGuardOptions, ServerOptions):
    """Settings for making a guard."""

    model: "str | Function" = field(kw_only=False)
    """Name of an Inspect model, or a function. Its server has to be trusted."""
    capabilities: str = field(default="", validator=is_text)
    """Some of finding, tracking, telling, surveying, reasoning, knowing, copying, separated by commas; or tasks. By
    default all seven."""
    out: Path = field(converter=file_of)
    """File of the guard."""

    @property
    def folder(self) -> Path:
        """Folder of the guard's runs."""
        return self.work or self.out.with_name(self.out.name + ".runs")


def _guard_of(given: Guard | File) -> Guard:
    return given if isinstance(given, Guard) else read(file_of(given))


@Parameter(name="*", group=Group("Check", sort_key=20))
@frozen(kw_only=True, slots=False)
class CheckGuardOptions:
    """Settings of a check."""

    out: Path | None = field(default=None, converter=converters.optional(file_of))
    """Write the runs into this folder. By default they are discarded."""
    most: int | None = field(default=None, validator=at_least(1))
    """The most prompts to send. By default each item is asked at most six times."""


@frozen(kw_only=True, slots=False)
class CheckGuardConfig(CheckGuardOptions, ConnectionOptions):
    """Settings of a check."""

    guard: Guard = field(converter=_guard_of, kw_only=False)
    """The guard, or its file."""
    model: "str | Function | None" = field(default=None, kw_only=False)
    """Name of an Inspect model, or a function. By default the model that the guard was made with."""

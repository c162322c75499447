"""Settings for making a guard, for checking one, and for comparing two servers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import converters, field, frozen
from cyclopts import Group, Parameter

from carrara.guard.guard_file import Guard, read
from carrara.options import (
    ConnectionOptions,
    File,
    ServerOptions,
    at_least,
    file_of,
    is_text,
    lengths_of,
    number,
    temperature_of,
    text,
)
from carrara.util.errors import UsageError

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


def _guard_of(guard: Guard | File) -> Guard:
    return guard if isinstance(guard, Guard) else read(file_of(guard))


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


def _optional_guard_of(guard: Annotated[Guard | File | None, text("FILE")]) -> Guard | None:
    return None if guard is None or guard == "" else _guard_of(guard)


LEAST_MARGIN = 0.001
"""The least margin. A smaller one takes thousands of instances, and intervals are not exact enough for it."""


@Parameter(name="*", group=Group("Comparison", sort_key=20))
@frozen(kw_only=True, slots=False)
class CompareServersOptions:
    """The items and the test of a comparison of two servers."""

    guard: Guard | None = field(default=None, converter=_optional_guard_of)
    """Ask the items of this guard, with its settings. Leave capabilities and lengths out then."""
    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(lengths_of))
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. By default 2k,8k,32k. The shortest are asked first."""
    margin: Annotated[float, Parameter(metavar="SHARE")] = field(
        default=0.05,
        validator=number(
            lambda value: LEAST_MARGIN <= value < 1, f"from {LEAST_MARGIN} to below 1: give a difference of scores"
        ),
    )
    """The difference of mean scores that still counts as equal, by default 0.05."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=1000, validator=at_least(1))
    """The most instances at each length, by default 1000."""
    seed: int = field(default=0, validator=at_least(0))
    """Number that selects the instances. Another seed gives other items."""
    tokenizer: Annotated[str, text("TOKENIZER")] = field(default="", validator=is_text)
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. By default the first model's own."""
    max_tokens: int | None = field(default=None, validator=at_least(1))
    """Most tokens of a reply, reasoning included. By default the guard's, or the server's own limit."""
    temperature: float | None = field(default=0.0, converter=temperature_of)
    """Sampling temperature. Pass `none` to leave it to the server. By default 0. A guard has its own."""
    out: Path | None = field(default=None, converter=converters.optional(file_of))
    """Keep the runs in this folder. The same command resumes. By default they are discarded."""


@frozen(kw_only=True, slots=False)
class CompareServersConfig(CompareServersOptions, ConnectionOptions):
    """Settings of a comparison of two servers."""

    a: "str | Function" = field(kw_only=False)
    """The first server: an address, a model, or MODEL@ADDRESS. In Python also a function."""
    b: "str | Function" = field(kw_only=False)
    """The second server, which is judged by the first one."""
    capabilities: str = field(default="", validator=is_text, kw_only=False)
    """Some of finding, tracking, telling, surveying, reasoning, knowing, copying, separated by commas; or tasks. By
    default all seven."""
    model: str | None = field(default=None, validator=is_text, kw_only=False)
    """Name of the model at an address that is given alone. By default the guard's."""

    def __attrs_post_init__(self) -> None:
        if self.guard is None:
            return
        if self.capabilities or self.lengths or self.tokenizer or self.seed:
            raise UsageError(
                "a guard says which items are asked: leave capabilities, `lengths`, `seed` and `tokenizer` out"
            )
        if self.temperature not in (0.0, self.guard.temperature):
            raise UsageError("a guard says at which temperature its items are asked: leave `temperature` out")

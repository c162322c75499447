"""Settings for making a guard, for checking one, and for comparing servers."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated, Any, Literal

from attrs import converters, field, frozen
from cyclopts import Group, Parameter

from carrara.constants import MOST_ALTERNATIVES
from carrara.guard.guard_file import Guard, read
from carrara.options import (
    ConnectionOptions,
    File,
    Flag,
    ReplaceOptions,
    ServerOptions,
    at_least,
    check_whole,
    file_of,
    is_flag,
    is_text,
    lengths_of,
    number,
    one_of,
    temperature_of,
    text,
)
from carrara.runs.prices import Price
from carrara.signature import SEVERAL
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from attrs import Attribute

    from carrara.servers.function_model import Function


CAPABILITIES = Annotated[str, text("CAPABILITIES")]


@frozen(kw_only=True, slots=False)
class MakeGuardConfig(ServerOptions, ReplaceOptions):
    """Settings for making a guard."""

    group = Group("Guard", sort_key=20)
    model: "str | Function" = field(kw_only=False)
    """Name of the model, as for `carrara run`; or in Python a function. Its server has to be trusted."""
    capabilities: CAPABILITIES = field(default="", validator=is_text, kw_only=False)
    """Some of finding, tracking, telling, surveying, reasoning, knowing, copying, separated by commas; or tasks. By
    default all seven."""
    out: Path = field(converter=file_of)
    """File of the guard, such as guard.json."""
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

    @property
    def folder(self) -> Path:
        """Folder of the guard's runs."""
        return self.work or self.out.with_name(self.out.name + ".runs")


def _guard_of(given: Annotated[Guard | File, text("FILE")]) -> Guard:
    return given if isinstance(given, Guard) else read(file_of(given))


@frozen(kw_only=True, slots=False)
class CheckGuardConfig(ConnectionOptions):
    """Settings of a check."""

    group = Group("Check", sort_key=20)
    guard: Guard = field(converter=_guard_of, kw_only=False)
    """File of the guard, or in Python the guard."""
    model: "str | Function | None" = field(default=None, kw_only=False)
    """Name of the model, as for `carrara run`; or in Python a function. By default the model that the guard was made
    with."""
    out: Path | None = field(default=None, converter=converters.optional(file_of))
    """Write the runs into this folder. By default they are discarded."""
    most: int | None = field(default=None, validator=at_least(1))
    """The most prompts to send. By default each item is asked at most six times."""
    cached: Flag = field(default=False, validator=is_flag)
    """Ask for replies after a cache hit: each prompt again, or after one that shares all but its end. Requests are sent
    one after the other, or as `connections` says."""
    smoke: Flag = field(default=False, validator=is_flag)
    """Send at most 40 prompts and print one sentence. The exit code is 0 unless a fault was found or the server could
    not be checked."""

    def __attrs_post_init__(self) -> None:
        if self.cached and self.smoke:
            raise UsageError("`cached` takes more prompts than `smoke` sends: leave one of them out")
        if self.cached and self.out:
            raise UsageError("`cached` makes no runs that a folder could keep: leave `out` out")


def _optional_guard_of(given: Annotated[Guard | File | None, text("FILE")]) -> Guard | None:
    return None if given is None or given == "" else _guard_of(given)


LETTERS = ascii_uppercase
"""The names of compared servers, in their order. A is the one that the others are compared with."""


def _servers_of(values: Annotated[Iterable["str | Function"], text("SERVER")]) -> tuple["str | Function", ...]:
    servers = tuple(values) if isinstance(values, tuple | list) else (values,)
    for server in servers:
        if not isinstance(server, str) and not callable(server):
            raise UsageError(f"{server!r} is no server: give an address, a model or a function")
    if not 2 <= len(servers) <= len(LETTERS):
        raise UsageError(
            f"a comparison takes 2 to {len(LETTERS)} servers, and {len(servers)} are given: give the one that is "
            "trusted, and then those that are compared with it"
        )
    return servers


def _is_number_of_tokens(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    if check_whole(attribute.name, value, 0) > MOST_ALTERNATIVES:
        raise UsageError(f"`logprobs={value}` is more than servers return: give at most {MOST_ALTERNATIVES}")


LEAST_MARGIN = 0.001
"""The least margin. A smaller one takes thousands of instances, and intervals are not exact enough for it."""


@frozen(kw_only=True, slots=False)
class CompareServersConfig(ConnectionOptions):
    """Settings of a comparison of servers."""

    group = Group("Comparison", sort_key=20)
    servers: tuple["str | Function", ...] = field(converter=_servers_of, kw_only=False, metadata=SEVERAL)
    """The servers: each an address, a model, or MODEL@ADDRESS; in Python also a function. The others are compared with
    the first one."""
    capabilities: CAPABILITIES = field(default="", validator=is_text)
    """Some of finding, tracking, telling, surveying, reasoning, knowing, copying, separated by commas; or tasks. By
    default all seven."""
    model: Annotated[str | None, text("MODEL")] = field(default=None, validator=is_text)
    """Name of the model, as for `carrara run`. It is the one at an address that is given alone, by default the
    guard's."""
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
    by: Literal["scores", "tokens"] = field(default="scores", validator=one_of(("scores", "tokens")))
    """What decides: the scores, or the tokens of the replies, which tell a difference with far fewer prompts, even one
    that no score shows. The margin of tokens is the share of tokens that may differ. By default scores."""
    logprobs: Annotated[int, Parameter(metavar="N")] = field(default=5, validator=_is_number_of_tokens)
    """Compare the N most likely tokens in each place of the replies, at most 20, if the servers return
    log-probabilities. 0 compares words. By default 5."""
    smoke: Flag = field(default=False, validator=is_flag)
    """Send at most 40 prompts to each server, decide by tokens, and print one sentence. The exit code is 1 if a server
    differs or does not answer, and otherwise 0."""
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
    price: Annotated[str | Price | Sequence[float] | None, text("IN,OUT[,CACHED]|FILE.toml")] = None
    """Money for a million tokens of prompts, of replies, and of prompts that are cached; or a TOML file that has
    input, output and cached for each model. The table then has the cost of each server."""
    out: Path | None = field(default=None, converter=converters.optional(file_of))
    """Keep the runs in this folder. The same command resumes. By default they are discarded."""

    @property
    def decided_by(self) -> Literal["scores", "tokens"]:
        """What decides."""
        return "tokens" if self.smoke else self.by

    def __attrs_post_init__(self) -> None:
        if self.guard is None:
            return
        if self.capabilities or self.lengths or self.tokenizer or self.seed:
            raise UsageError(
                "a guard says which items are asked: leave capabilities, `lengths`, `seed` and `tokenizer` out"
            )
        if self.temperature not in (0.0, self.guard.temperature):
            raise UsageError("a guard says at which temperature its items are asked: leave `temperature` out")

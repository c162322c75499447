"""`PlanConfig`: the items, the model, the price and the speed of an estimate."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from attrs import converters, field, frozen
from cyclopts import Group, Parameter

from carrara.item_id import RunJob
from carrara.items.selection import Selection
from carrara.options import folder_of, length_of, number, text
from carrara.readers.options import ReaderOptions
from carrara.result import Result
from carrara.runs.jobs import RunItems, tasks_of
from carrara.runs.prices import Price


def _like_of(given: Annotated[Path | str | Sequence[Result], text("DIR")]) -> Path | Sequence[Result]:
    return given if isinstance(given, Sequence) and not isinstance(given, str) else folder_of(given)


@Parameter(name="*", group=Group("Estimate", sort_key=40))
@frozen(kw_only=True, slots=False)
class EstimateOptions:
    """Sources for the estimate of cost and time."""

    price: Annotated[str | Price | Sequence[float] | None, text("IN,OUT[,CACHED]|FILE.toml")] = None
    """Money for a million tokens of prompts, of replies, and of prompts that are cached; or a TOML file that has
    input, output and cached for each model."""
    like: Path | Sequence[Result] | None = field(default=None, converter=converters.optional(_like_of))
    """Take the length of replies and the speed from an earlier run of the model."""
    speed: float | None = field(default=None, validator=number(lambda speed: speed > 0, "a number of tokens a second"))
    """Tokens a second, from which the time is estimated."""
    window: int | None = field(default=None, converter=converters.optional(length_of))
    """The context window of the model: the most tokens of prompt and answer together."""


@frozen(kw_only=True, slots=False)
class PlanConfig(RunItems, ReaderOptions, EstimateOptions):
    """Settings of an estimate."""

    tasks: tuple[Selection | RunJob, ...] = field(converter=tasks_of, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas; or a preset, or PRESET:SELECTION for a part of one."""
    model: str = field(kw_only=False)
    """Name of the model."""

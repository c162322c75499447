"""`PlanConfig`: the settings of a run, and sources for the estimate of its cost and time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from attrs import converters, field, frozen
from cyclopts import Group

from carrara.options import folder_of, length_of, number, text
from carrara.results.result import Result
from carrara.runs.config import RunConfig


def _like_of(value: Annotated[Path | str | Sequence[Result], text("DIR")]) -> Path | Sequence[Result]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else folder_of(value)


@frozen(kw_only=True, slots=False)
class EstimateOptions:
    """Sources for the estimate of cost and time."""

    group = Group("Estimate", sort_key=50)
    like: Path | Sequence[Result] | None = field(default=None, converter=converters.optional(_like_of))
    """Take the length of replies and the speed from an earlier run of the model."""
    speed: float | None = field(default=None, validator=number(lambda speed: speed > 0, "a number of tokens a second"))
    """Tokens a second, from which the time is estimated."""
    window: int | None = field(default=None, converter=converters.optional(length_of))
    """The context window of the model: the most tokens of prompt and answer together."""


@frozen(kw_only=True, slots=False)
class PlanConfig(RunConfig, EstimateOptions):
    """Settings of an estimate: those of the run, and what the estimate is made from."""

"""Speed beside the score, by model and length.

The docs define the numbers once (docs/guides/evaluate-a-server.md, "Measure speed"). Rates are quotients of sums over
all replies: an answer of three tokens has no rate of its own, and short replies weigh little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any, NamedTuple

from carrara.answers.status import NEVER_ASKED
from carrara.results.readers import SeriesCost, over_tasks, series_costs
from carrara.results.result import Result, Speed
from carrara.results.scores import replies_in_mean
from carrara.results.series import Series, series_of

MIN_PROMPT_TOKENS = 256
"""The least tokens of prompts, those in the cache left out, for a rate. The time of fewer is mostly overhead."""
MIN_REPLY_TOKENS = 32
"""The least tokens of replies after their first tokens for a rate."""


class Quartiles(NamedTuple):
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class SpeedRow:
    """The speed of one series at one length."""

    series: Series
    length: int
    cost: SeriesCost
    """The costs of the replies whose times were measured."""
    replies: int
    """The number of these replies."""
    streamed: int
    """Those that arrived token by token. The times to the first token and the rates are theirs."""
    untimed: int
    """The replies without times: they took several requests, or were made by a run that did not measure."""
    first_token: Quartiles | None
    """The seconds to the first token."""
    prefill: float | None
    """Tokens of prompts a second until the first token, without those in the cache."""
    decode: float | None
    """Tokens of replies a second after the first token."""
    cached_share: float | None
    """The share of the prompts' tokens that the server had in its cache. None: it does not say, and `prefill` counts
    whole prompts, so that it is an upper bound."""

    @property
    def score(self) -> float:
        return self.cost.scores / self.cost.items

    @property
    def right_answer(self) -> float | None:
        """The seconds of all replies, divided by the sum of their scores. None: there is no right answer."""
        return self.cost.per_right_answer.seconds if self.cost.per_right_answer else None

    def record(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "replies": self.replies,
            "streamed": self.streamed,
            "untimed": self.untimed,
            "first_token_seconds": self.first_token._asdict() if self.first_token else None,
            "prefill_tokens_per_second": self.prefill,
            "decode_tokens_per_second": self.decode,
            "cached_share": self.cached_share,
            "seconds_per_right_answer": self.right_answer,
        }


def speed_rows(
    results: Sequence[Result], among: Sequence[Result] | None = None, *, by_task: bool = False
) -> list[SpeedRow]:
    """Return the speed of each series at each length. Empty if no times were measured.

    Args:
        among: All results of the report, if `results` is a part of them. Each series has a unique name there.
        by_task: Whether each task has rows of its own; they are in `cost.task`.
    """
    among = results if among is None else among
    series_for = series_of(among)
    groups: dict[tuple[Series, str, int], list[Result]] = {}
    for result in results:
        if result.status not in NEVER_ASKED:
            groups.setdefault((series_for(result), result.task if by_task else "", result.length), []).append(result)
    timed = [result for result in results if result.speed is not None and result.status not in NEVER_ASKED]
    costs = series_costs(timed, among)
    costs = costs if by_task else over_tasks(costs)
    return [_row(cost, groups[cost.series, cost.task, cost.length]) for cost in costs]


def _row(cost: SeriesCost, results: Sequence[Result]) -> SpeedRow:
    speeds = [result.speed for result in results if result.speed is not None]
    streamed = [speed for speed in speeds if speed.is_streamed]
    return SpeedRow(
        series=cost.series,
        length=cost.length,
        cost=cost,
        replies=len(speeds),
        streamed=len(streamed),
        untimed=len(replies_in_mean(results)) - len(speeds),
        first_token=_quartiles([speed.first_token_seconds or 0.0 for speed in streamed]),
        prefill=_prefill(streamed),
        decode=_decode(streamed),
        cached_share=_cached_share(speeds),
    )


def _quartiles(values: Sequence[float]) -> Quartiles | None:
    """
    >>> _quartiles([4.0, 1.0, 3.0, 2.0, 5.0]), _quartiles([7.0])
    (Quartiles(low=2.0, median=3.0, high=4.0), Quartiles(low=7.0, median=7.0, high=7.0))
    """
    if len(values) < 2:
        return Quartiles(*values, *values, *values) if values else None
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Quartiles(low, median(values), high)


def _prefill(speeds: Sequence[Speed]) -> float | None:
    counted = [speed for speed in speeds if speed.prompt_tokens is not None]
    tokens = sum((speed.prompt_tokens or 0) - (speed.cached_tokens or 0) for speed in counted)
    seconds = sum(speed.first_token_seconds or 0.0 for speed in counted)
    return tokens / seconds if tokens >= MIN_PROMPT_TOKENS and seconds else None


def _decode(speeds: Sequence[Speed]) -> float | None:
    counted = [speed for speed in speeds if speed.reply_tokens is not None]
    tokens = sum((speed.reply_tokens or 1) - 1 for speed in counted)
    seconds = sum(speed.decode_seconds or 0.0 for speed in counted)
    return tokens / seconds if tokens >= MIN_REPLY_TOKENS and seconds else None


def _cached_share(speeds: Sequence[Speed]) -> float | None:
    """Return the share of the tokens in the cache. None if a reply does not say how many there were."""
    if any(speed.cached_tokens is None or speed.prompt_tokens is None for speed in speeds):
        return None
    total = sum(speed.prompt_tokens or 0 for speed in speeds)
    return sum(speed.cached_tokens or 0 for speed in speeds) / total if total else None

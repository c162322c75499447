"""The score card of a profile: the result for each capability, and its text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from carrara.results.effective import Usability, describe
from carrara.util.quantities import about_length, count, write_length
from carrara.util.table import table

SHORTEST = 1024
"""The shortest prompt with filler. Shorter effective lengths cannot be estimated."""


@dataclass(frozen=True)
class Card:
    """The result for one capability."""

    capability: str
    task: str
    params: Mapping[str, str]
    rule: str
    base: float
    """The base score: the mean at the shortest length, mostly without filler."""
    chance_level: float
    status: Usability
    """The status by the rule of `results/effective.py`, as in every report."""
    reason: str
    """Why there is no effective length."""
    low: float | None
    """The lower end of the 90 % interval of the effective length. None unless the status is usable."""
    length: float | None
    high: float | None
    longest: int
    """The longest length that may be asked. Infinite lengths lie beyond it."""
    prompts: int
    tokens: int
    settled: bool
    """Whether the interval is as narrow as required, or more replies would not help."""
    misfit: bool
    """Whether no curve fits the scores."""
    unfit: int
    """The number of prompts that did not fit the model. Each scores 0."""
    cut: int
    """The number of prompts that the server cut. Nothing of their length or longer is measured."""
    failures: str
    """How many requests of the last batch failed, and why. Empty if none did."""
    counts: Mapping[int, tuple[float, float]]
    """The sum of scores, and their number, at each length."""

    def to_dict(self) -> dict[str, object]:
        """Return the card for JSON, which has no infinite numbers."""
        ends = {
            name: None if end is None or math.isinf(end) else end
            for name, end in (("low", self.low), ("length", self.length), ("high", self.high))
        }
        beyond = {"beyond_longest": self.length is not None and math.isinf(self.length)}
        counts = [{"length": length, "n": n, "mean": total / n} for length, (total, n) in sorted(self.counts.items())]
        return {**asdict(self), **ends, **beyond, "counts": counts}


def lines(cards: Sequence[Card]) -> Iterator[str]:
    """Yield the lines of the score card."""
    yield from table(
        [
            "capability",
            "base score",
            f"effective length ({cards[0].rule})",
            "90 % interval, or why there is none",
            "from",
        ],
        [
            (
                card.capability,
                *((f"{card.base:.2f}", _length(card), _interval(card)) if card.prompts else ("not asked", "", "")),
                f"{count(card.prompts, 'prompt')}, {card.tokens:,} tokens",
            )
            for card in cards
        ],
    )
    for card in cards:
        if card.cut:
            yield (
                f"{card.capability}: the server cut {count(card.cut, 'prompt')}, so nothing longer than "
                f"{write_length(card.longest)} is measured"
            )
        if card.unfit:
            yield f"{card.capability}: {card.unfit:,} of {card.prompts:,} prompts did not fit the model, and count 0"
        if card.misfit:
            means = (f"{total / n:.2f} at {write_length(length)}" for length, (total, n) in sorted(card.counts.items()))
            yield (
                f"{card.capability}: its scores do not fall as a curve does; look at each length: {', '.join(means)}"
            )
    unsettled = [card for card in cards if not card.settled]
    for card in unsettled:
        if card.failures:
            yield f"PARTIAL: {card.capability} not settled: {card.failures}; the same command asks them again"
    if left := [card.capability for card in unsettled if not card.failures]:
        yield (
            f"PARTIAL: {', '.join(left)} not settled: the budget, or what more instances would tell, ended first; "
            "the same command goes on"
        )


def _length(card: Card) -> str:
    return describe(card.status) if card.length is None else _end(card, card.length)


def _interval(card: Card) -> str:
    if card.low is None or card.high is None:
        return card.reason
    low, high = _end(card, card.low), _end(card, card.high)
    return f"{low} at both ends" if low == high else f"{low} – {high}"


def _end(card: Card, length: float) -> str:
    if math.isinf(length):
        return f"≥ {write_length(card.longest)}"
    return "under 1k" if length < SHORTEST else about_length(length)

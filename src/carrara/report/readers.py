"""What readers cost and what became of the needed facts, prepared for the page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from carrara.constants import READER
from carrara.report.chart import share_bar
from carrara.report.style import SeriesStyle, Styles
from carrara.results.memories import MemoryRow, Outcome
from carrara.results.readers import SeriesCost
from carrara.results.result import FATES, Fate, Result
from carrara.util.quantities import natural
from carrara.util.sanitize import clip, short, visible

FATE_MEANING: Mapping[Fate, str] = {
    "used": "the model had the fact when it answered, and the answer is right",
    "unused": "the model had the fact when it answered, and the answer is not wholly right",
    "unseen": "the fact never reached the model",
    "not kept": "the model read the fact and did not write it down",
    "dropped": "the model wrote the fact down and later left it out",
    "mutated": "what the model wrote down has another value",
    "stale": "what the model wrote down is an older value",
}
OUTCOME_MEANING: Mapping[Outcome, str] = {
    "right": "the right value, or rightly nothing",
    "stale": "a value that held earlier",
    "mutated": "another value of the text",
    "withdrawn served": "the value that was withdrawn",
    "private served": "a value that must not be kept",
    "invented": "a value where the text has none",
    "abstained": "nothing, though the text has a value",
    "lost": "wrong, and a fact that the answer needs did not reach the model",
    "otherwise wrong": "any other wrong answer",
    "no answer": "no answer was read from the reply",
}
Slice = Literal["", "length", "place"]
"""How the needed facts are sliced, beside task and series."""
SHOWN_FACTS = 12
"""The number of facts of one reply that are shown."""
TEXT = 300
"""The most characters of a fact, and of what the model had written about it."""


@dataclass(frozen=True)
class FateCounts:
    """A row of the table of fates: the needed facts of one series on one task."""

    style: SeriesStyle
    task: str
    length: int | None
    """The length. None: all of them."""
    place: str
    """The part of the context in which the facts stand. Empty: the whole."""
    counts: tuple[int, ...]
    """The fates, in the order of `fates_of`."""
    bar: Markup

    @property
    def n(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class Trace:
    """What became of one fact on its way to one answer."""

    text: str
    place: str
    fate: Fate
    call: str
    said: str


def has_reader(results: Iterable[Result]) -> bool:
    """Return whether the context of any result reached the model through a reader."""
    return any(READER in result.settings for result in results)


def fates_of(costs: Iterable[SeriesCost]) -> list[Fate]:
    """Return the fates that occur."""
    occurring = {fate for cost in costs for fate, count in cost.fates.items() if count}
    return [fate for fate in FATES if fate in occurring]


def outcome_meanings(memories: Iterable[MemoryRow]) -> list[tuple[Outcome, str]]:
    """Return the outcomes that occur, with what they mean."""
    occurring = {outcome for memory in memories for kind in memory.kinds for outcome in kind.counts}
    return [(outcome, meaning) for outcome, meaning in OUTCOME_MEANING.items() if outcome in occurring]


def fate_counts(costs: Sequence[SeriesCost], styles: Styles, by: Slice = "") -> list[FateCounts]:
    """Return a row for each task and series, and for each length or part of the context if these are wanted."""
    fates = fates_of(costs)
    groups: dict[tuple[str, int, int | None, str], Counter[Fate]] = {}
    for cost in costs:
        for place, counts in cost.places.items():
            length, part = (cost.length if by == "length" else None), (place if by == "place" else "")
            groups.setdefault((cost.task, styles[cost.series].number, length, part), Counter()).update(counts)
    of_number = {style.number: style for style in styles.values()}
    rows = []
    for task, number, length, part in sorted(groups, key=_order):
        counts = {fate: groups[task, number, length, part][fate] for fate in fates}
        bar = share_bar(counts.items(), "fate")
        rows.append(FateCounts(of_number[number], short(task), length, part, tuple(counts.values()), bar))
    return rows


def _order(group: tuple[str, int, int | None, str]) -> tuple[Any, ...]:
    task, number, length, part = group
    return natural(task), number, length or 0, natural(part)


def traces_of(result: Result) -> tuple[Trace, ...]:
    """Return what became of the first needed facts of a reply. All texts are made safe to show."""
    return tuple(
        Trace(
            text=visible(clip(fact.text, TEXT)),
            place=f"{100 * fact.place:.0f} %",
            fate=fact.fate,
            call="" if fact.call is None else str(fact.call),
            said=visible(clip(fact.said, TEXT)),
        )
        for fact in result.facts[:SHOWN_FACTS]
    )

"""The reach of a task: the score of its own oracle on a tenth of the context, or on the whole context backwards.

A task that is solved from a tenth does not measure a long context. If the part does not decide the question, the score
is the question's chance level.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from carrara.items.item import Item
from carrara.rng import Rng
from carrara.types import Message, Segment, UndecidableError
from carrara.util.errors import PluginError

TENTH = 0.1
LEAST = 10
"""The number of segments above which a context is divided into tenths."""

Cut = Callable[[Rng, Sequence[float]], Sequence[int]]
"""Functions from the positions of segments, from 0 to 1, to the segments that are kept, in order."""


def _window(start: float) -> Cut:
    def cut(rng: Rng, places: Sequence[float]) -> Sequence[int]:
        middle = start + TENTH / 2
        inside = [n for n, place in enumerate(places) if start <= place <= start + TENTH]
        return inside or [min(range(len(places)), key=lambda n: abs(places[n] - middle))]

    return cut


def _anywhere(rng: Rng, places: Sequence[float]) -> Sequence[int]:
    return _window(rng.random() * (1 - TENTH))(rng, places)


def _scatter(rng: Rng, places: Sequence[float]) -> Sequence[int]:
    return sorted(rng.sample(range(len(places)), max(1, round(TENTH * len(places)))))


CUTS: Mapping[str, Cut] = {
    "its first tenth": _window(0.0),
    "its last tenth": _window(1.0 - TENTH),
    "its middle tenth": _window(0.5 - TENTH / 2),
    "any tenth of it": _anywhere,
    "a tenth of its pieces": _scatter,
}
BACKWARDS = "all of it backwards"


@dataclass(frozen=True)
class _CutPacking:
    """A context with some of its segments, in place of the packing that has all."""

    segments: Sequence[Segment]

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)


def scores(item: Item) -> dict[str, float]:
    """Return the scores of the oracle on each part of an item's context, and on it backwards.

    The opening stays in place.
    """
    opening = len(item.context.instance.start)
    segments = list(item.prompt.packing)
    head, body = segments[:opening], segments[opening:]
    if len(body) < LEAST:
        return {}
    ends = list(accumulate(len(segment.text) for segment in body))
    places = [(end - len(segment.text) / 2) / max(1, ends[-1]) for end, segment in zip(ends, body, strict=True)]
    rng = item.item_id.key.rng("part", item.item_id.question)
    order_by_cut = {name: cut(rng, places) for name, cut in CUTS.items()} | {BACKWARDS: range(len(body))[::-1]}
    return {name: _score(item, [*head, *(body[n] for n in order)]) for name, order in order_by_cut.items()}


def solve_part(item: Item, messages: Sequence[Message]) -> Any:
    """Return the answer that a task reads from a prompt without a part of its text.

    Raises:
        UndecidableError: The rest does not decide the question.
        PluginError: `solve` raised another exception, which it does not raise for the whole prompt.
    """
    try:
        return item.solve(messages)
    except PluginError as error:
        item.solve(item.messages())  # an error that the whole prompt causes too is raised as it is
        raise PluginError(
            f"with a part of the text left out, {error.message}; `solve` has to raise carrara.task.UndecidableError if "
            "the text does not decide the question"
        ) from error


def _score(item: Item, segments: Sequence[Segment]) -> float:
    prompt = replace(item.prompt, packing=_CutPacking(segments))  # type: ignore[arg-type]
    try:
        answer = solve_part(item, prompt.messages())
    except UndecidableError:
        return item.question.chance_level
    return item.task.score(answer, item.question)

"""Reach: what the test's own oracle makes of a tenth of the context, or of the whole backwards.

A test that is solved from a tenth does not measure a long context. Where the part does not tell, the reader guesses
blindly, as well as anybody can: it has the chance level of the question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from carrara.core.keys import Dice
from carrara.core.types import Piece, UndecidableError
from carrara.prompt.items import Item

TENTH = 0.1
LEAST = 10
"""Pieces that have a tenth."""

Cut = Callable[[Dice, Sequence[float]], Sequence[int]]
"""From the places of pieces, from 0 to 1, to those that are left, in order."""


def _window(start: float) -> Cut:
    def cut(dice: Dice, places: Sequence[float]) -> Sequence[int]:
        middle = start + TENTH / 2
        left = [n for n, place in enumerate(places) if start <= place <= start + TENTH]
        return left or [min(range(len(places)), key=lambda n: abs(places[n] - middle))]

    return cut


def _anywhere(dice: Dice, places: Sequence[float]) -> Sequence[int]:
    return _window(dice.random() * (1 - TENTH))(dice, places)


def _scattered(dice: Dice, places: Sequence[float]) -> Sequence[int]:
    return sorted(dice.sample(range(len(places)), max(1, round(TENTH * len(places)))))


CUTS: Mapping[str, Cut] = {
    "its first tenth": _window(0.0),
    "its last tenth": _window(1.0 - TENTH),
    "its middle tenth": _window(0.5 - TENTH / 2),
    "any tenth of it": _anywhere,
    "a tenth of its pieces": _scattered,
}
BACKWARDS = "all of it backwards"


@dataclass(frozen=True)
class _Cut:
    """A context with some of its pieces, in place of the weave that has all."""

    pieces: Sequence[Piece]

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)


def scores(item: Item) -> dict[str, float]:
    """What the oracle scores on each part of an item's context, and on it backwards. What must come first is there."""
    opening = len(item.context.instance.start)
    pieces = list(item.prompt.weave)
    head, body = pieces[:opening], pieces[opening:]
    if len(body) < LEAST:
        return {}
    ends = list(accumulate(len(piece.text) for piece in body))
    places = [(end - len(piece.text) / 2) / max(1, ends[-1]) for end, piece in zip(ends, body, strict=True)]
    dice = item.recipe.key.dice("part", item.recipe.question)
    left = {name: cut(dice, places) for name, cut in CUTS.items()} | {BACKWARDS: range(len(body))[::-1]}
    return {name: _scored(item, [*head, *(body[n] for n in order)]) for name, order in left.items()}


def _scored(item: Item, pieces: Sequence[Piece]) -> float:
    prompt = replace(item.prompt, weave=_Cut(pieces))  # type: ignore[arg-type]
    try:
        answer = item.solve(prompt.messages())
    except UndecidableError:
        return item.question.chance_level
    return item.task.score(answer, item.question)

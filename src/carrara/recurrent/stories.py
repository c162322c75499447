"""Training without end: worlds of a test's train split, woven to an exact number of segments, each with its questions.

No world is drawn twice, and no filler is read twice from the same place. A question may be asked before the end as
well: the test's own solver says what is right by what was told so far, so that every segment has something to learn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from carrara import registry
from carrara.core.errors import UsageError
from carrara.core.keys import Dice, Split
from carrara.core.recipe import Recipe
from carrara.core.types import AnyTest, Piece, Question, Undecidable
from carrara.prompt.items import Posed, pose
from carrara.prompt.measure import assemble
from carrara.recurrent.vocabulary import PAD, Ids, Vocabulary, learned

TOKENIZER = "words"
SAMPLED = 600
"""Worlds whose words make up a vocabulary. They are of the split for examples: nobody trains or is tested on them."""
POOL = 64
"""Questions of those worlds that are asked of others too."""
TRIES = 200
"""Worlds in a row that may be longer than the segments."""
ASKED = 3
"""Of these, how many are tried after each segment."""


class Ask(NamedTuple):
    """A question after a segment, and the right answer by what was told so far."""

    segment: int
    question: list[int]
    answer: list[int]


class Sample(NamedTuple):
    """A story as a model is told it."""

    segments: Ids
    """One row a segment."""
    told: list[bool]
    """Whether a segment tells an update, or is filler alone."""
    asks: list[Ask]
    """In the order of their segments; one of them at least is after the last."""


class Stories:
    """Samples of one test, each from the next world."""

    def __init__(self, first: Recipe) -> None:
        self.first, self.task = first, first.task
        self.test: AnyTest = registry.load(first.task)
        self.index = 0
        """Of the next world: all that goes on from one sample to another."""

    def _posed(self, split: Split, index: int) -> Posed:
        return pose(replace(self.first, split=split, index=index), None)

    @cached_property
    def _examples(self) -> list[Posed]:
        return [self._posed("few-shot", index) for index in range(SAMPLED)]

    @cached_property
    def _pool(self) -> list[Question[Any]]:
        asks = {question.ask: question for posed in self._examples for question in posed.questions}
        return list(asks.values())[:POOL]

    def texts(self) -> Iterator[str]:
        """What worlds say without their filler, and what is asked and answered."""
        for posed in self._examples:
            yield from (piece.text for piece in _told(posed))
            for question in posed.questions:
                yield from (question.ask, self.test.write(question.gold))

    def filler(self, tokens: int) -> Iterator[str]:
        posed = self._posed("train", 0)
        tap = posed.world.filler(posed.key.dice("vocabulary"), TOKENIZER) if posed.world.filler else None
        used = 0
        while tap and used < tokens:
            for piece in tap(0):
                used += piece.tokens or len(piece.text)
                yield piece.text

    def sample(self, vocabulary: Vocabulary, segments: int, size: int) -> Sample:
        """The next story that has room in so many segments of so many tokens."""
        for _ in range(TRIES):
            posed = self._posed("train", self.index)
            self.index += 1
            if found := self._sample(vocabulary, posed, segments, size):
                return found
        raise UsageError(
            f"of {TRIES} worlds of {self.task} none has room in {segments} segments of {size} tokens: "
            f"take longer segments"
        )

    def _sample(self, vocabulary: Vocabulary, posed: Posed, segments: int, size: int) -> Sample | None:
        world, dice = posed.world, posed.key.dice("training")
        whole = segments * size
        # The text may end anywhere in its last segment, as it does wherever a model is asked.
        short = dice.below(size) if dice.chance(0.5) else 0
        room = whole - short - sum(len(vocabulary.encode(piece.text)) for piece in _told(posed))
        if room < 0:
            return None
        ids: list[int] = []
        spans: list[tuple[int, int, Piece]] = []
        for piece, encoded in self._woven(vocabulary, posed, room, dice):
            if piece.update is not None or piece in world.opening:
                spans.append((len(ids), len(ids) + len(encoded), piece))
            ids += encoded
        ids += [PAD] * (whole - len(ids))
        asks: list[Ask] = []
        for segment in range(segments):
            known = [piece for _, end, piece in spans if end <= (segment + 1) * size]
            asks += self._asked(vocabulary, posed, segment, known, dice)
        return Sample(
            np.array(ids, dtype=np.int64).reshape(segments, size),
            [any(start < (s + 1) * size and end > s * size for start, end, _ in spans) for s in range(segments)],
            asks,
        )

    def _woven(self, vocabulary: Vocabulary, posed: Posed, room: int, dice: Dice) -> Iterator[tuple[Piece, list[int]]]:
        """Updates at drawn places of the filler. Quicker than the house's weave, for it need not end at a token."""
        world = posed.world
        tap = world.filler(posed.key.dice("filler"), TOKENIZER) if world.filler else None
        for piece in world.opening:
            yield piece, vocabulary.encode(piece.text)
        places = sorted(dice.random() for _ in world.updates)
        used = 0
        for gap, place in enumerate([*places, 1.0]):
            while tap:
                unit = [(piece, vocabulary.encode(piece.text)) for piece in tap(gap)]
                used += sum(len(encoded) for _, encoded in unit)
                if used > place * room:
                    used -= sum(len(encoded) for _, encoded in unit)
                    break
                yield from unit
            if gap < len(places):
                yield from ((piece, vocabulary.encode(piece.text)) for piece in world.updates[gap])

    def _asked(
        self, vocabulary: Vocabulary, posed: Posed, segment: int, known: Sequence[Piece], dice: Dice
    ) -> Iterator[Ask]:
        """Some questions after a segment: the world's own, and those of others that it happens to decide."""
        if not known:
            return
        own = {question.ask for question in posed.questions}
        others = [question for question in self._pool if question.ask not in own]
        test = posed.task
        for question in [*posed.questions, *dice.sample(others, min(ASKED, len(others)))]:
            try:
                answer = test.solve(assemble(test.frame(posed.world, question, test.wording, "chat"), known))
            except Undecidable:
                continue
            yield Ask(segment, vocabulary.encode(question.ask), vocabulary.encode(test.write(answer)))


def _told(posed: Posed) -> tuple[Piece, ...]:
    return (*posed.world.opening, *(piece for update in posed.world.updates for piece in update))


def vocabulary_of(stories: Sequence[Stories], filler: int = 400_000) -> Vocabulary:
    """The vocabulary of several tests."""
    return learned(
        (text for one in stories for text in one.texts()), (text for one in stories for text in one.filler(filler))
    )

"""Training without end: instances of a task's train split, packed to an exact number of segments, each with its
questions.

No instance is drawn twice, and no filler is read twice from the same place. A question may be asked before the end as
well: the task's own solver says what is right by what was told so far, so that every segment has something to learn.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from carrara.item_id import ItemId
from carrara.items import registry
from carrara.items.item import PosedInstance, pose
from carrara.packing.prompt import assemble
from carrara.recurrent.distractors import Strewing
from carrara.recurrent.text_codec import TextCodec
from carrara.recurrent.vocabulary import Ids
from carrara.rng import Rng, Split
from carrara.task import Task
from carrara.types import BulkFillerStream, PromptTemplate, Question, Segment, UndecidableError
from carrara.util.errors import UsageError

TOKENIZER = "words"
SAMPLED = 600
"""Instances whose words make up a vocabulary. They are of the split for examples: nobody trains or is tested on
them."""
POOL = 64
"""Questions of those instances that are asked of others too."""
TRIES = 200
"""Instances in a row that may be longer than the segments."""
BARE = 0.1
"""The share of stories that have no filler: all that they tell stands close together."""
STREWN_FROM = 20_000
"""Tokens of filler whose words are put into facts."""
ASKED = 3
"""Of these, how many are tried after each segment."""


class Ask(NamedTuple):
    """A question after a segment, and the right answer by what was told so far."""

    segment: int
    question: list[int]
    answer: list[int]
    """With its end."""


class Sample(NamedTuple):
    """A story as a model is told it."""

    segments: Ids
    """One row a segment."""
    told: list[bool]
    """Whether a segment tells a fact, or is filler alone."""
    asks: list[Ask]
    """In the order of their segments; one of them at least is after the last."""


def one_text(template: PromptTemplate) -> PromptTemplate:
    """Raises UsageError where a context is more than that."""
    if template.turns:
        raise UsageError("a recurrent model reads a context that is one text, and this task's is a conversation")
    return template


class Stories:
    """Samples of one task, each from the next instance."""

    def __init__(self, first: ItemId, start: int = 0, stride: int = 1, strewn: float = 0.0) -> None:
        self.first, self.strewn = replace(first, length=0), strewn
        self.task: Task = registry.load(first.task)
        self.index, self.stride = start, stride
        """Of the next instance: all that goes on from one sample to another."""

    def _pose(self, split: Split, index: int) -> PosedInstance:
        """Without the examples that a prompt shows: nobody reads them here, and they may take longer than all else."""
        posed = pose(replace(self.first, split=split, index=index), None)
        return posed._replace(questions=[replace(question, examples=()) for question in posed.questions])

    @cached_property
    def _examples(self) -> list[PosedInstance]:
        return [self._pose("few-shot", index) for index in range(SAMPLED)]

    @cached_property
    def pool(self) -> list[Question[Any]]:
        """Questions that other instances may decide too."""
        asks = {question.ask: question for posed in self._examples for question in posed.questions}
        return list(asks.values())[:POOL]

    @cached_property
    def _strewing(self) -> Strewing:
        first = self._examples[0]

        def tells(sentence: str) -> bool:
            asks = (*first.questions, *self.pool)
            return any(self._solve(first, question, [Segment(sentence)]) is not None for question in asks)

        facts = (piece.text for posed in self._examples for piece in _facts_of(posed))
        return Strewing(facts, self.filler(STREWN_FROM), tells, first.key.rng("strewing"))

    def texts(self) -> Iterator[str]:
        """What instances say without their filler, and what is asked and answered, by questions of other instances
        too."""
        for posed in self._examples:
            told = _facts_of(posed)
            yield from (piece.text for piece in told)
            for question in posed.questions:
                yield from (question.ask, self.task.write(question.gold))
            yield from (answer for question in self.pool if (answer := self._solve(posed, question, told)) is not None)

    def filler(self, tokens: int) -> Iterator[str]:
        posed = self._pose("train", 0)
        stream = posed.instance.filler(posed.key.rng("vocabulary"), TOKENIZER) if posed.instance.filler else None
        used = 0
        while stream and used < tokens:
            for piece in stream(0):
                used += piece.tokens or len(piece.text)
                yield piece.text

    def sizes(self, tongue: TextCodec) -> Ids:
        """How many tokens some instances tell, without filler."""
        told = (_facts_of(posed) for posed in self._examples)
        return np.array([sum(len(tongue.encode(" " + piece.text)) for piece in pieces) for pieces in told])

    def sample(self, tongue: TextCodec, segments: int, size: int, between: bool = True) -> Sample:
        """The next story that has room in so many segments of so many tokens. Questions are asked after its last one,
        and `between` them as well.
        """
        for _ in range(TRIES):
            posed = self._pose("train", self.index)
            self.index += self.stride
            for strewn in dict.fromkeys((self.strewn, 0.0)):
                if found := self._sample(tongue, posed, segments, size, between, strewn):
                    return found
        raise UsageError(
            f"of {TRIES} instances of {self.first.task} none has room in {segments} segments of {size} tokens: "
            f"take longer segments"
        )

    def _sample(
        self, tongue: TextCodec, posed: PosedInstance, segments: int, size: int, between: bool, strewn: float
    ) -> Sample | None:
        """Nothing where there is no room, or where what was strewn changes an answer."""
        instance, rng = posed.instance, posed.key.rng("training")
        whole = segments * size
        separator = one_text(posed.task.prompt(instance, posed.questions[0], posed.task.wording, "chat")).separator
        encoded: dict[str, list[int]] = {}

        def encode(piece: Segment) -> list[int]:
            if piece.text not in encoded:
                encoded[piece.text] = tongue.encode(separator + piece.text)
            return encoded[piece.text]

        room = whole - sum(len(encode(piece)) for piece in _facts_of(posed))
        if room < 0:
            return None
        if rng.chance(BARE):
            room = 0
        elif rng.chance(0.5):  # the text may end anywhere in its last segment, as it does wherever a model is asked
            room = max(0, room - rng.below(size))
        ids: list[int] = []
        spans: list[_Span] = []
        for piece, stray in self._pack_facts(posed, room, encode, rng, strewn):
            if stray or piece.fact is not None or piece in instance.start:
                spans.append(_Span(len(ids), len(ids) + len(encode(piece)), piece, stray))
            ids += encode(piece)
        blank = tongue.encode(" ")[:1] or [0] if tongue.pad is None else [tongue.pad]
        ids += blank * (whole - len(ids))
        asks: list[Ask] = []
        for segment in range(0 if between else segments - 1, segments):
            read = [span for span in spans if span.end <= (segment + 1) * size]
            found = self._choose_questions(tongue, posed, segment, read, rng)
            if found is None:
                return None
            asks += found
        told = [span for span in spans if not span.stray]
        return Sample(
            np.array(ids, dtype=np.int64).reshape(segments, size),
            [any(span.start < (s + 1) * size and span.end > s * size for span in told) for s in range(segments)],
            asks,
        )

    def _pack_facts(
        self, posed: PosedInstance, room: int, encode: Callable[[Segment], list[int]], rng: Rng, strewn: float
    ) -> Iterator[tuple[Segment, bool]]:
        """Updates at drawn places of the filler, and of each piece whether it was changed. Quicker than the house's
        weave, for it need not end at a token. Only prose is strewn: other filler means something.
        """
        instance, other = posed.instance, posed.key.rng("strewn")
        stream = instance.filler(posed.key.rng("filler"), TOKENIZER) if instance.filler and room else None
        strewn = strewn if isinstance(stream, BulkFillerStream) else 0.0
        yield from ((piece, False) for piece in instance.start)
        places = sorted(rng.random() for _ in instance.chunks)
        used = 0
        for gap, place in enumerate([*places, 1.0]):
            while stream:
                stray = bool(strewn) and other.chance(strewn)
                group = [self._strewing.replace(piece, other) if stray else piece for piece in stream(gap)]
                cost = sum(len(encode(piece)) for piece in group)
                if used + cost > place * room:
                    break
                used += cost
                yield from ((piece, stray) for piece in group)
            if gap < len(places):
                yield from ((piece, False) for piece in instance.chunks[gap])

    def _choose_questions(
        self, tongue: TextCodec, posed: PosedInstance, segment: int, read: Sequence["_Span"], rng: Rng
    ) -> list[Ask] | None:
        """Some questions after a segment: the instance's own, and those of others that it happens to decide.

        Nothing where what was strewn gives one of them another answer.
        """
        known = [span.piece for span in read if not span.stray]
        if not known:
            return []
        own = {question.ask for question in posed.questions}
        others = [question for question in self.pool if question.ask not in own]
        found = []
        for question in [*posed.questions, *rng.sample(others, min(ASKED, len(others)))]:
            answer = self._solve(posed, question, known)
            if len(known) < len(read) and self._solve(posed, question, [span.piece for span in read]) != answer:
                return None
            if answer is not None and tongue.says(answer):
                found.append(Ask(segment, tongue.question(question.ask), tongue.answer(answer)))
        return found

    def _solve(self, posed: PosedInstance, question: Question[Any], pieces: Sequence[Segment]) -> str | None:
        """The answer by the task's own solver, where these pieces decide it."""
        task = posed.task
        template = task.prompt(posed.instance, question, task.wording, "chat")
        try:
            return task.write(task.solve_prompt(assemble(template, pieces), task.wording))
        except UndecidableError:
            return None


class _Span(NamedTuple):
    """Where a piece stands that tells something, or seems to."""

    start: int
    end: int
    piece: Segment
    stray: bool
    """It is filler that was changed."""


def _facts_of(posed: PosedInstance) -> tuple[Segment, ...]:
    return tuple(posed.instance.segments)

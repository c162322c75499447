"""Training data without end: instances of a task's train split, packed into a number of segments, with questions.

No instance is drawn twice, and no filler is read twice from the same position. Questions are also asked before the end:
the task's own solver finds the right answer from the facts so far, so that every segment has something to learn.

Distractors are sentences of filler that are hard to tell from facts. A memory that was trained among speeches opens its
gates for a novel, where a Mary walks in a garden too. So some sentences of the filler are changed. Either one to three
of their words become words of the task's facts, or the sentence is replaced by a near-fact. That is a fact with one
word of the filler, so that it decides nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from carrara.items import registry
from carrara.items.item import PosedInstance, pose
from carrara.items.item_id import ItemId
from carrara.items.prompt import assemble
from carrara.recurrent.text_codec import TextCodec
from carrara.recurrent.vocabulary import Ids
from carrara.rng import Rng, Split
from carrara.task.suite import SuiteTask
from carrara.types import BulkFillerStream, PromptTemplate, Question, Segment, UndecidableError
from carrara.util.errors import UsageError

NEAR_FACTS = 1000
_WORD = re.compile(r"[^\W\d_]+")


class DistractorSource:
    """Changes sentences of filler into distractors."""

    def __init__(self, facts: Iterable[str], filler: Iterable[str], decides: Callable[[str], bool], rng: Rng) -> None:
        distinct_facts = tuple(dict.fromkeys(facts))
        others = [word for sentence in filler for word in _WORD.findall(sentence)]
        self.words = sorted({word for fact in distinct_facts for word in _WORD.findall(fact)})
        near = (
            _replace_word(rng.choice(distinct_facts), rng.choice(others), rng)
            for _ in range(NEAR_FACTS if others else 0)
        )
        self.near_facts: Sequence[str] = [sentence for sentence in dict.fromkeys(near) if not decides(sentence)]

    def replace(self, segment: Segment, rng: Rng) -> Segment:
        """Return a distractor. It may decide a question after all, which the caller has to find out."""
        if self.near_facts and rng.chance(0.5):
            return Segment(rng.choice(self.near_facts))
        text = segment.text
        for _ in range(rng.between(1, 3) if self.words else 0):
            text = _replace_word(text, rng.choice(self.words), rng)
        return Segment(text)


def _replace_word(text: str, word: str, rng: Rng) -> str:
    places = [match.span() for match in _WORD.finditer(text)]
    if not places:
        return text
    start, end = rng.choice(places)
    return text[:start] + word + text[end:]


TOKENIZER = "words"
SAMPLED = 600
"""Instances whose words make up a vocabulary. They are of the few-shot split, which is neither trained nor tested on.
"""
POOL = 64
"""Questions of those instances that are asked of others too."""
TRIES = 200
"""Instances in a row that may be longer than the segments."""
BARE = 0.1
"""The share of stories without filler."""
DISTRACTOR_TOKENS = 20_000
"""Tokens of filler whose words are put into facts."""
ASKED = 3
"""Questions of the pool that are tried after each segment."""


class SegmentQuestion(NamedTuple):
    """A question after a segment, with the right answer from the facts so far."""

    segment: int
    question: list[int]
    answer: list[int]
    """The tokens of the answer, with its end."""


class Sample(NamedTuple):
    """A story as a model reads it."""

    segments: Ids
    """Segments × tokens."""
    has_facts: list[bool]
    """Whether each segment states a fact."""
    questions: list[SegmentQuestion]
    """The questions in the order of their segments. At least one is after the last segment."""


def one_text(template: PromptTemplate) -> PromptTemplate:
    """Return the template of a context that is one text.

    Raises:
        UsageError: The context is a conversation.
    """
    if template.is_conversation:
        raise UsageError("a recurrent model reads a context that is one text, and this task's is a conversation")
    return template


class Stories:
    """The samples of one task, each from the next instance.

    Args:
        first: The id of the task's first item.
        start: The number of the first instance.
        stride: The step from one instance to the next.
        distractors: The share of sentences between the facts that are changed into near-facts.
    """

    def __init__(self, first: ItemId, start: int = 0, stride: int = 1, distractors: float = 0.0) -> None:
        self.first, self.distractors = replace(first, length=0), distractors
        self.task: SuiteTask = registry.load(first.task)
        self.index, self.stride = start, stride
        """`index` is the number of the next instance, the only thing that changes from one sample to the next."""

    def _pose(self, split: Split, index: int) -> PosedInstance:
        """Return an instance with its questions, without worked examples, which may be longer than all else."""
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
    def distractor_source(self) -> DistractorSource:
        first = self._examples[0]

        def decides(sentence: str) -> bool:
            questions = (*first.questions, *self.pool)
            return any(self._solve(first, question, [Segment(sentence)]) is not None for question in questions)

        facts = (segment.text for posed in self._examples for segment in _facts_of(posed))
        return DistractorSource(facts, self.filler(DISTRACTOR_TOKENS), decides, first.key.rng("strewing"))

    def texts(self) -> Iterator[str]:
        """Yield the facts of instances, their questions and answers, and the answers to the pool's questions."""
        for posed in self._examples:
            facts = _facts_of(posed)
            yield from (segment.text for segment in facts)
            for question in posed.questions:
                yield from (question.ask, self.task.write(question.gold))
            yield from (answer for question in self.pool if (answer := self._solve(posed, question, facts)) is not None)

    def filler(self, tokens: int) -> Iterator[str]:
        """Yield sentences of filler, up to a number of tokens."""
        posed = self._pose("train", 0)
        stream = posed.instance.filler(posed.key.rng("vocabulary"), TOKENIZER) if posed.instance.filler else None
        used = 0
        while stream and used < tokens:
            for segment in stream(0):
                used += segment.tokens or len(segment.text)
                yield segment.text

    def sizes(self, codec: TextCodec) -> Ids:
        """Return the tokens of the facts of some instances."""
        facts = (_facts_of(posed) for posed in self._examples)
        return np.array([sum(len(codec.encode(" " + segment.text)) for segment in segments) for segments in facts])

    def sample(self, codec: TextCodec, segments: int, size: int, ask_after_each: bool = True) -> Sample:
        """Return the next story that fits.

        Raises:
            UsageError: No instance fits.
        """
        for _ in range(TRIES):
            posed = self._pose("train", self.index)
            self.index += self.stride
            for distractors in dict.fromkeys((self.distractors, 0.0)):
                if story := self._sample(codec, posed, segments, size, ask_after_each, distractors):
                    return story
        raise UsageError(
            f"of {TRIES} instances of {self.first.task} none fits into {segments} segments of {size} tokens: "
            f"take longer segments"
        )

    def _sample(
        self, codec: TextCodec, posed: PosedInstance, segments: int, size: int, ask_after_each: bool, distractors: float
    ) -> Sample | None:
        """Return a story. None if it does not fit, or if a distractor changes an answer."""
        instance, rng = posed.instance, posed.key.rng("training")
        total = segments * size
        separator = one_text(posed.task.prompt(instance, posed.questions[0], posed.task.wording, "chat")).separator
        encoded: dict[str, list[int]] = {}

        def encode(segment: Segment) -> list[int]:
            if segment.text not in encoded:
                encoded[segment.text] = codec.encode(separator + segment.text)
            return encoded[segment.text]

        room = total - sum(len(encode(segment)) for segment in _facts_of(posed))
        if room < 0:
            return None
        if rng.chance(BARE):
            room = 0
        elif rng.chance(0.5):  # the text may end anywhere in its last segment, as it does in a test
            room = max(0, room - rng.below(size))
        ids: list[int] = []
        spans: list[_Span] = []
        for segment, is_distractor in self._pack(posed, room, encode, rng, distractors):
            if is_distractor or segment.fact is not None or segment in instance.start:
                spans.append(_Span(len(ids), len(ids) + len(encode(segment)), segment, is_distractor))
            ids += encode(segment)
        blank = codec.encode(" ")[:1] or [0] if codec.pad is None else [codec.pad]
        ids += blank * (total - len(ids))
        questions: list[SegmentQuestion] = []
        for number in range(0 if ask_after_each else segments - 1, segments):
            read = [span for span in spans if span.end <= (number + 1) * size]
            segment_questions = self._choose_questions(codec, posed, number, read, rng)
            if segment_questions is None:
                return None
            questions += segment_questions
        facts = [span for span in spans if not span.is_distractor]
        return Sample(
            np.array(ids, dtype=np.int64).reshape(segments, size),
            [any(span.start < (s + 1) * size and span.end > s * size for span in facts) for s in range(segments)],
            questions,
        )

    def _pack(
        self, posed: PosedInstance, room: int, encode: Callable[[Segment], list[int]], rng: Rng, distractors: float
    ) -> Iterator[tuple[Segment, bool]]:
        """Yield facts at drawn places of the filler, and whether each segment is a distractor.

        This is quicker than packing.py, because the length need not be exact. Only prose is changed into distractors:
        other filler has a meaning.
        """
        instance, changes = posed.instance, posed.key.rng("strewn")
        stream = instance.filler(posed.key.rng("filler"), TOKENIZER) if instance.filler and room else None
        distractors = distractors if isinstance(stream, BulkFillerStream) else 0.0
        yield from ((segment, False) for segment in instance.start)
        places = sorted(rng.random() for _ in instance.chunks)
        used = 0
        for gap, place in enumerate([*places, 1.0]):
            while stream:
                changed = bool(distractors) and changes.chance(distractors)
                group = [
                    self.distractor_source.replace(filler_segment, changes) if changed else filler_segment
                    for filler_segment in stream(gap)
                ]
                cost = sum(len(encode(segment)) for segment in group)
                if used + cost > place * room:
                    break
                used += cost
                yield from ((segment, changed) for segment in group)
            if gap < len(places):
                yield from ((segment, False) for segment in instance.chunks[gap])

    def _choose_questions(
        self, codec: TextCodec, posed: PosedInstance, number: int, read: Sequence["_Span"], rng: Rng
    ) -> list[SegmentQuestion] | None:
        """Return questions after a segment: the instance's own, and those of others that it happens to decide.

        None if a distractor changes the answer to one of them.
        """
        known = [span.segment for span in read if not span.is_distractor]
        if not known:
            return []
        instance_asks = {question.ask for question in posed.questions}
        others = [question for question in self.pool if question.ask not in instance_asks]
        questions_after = []
        for question in [*posed.questions, *rng.sample(others, min(ASKED, len(others)))]:
            answer = self._solve(posed, question, known)
            if len(known) < len(read) and self._solve(posed, question, [span.segment for span in read]) != answer:
                return None
            if answer is not None and codec.can_say(answer):
                questions_after.append(SegmentQuestion(number, codec.question(question.ask), codec.answer(answer)))
        return questions_after

    def _solve(self, posed: PosedInstance, question: Question[Any], segments: Sequence[Segment]) -> str | None:
        """Return the answer of the task's own solver. None if these segments do not decide it."""
        task = posed.task
        template = task.prompt(posed.instance, question, task.wording, "chat")
        try:
            return task.write(task.solve(*task.read_prompt(assemble(template, segments), task.wording)))
        except UndecidableError:
            return None


class _Span(NamedTuple):
    """The position of a segment that states something, or seems to."""

    start: int
    end: int
    segment: Segment
    is_distractor: bool


def _facts_of(posed: PosedInstance) -> tuple[Segment, ...]:
    return tuple(posed.instance.segments)

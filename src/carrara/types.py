"""The nouns of a task: segments, filler streams, instances, questions.

A context tells the facts of a hidden structure among filler; a question asks for a view of the structure.
A task says what its structure, facts, filler and views are; everything else (lengths, prompts, running, scoring,
analysis) is the same for all tasks and lives elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, count, repeat
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, overload, runtime_checkable

from carrara.rng import Rng

PRESENTS: Mapping[str, Any] = {"presents": True}
"""Metadata of a parameter (`field(metadata=PRESENTS)`) that shows an instance and does not shape it: its values compare
on the same instances."""
UNSIZED: Mapping[str, Any] = {"unsized": True}
"""Metadata of a parameter that says how large an instance is where no length does: beside a length it is refused."""

ANSWER = "answer"
"""The name of a label that gives the answer away: results are sliced by it, and no guesser knows it."""

Role = Literal["system", "user", "assistant"]
Style = Literal["chat", "base"]


class Message(NamedTuple):
    """One turn as a model receives it."""

    role: Role
    content: str


class Segment(NamedTuple):
    """The atom of every context."""

    text: str
    role: Role = "user"
    fact: int | None = None
    """The number of the fact it belongs to; None is opening or filler."""
    tokens: int | None = None
    """What it adds to a context, where that is known already: a corpus has counted its sentences once for all."""


SegmentGroup = tuple[Segment, ...]
"""Pieces that stay together: one sentence, a pair of turns, a block of list operations."""

FillerStream = Callable[[int], SegmentGroup]
"""Given the number of facts that came before, the next harmless unit of filler."""


@runtime_checkable
class BulkFillerStream(Protocol):
    """A filler stream that is the same at every point and can give much at once: a book."""

    def __call__(self, gap: int, /) -> SegmentGroup: ...

    def several(self, groups: int) -> list[SegmentGroup]:
        """So many groups from here, fewer where there are no more, but one at least."""

    def upto(self, tokens: int) -> SegmentGroup:
        """The groups from here that add at most so many tokens together, in few segments; nothing if none does."""

    def gaps(self, tokens: int) -> Sequence[int]:
        """Return the tokens before each gap between the groups that `tokens` tokens have, from 0 on.

        The stream must have been opened just now.
        """


@runtime_checkable
class FiniteFillerStream(Protocol):
    """A filler stream that may end, and can tell beforehand: the segments of a bank."""

    def __call__(self, gap: int, /) -> SegmentGroup: ...

    def must_last(self, tokens: int, cost: Callable[[SegmentGroup], int]) -> None:
        """Raise `ExhaustedError` if all that the stream has costs less than that.

        The stream must have been opened just now.
        """


Filler = Callable[[Rng, str], FillerStream]
"""Opens a stream of filler; the text is the tokenizer's name, for fillers that know their counts by it. A stream with
nothing left raises `ExhaustedError`."""

Spread = Literal["tokens", "gaps"]


@dataclass(frozen=True)
class PromptTemplate:
    """What stands around a context and between its segments.

    In text form the prompt is `before + segments joined + after`, one user message, and each segment stands behind the
    label of its role. With `turns`, each segment is a message of its own, `before` opens the first one, and `after` is
    the last user message.
    """

    before: str
    after: str
    separator: str = "\n"
    turns: bool = False
    labels: Mapping[Role, str] = field(default_factory=dict[Role, str])
    closing: int = 0
    """How many characters of `after` belong to the context: an item that filler may come before."""
    stop: tuple[str, ...] = ()
    """Where the answer of a base model ends, which would go on with an example of its own."""
    lead: str | None = None
    """What an answer without reasoning begins with. None: what the prompt ends with, or the line that is asked for."""


class TokenCosts(Protocol):
    """What texts add to others of their kind."""

    def __call__(self, texts: Sequence[str], separator: str = ", ", /) -> list[int]: ...


def _no_costs(texts: Sequence[str], separator: str = ", ", /) -> list[int]:
    raise TypeError("this room is for instances that are given, and has no prices")


NO_COSTS: TokenCosts = _no_costs


class LengthBudget(NamedTuple):
    """The length that a `sized` instance is for, and how it gets there (sizing.py)."""

    tokens: int
    """Of the whole prompt."""
    budget: int = 0
    """What the instance may take, by the costs. It is corrected until the prompt has its tokens exactly."""
    costs: TokenCosts = NO_COSTS
    again: int = 0
    """How often no budget gave the length: the instance may choose otherwise, where its question does not notice."""


A = TypeVar("A")


_segment: Callable[[tuple[str, Role, int, None]], Segment] = partial(tuple.__new__, Segment)
"""A segment of what it has, without the Python by which a named tuple is called."""
_USER: Role = "user"


class Sentences(Sequence[SegmentGroup]):
    """Facts of one segment each, made when they are looked at: a context may have a quarter of a million words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> SegmentGroup: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[SegmentGroup]: ...
    def __getitem__(self, place: int | slice) -> SegmentGroup | Sequence[SegmentGroup]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        return (Segment(self._texts[number], fact=number),)

    def __iter__(self) -> Iterator[SegmentGroup]:
        """Without a line of Python for each: they are gone through again and again."""
        return zip(map(_segment, zip(self._texts, repeat(_USER), count(), repeat(None))))


class Deferred(Sequence[int]):
    """Evidence that is computed when it is first looked at: scoring a reply does not need it."""

    def __init__(self, compute: Callable[[], Iterable[int]]) -> None:
        self._compute = compute

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(self._compute())

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...
    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        return self._numbers[place]

    def __len__(self) -> int:
        return len(self._numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._numbers == tuple(other)

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        return repr(self._numbers)


@dataclass(frozen=True)
class Instance:
    """One hidden structure: the facts that tell it, and what is asked of it.

    Attributes:
        facts: The sentences that tell the structure, in order. A fact of several segments is a tuple of them.
        gold: The right answer.
        names: What fills the fields of the question: `Where is {who}?`.
        evidence: The numbers of the facts that decide the answer: without any one of them it is another one. None: all.
        opening: What comes before all facts and filler.
        ending: What comes after all facts and filler.
        filler: Text that changes nothing, as a stream. None: the task's method `filler`.
        fine_filler: Smaller segments of filler, for the last tokens of a length.
        ask: Which of the task's questions is asked, where `Task.ask` has several by name.
        options: The possible answers, where they are a closed list.
        guesses: The answers that the guesser chooses from. None: those of the answer type.
        chance_level: What the guesser scores on average. None: the mean score of `guesses`, or that of the answer type.
        labels: What results are sliced by. None: the parameters that have several values.
        depths: Where each fact stands, from 0 (start) to 1 (end), ascending. None: anywhere, at random.
        unordered: Whether the order of the facts says nothing.
        window: The part of the context, from 0 to 1, that holds all facts.
        spread: Whether depths are shares of the tokens, or of the gaps between segments of filler.
        structure: Whatever the task's own further methods need.
    """

    facts: Sequence[str] | Sequence[SegmentGroup]
    gold: Any = None
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    evidence: Sequence[int] | None = None
    opening: str | SegmentGroup = ""
    ending: str = ""
    filler: Filler | None = None
    fine_filler: Filler | None = None
    ask: str = "ask"
    options: tuple[str, ...] = ()
    guesses: Sequence[Any] | None = None
    chance_level: float | None = None
    labels: Mapping[str, str] | None = None
    depths: tuple[float, ...] | None = None
    unordered: bool = False
    window: tuple[float, float] = (0.0, 1.0)
    spread: Spread = "tokens"
    structure: Any = None

    @cached_property
    def chunks(self) -> Sequence[SegmentGroup]:
        """The facts, each as its segments."""
        facts: Any = self.facts
        return Sentences(facts) if facts and isinstance(facts[0], str) else facts

    @property
    def start(self) -> SegmentGroup:
        """The opening as segments."""
        if isinstance(self.opening, str):
            return (Segment(self.opening),) if self.opening else ()
        return self.opening

    @property
    def segments(self) -> list[Segment]:
        """All segments without filler, in order."""
        return [*self.start, *chain.from_iterable(self.chunks)]

    @property
    def texts(self) -> list[str]:
        """The texts of all segments without filler, in order."""
        facts: Sequence[Any] = self.facts
        if facts and isinstance(facts[0], str):
            return [*(segment.text for segment in self.start), *facts]
        return [segment.text for segment in self.segments]

    @property
    def last(self) -> Segment | None:
        """The last segment without filler."""
        group = self.chunks[-1] if self.chunks else self.start
        return group[-1] if group else None


class Example(NamedTuple):
    """A worked example: what is shown, and the answer to it."""

    shown: str
    answer: str


class Drawn(NamedTuple):
    """Something that was drawn for a question, to be held against an even draw."""

    what: str
    value: str
    even: Mapping[str, float]
    """The shares that values have where each is as likely as any other."""


@dataclass(frozen=True)
class Question(Generic[A]):
    """A view of the structure, with its answer."""

    ask: str
    gold: A
    evidence: Sequence[int]
    """The facts that decide the answer: dropping any one of them changes it."""
    chance_level: float
    """What `Task.guess` scores on average; `Task.guesser` says what it knows, `GUESSERS` what that means."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """What results are sliced by: complexity, view, hops."""
    examples: Sequence[Example] = ()
    budget: int = 256
    """Tokens that a plain answer may need; reasoning is extra."""
    options: tuple[str, ...] = ()
    """The answers that are possible, where they are a closed list."""
    part: str = ""
    """Which of several questions on each instance it is: results tell them apart as if they were tasks of their own."""
    support: tuple[int, ...] = ()
    """The facts that the answer is read from, where a published task names them: others may be needed beside them,
    and one of them may be told twice."""


Guesser = Literal["without context", "context candidates"]

CHANCE_LEVEL = "The chance level is the score that the task's guesser reaches on average."
GUESSERS: Mapping[Guesser, str] = {
    "without context": (
        "This guesser sees the question, the rules of the prompt and the options, and knows how often each answer is "
        "right; it does not see the context."
    ),
    "context candidates": (
        "This guesser has found the candidates in the context, such as its drafts, lists or variables, and chooses "
        "among them at random; filler adds no candidates."
    ),
}
"""What each guesser knows."""


def chance_level_terms() -> str:
    """Return the definition of the chance level with both guessers, as one paragraph."""
    return " ".join([CHANCE_LEVEL, *(f"“{name}”: {meaning}" for name, meaning in GUESSERS.items())])


class ErrorType(NamedTuple):
    """How a stated answer is wrong."""

    kind: str
    """In a few words that are counted."""
    detail: str = ""


class UndecidableError(Exception):
    """The text does not decide the question. Solvers raise it."""


@dataclass(frozen=True)
class SentenceFilter:
    """A check that each sentence of a corpus has to pass, or it is skipped whenever the corpus is read."""

    name: str
    version: int
    """Raise it whenever the check judges any sentence otherwise: its findings are stored under name and version."""
    passes: Callable[[str], bool] = field(compare=False)
    """Whether a sentence passes."""

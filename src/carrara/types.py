"""The types of a task: segments, filler streams, instances, questions.

A context states the facts of a hidden structure among filler, and a question asks for a view of the structure. A task
defines its structure, facts, filler and views. Everything else (lengths, prompts, running, scoring, analysis) is the
same for all tasks and is elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, count, repeat
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, overload, runtime_checkable

from carrara.rng import Rng

PRESENTS: Mapping[str, Any] = {"presents": True}
"""Metadata of a parameter (`field(metadata=PRESENTS)`) that changes only the presentation of an instance. Its values
are compared on the same instances."""
UNSIZED: Mapping[str, Any] = {"unsized": True}
"""Metadata of a parameter that sets the size of an instance without a length. With a length, it is refused."""

ANSWER = "answer"
"""The name of a label that gives the answer away. Results are sliced by it, and no guesser knows it."""

Role = Literal["system", "user", "assistant", "call", "tool"]
"""The speaker of a message. The assistant calls a tool in a `call`, and a `tool` message is its result."""
CALL_ROLES: tuple[Role, ...] = ("call", "tool")
Style = Literal["chat", "base"]
Arrange = Literal["", "riffle", "block"]
"""How the needed facts stand: evenly apart, without filler between them, or, if empty, where they were drawn."""
Language = Literal["en", "zh", "de", "es"]
LANGUAGES: Mapping[Language, str] = {"en": "English", "zh": "Chinese", "de": "German", "es": "Spanish"}
"""The languages of tasks and corpora, with their names."""


_ID_SIZE = 9


class ToolUse(NamedTuple):
    """A call of a tool, as APIs take it."""

    id: str
    """The id with as many zeros behind it as make nine characters: Mistral's templates refuse any other length."""
    name: str
    """The name of the function. It has `_` in place of dots, which OpenAI's API refuses."""
    arguments: str
    """A JSON object."""


class Message(NamedTuple):
    """One message as a model receives it.

    The content of a call is its id, its function, and its arguments as JSON. That of a result begins with the id.

    Examples:
        >>> Message("call", 'kfdbzt tickets.show {"ticket": "MILL-12"}').tool_use
        ToolUse(id='kfdbzt000', name='tickets_show', arguments='{"ticket": "MILL-12"}')
        >>> Message("tool", 'kfdbzt {"office": null}').as_chat()
        {'role': 'tool', 'tool_call_id': 'kfdbzt000', 'content': 'kfdbzt {"office": null}'}
    """

    role: Role
    content: str

    @property
    def tool_use(self) -> ToolUse:
        """The call of a tool that this message is."""
        id, name, arguments = self.content.split(" ", 2)
        return ToolUse(id.ljust(_ID_SIZE, "0"), name.replace(".", "_"), arguments)

    @property
    def tool_use_id(self) -> str:
        """The id of the call whose result this message is."""
        return self.content.partition(" ")[0].ljust(_ID_SIZE, "0")

    def as_chat(self) -> dict[str, Any]:
        """Return the message as OpenAI's chat API takes it."""
        if self.role == "call":
            id, name, arguments = self.tool_use
            call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        if self.role == "tool":
            return {"role": "tool", "tool_call_id": self.tool_use_id, "content": self.content}
        return {"role": self.role, "content": self.content}


class Segment(NamedTuple):
    """A piece of a context: a sentence, a turn of a conversation, a line.

    Examples:
        >>> from carrara.task import Segment
        >>> Segment("Mary went to the garden.", fact=0).role
        'user'
    """

    text: str
    """The text."""
    role: Role = "user"
    """The role of the message, where segments are turns of a conversation."""
    fact: int | None = None
    """The number of the fact that it belongs to. None: it is opening, ending or filler."""
    tokens: int | None = None
    """The tokens that it adds to a context, if they are known already: a corpus counts its sentences once."""


SegmentGroup = tuple[Segment, ...]
"""Segments that stay together: one sentence, a pair of turns, a block of list operations."""

FillerStream = Callable[[int], SegmentGroup]
"""A function that returns the next group of filler, given the number of facts before it."""


@runtime_checkable
class BulkFillerStream(Protocol):
    """A filler stream that is the same at every position and can return much at once, such as a book."""

    def __call__(self, gap: int, /) -> SegmentGroup: ...

    def several(self, groups: int) -> list[SegmentGroup]:
        """Return a number of groups from here: fewer if there are no more, but at least one."""

    def upto(self, tokens: int) -> SegmentGroup:
        """Return the groups from here that add at most this many tokens together, in few segments.

        Empty if none does.
        """

    def gaps(self, tokens: int) -> Sequence[int]:
        """Return the tokens before each gap between the groups that `tokens` tokens have, from 0 on.

        The stream must have been opened just now.
        """


@runtime_checkable
class FiniteFillerStream(Protocol):
    """A filler stream that may end and knows its end in advance, such as the segments of a bank."""

    def __call__(self, gap: int, /) -> SegmentGroup: ...

    def must_last(self, tokens: int, cost: Callable[[SegmentGroup], int]) -> None:
        """Raise `ExhaustedError` if all that the stream has costs less than that.

        The stream must have been opened just now.
        """


Filler = Callable[[Rng, str], FillerStream]
"""A function that opens a stream of filler. Its second argument is the tokenizer's name, for fillers with known counts.
A stream with nothing left raises `ExhaustedError`."""

Spread = Literal["tokens", "gaps"]

_WITHOUT_CALLS: Mapping[Role, Role] = {"call": "assistant", "tool": "user"}


@dataclass(frozen=True)
class PromptTemplate:
    """The text around a context and between its segments.

    In text form, the prompt is `before + segments joined + after`, one user message, and each segment follows the label
    of its role. With `turns`, each segment is a message of its own, `before` opens the first one, and `after` is the
    last user message. `history` follows, if there is any.
    """

    before: str
    after: str
    separator: str = "\n"
    numbering: str = ""
    """The text before each segment in text form, with its number as `{n}`: `{n}. ` makes a numbered list."""
    turns: bool = False
    calls: bool = False
    """Whether calls of tools and their results stay such in turns. Otherwise they are texts of the assistant and of the
    user."""
    labels: Mapping[Role, str] = field(default_factory=dict[Role, str])
    closing: int = 0
    """The number of characters of `after` that belong to the context: an item that filler may precede."""
    stop: tuple[str, ...] = ()
    """Texts at which the answer of a base model ends, which would otherwise continue with an example of its own."""
    lead: str | None = None
    """The beginning of an answer without reasoning. None: the end of the prompt, or the requested answer line."""
    history: tuple[Message, ...] = ()
    """Further messages of the prompt: replies that are given, each with the user's next message."""
    follow_ups: tuple[str, ...] = ()
    """Messages of the user after the prompt. Each is sent when the model has replied to the one before, and all replies
    stay in the conversation. The reply that is scored has all of them (`carrara.answers.split_replies`)."""

    def role_of(self, segment: Segment) -> Role:
        """Return the role of a segment that is a message of its own."""
        return segment.role if self.calls else _WITHOUT_CALLS.get(segment.role, segment.role)

    @property
    def is_conversation(self) -> bool:
        """Whether the prompt has several messages, or others follow."""
        return self.turns or bool(self.history or self.follow_ups)


class TokenCosts(Protocol):
    """A function that returns the tokens that texts add to others of their kind."""

    def __call__(self, texts: Sequence[str], separator: str = ", ", /) -> list[int]: ...


def _no_costs(texts: Sequence[str], separator: str = ", ", /) -> list[int]:
    raise TypeError("this room is for instances that are given, and has no prices")


NO_COSTS: TokenCosts = _no_costs


class LengthBudget(NamedTuple):
    """The length that an instance has to fill, and the corrections so far (sizing.py)."""

    tokens: int
    """The tokens of the whole prompt."""
    budget: int = 0
    """The tokens that the instance may have, by the costs. They are corrected until the prompt has its exact length."""
    costs: TokenCosts = NO_COSTS
    again: int = 0
    """The number of attempts that failed. The instance may then choose differently in ways that do not affect its
    question."""


A = TypeVar("A")


_segment: Callable[[tuple[str, Role, int, None]], Segment] = partial(tuple.__new__, Segment)
"""Make a segment from its fields, without the Python code by which a named tuple is called."""
_USER: Role = "user"


class Sentences(Sequence[SegmentGroup]):
    """Facts of one segment each, made on access, because a context may have a quarter of a million words."""

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
        """Iterate without Python code for each fact, because facts are iterated over again and again."""
        return zip(map(_segment, zip(self._texts, repeat(_USER), count(), repeat(None))))


class LazyEvidence(Sequence[int]):
    """Evidence that is computed on first access, because scoring a reply does not need it."""

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
    """One hidden structure: the facts that a context states, and the right answer.

    `Task.generate` returns it.

    Attributes:
        facts: The sentences that state the structure, in order. A fact of several segments is a tuple of them.
        gold: The right answer.
        names: Values for the fields of the question, such as `{"who": "Mary"}` for `Where is {who}?`.
        evidence: The numbers of the facts that decide the answer: without any one of them it changes. None: all.
        private: The numbers of the facts that a memory must not keep, as the text says.
        opening: Text before all facts and filler.
        ending: Text after all facts and filler.
        filler: A stream of text that changes nothing. None: the task's method `filler`.
        fine_filler: Smaller segments of filler, for the last tokens of a length.
        ask: The name of the question, if `Task.ask` has several.
        options: The possible answers, if they are a closed list.
        guesses: The answers that the guesser chooses from. None: those of the answer type.
        chance_level: The mean score of the guesser. None: the mean score of `guesses`, or that of the answer type.
        labels: Names and values by which results are sliced. None: the sweeps that have several values.
        depths: The position of each fact, from 0 (start) to 1 (end), ascending. None: drawn at random.
        unordered: Whether the order of the facts has no meaning.
        window: The part of the context, from 0 to 1, that holds all facts.
        spread: Whether depths are shares of the tokens, or of the gaps between segments of filler.
        structure: Anything that further methods of the task need.

    Examples:
        >>> from carrara.task import Instance
        >>> facts = ["Mary went to the garden.", "John went to the office."]
        >>> i = Instance(facts, gold="garden", names={"who": "Mary"}, evidence=[0])
        >>> i.texts
        ['Mary went to the garden.', 'John went to the office.']
    """

    facts: Sequence[str] | Sequence[SegmentGroup]
    gold: Any = None
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    evidence: Sequence[int] | None = None
    private: Sequence[int] = ()
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
        """The facts, each as a group of segments."""
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


class Marker(NamedTuple):
    """What identifies a fact in other words.

    Examples:
        >>> Marker(("Mary",), ("garden",)).values
        ('garden',)
    """

    subjects: tuple[str, ...]
    """What the fact is about, such as a name or a key. Empty: its values identify it."""
    values: tuple[str, ...]
    """What it says, such as a place or a number. A text that has the fact has all of them."""


class Choice(NamedTuple):
    """A choice that was drawn for a question, for comparison with an even draw."""

    what: str
    value: str
    even: Mapping[str, float]
    """The shares of values in an even draw."""


@dataclass(frozen=True)
class Question(Generic[A]):
    """A question on an instance, with its right answer.

    Examples:
        >>> import carrara
        >>> question = carrara.item("qa1").question
        >>> question.gold in question.options, len(question.evidence)
        (True, 1)
    """

    ask: str
    """The text of the question."""
    gold: A
    """The right answer."""
    evidence: Sequence[int]
    """The numbers of the facts that decide the answer: without any one of them it changes."""
    chance_level: float
    """The mean score of `Task.guess`. `Task.guesser` names the knowledge of this guesser."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names and values by which results are sliced, such as complexity, view or hops."""
    examples: Sequence[Example] = ()
    """Worked examples in the prompt."""
    budget: int = 256
    """Tokens that a plain answer may need, or each of the replies in a conversation. Reasoning is extra."""
    options: tuple[str, ...] = ()
    """The possible answers, if they are a closed list."""
    part: str = ""
    """The name of this question, if each instance has several. Results count each as a task of its own."""
    support: tuple[int, ...] = ()
    """The facts that state the answer, if a published task names them, or if several sets do, such as the edges of one
    of several longest paths. Other facts may be needed too, and one of these may be stated twice."""


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
"""The knowledge of each guesser."""


def chance_level_terms() -> str:
    """Return the definition of the chance level with both guessers, as one paragraph."""
    return " ".join([CHANCE_LEVEL, *(f"“{name}”: {meaning}" for name, meaning in GUESSERS.items())])


class ErrorType(NamedTuple):
    """The type of a wrong answer."""

    kind: str
    """A few words, which are counted."""
    detail: str = ""


class UndecidableError(Exception):
    """The text does not decide the question. `Task.solve` raises it.

    Examples:
        >>> from carrara.task import UndecidableError
        >>> def solve(context, names):
        ...     if names["who"] not in context:
        ...         raise UndecidableError(f"{names['who']} is nowhere")
        >>> solve("Mary went home.", {"who": "John"})
        Traceback (most recent call last):
        carrara.types.UndecidableError: John is nowhere
    """


@dataclass(frozen=True)
class SentenceFilter:
    """A check that each sentence of a corpus has to pass, or it is skipped whenever the corpus is read."""

    name: str
    version: int
    """Raise it whenever the check judges any sentence otherwise: its findings are stored under name and version."""
    passes: Callable[[str], bool] = field(compare=False)
    """Whether a sentence passes."""

"""The nouns of the house: pieces, worlds, questions, tasks.

A context is a stream of updates to a hidden structure, woven into filler; a question asks for a view of the structure.
A test says what its structure, updates, filler and views are; everything else (lengths, prompts, running, scoring,
analysis) is the same for all tests and lives elsewhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from carrara.core.chance import Guesser
from carrara.core.keys import Dice, Key

PRESENTS: Mapping[str, Any] = {"presents": True}
"""Metadata of a parameter (`field(metadata=PRESENTS)`) that shows a world and does not shape it: its values compare on
the same worlds."""
UNSIZED: Mapping[str, Any] = {"unsized": True}
"""Metadata of a parameter that says how large a world is where no length does: beside a length it is refused."""

ANSWER = "answer"
"""The name of a label that gives the answer away: results are sliced by it, and no guesser knows it."""

Role = Literal["system", "user", "assistant"]
Style = Literal["chat", "base"]


class Message(NamedTuple):
    """One turn as a model receives it."""

    role: Role
    content: str


class Piece(NamedTuple):
    """The atom of every context."""

    text: str
    role: Role = "user"
    update: int | None = None
    """The number of the update it belongs to; None is opening or filler."""
    tokens: int | None = None
    """What it adds to a context, where that is known already: a corpus has counted its sentences once for all."""


Unit = tuple[Piece, ...]
"""Pieces that stay together: one sentence, a pair of turns, a block of list operations."""

Tap = Callable[[int], Unit]
"""Given the number of updates that came before, the next harmless unit of filler."""


@runtime_checkable
class BulkTap(Protocol):
    """A tap that is the same at every point and can give much at once: a book."""

    def __call__(self, gap: int, /) -> Unit: ...

    def several(self, units: int) -> list[Unit]:
        """So many units from here, fewer where there are no more, but one at least."""

    def upto(self, tokens: int) -> Unit:
        """The units from here that add at most so many tokens together, in few pieces; nothing if none does."""

    def gaps(self, tokens: int) -> Sequence[int]:
        """Of a tap just opened: the tokens before each gap between the units that `tokens` tokens have, from 0 on."""


@runtime_checkable
class EndingTap(Protocol):
    """A tap that may end, and can tell beforehand: the pieces of a bank."""

    def __call__(self, gap: int, /) -> Unit: ...

    def must_last(self, tokens: int, cost: Callable[[Unit], int]) -> None:
        """Of a tap just opened: raise `Dry` if all that it has costs less than that."""


Filler = Callable[[Dice, str], Tap]
"""Opens a stream of filler; the text is the tokenizer's name, for fillers that know their counts by it. A tap that has
nothing left raises `Dry`."""

Spread = Literal["tokens", "gaps"]


@dataclass(frozen=True)
class Frame:
    """What stands around a context and between its pieces.

    In text form the prompt is `before + pieces joined + after`, one user message, and each piece stands behind the
    label of its role. With `turns`, each piece is a message of its own, `before` opens the first one, and `after` is
    the last user message.
    """

    before: str
    after: str
    joint: str = "\n"
    turns: bool = False
    labels: Mapping[Role, str] = field(default_factory=dict[Role, str])
    closing: int = 0
    """How many characters of `after` belong to the context: an item that filler may come before."""
    stop: tuple[str, ...] = ()
    """Where the answer of a base model ends, which would go on with an example of its own."""
    lead: str | None = None
    """What an answer without reasoning begins with. None: what the prompt ends with, or the line that is asked for."""


class Prices(Protocol):
    """What texts add to others of their kind."""

    def __call__(self, texts: Sequence[str], joint: str = ", ", /) -> list[int]: ...


def _no_prices(texts: Sequence[str], joint: str = ", ", /) -> list[int]:
    raise TypeError("this room is for worlds that are given, and has no prices")


NO_PRICES: Prices = _no_prices


class Room(NamedTuple):
    """The length that a `sized` world is for, and how it gets there (sizing.py)."""

    tokens: int
    """Of the whole prompt."""
    budget: int = 0
    """What the world may take, by the prices. It is corrected until the prompt has its tokens exactly."""
    prices: Prices = NO_PRICES
    again: int = 0
    """How often no budget gave the length: the world may choose otherwise, where its question does not notice."""


L = TypeVar("L")
A = TypeVar("A")
P = TypeVar("P")


@dataclass(frozen=True)
class World(Generic[L]):
    """One latent structure with its stream of updates. Several questions may share it."""

    structure: L
    updates: Sequence[Unit]
    opening: Unit = ()
    """What must come first and is not an update: the list of nodes, the first value of a list."""
    filler: Filler | None = None
    """None: the task has sized the world to its room itself."""
    grit: Filler | None = None
    """Finer filler, for the last room, where the usual units are too large to make up every length."""
    depths: tuple[float, ...] | None = None
    """Where each update stands in its window, from 0 (start) to 1 (end), ascending. None: uniformly at random."""
    timeless: bool = False
    """Whether the order of updates says nothing: a world told in another order is the same one."""
    window: tuple[float, float] = (0.0, 1.0)
    """The part of the context, from 0 to 1, that holds all updates."""
    spread: Spread = "tokens"
    """What depths are shares of: of the window's tokens, or of its gaps between units of filler."""

    @property
    def pieces(self) -> list[Piece]:
        """All that it tells without filler, in order."""
        return [*self.opening, *chain.from_iterable(self.updates)]


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
    needs: tuple[int, ...]
    """The updates that decide the answer: dropping any one of them changes it."""
    chance_level: float
    """What `Test.guess` scores on average; `Test.guesser` says what it knows, core/chance.py what that means."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """What results are sliced by: complexity, view, hops."""
    examples: Sequence[Example] = ()
    budget: int = 256
    """Tokens that a plain answer may need; reasoning is extra."""
    options: tuple[str, ...] = ()
    """The answers that are possible, where they are a closed list."""
    part: str = ""
    """Which of several questions on each world it is: results tell them apart as if they were tests of their own."""
    support: tuple[int, ...] = ()
    """The updates that the answer is read from, where a published test names them: others may be needed beside them,
    and one of them may be told twice."""


class Fault(NamedTuple):
    """How a stated answer is wrong."""

    kind: str
    """In a few words that are counted."""
    detail: str = ""


class Undecidable(Exception):
    """Raised by a solver: the text does not decide the question."""


class Test(ABC, Generic[P, L, A]):
    """A test. One file under `tasks/` holds one of these; being there is all the registration it needs."""

    __test__: ClassVar[bool] = False
    """It is not a test of the kind that pytest collects, whatever its name."""
    version: ClassVar[int]
    """Raised whenever the bytes of any item change."""
    title: ClassVar[str]
    capability: ClassVar[str]
    """What it measures, in a few words, for lists and reports."""
    category: ClassVar[str] = ""
    """What it is one of several tests of, where its paper sorts them so: their scores are told together too."""
    parameters: type[P]
    """A frozen dataclass of parameters, each with its default."""
    sized: ClassVar[bool] = False
    """Whether a world is another at each length: its context is its structure, or it is given at some lengths."""
    wording: ClassVar[Mapping[str, str]]
    """Every sentence of the prompt that is not the world's: data, so that a prompt pack can replace it."""
    verbatim: ClassVar[bool] = False
    """Whether a reply is the answer as it stands: a text that may have anything in it, such as another question."""
    echoes: ClassVar[int] = 0
    """Up to how many tokens the prompt said back is one of the trivial replies: to read longer ones takes too long."""
    inherent: ClassVar[Mapping[str, str]] = {}
    """Shortcuts that it cannot do without, by name or kind (proof/shortcuts), each with a sentence why."""
    guesser: Guesser = "without context"
    """What `guess` knows: the chance level is what it scores."""
    keeps: ClassVar[Mapping[str, str]] = {}
    """What a part of the wording has to have, whoever words it: marks by which the context is found."""

    @abstractmethod
    def world(self, key: Key, params: P, room: Room | None) -> World[L]:
        """The world of a key: the same at every length, unless the test is `sized`, which `room` is for."""

    def shortcuts(self, params: P) -> Mapping[str, str]:
        """Those that are inherent, and those that its parameters bring."""
        return self.inherent

    def given(self, params: P, length: int) -> int | None:
        """How many worlds a length has, where they are not drawn but given by somebody, as they are."""
        return None

    def divided(self, params: P) -> bool:
        """Whether its worlds are read from files that are divided among the splits already."""
        return False

    @abstractmethod
    def questions(self, world: World[L], key: Key, params: P) -> Sequence[Question[A]]:
        """The questions on a world, in a fixed order."""

    @abstractmethod
    def frame(self, world: World[L], question: Question[A], wording: Mapping[str, str], style: Style) -> Frame:
        """The prompt around the context. Questions of one world share everything before the context."""

    @abstractmethod
    def solve(self, messages: Sequence[Message]) -> A:
        """Read the answer from the rendered prompt alone. Raises Undecidable."""

    @abstractmethod
    def write(self, answer: A) -> str:
        """The perfect reply."""

    def said_back(self, question: Question[A]) -> Sequence[str]:
        """The parts of the prompt that state no answer when a reply repeats them, though they name one."""
        return [self.wording["rule"]] if "rule" in self.wording else []

    @abstractmethod
    def parse(self, reply: str, question: Question[A]) -> A | None:
        """The answer that a reply states; None if it states none."""

    @abstractmethod
    def guess(self, dice: Dice, world: World[L], question: Question[A]) -> A:
        """Draw an answer of the task's guesser (`guesser`), whose mean score is the question's `chance_level`."""

    def score(self, answer: A, question: Question[A]) -> float:
        """How right an answer is, from 0 to 1: the headline."""
        return float(answer == question.gold)

    def trivial(self, question: Question[A]) -> Mapping[str, str]:
        """What those reply who do not do the task: that always say yes, name everything, copy what they were sent.

        What they score stands beside every result, and a test on which they score well is a poor one.
        """
        return {}

    def tricks(self, world: World[L], question: Question[A]) -> Mapping[str, str]:
        """What those reply who follow some cheap way of the test's own kind, such as a greedy walk: for the search for
        shortcuts (proof/shortcuts)."""
        return {}

    def drawn(self, world: World[L]) -> Iterable[Drawn]:
        """What a world was drawn from that a search may have pushed away from even: `carrara stats` prints it."""
        return ()

    def fault(self, answer: A, question: Question[A]) -> Fault | None:
        """In what way an answer is wrong, where a test tells several apart. None: it is right, or just wrong."""
        return None

    def published(self, reply: str, question: Question[A]) -> Mapping[str, float]:
        """What published scorers give the same reply, by name, faults included: to compare with published numbers."""
        return {}


AnyTest = Test[Any, Any, Any]

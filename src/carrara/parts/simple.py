"""A whole test in a few lines: what its world is, how it is told, what is right, and how that is read from the text.

    class Harbour(Test):
        version, title, capability = 1, "Harbour tally", "adding up changes"
        answer, ask = Number(guess=(3000, 7000)), "How many crates are on the quay at dusk?"
        changes: int = 4

        def world(self, dice): ...
        def filler(self, dice): ...
        def solve(self, text): ...

Its fields are its parameters. One that is given several values is a sweep: they are dealt in turn, and results are
sliced by them. All else is the house's: the prompt, the line that the answer is asked for in, reading, scoring, chance
levels, lengths. Tests that size themselves, or ask several questions on one world, are of the richer kind
(`core/types.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, make_dataclass
from itertools import product
from types import GenericAlias
from typing import Any, ClassVar, Generic, TypeVar, dataclass_transform, get_type_hints

from carrara.answers.contract import FINAL
from carrara.answers.kinds import Answers
from carrara.core import types as house
from carrara.core.chance import Guesser
from carrara.core.keys import Dice, Key
from carrara.core.types import Frame, Message, Piece, Question, Room, Style, Tap, Unit
from carrara.parts.answered import Answered
from carrara.parts.plugin import Unsuited, described
from carrara.text.turns import in_turn

A = TypeVar("A")

TEXT = {"open": "<text>", "close": "</text>"}
"""By what a context is found in its prompt."""


@dataclass(frozen=True)
class World(Generic[A]):
    """One hidden structure as its test tells it: what is right, and the sentences that decide it."""

    gold: A
    updates: Sequence[str]
    opening: str = ""
    """What is said before all else."""
    needs: Sequence[int] | None = None
    """Those of the updates that decide the answer; None: all."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the question names: `Where is {who}?`."""
    options: tuple[str, ...] = ()
    """The answers that are possible, where they are a closed list."""
    timeless: bool = False
    """Whether the order of updates says nothing."""


@dataclass_transform(frozen_default=True)
class Test(ABC):
    """A test. A file of a suite has one of these, and being there is all the registration it needs."""

    __test__: ClassVar[bool] = False
    version: ClassVar[int]
    """Raised whenever the bytes of any item change."""
    title: ClassVar[str]
    """What lists call it."""
    capability: ClassVar[str]
    """What it measures, in a few words."""
    answer: ClassVar[Answers[Any]]
    """Of what kind its answers are: how they are asked for, read, compared and guessed."""
    ask: ClassVar[str]
    """The question, with fields in braces for what a world's names fill in."""
    instruction: ClassVar[str] = "Read the text and answer the question about it."
    """What a prompt begins with."""
    joint: ClassVar[str] = " "
    """What stands between two sentences."""
    guesser: ClassVar[Guesser] = "without context"
    """What a guess among the options, or of the answer's form, has to know: the options alone, or the context's
    candidates (`context candidates`). The chance level follows from `answer` and `World.options`."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    @abstractmethod
    def world(self, dice: Dice) -> World[Any]:
        """A world, drawn from the dice alone. It never sees the length."""

    def filler(self, dice: Dice) -> str:
        """One more sentence that changes nothing, wherever it stands."""
        raise NotImplementedError(f"{type(self).__name__} has no filler, and is made at length 0 alone")

    @abstractmethod
    def solve(self, text: str) -> Any:
        """The answer, read from the rendered text alone. Raises `Undecidable` where it does not tell.

        Where the question names something, it stands behind the text, on a line of its own.
        """

    def check(self) -> None:  # noqa: B027  # most tests have nothing to check
        """Raise ValueError, in a sentence, unless the parameters go together."""


class Housed(Answered[Any, World[Any], Any]):
    """A test as the house has it."""

    keeps = TEXT

    def __init__(self, made: type[Test]) -> None:
        if missing := [name for name in ("version", "title", "capability", "answer", "ask") if not hasattr(made, name)]:
            raise TypeError(f"{made.__name__} does not say its {', '.join(missing)}")
        self.made = made
        self.version, self.title, self.capability = made.version, made.title, made.capability  # type: ignore[misc]
        self.answers, self.guesser = made.answer, made.guesser
        self.wording = {  # type: ignore[misc]
            "instruction": f"{made.instruction}\n\n",
            "open": f"{TEXT['open']} ",
            "close": f" {TEXT['close']}\n\n",
            "ask": made.ask,
            "rule": made.answer.rule,
            "answer": f"\n{FINAL}",
        }
        self.parameters = _sweeps(made)

    def world(self, key: Key, params: Any, room: Room | None) -> house.World[World[Any]]:
        own = self._dealt(key, params)
        told = _checked(own.world(key.dice("world")))
        return house.World(
            structure=told,
            opening=(Piece(told.opening),) if told.opening else (),
            updates=tuple((Piece(text, update=n),) for n, text in enumerate(told.updates)),
            filler=None if type(own).filler is Test.filler else lambda dice, _: _tap(own, dice),
            timeless=told.timeless,
        )

    def questions(self, world: house.World[World[Any]], key: Key, params: Any) -> Sequence[Question[Any]]:
        told = world.structure
        own = self._dealt(key, params)
        return [
            Question(
                ask=_asked(self.made.ask, told.names),
                gold=told.gold,
                needs=tuple(range(len(told.updates)) if told.needs is None else told.needs),
                chance_level=self.answers.chance_level(told.gold, told.options),
                labels={name: _written(getattr(own, name)) for name in self._swept(params)},
                options=told.options,
                budget=self.answers.budget(told.gold),
            )
        ]

    def frame(
        self, world: house.World[World[Any]], question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> Frame:
        ask = wording["ask"].format(**world.structure.names) if "{" in self.wording["ask"] else wording["ask"]
        return Frame(
            before=wording["instruction"] + wording["open"],
            after=wording["close"]
            + f"{ask} {wording['rule']}".rstrip()
            + (wording["answer"] if style == "base" else ""),
            joint=self.made.joint,
            stop=("\n",),
        )

    def solve(self, messages: Sequence[Message]) -> Any:
        _, _, rest = messages[-1].content.rpartition(TEXT["open"])
        text, close, asked = rest.rpartition(TEXT["close"])
        if not close:
            raise house.Undecidable("no text was found")
        return self.made().solve(f"{text.strip()}\n{asked.strip()}" if "{" in self.made.ask else text.strip())

    def said_back(self, question: Question[Any]) -> Sequence[str]:
        return [question.ask, self.wording["rule"]]

    def _dealt(self, key: Key, params: Any) -> Test:
        """The test with one value of each of its parameters."""
        swept = self._swept(params)
        values = {one.name: getattr(params, one.name)[0] for one in fields(params)}
        if swept:
            values |= dict(zip(swept, in_turn(key, "sweep", list(product(*swept.values()))), strict=True))
        return self.made(**values)

    def _swept(self, params: Any) -> dict[str, tuple[Any, ...]]:
        return {one.name: own for one in fields(params) if len(own := getattr(params, one.name)) > 1}


def _sweeps(made: type[Test]) -> type:
    """The parameters as people give them: one value of each, or several."""
    hints = get_type_hints(made)

    def checked(self: Any) -> None:
        names = [one.name for one in fields(self)]
        for name in names:
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"{name} takes one value or several different ones")
        for cell in product(*(getattr(self, name) for name in names)):
            made(**dict(zip(names, cell, strict=True))).check()

    several = [(one.name, GenericAlias(tuple, (hints[one.name], ...)), _default(one)) for one in fields(made)]  # type: ignore[arg-type]
    return make_dataclass(made.__name__, several, frozen=True, namespace={"__post_init__": checked, "source": made})


def _default(one: "Field[Any]") -> Any:
    if one.default is MISSING:
        raise TypeError(f"parameter {one.name} needs a default")
    return field(default=(one.default,), metadata=one.metadata)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(world: object) -> World[Any]:
    """A world of which everything that becomes text is text."""
    if not isinstance(world, World):
        raise Unsuited(f"`world` returned {described(world)}, where a carrara.World is expected")
    texts = {"opening": [world.opening], "updates": world.updates, "options": world.options}
    texts["names"] = list(world.names.values())
    for name, values in texts.items():
        if wrong := [value for value in values if not isinstance(value, str)]:
            raise Unsuited(f"`{name}` of a World has {described(wrong[0])}, where a text is expected")
    if beyond := [one for one in world.needs or () if one not in range(len(world.updates))]:
        raise Unsuited(f"`needs` of a World names update {beyond[0]}, and there are {len(world.updates)} (from 0)")
    return world


def _asked(ask: str, names: Mapping[str, str]) -> str:
    try:
        return ask.format(**names)
    except (KeyError, IndexError) as error:
        raise Unsuited(f"the question {ask!r} has a field {error} that `names` of its World does not fill in") from None


def _tap(test: Test, dice: Dice) -> Tap:
    def tap(gap: int) -> Unit:
        if not isinstance(sentence := test.filler(dice), str):
            raise Unsuited(f"`filler` returned {described(sentence)}, where a text is expected")
        return (Piece(sentence),)

    return tap

"""Latent List: follow the operations on a short Python list, answer a view of it.

From Michelangelo (arXiv:2409.12640), sections 2.1, 5.5 and appendices A.1, B.1. One item without filler, after its
two worked examples:

>>> from carrara.prompt.items import make
>>> print(make("michelangelo/latent_list", index=3, params={"complexity": "5"}).text.rpartition("=====")[2].strip())
Example 3:
<BLANKLINE>
>> a = [1, 2, 3, 4, 5, 6]
>> a.append(-881)
>> a.append(-3486)
>> a.append(-3949)
>> a.sort()
>> a.insert(0, -2137)
>> min(a[3:10])
Output:

The hidden structure is the list, the updates are operations, and each of them is relevant: leave one out and the answer
is another. The filler leaves the list as it is: prints, reversals that undo each other, blocks that cancel themselves.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, overload

from carrara.answers.grade import read
from carrara.answers.layout import tidy
from carrara.answers.numbers import find_lists, find_numbers, read_list, read_number, settled
from carrara.answers.reading import stated
from carrara.core.keys import Dice, Key
from carrara.core.splits import owned_world
from carrara.core.types import (
    PRESENTS,
    Drawn,
    Example,
    Frame,
    Message,
    Piece,
    Question,
    Room,
    Style,
    Tap,
    Test,
    Undecidable,
    Unit,
    World,
)
from carrara.tasks.michelangelo import _list_machine as machine
from carrara.tasks.michelangelo._list_machine import KINDS, START, VIEWS, Answer, Look, Operation, View
from carrara.tasks.michelangelo._list_worlds import filler_block, renumbered, search

Strategy = Literal["print", "reverse", "cancel"]

HARDEST = 50
"""Relevant operations up to which a search ends within a second or two."""
IDLE = ("Do", "nothing", "at", "all", "for", "now", "and", "then", "go", "on")
"""The longer a print says nothing, the more tokens it takes: what makes every length come out."""
NUMBERINGS = 16
"""Attempts at a world that a split owns which share a search, and differ in their numbers."""
EXAMPLES = 32
"""Worked examples of each view and filler from which an item draws its own."""
CHANCE_LEVEL_DRAWS = 64
"""Blind guesses per question from which its chance level is estimated; the mean over items is what matters."""

ONE_OPERATION = (
    "The number that the only operation brings stands last where nothing is woven in, and is often what is asked."
)
_NEXT_STATEMENT = re.compile(r"^>>", re.M)


@dataclass(frozen=True)
class Params:
    complexity: tuple[int, ...] = (1, 5, 20)
    """Relevant operations; several levels are taken in turn."""
    view: tuple[View, ...] = VIEWS
    """Views, taken in turn: print, sum, min, max, len."""
    filler: tuple[Strategy, ...] = field(default=("print", "reverse", "cancel"), metadata=PRESENTS)
    """Strategies that fill the context, mixed evenly."""
    examples: int = field(default=2, metadata=PRESENTS)
    """Worked examples in the prompt, with the view that is asked for."""

    def __post_init__(self) -> None:
        if not all(1 <= complexity <= HARDEST for complexity in self.complexity):
            raise ValueError(f"complexity goes from 1 to {HARDEST}")
        if not 0 <= self.examples <= 100:
            raise ValueError("examples go from 0 to 100")


@dataclass(frozen=True)
class Session:
    """The hidden structure: what happens to the list, and how it is looked at."""

    operations: tuple[Operation, ...]
    look: Look


class LatentList(Test[Params, Session, Answer]):
    version = 3
    title = "Latent List"
    capability = "tracking the state of a list through code"
    parameters = Params
    guesser = "context candidates"
    wording = {
        "instruction": (
            "Act as a Python interpreter. What follows is a session with a single list, a. Every line after >> is a "
            "statement; they run from top to bottom. The last line of a session asks to see something of the list as "
            "it then stands. Reply with exactly what Python would show for that last line, and nothing else.\n\n"
        ),
        "example": "=====\nExample {n}:\n\n{session}\nOutput: {answer}\n\n",
        "session": "=====\nExample {n}:\n\n",
        "answer": "\nOutput:",
    }

    def shortcuts(self, params: Params) -> Mapping[str, str]:
        return dict.fromkeys(("strings", "learned"), ONE_OPERATION) if params.complexity == (1,) else self.inherent

    def world(self, key: Key, params: Params, room: Room | None) -> World[Session]:
        strata = [(c, v) for c in params.complexity for v in params.view]
        block, place = divmod(key.index, len(strata))
        order = replace(key, index=block, attempt=0).dice("strata").shuffled(strata)
        complexity, view = order[place]
        searched, numbering = divmod(key.attempt, NUMBERINGS)
        operations, look = _search_once(replace(key, attempt=searched), complexity, view)
        if numbering:
            operations = renumbered(key.dice("numbers"), operations, look)
        return World(
            structure=Session(operations, look),
            updates=tuple((Piece(f">> {operation}", update=i),) for i, operation in enumerate(operations)),
            opening=(Piece(f">> a = {list(START)}"),),
            filler=lambda dice, _: _filler(operations, params.filler, dice),
            grit=lambda dice, _: lambda gap: (Piece(f'>> print("{" ".join(IDLE[: dice.between(1, len(IDLE))])}.")'),),
        )

    def questions(self, world: World[Session], key: Key, params: Params) -> Sequence[Question[Answer]]:
        operations, look = world.structure.operations, world.structure.look
        question = Question(
            ask=str(look),
            gold=_see(operations, look),
            needs=tuple(range(len(operations))),
            chance_level=0.0,
            labels={"complexity": str(len(operations)), "view": look.view},
            examples=_Shown(lambda: self._examples(key, params, look.view)) if params.examples else (),
            budget=192 if look.view == "print" else 32,
        )
        return [replace(question, chance_level=self._chance_level(key, world, question))]

    def _chance_level(self, key: Key, world: World[Session], question: Question[Answer]) -> float:
        changes = len(world.structure.operations)
        if world.structure.look.view == "len":  # each operation adds or takes one number, as good as evenly
            return math.comb(changes, changes // 2) / (1 << changes)
        dice = key.dice("chance_level")
        scores = [self.score(self.guess(dice, world, question), question) for _ in range(CHANCE_LEVEL_DRAWS)]
        return sum(scores) / len(scores)

    def _examples(self, key: Key, params: Params, view: View) -> tuple[Example, ...]:
        """Draw worked examples from the fixed ones of a view."""
        there = range(max(EXAMPLES, params.examples))
        drawn = key.dice("examples").sample(there, params.examples)
        return tuple(self._example(number, view, params.filler) for number in drawn)

    @lru_cache(maxsize=1024)  # noqa: B019  # there is one instance
    def _example(self, number: int, view: View, filler: tuple[Strategy, ...]) -> Example:
        """Return a short session from the few-shot split, with a little filler, so that its forms are seen."""
        settled = Params(complexity=(3 + number % 4,), view=(view,), filler=filler, examples=0)
        key = Key("michelangelo/latent_list", self.version, f"view={view}", "few-shot", 0, number)
        world, own = owned_world(self, key, settled)
        dice = own.dice("example")
        tap = _filler(world.structure.operations, filler, dice)
        lines = [piece.text for piece in world.opening]
        for i, update in enumerate(world.updates):
            lines += [piece.text for piece in (*tap(i), *update)] if dice.chance(0.5) else [update[0].text]
        operations, look = world.structure.operations, world.structure.look
        return Example("\n".join([*lines, f">> {look}"]), self.write(_see(operations, look)))

    def frame(
        self, world: World[Session], question: Question[Answer], wording: Mapping[str, str], style: Style
    ) -> Frame:
        examples = "".join(
            wording["example"].format(n=n, session=example.shown, answer=example.answer)
            for n, example in enumerate(question.examples, 1)
        )
        return Frame(
            before=wording["instruction"] + examples + wording["session"].format(n=len(question.examples) + 1),
            after=f"\n>> {question.ask}" + wording["answer"],
            stop=("\n",),
        )

    def solve(self, messages: Sequence[Message]) -> Answer:
        session = re.split(r"^>> a = ", messages[-1].content, flags=re.M)[-1].splitlines()
        lines = [line.removeprefix(">> ") for line in session[1:] if line.startswith(">> ")]
        values = list(read_list(session[0]) or ())
        for line in lines[:-1]:
            operation = machine.read_operation(line)
            if operation is None and not re.fullmatch(r'print\("[^"]*"\)', line):
                raise Undecidable(f"not a statement of this machine: {line}")
            if operation is not None and not machine.perform(operation, values):
                raise Undecidable(f"Python would raise at {line}")
        look = machine.read_look(lines[-1])
        answer = look.at(values) if look else None
        if answer is None:
            raise Undecidable(f"nothing to see at {lines[-1]}")
        return answer

    def write(self, answer: Answer) -> str:
        return str(list(answer) if isinstance(answer, tuple) else answer)

    def parse(self, reply: str, question: Question[Answer]) -> Answer | None:
        if isinstance(question.gold, tuple):
            return stated(reply, read_list, find_lists, _NEXT_STATEMENT)
        return stated(settled(tidy(reply)), read_number, find_numbers, _NEXT_STATEMENT)

    def guess(self, dice: Dice, world: World[Session], question: Question[Answer]) -> Answer:
        """The paper's random model: it knows the numbers, not what happens to them.

        A length it guesses better than the paper's, which takes any from 0 to the number of operations: it says one of
        the commonest.
        """
        operations, look = world.structure.operations, world.structure.look
        if look.view == "len":
            return len(START) + (dice.choice((-1, 1)) if len(operations) % 2 else 0)
        values: list[int] = []
        while not values:
            known = (*START, *(number for operation in operations for number in operation.numbers))
            values = [number for number in known if dice.chance(0.5)]
        dice.shuffle(values)
        if look.view in ("min", "max"):
            return dice.choice(values)
        start, stop = 1, 0
        while start > stop:  # any slice is as likely as any other, the empty ones included
            start, stop = dice.below(len(values) + 1), dice.below(len(values) + 1)
        part = values[start:stop]
        return tuple(part) if look.view == "print" else sum(part)

    def drawn(self, world: World[Session]) -> Iterable[Drawn]:
        """Operations, and the widths of slices in quarters of their lists. With one operation there is no choice."""
        operations, look = world.structure.operations, world.structure.look
        if len(operations) == 1:
            return
        kinds = [kind for kind in KINDS if look.view != "len" or kind not in ("sort", "reverse")]
        for operation in operations:
            yield Drawn(f"{look.view}: operation", operation.kind, {kind: 1 / len(kinds) for kind in kinds})
        if look.view != "len":
            length = len(machine.run(operations) or ())
            widths = [f"{-(-4 * width // length)}/4" for width in range(1, length + 1)]
            even = {quarter: widths.count(quarter) / length for quarter in sorted({*widths})}
            yield Drawn(f"{look.view}: slice up to", widths[look.stop - look.start - 1], even)

    def published(self, reply: str, question: Question[Answer]) -> Mapping[str, float]:
        """The paper's metric: a print must be the same text, a number may be near (section 2.1)."""
        stated, gold = read(self, question, reply), question.gold
        answer = stated and stated.answer
        if not isinstance(answer, int) or not isinstance(gold, int):
            return {"paper": float(answer == gold)}
        return {"paper": 1.0 - min(1.0, abs(gold - answer) / (1e-10 + abs(gold)))}


@lru_cache(maxsize=256)
def _search_once(key: Key, complexity: int, view: View) -> tuple[tuple[Operation, ...], Look]:
    """Search once for all attempts that differ in their numbers alone."""
    return search(key.dice("operations"), complexity, view)


class _Shown(Sequence[Example]):
    """Examples, made when they are looked at: they take nearly as long as the world itself, and grading needs none."""

    def __init__(self, make: Callable[[], tuple[Example, ...]]) -> None:
        self._make = make

    @cached_property
    def _examples(self) -> tuple[Example, ...]:
        return self._make()

    def __len__(self) -> int:
        return len(self._examples)

    @overload
    def __getitem__(self, place: int) -> Example: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Example]: ...
    def __getitem__(self, place: int | slice) -> Example | Sequence[Example]:
        return self._examples[place]


def _see(operations: Sequence[Operation], look: Look) -> Answer:
    final = machine.run(operations)
    answer = look.at(final) if final is not None else None
    if answer is None:
        raise ValueError(f"no answer to {look} after {operations}")
    return answer


def _filler(operations: Sequence[Operation], strategies: Sequence[Strategy], dice: Dice) -> Tap:
    """Statements that leave the list as it is at each point of the session."""
    values = list(START)
    states = [tuple(values)]
    for operation in operations:
        machine.perform(operation, values)
        states.append(tuple(values))
    taken = frozenset(START).union(number for operation in operations for number in operation.numbers)

    def tap(gap: int) -> Unit:
        match dice.choice(strategies):
            case "print":
                return (Piece('>> print("Do nothing.")'),)
            case "reverse":
                return (Piece(">> a.reverse()"),) * (2 * dice.between(1, 2))
            case _:
                return tuple(Piece(f">> {operation}") for operation in filler_block(dice, states[gap], taken))

    return tap


task = LatentList()

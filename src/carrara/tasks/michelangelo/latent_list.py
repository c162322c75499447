"""Latent List: follow the operations on a short Python list, answer a view of it.

From Michelangelo (arXiv:2409.12640), sections 2.1, 5.5 and appendices A.1, B.1. One item without filler, after its
two worked examples:

>>> from carrara.items.item import make
>>> print(make("michelangelo/latent_list", index=32, params={"complexity": "5"}).text.rpartition("=====")[2].strip())
Example 3:
<BLANKLINE>
>> a = [1, 2, 3, 4, 5, 6]
>> a.insert(3, -3914)
>> a.remove(3)
>> a.pop(3)
>> a.remove(2)
>> a.reverse()
>> sum(a[2:4])
Output:

The instance is the list, its facts are operations, and each of them is relevant: leave one out and the answer is
another. The filler leaves the list as it is: prints, reversals that undo each other, blocks that cancel themselves.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from carrara.rng import Key
from carrara.splits import draw_owned
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import choose_values, sweep_values
from carrara.tasks.michelangelo import _list_machine as machine
from carrara.tasks.michelangelo._list_instances import Strategy, renumber, search, statements
from carrara.tasks.michelangelo._list_machine import (
    KINDS,
    START,
    VIEWS,
    Answer,
    Look,
    Operation,
    Output,
    View,
    read_list,
)
from carrara.types import (
    PRESENTS,
    Choice,
    Example,
    Message,
    PromptTemplate,
    Question,
    Segment,
    Style,
    UndecidableError,
)

HARDEST = 50
"""Relevant operations up to which a search ends within a second or two."""
IDLE = ("Do", "nothing", "at", "all", "for", "now", "and", "then", "go", "on")
"""The longer the text of a print, the more tokens it takes: so every length can be filled."""
NUMBERINGS = 16
"""Attempts at an instance that a split owns which share a search, and differ in their numbers."""
EXAMPLES = 32
"""Worked examples of each view and filler from which an item draws its own."""
MOST_SUMS = 500
"""Choices of numbers up to which their sums are compared with the answer. Of more of them next to none is right."""

ONE_OPERATION = (
    "The number that the only operation brings stands last where nothing is woven in, and is often what is asked."
)
OTHER_STATEMENTS = (
    "What leaves the list as it is, is written in other statements than what changes it, as in the paper."
)


class Session(NamedTuple):
    """The operations on the list, the view of it, and the key of the instance."""

    operations: tuple[Operation, ...]
    look: Look
    key: Key


class LatentList(SuiteTask):
    version, title, capability = 5, "Latent List", "tracking the state of a list through code"
    guesser = "context candidates"
    answer = Output()
    ask = "{look}"
    marks = {}
    separator = "\n"
    wording = {
        "instruction": (
            "Act as a Python interpreter. Each session below works on a single list, a. Every line that starts with >> "
            "is a statement, and statements run from top to bottom. The last line of a session inspects the list in "
            "its final state. Reply with exactly what Python would show for the last line of the last session, and "
            "nothing else.\n\n"
        ),
        "example": "=====\nExample {n}:\n\n{session}\nOutput: {answer}\n\n",
        "session": "=====\nExample {n}:\n\n",
        "answer": "\nOutput:",
    }
    complexity: Sweep[int] = Sweep(1, 5, 20)
    """Relevant operations; several levels are taken in turn."""
    view: Sweep[View] = Sweep(*VIEWS)
    """Views, taken in turn: print, sum, min, max, len."""
    fillers: tuple[Strategy, ...] = field(default=("print", "reverse", "cancel"), metadata=PRESENTS)
    """Strategies that fill the context, mixed evenly."""
    examples: int = field(default=2, metadata=PRESENTS)
    """Worked examples in the prompt, with the view that is asked for."""

    def check(self) -> None:
        if not 1 <= self.complexity <= HARDEST:
            raise ValueError(f"complexity goes from 1 to {HARDEST}")
        if not 0 <= self.examples <= 100:
            raise ValueError("examples go from 0 to 100")

    def shortcuts(self) -> Mapping[str, str]:
        one_operation = sweep_values(self, "complexity") == (1,)
        declared = dict.fromkeys(("strings", "learned"), ONE_OPERATION) if one_operation else {}
        return {**declared, "typography": OTHER_STATEMENTS}

    def generate(self, rng: Rng) -> Instance:
        key = rng.key
        search_attempt, numbering = divmod(key.attempt, NUMBERINGS)
        operations, look = _search_once(replace(key, attempt=search_attempt), self.complexity, self.view)
        if numbering:
            operations = renumber(rng.stream("numbers"), operations, look)
        session, gold = Session(operations, look, key), _answer_of(operations, look)
        return Instance(
            opening=f">> a = {list(START)}",
            facts=[f">> {operation}" for operation in operations],
            gold=gold,
            names={"look": str(look)},
            filler=lambda stream, _: statements(operations, self.fillers, stream),
            fine_filler=lambda stream, _: (
                lambda gap: (Segment(f'>> print("{" ".join(IDLE[: stream.between(1, len(IDLE))])}.")'),)
            ),
            chance_level=_chance_level(session, gold),
            labels={"complexity": str(len(operations)), "view": look.view},
            structure=session,
        )

    def prompt(
        self, instance: Instance, question: Question[Answer], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        examples = self._examples(instance.structure)
        examples_text = "".join(
            wording["example"].format(n=n, session=example.shown, answer=example.answer)
            for n, example in enumerate(examples, 1)
        )
        return PromptTemplate(
            before=wording["instruction"] + examples_text + wording["session"].format(n=len(examples) + 1),
            after=f"\n>> {question.ask}" + wording["answer"],
            stop=("\n",),
        )

    def _examples(self, session: Session) -> list[Example]:
        """Draw worked examples from the fixed ones of a view."""
        numbers = range(max(EXAMPLES, self.examples))
        example_numbers = session.key.rng("examples").sample(numbers, self.examples)
        return [_example(number, session.look.view, self.fillers) for number in example_numbers]

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        return instance.names["look"]

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        session = re.split(r"^>> a = ", messages[-1].content, flags=re.M)[-1]
        context, _, look = session.rpartition("\n>> ")
        return context, {"look": look.partition("\n")[0]}

    def solve(self, context: str, names: Mapping[str, str]) -> Answer:
        start, *lines = context.splitlines()
        values = list(read_list(start) or ())
        for line in lines:
            statement = line.removeprefix(">> ")
            operation = machine.read_operation(statement)
            if operation is None and not re.fullmatch(r'print\("[^"]*"\)', statement):
                raise UndecidableError(f"not a statement of this machine: {line}")
            if operation is not None and not machine.perform(operation, values):
                raise UndecidableError(f"Python would raise at {line}")
        look = machine.read_look(names["look"])
        answer = look.at(values) if look else None
        if answer is None:
            raise UndecidableError(f"nothing to see at {names['look']}")
        return answer

    def not_answers(self, question: Question[Answer]) -> Sequence[str]:
        return ()  # a reply may repeat the last line before the number

    def guess(self, rng: Rng, instance: Instance, question: Question[Answer]) -> Answer:
        return _guess(rng, instance.structure)

    def draws(self, instance: Instance) -> Iterable[Choice]:
        """Yield operations, and the widths of slices in quarters of their lists, beside an even draw.

        With one operation there is no choice.
        """
        operations, look, _ = instance.structure
        if len(operations) == 1:
            return
        kinds = [kind for kind in KINDS if look.view != "len" or kind not in ("sort", "reverse")]
        for operation in operations:
            yield Choice(f"{look.view}: operation", operation.kind, {kind: 1 / len(kinds) for kind in kinds})
        if look.view != "len":
            length = len(machine.run(operations) or ())
            widths = [f"{-(-4 * width // length)}/4" for width in range(1, length + 1)]
            even = {quarter: widths.count(quarter) / length for quarter in sorted({*widths})}
            yield Choice(f"{look.view}: slice up to", widths[look.stop - look.start - 1], even)

    def paper_scores(self, reply: str, question: Question[Answer]) -> Mapping[str, float]:
        """Return the paper's metric: a print must be the same text, a number may be near (section 2.1)."""
        extraction, gold = self.read(reply, question), question.gold
        answer = extraction and extraction.answer
        if not isinstance(answer, int) or not isinstance(gold, int):
            return {"paper": float(answer == gold)}
        return {"paper": 1.0 - min(1.0, abs(gold - answer) / (1e-10 + abs(gold)))}


@lru_cache(maxsize=256)
def _search_once(key: Key, complexity: int, view: View) -> tuple[tuple[Operation, ...], Look]:
    """Search once for all attempts that differ in their numbers alone."""
    return search(key.rng("operations"), complexity, view)


@lru_cache(maxsize=1024)
def _example(number: int, view: View, fillers: tuple[Strategy, ...]) -> Example:
    """Return a short session from the few-shot split, with a little filler, so that its forms are seen."""
    task = LatentList(complexity=3 + number % 4, view=view, fillers=fillers, examples=0)
    key = Key("michelangelo/latent_list", task.version, f"view={view}", "few-shot", 0, number)
    instance, owned_key = draw_owned(choose_values(task, key), key)
    rng = owned_key.rng("example")
    stream = statements(instance.structure.operations, fillers, rng)
    lines = [str(instance.opening)]
    for gap, fact in enumerate(map(str, instance.facts)):
        lines += [*(segment.text for segment in stream(gap)), fact] if rng.chance(0.5) else [fact]
    return Example("\n".join([*lines, f">> {instance.structure.look}"]), task.write(instance.gold))


def _answer_of(operations: Sequence[Operation], look: Look) -> Answer:
    final = machine.run(operations)
    answer = look.at(final) if final is not None else None
    if answer is None:
        raise ValueError(f"no answer to {look} after {operations}")
    return answer


def _known_numbers(operations: Sequence[Operation]) -> tuple[int, ...]:
    """Return the numbers that a guesser knows."""
    return (*START, *(number for operation in operations for number in operation.numbers))


def _guess(rng: Rng, session: Session) -> Answer:
    """Draw an answer of the paper's random model: it knows the numbers, not what happens to them.

    It guesses a length better than the paper's model, which takes any from 0 to the number of operations: it says one
    of the commonest.
    """
    operations, look, _ = session
    if look.view == "len":
        return len(START) + (rng.choice((-1, 1)) if len(operations) % 2 else 0)
    values: list[int] = []
    while not values:
        values = [number for number in _known_numbers(operations) if rng.chance(0.5)]
    rng.shuffle(values)
    if look.view in ("min", "max"):
        return rng.choice(values)
    start, stop = 1, 0
    while start > stop:  # any slice is as likely as any other, the empty ones included
        start, stop = rng.below(len(values) + 1), rng.below(len(values) + 1)
    part = values[start:stop]
    return tuple(part) if look.view == "print" else sum(part)


def _chance_level(session: Session, gold: Answer) -> float:
    """Return how often a guess is right."""
    operations, look, _ = session
    changes, known = len(operations), _known_numbers(operations)
    if look.view == "len":  # each operation adds or takes one number, as good as evenly
        return math.comb(changes, changes // 2) / (1 << changes)
    if look.view in ("min", "max"):
        return known.count(gold) / len(known)
    if isinstance(gold, tuple):
        probability = math.prod(known.count(number) for number in gold) / math.perm(len(known), len(gold))
        return _width_share(len(known), len(gold)) * probability
    level = 0.0
    for width in range(len(known) + 1):
        if (choices := math.comb(len(known), width)) <= MOST_SUMS:
            hits = sum(sum(part) == gold for part in combinations(known, width))
            level += _width_share(len(known), width) * hits / choices
    return level


def _width_share(known: int, width: int) -> float:
    """Return how often a guess has so many numbers: a slice of the known ones, of which each was taken or left."""
    return sum(
        math.comb(known, count) / ((1 << known) - 1) * 2 * (count - width + 1) / ((count + 1) * (count + 2))
        for count in range(max(1, width), known + 1)
    )

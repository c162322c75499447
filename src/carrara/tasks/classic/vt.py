"""Variable tracking: which variables have a value, where most of them have it from another.

From RULER (arXiv:2404.06654), section 3. One item without filler and example:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("classic/vt", params={"examples": "0", "hops": "2", "chains": "2"}).text.split("\\n"):
...     print(fill(line, 110))
In the text below, variables are given values: some a number, the others the value of a variable that has one
already. Keep track of them.
<BLANKLINE>
<text> Let XJNXF be 15383. Let KXTSJ be XJNXF. Let JCLCR be 70536. Let FDCRS be JCLCR. Let RZVJH be FDCRS. Let
VGGDX be KXTSJ. </text>
<BLANKLINE>
Which 3 variables have the value 70536 in the end? Reply with one line and nothing else: FINAL ANSWER:
followed by their names, separated by commas.

The hidden structure is some chains of variables, each with a value of its own; an update is a statement. In the
published test there is one chain, so that whoever lists all the variables of the text is right; here there are others
of the same length beside it, and `chains=1` is as published.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from carrara.answers.contract import asks_for
from carrara.core.keys import Dice, Key
from carrara.core.types import PRESENTS, Piece, Question, Room, Undecidable, World
from carrara.tasks.classic import _haystacks, _reading, _values
from carrara.tasks.classic._answers import Values, ruler
from carrara.tasks.classic._classic import Classic, wording
from carrara.tasks.classic._examples import Worked, check, worked

VARIABLE = _values.letters("variable", 5, str.upper)
VALUE = _values.number(5)
MOST = 64

_STATEMENT = re.compile(r"\bLet ([A-Z]{5}) be ([A-Z]{5}|[0-9]{5})\.")


@dataclass(frozen=True)
class Params:
    hops: int = 4
    """Steps from the first variable of a chain, which has a value, to the last."""
    chains: int = 4
    """The one that is asked for and others with other values; 1 is the published test."""
    haystack: str = field(default="noise", metadata=_haystacks.named())
    """`noise` (the same sentences over and over), or a corpus."""
    examples: int = field(default=1, metadata=PRESENTS)
    """Worked examples, with two chains."""

    def __post_init__(self) -> None:
        if not (1 <= self.hops <= MOST and 1 <= self.chains <= MOST):
            raise ValueError(f"hops and chains go from 1 to {MOST}")
        check(self.examples)
        _haystacks.check(self.haystack)


@dataclass(frozen=True)
class Chains:
    """The hidden structure: variables in the order in which they get the value, the asked chain first."""

    chains: tuple[tuple[str, ...], ...]
    values: tuple[str, ...]
    order: tuple[int, ...]
    """The chains of the statements as they stand in the text."""
    examples: tuple[Worked, ...]


class VariableTracking(Classic[Params, Chains, tuple[str, ...]]):
    version = 2
    title = "Variable tracking"
    capability = "following chains of assignments through a long text"
    parameters = Params
    inherent = {
        "the pieces that say what is named": "One statement names the value with the first variable of its chain.",
    }
    guesser = "context candidates"
    answers = Values(VARIABLE)
    asked = re.compile(r"\bvalue ([0-9]{5})\b")
    wording = wording(
        "In the text below, variables are given values: some a number, the others the value of a variable that has one "
        "already. Keep track of them.",
        examples=True,
        several=asks_for("their names, separated by commas"),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Chains]:
        dice = key.dice("chains")
        size = params.hops + 1
        names = VARIABLE.distinct(dice, params.chains * size)
        chains = tuple(names[i * size : (i + 1) * size] for i in range(params.chains))
        values = VALUE.distinct(dice, params.chains)
        order = tuple(dice.shuffled([chain for chain in range(params.chains) for _ in range(size)]))
        small = replace(params, chains=min(2, params.chains), examples=0)
        examples = worked(self, key, small, params.examples)
        return World(
            structure=Chains(chains, values, order, examples),
            updates=tuple((Piece(said, update=i),) for i, said in enumerate(_statements(chains, values, order))),
            filler=_haystacks.filler(params.haystack, key),
        )

    def questions(self, world: World[Chains], key: Key, params: Params) -> Sequence[Question[tuple[str, ...]]]:
        gold = world.structure.chains[0]
        return [
            Question(
                ask=f"Which {len(gold)} variables have the value {world.structure.values[0]} in the end?",
                gold=tuple(sorted(gold)),
                needs=tuple(i for i, chain in enumerate(world.structure.order) if chain == 0),
                chance_level=_reading.blind(len(gold) * params.chains, len(gold)),
                labels={"hops": str(params.hops), "chains": str(params.chains)},
                budget=self.answers.budget(gold),
            )
        ]

    def examples(self, world: World[Chains]) -> Sequence[Worked]:
        return world.structure.examples

    def answer(self, text: str, asked: str) -> tuple[str, ...]:
        known: dict[str, str] = {}
        for name, source in _STATEMENT.findall(text):
            if source.isdigit() or source in known:
                known[name] = known.get(source, source)
        found = sorted(name for name, value in known.items() if value == asked)
        if not found:
            raise Undecidable(f"no variable has the value {asked}")
        return tuple(found)

    def guess(self, dice: Dice, world: World[Chains], question: Question[tuple[str, ...]]) -> tuple[str, ...]:
        """As many as are asked for, of all the variables."""
        return tuple(
            sorted(dice.sample([name for chain in world.structure.chains for name in chain], len(question.gold)))
        )

    def published(self, reply: str, question: Question[tuple[str, ...]]) -> Mapping[str, float]:
        return ruler(reply, question.gold)


def _statements(chains: Sequence[Sequence[str]], values: Sequence[str], order: Sequence[int]) -> list[str]:
    steps = [0] * len(chains)
    said = []
    for chain in order:
        step = steps[chain]
        source = chains[chain][step - 1] if step else values[chain]
        said.append(f"Let {chains[chain][step]} be {source}.")
        steps[chain] += 1
    return said


task = VariableTracking()

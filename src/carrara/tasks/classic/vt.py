"""Variable tracking: which variables have a value, where most take it from another variable.

From RULER (arXiv:2404.06654), section 3. One item without filler and example:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("classic/vt", params={"examples": "0", "hops": "2", "chains": "2"}).text.split("\\n"):
...     print(fill(line, 110))
The text below assigns values to variables: some get a number, the others the value of a variable that already
has one. Keep track of them.
<BLANKLINE>
<text> Let QNLQT be 85004. Let GWFNS be 81684. Let RKLNF be QNLQT. Let MQSLF be GWFNS. Let BVTSJ be MQSLF. Let
HCHMW be RKLNF. </text>
<BLANKLINE>
Which 3 variables have the value 81684 at the end? Reply with one line and nothing else, in this form: FINAL
ANSWER: <their names, separated by commas>

The variables form chains, and each chain has a value of its own. A fact is one statement. The published task has one
chain, so a reply that lists all the variables in the text is right. This one adds other chains of the same length;
`chains=1` is the published form.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

from carrara.answers import asks_for
from carrara.rng import Key
from carrara.task import Instance, Rng
from carrara.tasks.classic import _haystacks, _values
from carrara.tasks.classic._answers import Values, guess_score
from carrara.tasks.classic._task import EXAMPLE, SEPARATOR, Classic, Structure, check_examples, draw_examples
from carrara.types import PRESENTS, Question, UndecidableError

VARIABLE = _values.letters("variable", 5, str.upper)
VALUE = _values.number(5)
MOST = 64

_STATEMENT = re.compile(r"\bLet ([A-Z]{5}) be ([A-Z]{5}|[0-9]{5})\.")


class Assignments(NamedTuple):
    """The content of an instance's facts."""

    steps: Sequence[tuple[str, str]]
    """Variables, each with its number or the variable that it takes its value from."""
    key: Key


class VariableTracking(Classic):
    version, title = 4, "Variable tracking"
    capability = "following chains of assignments through a long text"
    marker = r"Let (?P<subject>[A-Z]{5}) be (?P<value>\w+)"
    guesser = "context candidates"
    answer = Values(VARIABLE)
    instruction = (
        "The text below assigns values to variables: some get a number, the others the value of a variable that "
        "already has one. Keep track of them."
    )
    example = EXAMPLE
    statements = {"copy": "Let {name} be {source}.", "value": "Let {name} be {value}."}
    details = _haystacks.DETAILS
    optional_fields = {
        **Classic.optional_fields,
        "ask": frozenset(("count",)),
        "rule": frozenset(("count", "value")),
    }
    ask = "Which {count} variables have the value {value} at the end?"
    rule = asks_for("their names, separated by commas")
    known_shortcuts = {
        "the pieces that say what is named": "One statement names the value with the first variable of its chain.",
        "typography": "The filler is a few sentences that are repeated, as in the published task.",
        **dict.fromkeys(
            ("the lines with most words of the question", "the lines with most rare words of the question"),
            "The first variable of a chain is a fifth of the answer.",
        ),
    }
    hops: int = 4
    """Steps from the first variable of a chain, which has a value, to the last."""
    chains: int = 4
    """Chains: the one in question, and others with other values. 1 is the published task."""
    haystack: str = field(default="noise", metadata=_haystacks.haystack_metadata())
    """`noise` (the same sentences over and over), or a corpus."""
    examples: int = field(default=1, metadata=PRESENTS)
    """Worked examples, with two chains."""

    def check(self) -> None:
        if not (1 <= self.hops <= MOST and 1 <= self.chains <= MOST):
            raise ValueError(f"hops and chains go from 1 to {MOST}")
        check_examples(self.examples)
        _haystacks.check(self.haystack)

    def generate(self, rng: Rng) -> Instance:
        chain_rng, size = rng.stream("chains"), self.hops + 1
        variables = VARIABLE.distinct(chain_rng, self.chains * size)
        chains = [variables[i * size : (i + 1) * size] for i in range(self.chains)]
        values = VALUE.distinct(chain_rng, self.chains)
        order = chain_rng.shuffled([chain for chain in range(self.chains) for _ in range(size)])
        instance = Instance(
            facts=(),
            gold=tuple(sorted(chains[0])),
            names={"count": str(size), "value": values[0]},
            evidence=[i for i, chain in enumerate(order) if chain == 0],
            chance_level=guess_score(len(variables), size),
            labels={"hops": str(self.hops), "chains": str(self.chains)},
            structure=Structure(
                lambda: draw_examples(replace(self, chains=min(2, self.chains), examples=0), rng.key, self.examples),
                Assignments(_steps(chains, values, order), rng.key),
            ),
        )
        return self.restate(instance, self.wording)

    def restate(self, instance: Instance, wording: Mapping[str, str]) -> Instance:
        assignments: Assignments = instance.structure.content
        return replace(
            instance,
            facts=[
                wording["value"].format(name=name, value=source)
                if source.isdigit()
                else wording["copy"].format(name=name, source=source)
                for name, source in assignments.steps
            ],
            filler=_haystacks.filler(self.haystack, assignments.key, wording["noise"]),
            fine_filler=_haystacks.fine_filler(self.haystack, wording["noise"]),
        )

    def separator_part(self, wording: Mapping[str, str]) -> str:
        return wording.get(f"{SEPARATOR} of {self.haystack}", wording[SEPARATOR])

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        known: dict[str, str] = {}
        for name, source in _STATEMENT.findall(context):
            if source.isdigit() or source in known:
                known[name] = known.get(source, source)
        variables = sorted(name for name, value in known.items() if value == names["value"])
        if not variables:
            raise UndecidableError(f"no variable has the value {names['value']}")
        return tuple(variables)

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> tuple[str, ...]:
        """Draw as many of all the variables as the question asks for."""
        variables = sorted({name for name, _ in instance.structure.content.steps})
        return tuple(sorted(rng.sample(variables, len(question.gold))))


def _steps(chains: Sequence[Sequence[str]], values: Sequence[str], order: Sequence[int]) -> list[tuple[str, str]]:
    """Return the variables in order, each with its number or the variable that it takes its value from."""
    steps = [0] * len(chains)
    assignments = []
    for chain in order:
        step = steps[chain]
        source = chains[chain][step - 1] if step else values[chain]
        assignments.append((chains[chain][step], source))
        steps[chain] += 1
    return assignments

"""Tests of one shape: a context, an instruction, and an answer of some kind.

A test says what world there is, what its question names, what is right, and how that is read from the text; the prompt,
several phrasings, reading and scoring are the same for all.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from carrara.answers.contract import FINAL
from carrara.answers.kinds import Answers
from carrara.core.keys import Key
from carrara.core.types import PRESENTS, Frame, Message, Question, Style, World
from carrara.parts.answered import A, Answered, L, P
from carrara.parts.layout import INSTRUCT, OPEN, split_prompt
from carrara.text import vocabulary

WORDS: Mapping[str, object] = {"reads": vocabulary.named, "built_in": vocabulary.KINDS}
"""Metadata of the parameter `words`: `dictionary`, `common`, `gibberish`, or the path of a list of one's own."""
PHRASING = PRESENTS
"""Metadata of the parameter `phrasing`."""

FRAME: Mapping[str, str] = {
    "open": f"{OPEN}\n",
    "instruct": f"\n\n{INSTRUCT}\n",
    "rule": "",
    "answer": f"\n\n{FINAL}",
}


def wording(answers: Answers[A], *asks: str, **others: tuple[str, ...]) -> Mapping[str, str]:
    """A test's words: what it asks, in one phrasing or several, and the rule of its kind of answers.

    Where it asks different things, each has a name.
    """
    named = {**({"ask": asks} if asks else {}), **others}
    phrased = {_phrased(part, n): ask for part, several in named.items() for n, ask in enumerate(several, 1)}
    return {**FRAME, **phrased, "rule": answers.rule}


def _phrased(part: str, n: int) -> str:
    return part if n == 1 else f"{part} {n}"


class ContextTest(Answered[P, L, A]):
    keeps: ClassVar[Mapping[str, str]] = {"open": OPEN, "instruct": INSTRUCT}
    joint: ClassVar[str] = ", "
    echoes = 1 << 16

    @abstractmethod
    def fields(self, hidden: L) -> Mapping[str, str]:
        """What the question names."""

    @abstractmethod
    def gold(self, hidden: L) -> A: ...

    @abstractmethod
    def needs(self, world: World[L]) -> Sequence[int]: ...

    @abstractmethod
    def answer(self, context: str, asked: str) -> A:
        """Read the answer from the context."""

    def asks(self, hidden: L) -> str:
        """Which part of the wording asks."""
        return "ask"

    def closing(self, hidden: L) -> str:
        """What stands behind the context's last piece: an item that filler may come before."""
        return ""

    def options(self, hidden: L) -> tuple[str, ...]:
        return ()

    def chance_level(self, hidden: L, gold: A) -> float:
        """What `guess` scores on average."""
        return self.answers.chance_level(gold, self.options(hidden))

    def labels(self, hidden: L) -> Mapping[str, str]:
        """What results are sliced by."""
        return {}

    def phrasings(self, params: P) -> Sequence[int]:
        """In which of its phrasings a question is asked."""
        return (1,)

    def shown_answer(self, hidden: L, gold: A) -> Mapping[str, str]:
        """A label that gives the answer away, to slice results by."""
        return {}

    def questions(self, world: World[L], key: Key, params: P) -> Sequence[Question[A]]:
        hidden = world.structure
        gold, needs, fields = self.gold(hidden), tuple(self.needs(world)), self.fields(hidden)
        phrasings, part = self.phrasings(params), self.asks(hidden)
        chance_level = self.chance_level(hidden, gold)
        return [
            Question(
                ask=self.wording[_phrased(part, phrasing)].format(**fields),
                gold=gold,
                needs=needs,
                chance_level=chance_level,
                labels={
                    **self.labels(hidden),
                    **self.shown_answer(hidden, gold),
                    **({"phrasing": str(phrasing)} if len(phrasings) > 1 or phrasing > 1 else {}),
                },
                budget=self.answers.budget(gold),
                options=self.options(hidden),
            )
            for phrasing in phrasings
        ]

    def frame(self, world: World[L], question: Question[A], wording: Mapping[str, str], style: Style) -> Frame:
        part = _phrased(self.asks(world.structure), int(question.labels.get("phrasing", "1")))
        ask = wording[part]
        if "{" in self.wording[part]:  # a pack's braces are its own where the test has no fields
            ask = ask.format(**self.fields(world.structure))
        rule = wording["rule"]
        ending = f" {rule}" if rule and not rule.startswith("\n") else rule
        closing = self.closing(world.structure)
        return Frame(
            before=wording["open"],
            after=closing + wording["instruct"] + ask + ending + (wording["answer"] if style == "base" else ""),
            closing=len(closing),
            joint=self.joint,
            stop=("\n\n",),
        )

    def solve(self, messages: Sequence[Message]) -> A:
        return self.answer(*split_prompt(messages))

    def said_back(self, question: Question[A]) -> Sequence[str]:
        """What repeats the question says nothing by that: some have names of lists in them, or `no`."""
        return [part for part in (question.ask, self.wording["rule"]) if part]


def check_phrasing(asks: int, phrasing: Sequence[int]) -> None:
    """Raise unless phrasings are some of so many."""
    if not phrasing or not all(1 <= n <= asks for n in phrasing) or len(set(phrasing)) < len(phrasing):
        raise ValueError(f"phrasing is one or several of {', '.join(map(str, range(1, asks + 1)))}")

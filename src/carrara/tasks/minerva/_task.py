"""The base of all Minerva tasks: the layout of the prompt, phrasings, and the paper's scorer."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Literal

from carrara.answers import Copy
from carrara.answers.extraction import FINAL, behind_label
from carrara.generators import vocabulary
from carrara.task import Instance
from carrara.task.inversion import read_names
from carrara.task.suite import SuiteTask
from carrara.tasks.minerva import _published
from carrara.types import PRESENTS, Message, PromptTemplate, Question, Style, UndecidableError

OPEN, INSTRUCT = "Context:", "Instruction:"
"""The marks before the context and before the question."""
WORDS: Mapping[str, object] = {"reads": vocabulary.vocabulary_name, "built_in": vocabulary.KINDS}
"""Metadata of the parameter `words`: `dictionary`, `common`, `gibberish`, or the path of a list of one's own."""
MOST_ITEMS = 1_000_000
"""The most items or steps of a context of length 0."""

Category = Literal[
    "search",
    "recall and edit",
    "match and compare",
    "spot the differences",
    "compute on sets and lists",
    "stateful processing",
    "composite",
]
"""A category of the paper (Table 10)."""

Label = Literal["yes", "no"]


class Minerva(SuiteTask):
    category: ClassVar[Category]
    marks = {"open": OPEN, "instruct": INSTRUCT}
    separator = ", "
    echo_limit = 1 << 16
    paper_task: ClassVar[str]
    """The name of the task in the published files, whose scorer is the paper's."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PRESENTS)
    """The phrasing of the question: 1 or 2, or both for each context."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.phrasing or not {1, 2}.issuperset(self.phrasing) or len(set(self.phrasing)) < len(self.phrasing):
            raise ValueError("phrasing is one or several of 1, 2")

    @classmethod
    def _phrasings(cls) -> Mapping[str, str]:
        """Return each question in its two phrasings: the second one of `ask` is `ask 2`."""
        asks_by_part = cls.ask if isinstance(cls.ask, Mapping) else {"ask": cls.ask}
        return {_phrasing_name(part, n): ask for part, asks in asks_by_part.items() for n, ask in enumerate(asks, 1)}

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        return {
            "open": f"{OPEN}\n",
            "instruct": f"\n\n{INSTRUCT}\n",
            "rule": cls.answer.rule,
            "answer": f"\n\n{FINAL}",
            **cls._phrasings(),
        }

    def questions(self, instance: Instance) -> Sequence[Question[Any]]:
        [question] = super().questions(instance)
        several = self.phrasing != (1,)
        return [
            replace(
                question,
                ask=self.fill(self.wording, _phrasing_name(instance.ask, phrasing), instance),
                labels={**question.labels, **({"phrasing": str(phrasing)} if several else {})},
            )
            for phrasing in self.phrasing
        ]

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        ask = self.fill(wording, _phrasing_name(instance.ask, int(question.labels.get("phrasing", "1"))), instance)
        rule = wording["rule"]
        ending = f" {rule}" if rule and not rule.startswith("\n") else rule
        return PromptTemplate(
            before=wording["open"],
            after=instance.ending + wording["instruct"] + ask + ending + (wording["answer"] if style == "base" else ""),
            closing=len(instance.ending),
            separator=self.separator,
            stop=("\n\n",),
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        _, open_mark, rest = messages[-1].content.partition(OPEN)
        context, instruct_mark, asked = rest.rpartition(INSTRUCT)
        if not (open_mark and instruct_mark):
            raise UndecidableError("no context was found")
        return context.strip(), read_names(self._phrasings(), asked.strip(), wording)

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        name = self.paper_task_of(question.labels)
        text = reply if name in _published.MARKED else behind_label(reply)
        gold = question.gold
        reference = self.answer.write(gold) if isinstance(self.answer, Copy) else _published.reference(gold)
        return {"minerva": _published.primary(name, reference, text)}

    def paper_task_of(self, labels: Mapping[str, str]) -> str:
        return self.paper_task


def _phrasing_name(part: str, n: int) -> str:
    return part if n == 1 else f"{part} {n}"


def split_items(context: str) -> list[str]:
    """Return the items of a context, or of a line.

    >>> split_items("oak, elm, ash")
    ['oak', 'elm', 'ash']
    """
    return context.split(", ") if context else []


def check_number(name: str, number: int, least: int, most: int = 1000) -> None:
    """Raise ValueError unless a parameter is within its bounds."""
    if not least <= number <= most:
        raise ValueError(f"{name} goes from {least} to {most}, not {number}")


def check_share(name: str, share: float) -> None:
    """Raise ValueError unless a parameter is a share from 0 to 1."""
    if not 0 <= share <= 1:
        raise ValueError(f"{name} goes from 0 to 1, not {share:g}")

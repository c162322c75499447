"""The base of both tasks: several questions on one context, each answered by a line with a label."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from carrara.task import Instance
from carrara.task.suite import SuiteTask
from carrara.types import Message, PromptTemplate, Question, Style


class Sync(SuiteTask):
    marks = {}
    answer_labels: ClassVar[Mapping[Any, str]]
    """The label of the answer line, for each question by its name."""

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        lead = f"{self.answer_labels[question.gold.ask]}:"
        ending = wording["answer"] + lead if style == "base" else ""
        return PromptTemplate(
            before=wording["instruction"],
            after=wording["close"] + wording["question"].format(ask=question.ask) + wording[question.gold.ask] + ending,
            separator=self.separator,
            stop=("\n",),
            lead=lead,
        )

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        return ()


def split_question(messages: Sequence[Message]) -> tuple[str, str]:
    """Return the context of a prompt, and the question after it."""
    context, _, asked = messages[-1].content.rpartition("Question: ")
    return context, asked


def is_due(place: int, share: float) -> bool:
    """Return whether the instance at a place belongs to a share, so that any run of instances has that share."""
    return int((place + 1) * share + 0.5) > int(place * share + 0.5)

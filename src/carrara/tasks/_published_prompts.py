"""The base of tasks whose prompts and answers are read from published files, and sent as they are."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from carrara.task import Instance, Rng
from carrara.task.suite import SuiteTask
from carrara.types import LengthBudget, Message, PromptTemplate, Question, Style, UndecidableError
from carrara.util.errors import UsageError


class PublishedPrompts(SuiteTask):
    """A task with an item for each row of its files. The text is not solved: the gold answer is the file's."""

    wording = {}
    file: ClassVar[str]
    """The name that the publishers gave the file or its task."""
    data: str = field(default="", metadata={"reads": str, "built_in": ()})
    """The files, by their hash."""

    @abstractmethod
    def rows(self, length: int) -> Sequence[Any]:
        """Return the rows of a length."""

    @abstractmethod
    def pose(self, row: Any) -> Instance:
        """Return the instance of a row."""

    def given_count(self, length: int) -> int | None:
        return len(self.rows(length))

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        assert budget is not None
        rows, index = self.rows(budget.tokens), rng.key.index
        if index >= len(rows):
            raise UsageError(f"the published files of {rng.key.task} have {len(rows)} rows, and none numbered {index}")
        return self.pose(rows[index])

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        return PromptTemplate("", "")

    def solve(self, context: str, names: Mapping[str, str]) -> Any:
        raise UndecidableError("published prompts are not solved from their text: their answers are the file's")

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        return messages[-1].content, {}

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        return ()

"""Tasks in several languages: the parameter `language`.

Replies are read by the same rules in every language, because what is asked for are numbers, codes and names. The rules
know no other language's words for *not* or *perhaps*.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from carrara.answers.extraction import Extraction
from carrara.task.suite import SuiteTask
from carrara.types import Language, Question


class MultilingualTask(SuiteTask):
    """A task whose prompts are in one of several languages.

    A task in another language than English has attributes of its own, such as `wording`, in place of its class's.
    """

    language: Language = "en"
    """Prompt, facts and filler are English, Chinese (`zh`), German (`de`) or Spanish (`es`)."""

    def __post_init__(self) -> None:
        if self.language != "en":
            for name, value in self.translation().items():
                object.__setattr__(self, name, value)
        super().__post_init__()

    def translation(self) -> Mapping[str, Any]:
        """Return the attributes that differ in the task's language."""
        raise NotImplementedError

    def read(self, reply: str, question: Question[Any]) -> Extraction | None:
        """Return the answer of a reply, and the rule that found it.

        In English, a sentence with a capitalized name that the question lacks is about somebody else. German nouns all
        have capital letters, so outside of English the question is read as one without names.
        """
        return super().read(reply, question if self.language == "en" else replace(question, ask=question.ask.lower()))

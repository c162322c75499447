"""Tasks in several languages: the parameter `language`, and reading replies in the language of the prompt."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from carrara.answers.cues import sentences
from carrara.answers.extraction import Extraction
from carrara.answers.reply_text import own_text, without_reasoning
from carrara.answers.translation import in_english
from carrara.task import Task
from carrara.types import Language, Question
from carrara.util.unicode import WORD_END, WORD_START


class MultilingualTask(Task):
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

    def people(self) -> Collection[str]:
        """Return the names by which a reply may speak of somebody else than the question."""
        return ()

    def read(self, reply: str, question: Question[Any]) -> Extraction | None:
        """Return the answer of a reply in the task's language, or in English, and the rule that found it.

        Capital letters do not make a name here, because German nouns have them. So a sentence is about somebody else if
        it has one of the names of `people`, and none that the question has.
        """
        return super().read(*self._in_english(reply, question))

    def read_impossible(self, reply: str, question: Question[Any]) -> Extraction | None:
        return super().read_impossible(*self._in_english(reply, question))

    def _in_english(self, reply: str, question: Question[Any]) -> tuple[str, Question[Any]]:
        """Return a reply and its question with English cue phrases."""
        if self.language == "en":
            return reply, question
        text = without_reasoning(reply)
        for part in self.not_answers(question):
            text = text.replace(part, " ")
        text = self._without_others(own_text(in_english(text, self.language)), question)
        return text, replace(question, ask=in_english(question.ask.lower(), self.language))

    def _without_others(self, text: str, question: Question[Any]) -> str:
        """Return a text without the sentences about other people than the question's."""
        names = _pattern(tuple(self.people())) if self.people() else None
        if names is None or not (asked := {*names.findall(question.ask)}):
            return text
        for sentence in sentences(text):
            named = {*names.findall(sentence)}
            if named and named.isdisjoint(asked):
                text = text.replace(sentence, " ")
        return text


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"{WORD_START}(?:{'|'.join(map(re.escape, names))}){WORD_END}")

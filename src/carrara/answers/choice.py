"""Answers from a closed list: places, people, yes and no, the name of a list.

>>> from carrara.types import Question
>>> where = Question("Where is Mary?", "garden", (), 0.0, options=("garden", "kitchen"))
>>> Choice().read("Mary is in the Garden.", where), Choice().read("The garden or the kitchen.", where)
(Extraction(answer='garden', rule='only value'), None)
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from carrara.answers.cues import affirmative_sentences, sentences
from carrara.answers.extraction import asks_for
from carrara.answers.types import AROUND, AnswerType
from carrara.types import Question
from carrara.util.unicode import WORD_END, WORD_START

_LEAD = re.compile(
    r"(?:(?:it|that|he|she|they|this|there)(?:'s| is| was| are)? |(?:in|at|to|on|of|is|the|an?|option|choice) )+",
    re.IGNORECASE,
)


class _Words(NamedTuple):
    """The words for the options in lower case, and a pattern that finds them."""

    meaning: Mapping[str, str]
    pattern: re.Pattern[str]

    def find(self, text: str) -> Iterator[str]:
        for match in self.pattern.finditer(text):
            yield self.look_up(match[0])

    def look_up(self, text: str) -> str:
        """Return the option for a word. A pattern that ignores case takes `ı` for an i, which `lower` does not."""
        text = " ".join(text.split())
        return self.meaning.get(text.lower()) or next(
            option for word, option in self.meaning.items() if re.fullmatch(re.escape(word), text, re.IGNORECASE)
        )


@lru_cache(maxsize=256)
def _words(synonyms: tuple[tuple[str, str], ...]) -> _Words:
    meaning = dict(synonyms)
    longest_first = sorted(meaning, key=lambda word: (-len(word), word))
    words = "|".join(re.escape(word).replace(r"\ ", r"\s{1,3}") for word in longest_first)
    return _Words(meaning, re.compile(rf"{WORD_START}(?:{words}){WORD_END}", re.IGNORECASE))


class Choice(AnswerType[str]):
    """One of the question's options.

    Examples:
        >>> from carrara.task import Question
        >>> from carrara.answers import Choice
        >>> q = Question("Where is Mary?", "garden", evidence=[], chance_level=0.5, options=("garden", "kitchen"))
        >>> Choice().read("Mary is in the Garden.", q).answer
        'garden'
    """

    noun = "a text"

    def __init__(self, *options: object, **settings: object) -> None:
        if options or settings:
            raise TypeError(f"{type(self).__name__}() takes no arguments: give the options as `Instance.options`")

    def takes(self, answer: object) -> bool:
        return isinstance(answer, str)

    def write(self, answer: str) -> str:
        return answer

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        """Return the words that count as an option, in lower case, and the option that each stands for.

        Args:
            options: The options.

        Returns:
            The option, by the word.
        """
        return {option.lower(): option for option in options}

    def words(self, options: Sequence[str]) -> _Words:
        """Return the words that count as an option, with a pattern that finds them.

        Args:
            options: The options.

        Returns:
            The words.
        """
        return _words(tuple(self.synonyms(options).items()))

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        words = self.words(question.options).meaning
        stripped_text = text.strip(AROUND).lower()
        if stripped_text in words:
            return words[stripped_text]
        lead = _LEAD.match(stripped_text)
        return words.get(stripped_text[lead.end() :].strip(AROUND)) if lead else None

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        """Return the options that the text names and the question does not."""
        words = self.words(question.options)
        options_in_question = set(words.find(question.ask))
        return (
            option
            for sentence in affirmative_sentences(text, question)
            for option in words.find(sentence)
            if option not in options_in_question
        )

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return options or ("unknown",)


# --- yes and no ---

VERDICTS = {"yes": "yes", "yeah": "yes", "true": "yes", "no": "no", "nope": "no", "false": "no", "maybe": "maybe"}
_VERDICT = re.compile(r"(?<![\w-])(?<!not )(yes|yeah|nope|no|maybe)\b(?=\s?[^\w\s]|\s?$)", re.IGNORECASE | re.MULTILINE)
_EITHER = re.compile(r"\byes\b\W{1,3}(?:(?:and|n?or)\W{1,3})?no\b", re.IGNORECASE)


_WORDS = re.compile(r"[\w-]+")
_VERBS = frozenset(("is", "does", "are", "do", "isn", "doesn", "aren", "t", "currently", "now"))


def _find_restated_verdict(sentence: str, ask: str) -> str | None:
    """Return the verdict of a sentence that restates the question: yes, or no if it denies it.

    >>> _find_restated_verdict("The sphere isn't above the box.", "Is the sphere above the box?")
    'no'
    """
    sentence_words, question_words = (
        [word.removesuffix("s") for word in _WORDS.findall(text.lower()) if word not in _VERBS]
        for text in (sentence, ask)
    )
    if sentence_words == question_words:
        return "no" if "n't" in sentence else "yes"
    return (
        "no"
        if "not" in sentence_words and [word for word in sentence_words if word != "not"] == question_words
        else None
    )


_LEFT_OPEN = ("if ", "cannot", "can't", "neither", "not sure", "unsure")
"""Phrases of a sentence that names a verdict and leaves it open."""


class YesNo(AnswerType[str]):
    """Yes or no, or one of several verdicts.

    Args:
        verdicts: The verdicts, such as `"yes", "no", "maybe"`. By default yes and no.

    Examples:
        >>> from carrara.task import Question
        >>> from carrara.answers import YesNo
        >>> q = Question("Is the box above the sphere?", "yes", evidence=[], chance_level=0.5)
        >>> YesNo().read("Yes, it is.", q).answer
        'yes'
    """

    rule = asks_for("yes or no")
    says_no = True
    noun = "the text 'yes' or 'no'"

    def __init__(self, *verdicts: str) -> None:
        self.verdicts = verdicts or ("yes", "no")

    def takes(self, answer: object) -> bool:
        return answer in self.verdicts

    def write(self, answer: str) -> str:
        return answer

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        verdict = VERDICTS.get(text.strip(AROUND).lower())
        return verdict if verdict in self.verdicts else None

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        """Return each yes and no that ends a clause, and yes or no if the question is restated or denied."""
        if _EITHER.search(text):
            return iter(self.verdicts)
        decided_sentences = [
            sentence for sentence in sentences(text.strip()) if not any(word in sentence.lower() for word in _LEFT_OPEN)
        ]
        verdicts = [VERDICTS.get(word.lower()) for sentence in decided_sentences for word in _VERDICT.findall(sentence)]
        restated_verdict = (
            _find_restated_verdict(decided_sentences[-1], sentences(question.ask)[-1]) if decided_sentences else None
        )
        return (verdict for verdict in (*verdicts, restated_verdict) if verdict in self.verdicts)

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return self.verdicts

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"always yes": "yes", "yes or no": "yes or no"}


# --- names whose last word may stand alone ---


class OneOf(Choice):
    """One of the question's options, whose last word may stand alone, such as `C` for `Agent C`.

    Examples:
        >>> from carrara.task import Question
        >>> from carrara.answers import OneOf
        >>> q = Question("Who has the key?", "Agent C", evidence=[], chance_level=0.5, options=("Agent B", "Agent C"))
        >>> OneOf().read("FINAL ANSWER: C", q).answer
        'Agent C'
    """

    rule = asks_for("that name")

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        if (exact_match := super().parse_value(text, question)) is not None:
            return exact_match
        last = {option.rpartition(" ")[2].lower(): option for option in question.options}
        return last.get(text.strip(AROUND).lower())

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"every name": ", ".join(question.options)}


class ListName(OneOf):
    """The name of a list, such as `List 3`, or `no` for none of the lists.

    Examples:
        >>> from carrara.task import Question
        >>> from carrara.answers import ListName
        >>> lists = ("List 1", "List 2", "no")
        >>> q = Question("Which list has oak?", "List 1", evidence=[], chance_level=0.3, options=lists)
        >>> ListName().read("It is in List 1.", q).answer
        'List 1'
    """

    rule = asks_for('the name of that list, such as "List 1"')

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        """Return the lists that the text names. A `no` among other words may be about one of them."""
        return (name for name in super().find_values(text, question) if name != "no")

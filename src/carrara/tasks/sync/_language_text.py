"""The text on invented languages, its questions and their answers: written, and read back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from carrara.answers import AnswerType
from carrara.answers.cues import NOT_AN_ANSWER
from carrara.tasks.sync._language_generator import Coverage, count_letters, first_letters
from carrara.tasks.sync._languages import Dictionary, Languages
from carrara.types import ErrorType, Question, UndecidableError

Ask = Literal["single", "multi", "coverage"]
"""The name of a question."""

_DICTIONARY = re.compile(r"^Dictionary from LL([0-9]+) to LL([0-9]+): ([^\n]+)\.$", re.MULTILINE)
_TRANSLATION = re.compile(r'What is the translation of "([a-z ]+)" from LL([0-9]+) to LL([0-9]+)\?')
_COVERAGE = (
    "Which three words of LL0, taken together, have translations that begin with the greatest number of different "
    "letters?"
)


class Query(NamedTuple):
    """The kind of a question: a translation of words, or the letter coverage."""

    ask: Ask
    words: tuple[str, ...] = ()
    source: int = 0
    target: int = 0

    def __str__(self) -> str:
        if self.ask == "coverage":
            return _COVERAGE
        return f'What is the translation of "{" ".join(self.words)}" from {_name(self.source)} to {_name(self.target)}?'


def _name(language: int) -> str:
    return f"LL{language}"


def write_opening(languages: int) -> str:
    names = [_name(language) for language in range(languages)]
    return f"The languages are {', '.join(names[:-1])} and {names[-1]}."


def write_dictionary(source: int, dictionary: Dictionary) -> str:
    entries = "; ".join(f"{word} -> {translation}" for word, translation in dictionary.items())
    return f"Dictionary from {_name(source)} to {_name(source + 1)}: {entries}."


def write_vocabulary(language: int, words: Sequence[str]) -> str:
    return f"The vocabulary of {_name(language)}: {', '.join(words)}."


def write_some_words(language: int, words: Sequence[str]) -> str:
    """Write a part of a vocabulary, which makes up a length."""
    return f"Some words of {_name(language)}: {', '.join(words)}."


def read_dictionaries(context: str) -> Mapping[int, Dictionary]:
    """Return the dictionaries of a rendered text, by the language that they start from."""
    dictionaries: dict[int, Dictionary] = {}
    for source, target, entries in _DICTIONARY.findall(context):
        if int(target) != int(source) + 1 or int(source) in dictionaries:
            raise UndecidableError(f"a dictionary from {source} to {target} was not expected")
        dictionaries[int(source)] = dict(entry.split(" -> ") for entry in entries.split("; "))
    return dictionaries


def read_query(line: str) -> Query:
    """Return what the line of a question asks."""
    if line == _COVERAGE:
        return Query("coverage")
    if match := _TRANSLATION.fullmatch(line):
        source, target = int(match[2]), int(match[3])
        return Query("single" if target == source + 1 else "multi", tuple(match[1].split()), source, target)
    raise UndecidableError("no question was found")


LABELS: Mapping[Ask, str] = {"single": "Translation", "multi": "Translation", "coverage": "Letter Coverage"}


@dataclass(frozen=True)
class HiddenLanguages:
    """The hidden languages, and what is asked about them."""

    languages: Languages
    coverage: Coverage
    queries: Mapping[Ask, Query]


@dataclass(frozen=True)
class Answer:
    """A translation, or three words in the order of the alphabet."""

    ask: Ask
    words: tuple[str, ...]
    hidden: HiddenLanguages | None = field(default=None, compare=False, repr=False)
    """The structure of a gold answer, as any other three words that cover as much are right too."""


_QUOTED = re.compile(r'"([^"\n]+)"')
_INVENTED = re.compile(r"(?<![a-z0-9])[a-z]+(?![a-z0-9])")
_PARTS: Mapping[Ask, re.Pattern[str]] = {ask: re.compile("\n" if ask == "coverage" else r"[,;\n]") for ask in LABELS}
_SIDES = re.compile(r"\s?[→:=]\s?")
_BETWEEN = re.compile(r"(?:[\s,;.|+&\"'()•-]|\band\b|[0-9]{1,2}[.)])*")


class WordAnswer(AnswerType[Answer]):
    """The answer type: a labelled line with words."""

    several_lines = True

    def label_of(self, question: Question[Answer]) -> str:
        return LABELS[question.gold.ask]

    def write(self, answer: Answer) -> str:
        return f"{LABELS[answer.ask]}: {(', ' if answer.ask == 'coverage' else ' ').join(answer.words)}"

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        ask, text = question.gold.ask, text.lower().replace(" and ", ", ")
        words = tuple(_INVENTED.findall(text := _without_sources(ask, text)))
        is_alone = _BETWEEN.fullmatch(_INVENTED.sub("", text)) and NOT_AN_ANSWER.isdisjoint(words)
        is_one_phrase = ask == "coverage" or all(len(_INVENTED.findall(line)) < 2 for line in text.splitlines()[1:])
        if not (words and is_alone and is_one_phrase):
            return None
        return Answer(ask, tuple(sorted(words)) if ask == "coverage" else words)

    def find_values(self, text: str, question: Question[Answer]) -> Iterator[Answer]:
        """Return the answers that stand in quotes and not in the question."""
        quotes = (quote for quote in _QUOTED.findall(text) if quote not in question.ask)
        return (answer for quote in quotes if (answer := self.parse_value(quote, question)) is not None)

    def score(self, answer: Answer, gold: Answer) -> float:
        return float(find_error(answer, gold) is None)


def _without_sources(ask: Ask, text: str) -> str:
    """Return the translations of a text that gives one for each word, or the words themselves if these are asked for.

    >>> _without_sources("single", "oak → eiche, elm → ulme"), _without_sources("coverage", "oak: e, c\\nelm: u, r")
    ('eiche, ulme', 'oak, elm')
    """
    sides = [_SIDES.split(part) for part in _PARTS[ask].split(text)]
    if len(sides) < 2 or any(len(side) < 2 for side in sides):
        return text
    return ", ".join(side[0 if ask == "coverage" else -1] for side in sides)


def find_error(answer: Answer, gold: Answer) -> ErrorType | None:
    """Return in what way a translation or a choice of words is wrong; None if it is right."""
    assert gold.hidden is not None
    if gold.ask == "coverage":
        return _coverage_error(answer.words, gold.hidden)
    return _translation_error(answer.words, gold.words, gold.hidden.queries[gold.ask])


def _coverage_error(words: Sequence[str], hidden: HiddenLanguages) -> ErrorType | None:
    different, best = set(words), hidden.coverage.size
    if len(words) != 3 or len(different) != 3:
        return ErrorType("not three words", f"{len(different)} different ones")
    if unknown := different.difference(hidden.languages.vocabularies[0]):
        return ErrorType("unknown words", ", ".join(sorted(unknown)))
    size = count_letters(first_letters(hidden.languages.dictionaries), words)
    return ErrorType("fewer letters", f"{size} of {best}") if size < best else None


def _translation_error(words: Sequence[str], gold: Sequence[str], query: Query) -> ErrorType | None:
    if words == gold:
        return None
    if len(words) != len(gold):
        return ErrorType("other number of words", f"{len(words)} for {len(gold)}")
    if sorted(words) == sorted(gold):
        return ErrorType("other order")
    if untranslated := [word for word in words if word in query.words]:
        return ErrorType("words not translated", ", ".join(untranslated))
    wrong = sum(word != right for word, right in zip(words, gold, strict=True))
    return ErrorType("wrong words", f"{wrong} of {len(gold)}")

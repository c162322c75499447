"""Write the text on invented languages, and read it back."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from carrara.tasks.sync._languages import Dictionary
from carrara.types import UndecidableError

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
    if found := _TRANSLATION.fullmatch(line):
        source, target = int(found[2]), int(found[3])
        return Query("single" if target == source + 1 else "multi", tuple(found[1].split()), source, target)
    raise UndecidableError("no question was found")

"""What a text on invented languages says, and how it is read back."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from carrara.core.types import Undecidable
from carrara.tasks.sync._tongues import Dictionary

Ask = Literal["single", "multi", "coverage"]

_DICTIONARY = re.compile(r"^Dictionary from LL([0-9]+) to LL([0-9]+): ([^\n]+)\.$", re.MULTILINE)
_TRANSLATION = re.compile(r'What is the translation of "([a-z ]+)" from LL([0-9]+) to LL([0-9]+)\?')
_COVERAGE = (
    "Which three words of LL0 have translations that begin with the greatest number of different letters, all three "
    "taken together?"
)


def name(language: int) -> str:
    return f"LL{language}"


def opening(languages: int) -> str:
    names = [name(language) for language in range(languages)]
    return f"The languages are {', '.join(names[:-1])} and {names[-1]}."


def dictionary(source: int, pairs: Dictionary) -> str:
    entries = "; ".join(f"{word} -> {translation}" for word, translation in pairs.items())
    return f"Dictionary from {name(source)} to {name(source + 1)}: {entries}."


def vocabulary(language: int, words: Sequence[str]) -> str:
    return f"The vocabulary of {name(language)}: {', '.join(words)}."


def some_words(language: int, words: Sequence[str]) -> str:
    """A part of a vocabulary, for the rest of a length."""
    return f"Some words of {name(language)}: {', '.join(words)}."


class Asked(NamedTuple):
    ask: Ask
    words: tuple[str, ...] = ()
    source: int = 0
    target: int = 0

    def __str__(self) -> str:
        if self.ask == "coverage":
            return _COVERAGE
        return f'What is the translation of "{" ".join(self.words)}" from {name(self.source)} to {name(self.target)}?'


def dictionaries(context: str) -> Mapping[int, Dictionary]:
    """Return the dictionaries of a rendered text, by the language that they start from."""
    found: dict[int, Dictionary] = {}
    for source, target, entries in _DICTIONARY.findall(context):
        if int(target) != int(source) + 1 or int(source) in found:
            raise Undecidable(f"a dictionary from {source} to {target} was not expected")
        found[int(source)] = dict(entry.split(" -> ") for entry in entries.split("; "))
    return found


def read_question(line: str) -> Asked:
    """Return what the line of a question asks."""
    if line == _COVERAGE:
        return Asked("coverage")
    if found := _TRANSLATION.fullmatch(line):
        source, target = int(found[2]), int(found[3])
        return Asked("single" if target == source + 1 else "multi", tuple(found[1].split()), source, target)
    raise Undecidable("no question was found")

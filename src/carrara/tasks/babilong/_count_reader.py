r"""Read how many things somebody carries (task 7), and which (task 8).

>>> count("Mary picked up three objects and dropped one, so she has two."), count("No one knows.")
('two', None)
>>> things(("apple", "milk", "nothing"), "- the milk\n- an apple"), things(("apple", "nothing"), "Her hands are empty.")
('milk,apple', 'nothing')
"""

import re
from collections.abc import Callable, Iterator, Sequence

from carrara.answers.choices import latest
from carrara.answers.layout import tidy
from carrara.answers.numbers import find_numbers
from carrara.answers.reading import Found, agreed, said
from carrara.tasks.babilong._roles import ANY, Roles
from carrara.tasks.babilong._words import NOTHING, NUMBERS

_KINDS = r"(?:objects?|items?|things?)"
_EMPTY = re.compile(
    r"(?:\bnot|n['’]t|\bno longer)"
    r"(?P<has> (?:(?:currently|now) )?(?:carr(?:y|ies|ying)|hold(?:s|ing)?|has|have|having))"
    rf" (?:any(?:thing| {_KINDS})|a single {_KINDS})\b"
    rf"|\bno {_KINDS}\b|\bempty[- ]handed\b|\bhands are empty\b",
    re.IGNORECASE,
)
_NONE = re.compile(r"\b(?:nothing|none|zero)\b(?! of which\b)", re.IGNORECASE)
_NUMBER = re.compile(
    rf"(?<![\w-])(?<!\bno )(?<!\bthe )(?<!\bthis )(?<!\bthat )(?:a )?(single|{'|'.join(NUMBERS[1:])})"
    rf"(?![\w'’-])(?! (?:of|by)\b)(?: {_KINDS}\b)?",
    re.IGNORECASE,
)
_LONGEST = 300
"""Characters of an answer at most."""
_AND = (
    r"(?:[^\S\n]|\n(?!\s*\n)|[,;&+*•\"'’`$\[\]-]"
    r"|\b(?:and|the|an?|also|plus|both|as well as|along with|[0-9]{1,2}[.)])(?!\w))*+"
)


def count(text: str, roles: Roles = ANY) -> str | None:
    """Return the number that a text states, in words; it may be more than anybody can carry."""
    return _read(_write_nothing(text), _find_counts, roles)


def things(options: Sequence[str], text: str, roles: Roles = ANY) -> str | None:
    """Return the things that a text states, in its order, each once; or `nothing`."""
    words = "|".join(re.escape(word) for word in sorted(options, key=len, reverse=True) if word != NOTHING)
    one = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
    several = re.compile(rf"(?:\b(?:the|an?)\s)?{one.pattern}(?:{_AND}{one.pattern})*", re.IGNORECASE)

    def listed(found: re.Match[str]) -> str:
        return ",".join(dict.fromkeys(thing.lower() for thing in one.findall(found[0])))

    def find(part: str) -> Iterator[Found[str]]:
        found = [Found(match.start(), match.end(), listed(match)) for match in several.finditer(part)]
        found += [Found(match.start(), match.end(), NOTHING) for match in _NONE.finditer(part)]
        yield from sorted(found)

    # A list may take several lines: it is put on one before lines are looked at.
    return _read(several.sub(listed, _write_nothing(text)), find, roles)


def _write_nothing(text: str) -> str:
    return _EMPTY.sub(lambda found: f"{found['has'] or ''} {NOTHING}", text)


def _read(text: str, find: Callable[[str], Iterator[Found[str]]], roles: Roles) -> str | None:
    def whole(part: str) -> str | None:
        found = next(find(part), None) if len(part) <= _LONGEST else None
        return found.answer if found and (found.start, found.end) == (0, len(part)) else None

    meant = roles.meant(find)
    return agreed(
        said(tidy(text), whole, meant, lambda part: roles.claimed(part, meant), lambda part: latest(part, meant))
    )


def _find_counts(text: str) -> Iterator[Found[str]]:
    found = [Found(match.start(), match.end(), NUMBERS[0]) for match in _NONE.finditer(text)]
    for match in _NUMBER.finditer(text):
        word = match[1].lower()
        found.append(Found(match.start(), match.end(), "one" if word == "single" else word))
    for digits in find_numbers(text):
        known = 0 <= digits.answer < len(NUMBERS)
        found.append(Found(digits.start, digits.end, NUMBERS[digits.answer] if known else str(digits.answer)))
    yield from sorted(found)

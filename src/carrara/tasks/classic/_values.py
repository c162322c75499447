"""Kinds of values in the text: numbers, UUIDs and names. Each kind draws a value and finds values in a reply."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice

from carrara.rng import Rng
from carrara.tasks.classic._words import CONSONANTS, NAMINGS, Naming
from carrara.types import Language
from carrara.util.unicode import WORD_END, WORD_START


@dataclass(frozen=True)
class Kind:
    word: str
    """The noun for it in the text."""
    draw: Callable[[Rng], str]
    pattern: re.Pattern[str]
    normal: Callable[[str], str]
    tokens: int
    """The most tokens of a value in a reply, by any tokenizer."""
    ways: int
    """The number of different values, which are drawn equally often."""

    def find(self, text: str) -> Iterator[str]:
        """Return the values in a text."""
        return (self.normal(match[0]) for match in self.pattern.finditer(text))

    def whole(self, text: str) -> str | None:
        return self.normal(text) if self.pattern.fullmatch(text) else None

    def distinct(self, rng: Rng, count: int, taken: Iterable[str] = ()) -> tuple[str, ...]:
        """Draw `count` different values, none of which is taken already."""
        values = dict.fromkeys(taken)
        before = len(values)
        while len(values) < before + count:
            values[self.draw(rng)] = None
        return tuple(islice(values, before, None))


def _uuid(rng: Rng) -> str:
    """Return a random UUID of version 4, with its six fixed bits."""
    a, b, c, version, variant, d, e, f = [int(rng.random() * 0x10000) for _ in range(8)]
    version, variant = version & 0x0FFF | 0x4000, variant & 0x3FFF | 0x8000
    return f"{a:04x}{b:04x}-{c:04x}-{version:04x}-{variant:04x}-{d:04x}{e:04x}{f:04x}"


def number(digits: int) -> Kind:
    """Return the kind of whole numbers with so many digits, which a reply may write in groups of three."""
    head = (digits - 1) % 3 + 1
    groups = (digits - head) // 3
    signs = ",. " if groups > 1 else ","  # 12.345 may be a decimal number
    grouped = "|".join(f"[0-9]{{{head}}}(?:[{sign}][0-9]{{3}}){{{groups}}}" for sign in signs)
    return Kind(
        "number",
        lambda rng: str(rng.between(10 ** (digits - 1), 10**digits - 1)),
        re.compile(
            rf"{WORD_START}(?<![.+])(?:{grouped}|[0-9]{{{digits}}}){WORD_END}(?!%|\.[0-9]|,[0-9]{{3}}(?![0-9]))"
        ),
        lambda text: re.sub("[,. ]", "", text),
        2 * digits,
        9 * 10 ** (digits - 1),
    )


def letters(word: str, size: int, cased: Callable[[str], str]) -> Kind:
    """Return the kind of codes with so many letters, none of them a vowel."""
    return Kind(
        word,
        lambda rng: cased("".join([rng.choice(CONSONANTS) for _ in range(size)])),
        # ASCII: “ſ” is no other case of “s” here
        re.compile(rf"{WORD_START}(?a:[{CONSONANTS}]{{{size}}}){WORD_END}", re.IGNORECASE),
        cased,
        2 * size,
        len(CONSONANTS) ** size,
    )


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern for some words, grouped by first letter, which makes it ten times as fast."""
    groups = groupby(sorted(words), key=lambda word: word[0])
    return "|".join(f"{first}(?:{'|'.join(word[1:] for word in group)})" for first, group in groups)


NUMBER = number(7)
CODE = Kind(
    "code",
    _uuid,
    re.compile(rf"{WORD_START}[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}{WORD_END}", re.I),
    str.lower,
    40,
    1 << 122,
)


def _name(naming: Naming) -> Kind:
    adjectives, noun = f"(?:{_any_of(naming.adjectives)})", f"(?:{_any_of(naming.nouns)})"
    joint = r"(?:[- _]|\\_?)" if naming.joint else ""
    adjective_part = f"(?:{joint}{adjectives}){{1,4}}" if naming.noun_first else f"(?:{adjectives}{joint}){{1,4}}"
    name = noun + adjective_part if naming.noun_first else adjective_part + noun
    return Kind(
        "name",
        naming.draw,
        re.compile(rf"{WORD_START}{name}{WORD_END}", re.IGNORECASE),
        lambda text: naming.spell(re.sub(r"[ _\\]+", "-", text.lower())),
        12,
        len(naming.adjectives) * len(naming.nouns),
    )


NAMES: Mapping[Language, Kind] = {language: _name(naming) for language, naming in NAMINGS.items()}
NAME = NAMES["en"]

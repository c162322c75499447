"""A template filler: it fills the sentence patterns of a voice with material of a topic.

It repeats nothing if it can choose. The material stands in text files of sections with one entry a line. A topic's file
has facts, things, verse lines and so on, each of a kind that fits a slot. A voice's file has patterns with such slots.
A file begins with its name in requests: `a poem about the Moon`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from carrara.generators.people import CITIES, NAMES, short
from carrara.rng import Rng

_SECTION = re.compile(r"\[([a-z]+)\]")


@dataclass(frozen=True)
class TemplateBank:
    name: str
    entries: Mapping[str, tuple[str, ...]]
    """The entries by section."""


@cache
def stock(kind: str, file: str) -> TemplateBank:
    lines = (files("carrara.generators") / kind / f"{file}.txt").read_text("utf-8").splitlines()
    entries: dict[str, list[str]] = {}
    section_lines: list[str] = []
    for line in filter(None, lines[1:]):
        if section := _SECTION.fullmatch(line):
            section_lines = entries.setdefault(section[1], [])
        else:
            section_lines.append(line)
    return TemplateBank(lines[0].removeprefix("name: "), {kind: tuple(entry) for kind, entry in entries.items()})


@cache
def stocks(kind: str) -> dict[str, str]:
    """Return all banks of a kind: the file of each name, in the order of the names."""
    file_by_name = {}
    for file in (files("carrara.generators") / kind).iterdir():
        with file.open(encoding="utf-8") as lines:
            file_by_name[next(iter(lines)).strip().removeprefix("name: ")] = file.name.removesuffix(".txt")
    return dict(sorted(file_by_name.items()))


Words = frozenset[str]

_ANYWHERE = {"name": NAMES, "city": CITIES}
_SLOT = re.compile(r"\{(\w+)\}")
_SPOKEN = re.compile(r'\.(?=" [a-z])')
"""A quotation that goes on. `"I know." said the cook` would be wrong."""


class TemplateFiller:
    def __init__(self, rng: Rng, topic: TemplateBank, voice: TemplateBank, mood: TemplateBank | None) -> None:
        self.rng = rng
        self.topic, self.voice, self.mood = topic, voice, mood
        self._used: dict[int, set[int]] = {}
        """Drawn positions, by the identity of the list, which is faster to look up than its content."""
        self._casts: dict[tuple[str, ...], tuple[str, ...]] = {}
        """All people so far, so that the same people are the same options again."""
        self._cast: tuple[str, ...] = ()
        self._met: set[str] = set()

    def material(self, kind: str, used_words: Words = frozenset()) -> str:
        """Return material of the topic that repeats nothing in the sentence."""
        if kind == "topic":
            return self.topic.name
        if kind in _ANYWHERE:
            return self._draw(kind, _ANYWHERE[kind])
        if kind == "person" and self._cast:
            return self._name_of(self._draw(kind, self._cast, used_words))
        return self._draw(kind, self.topic.entries[kind], used_words)

    def say(self, kind: str, but: str = "") -> str:
        """Return a sentence of the voice that repeats none of some words."""
        return self.fill(self._draw(kind, self.voice.entries[kind]), but)

    def feel(self, kind: str) -> str:
        """Return a sentence of the mood, or of the voice if there is none."""
        return self.fill(self._draw(kind, (self.mood or self.voice).entries[kind]))

    def fill(self, pattern: str, but: str = "") -> str:
        slots, end, used_words = _parse(pattern)
        if not slots:
            return pattern
        if but:
            used_words |= _words(but.lower())
        filled = ""
        for before, kind, capital, last in slots:
            text = self.material(kind, used_words)
            if not last:
                used_words |= _distinctive_words(kind, text)
            filled += f"{before}{text[0].upper()}{text[1:]}" if capital else before + text
        filled += end
        return _SPOKEN.sub(",", filled) if '."' in filled else filled

    def cast(self, people: Sequence[str]) -> None:
        """Set the people of the following sentences. Somebody who was named in full is named shortly afterwards."""
        self._cast = self._casts.setdefault(tuple(people), tuple(people))

    def meet(self, people: Sequence[str]) -> None:
        """Mark people as named in full."""
        self._met.update(people)

    def people(self, count: int) -> list[str]:
        """Return people whose names cannot be confused."""
        people_by_short_name: dict[str, str] = {}
        for person in self.rng.shuffled(self.topic.entries["person"]):
            if len(people_by_short_name) < count:
                people_by_short_name.setdefault(short(person), person)
        return list(people_by_short_name.values())

    def others(self, people: Sequence[str]) -> list[str]:
        """Return all people who cannot be confused with any of these."""
        names = {short(person) for person in people}
        return [person for person in self.topic.entries["person"] if short(person) not in names]

    def _name_of(self, person: str) -> str:
        if person in self._met:
            return short(person)
        self._met.add(person)
        return person

    def _draw(self, kind: str, options: Sequence[str], used_words: Words = frozenset()) -> str:
        used, random, count = self._used.setdefault(id(options), set()), self.rng.random, len(options)
        if len(used) >= count:
            used.clear()
        for tried in _TRIES:
            while (place := int(random() * count)) in used and tried < _NEW:
                pass
            if not used_words or used_words.isdisjoint(_distinctive_words(kind, options[place])):
                break
        used.add(place)
        return options[place]


_TRIES, _NEW = range(12), 8
"""The number of draws before a repeated word is accepted. The last draws may return used material too."""
_DEEDS = frozenset(("act", "did", "doing"))
_WORD = re.compile(r"[a-z]{4,}")
_WHEN = re.compile(
    r"\b(?:(?:minute|hour|day|night|week|month|year|spring|summer|autumn|winter|morning|noon|afternoon|evening)s?"
    r"|midnight|sunrise|sunset|dawn|daily|dusk|yesterday|today|tonight|tomorrow|morrow|breakfast|lunch|supper"
    r"|(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)days?|January|March|April|June|July|August|October|twelvemonth"
    r"|at (?:two|three|four|five|six|half|first light))\b"
)
_LITTLE = frozenset((
    "about", "been", "could", "does", "down", "from", "have", "here", "into", "like", "more", "most",
    "must", "other", "others", "over", "said", "shall", "should", "some", "such", "than", "that", "their",
    "them", "then", "there", "these", "they", "this", "those", "through", "upon", "were", "what", "when",
    "where", "which", "while", "whom", "whose", "will", "with", "would", "your",
))  # fmt: skip


def _distinctive_words(kind: str, text: str) -> Words:
    """Return the words of some material that a sentence should not repeat. `when` marks material about a time."""
    return _words_and_when(text) if kind in _DEEDS else _words(text)


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> Words:
    return frozenset(word.removesuffix("s") for word in {*_WORD.findall(_SLOT.sub(" ", text).lower())} - _LITTLE)


@lru_cache(maxsize=1 << 14)
def _words_and_when(text: str) -> Words:
    return _words(text) | {"when"} if _WHEN.search(text) else _words(text)


class _Slot(NamedTuple):
    before: str
    """The text between the slot and the one before it."""
    kind: str
    capital: bool
    last: bool


@lru_cache(maxsize=1 << 14)
def _parse(pattern: str) -> tuple[Sequence[_Slot], str, Words]:
    """Return the slots of a pattern, the text after the last, and the pattern's own words."""
    *parts, end = _SLOT.split(pattern)
    slots = [
        _Slot(before, name.lower(), name[0].isupper(), last=left == 0)
        for before, name, left in zip(parts[::2], parts[1::2], reversed(range(len(parts) // 2)), strict=True)
    ]
    return slots, end, _words_and_when(pattern)

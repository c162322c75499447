"""A pen: fills the patterns of a voice with the material of a topic, and uses nothing twice while there is a choice."""

import re
from collections.abc import Sequence
from functools import lru_cache

from carrara.core.keys import Dice
from carrara.text.writings.people import CITIES, NAMES, short
from carrara.text.writings.stock import Stock

_SLOT = re.compile(r"\{(\w+)\}")
_SPOKEN = re.compile(r'\.(?=" [a-z])')
"""A quotation that goes on: `"I know." said the cook` is not how it is written."""


class Pen:
    def __init__(self, dice: Dice, topic: Stock, voice: Stock, mood: Stock | None) -> None:
        self.dice = dice
        self.topic, self.voice, self.mood = topic, voice, mood
        self._used: dict[tuple[object, str], set[int]] = {}
        self._cast: tuple[str, ...] = ()
        self._met: set[str] = set()

    def material(self, kind: str, said: frozenset[str] = frozenset()) -> str:
        """Something of the topic, and nothing that repeats what has been said in the sentence."""
        match kind:
            case "topic":
                return self.topic.name
            case "name":
                return self._drawn("", kind, NAMES)
            case "city":
                return self._drawn("", kind, CITIES)
            case "person" if self._cast:
                return self._called(self._drawn(self._cast, kind, self._cast, said))
            case _:
                return self._drawn("topic", kind, self.topic.entries[kind], said)

    def say(self, kind: str, but: str = "") -> str:
        """A sentence of the voice, which adds none of some words to its own."""
        return self.fill(self._drawn("voice", kind, self.voice.entries[kind]), but)

    def feel(self, kind: str) -> str:
        """A sentence of the mood, or of the voice where there is none."""
        if self.mood is None:
            return self.say(kind)
        return self.fill(self._drawn("mood", kind, self.mood.entries[kind]))

    def fill(self, pattern: str, but: str = "") -> str:
        parts = _parts(pattern)
        if len(parts) == 1:
            return pattern
        said = _words(pattern, True) | _words(but.lower(), False)
        out = []
        for place, part in enumerate(parts):
            if place % 2 == 0:
                out.append(part)
                continue
            kind = part.lower()
            text = self.material(kind, said)
            said |= _words(text, kind in _DEEDS)
            out.append(text[0].upper() + text[1:] if part[0].isupper() else text)
        return _SPOKEN.sub(",", "".join(out))

    def cast(self, people: Sequence[str]) -> None:
        """Those that are meant by a person from now on. Whoever has been named in full is named shortly after that."""
        self._cast = tuple(people)

    def meet(self, people: Sequence[str]) -> None:
        """Have people count as named in full."""
        self._met.update(people)

    def people(self, count: int) -> list[str]:
        """Some people who cannot be taken for one another."""
        found: dict[str, str] = {}
        for person in self.dice.shuffled(self.topic.entries["person"]):
            if len(found) < count:
                found.setdefault(short(person), person)
        return list(found.values())

    def others(self, people: Sequence[str]) -> list[str]:
        """All who cannot be taken for any of these people."""
        names = {short(person) for person in people}
        return [person for person in self.topic.entries["person"] if short(person) not in names]

    def _called(self, person: str) -> str:
        if person in self._met:
            return short(person)
        self._met.add(person)
        return person

    def _drawn(self, source: object, kind: str, options: Sequence[str], said: frozenset[str] = frozenset()) -> str:
        used = self._used.setdefault((source, kind), set())
        if len(used) >= len(options):
            used.clear()
        for tried in range(_TRIES):
            while (place := self.dice.below(len(options))) in used and tried < _TRIES - 4:
                pass
            if not said or said.isdisjoint(_words(options[place], kind in _DEEDS)):
                break
        used.add(place)
        return options[place]


_TRIES = 12
"""How often something else is drawn, in the end even what was used before, until a repeated word is put up with."""
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


@lru_cache(maxsize=1 << 16)
def _words(text: str, deed: bool) -> frozenset[str]:
    """The words that a sentence should not have twice; `when` if it tells when something is done."""
    found = {word.removesuffix("s") for word in {*_WORD.findall(_SLOT.sub(" ", text).lower())} - _LITTLE}
    return frozenset(found | {"when"} if deed and _WHEN.search(text) else found)


@lru_cache(maxsize=1 << 14)
def _parts(pattern: str) -> list[str]:
    """A pattern's words and slots, in turn."""
    return _SLOT.split(pattern)

"""A pen: fills the patterns of a voice with the material of a topic, and uses nothing twice while there is a choice."""

import re
from collections.abc import Sequence
from functools import lru_cache

from carrara.keys import Dice
from carrara.writings.people import CITIES, NAMES, short
from carrara.writings.stock import Stock

_SLOT = re.compile(r"\{(\w+)\}")
_SPOKEN = re.compile(r'\.(?=" [a-z])')
"""A quotation that goes on: `"I know." said the cook` is not how it is written."""


class Pen:
    def __init__(self, dice: Dice, topic: Stock, voice: Stock, mood: Stock | None) -> None:
        self.dice = dice
        self.topic, self.voice, self.mood = topic, voice, mood
        self._used: dict[tuple[str, str], set[int]] = {}
        self._cast: tuple[str, ...] = ()

    def material(self, kind: str) -> str:
        """Something of the topic."""
        match kind:
            case "topic":
                return self.topic.name
            case "name":
                return self._drawn("", kind, NAMES)
            case "city":
                return self._drawn("", kind, CITIES)
            case "person" if self._cast:
                return self._drawn("cast", kind, self._cast)
            case _:
                return self._drawn("topic", kind, self.topic.entries[kind])

    def say(self, kind: str) -> str:
        """A sentence of the voice."""
        return self.fill(self._drawn("voice", kind, self.voice.entries[kind]))

    def feel(self, kind: str) -> str:
        """A sentence of the mood, or of the voice where there is none."""
        if self.mood is None:
            return self.say(kind)
        return self.fill(self._drawn("mood", kind, self.mood.entries[kind]))

    def fill(self, pattern: str) -> str:
        parts = _parts(pattern)
        if len(parts) == 1:
            return pattern
        out = []
        for place, part in enumerate(parts):
            if place % 2 == 0:
                out.append(part)
                continue
            text = self.material(part.lower())
            out.append(text[0].upper() + text[1:] if part[0].isupper() else text)
        return _SPOKEN.sub(",", "".join(out))

    def cast(self, people: Sequence[str]) -> None:
        """Those that are meant by a person from now on."""
        self._cast = tuple(people)

    def people(self, count: int) -> list[str]:
        """Some people who cannot be taken for one another."""
        found: dict[str, str] = {}
        for person in self.dice.shuffled(self.topic.entries["person"]):
            if len(found) < count:
                found.setdefault(short(person), person)
        return list(found.values())

    def _drawn(self, source: str, kind: str, options: Sequence[str]) -> str:
        used = self._used.setdefault((source, kind), set())
        if len(used) >= len(options):
            used.clear()
        while (place := self.dice.below(len(options))) in used:
            pass
        used.add(place)
        return options[place]


@lru_cache(maxsize=1 << 14)
def _parts(pattern: str) -> list[str]:
    """A pattern's words and slots, in turn."""
    return _SLOT.split(pattern)

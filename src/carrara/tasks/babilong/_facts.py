"""Records of the facts that a sentence can state about a small world, and of the questions about it.

Simulators, grammar and solvers share these records. A simulator makes them, the grammar turns them into sentences and
sentences back into them, and a history of them answers questions. Names, places and things are plain words
here; no list says which words are allowed.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

When = Literal["yesterday", "this morning", "this afternoon", "this evening"]
WHENS: tuple[When, ...] = ("yesterday", "this morning", "this afternoon", "this evening")

Way = Literal["north", "south", "east", "west", "above", "below", "to the left", "to the right"]
STEP: dict[Way, tuple[int, int]] = {
    "north": (0, 1),
    "south": (0, -1),
    "east": (1, 0),
    "west": (-1, 0),
    "above": (0, 1),
    "below": (0, -1),
    "to the left": (-1, 0),
    "to the right": (1, 0),
}
COMPASS: tuple[Way, ...] = ("north", "south", "east", "west")
SIDES: tuple[Way, ...] = ("above", "below", "to the left", "to the right")


def opposite(way: Way) -> Way:
    ways = COMPASS if way in COMPASS else SIDES
    return ways[ways.index(way) ^ 1]


@dataclass(frozen=True, slots=True)
class Went:
    """One or two people go somewhere. A pronoun stands for the people whom the last such sentence named."""

    who: tuple[str, ...]
    place: str
    when: When | None = None
    pronoun: bool = False


@dataclass(frozen=True, slots=True)
class Stays:
    """`Mary is in the garden`: a place without a journey."""

    who: str
    place: str


@dataclass(frozen=True, slots=True)
class Absent:
    """`Mary is not in the garden`."""

    who: str
    place: str


@dataclass(frozen=True, slots=True)
class Either:
    """`Mary is either in the garden or the kitchen`."""

    who: str
    places: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Got:
    who: str
    thing: str


@dataclass(frozen=True, slots=True)
class Drop:
    who: str
    thing: str


@dataclass(frozen=True, slots=True)
class Gave:
    who: str
    thing: str
    to: str


@dataclass(frozen=True, slots=True)
class Lies:
    """`The garden is north of the kitchen`, `The triangle is above the blue square`."""

    subject: str
    way: Way
    reference: str


@dataclass(frozen=True, slots=True)
class Fits:
    """The small thing is smaller than the large one, whichever way it is said."""

    small: str
    large: str


@dataclass(frozen=True, slots=True)
class Fears:
    """Kinds in the singular, though the sentence says them in the plural."""

    kind: str
    of: str


@dataclass(frozen=True, slots=True)
class IsA:
    who: str
    kind: str


@dataclass(frozen=True, slots=True)
class Is:
    """A colour or a mood: one word behind a name."""

    who: str
    quality: str


Fact = Went | Stays | Absent | Either | Got | Drop | Gave | Lies | Fits | Fears | IsA | Is


@dataclass(frozen=True, slots=True)
class WhereIs:
    who: str


@dataclass(frozen=True, slots=True)
class WhereThing:
    thing: str


@dataclass(frozen=True, slots=True)
class ThingBefore:
    thing: str
    place: str


@dataclass(frozen=True, slots=True)
class PersonBefore:
    who: str
    place: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The place in a direction from a place. `turned` is the other wording: what is the place the opposite way of?"""

    way: Way
    place: str
    turned: bool


@dataclass(frozen=True, slots=True)
class WhatGiven:
    who: str
    to: str


@dataclass(frozen=True, slots=True)
class WhoGave:
    thing: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class WhoReceived:
    thing: str
    who: str | None = None


@dataclass(frozen=True, slots=True)
class IsIn:
    who: str
    place: str


@dataclass(frozen=True, slots=True)
class HowMany:
    who: str


@dataclass(frozen=True, slots=True)
class WhatCarried:
    who: str


@dataclass(frozen=True, slots=True)
class FearOf:
    who: str


@dataclass(frozen=True, slots=True)
class ColourOf:
    who: str


@dataclass(frozen=True, slots=True)
class IsBeside:
    subject: str
    way: Way
    reference: str


@dataclass(frozen=True, slots=True)
class IsBigger:
    """Is the large thing bigger than the small one? `fits` is the other wording: does the small thing fit in it?"""

    large: str
    small: str
    fits: bool


@dataclass(frozen=True, slots=True)
class Path:
    start: str
    goal: str


@dataclass(frozen=True, slots=True)
class WhereWill:
    who: str


@dataclass(frozen=True, slots=True)
class WhyGo:
    who: str
    place: str


@dataclass(frozen=True, slots=True)
class WhyGet:
    who: str
    thing: str


Query = (
    WhereIs
    | WhereThing
    | ThingBefore
    | PersonBefore
    | Neighbour
    | WhatGiven
    | WhoGave
    | WhoReceived
    | IsIn
    | HowMany
    | WhatCarried
    | FearOf
    | ColourOf
    | IsBeside
    | IsBigger
    | Path
    | WhereWill
    | WhyGo
    | WhyGet
)


class Solution(NamedTuple):
    """An answer in the official form, and the facts that give it, in the official order."""

    answer: str
    support: tuple[int, ...]

"""Decoys: sentences of the kind that a question asks for that do not answer it. They are about somebody else or another
time, denied or dreamt. A sentence that answers may have words that look like these.

>>> from carrara.rng import Rng
>>> way, rng = "At one of the stalls {name} bought {value}.", Rng("decoys")
>>> earlier(rng, way)
'Not this time but the time before, at one of the stalls {name} bought {value}.'
>>> dreamt(rng, way)
'{Name} once dreamt that at one of the stalls {name} bought {value}.'
"""

import re
from collections.abc import Callable

from carrara.rng import Rng

_DENIALS = {
    "It is not true that": "It is true that",
    "It is a mistake to think that": "It is no mistake to think that",
    "It is wrong to say that": "It is right to say that",
    "It is a false rumour that": "It is a fact that",
}
"""Denials, each with its opposite."""
_EARLIER, _NOW = "Not this time but the time before,", "Not the time before but this time,"
_DREAMT = "{Name} once dreamt that"
UNTRUE = (*_DENIALS, _EARLIER, _DREAMT)
"""Beginnings of sentences that make them no answer."""

_HALF_DENIED = re.compile(
    r"\b(?:only|nothing|nobody|no|not|never|without|every\w*|all|both|but|always|else|anything|than|too)\b", re.I
)
"""Words of sentences whose denial still says something: 'not only', 'not always'."""
_AT_ONCE = re.compile(r"\bevery(?:body|one| player)\b", re.I)
"""Words of sentences about everybody, which are about the person in question too."""
_DEED = re.compile(
    r"(?:(?!.*\b(?:that|wh[a-z]{1,3}) \{name\})[A-Z][\w' ]{0,40} )?\{[Nn]ame\} "
    r"(?:[a-z]+ed|ate|bought|drank|found|heard|saw|sat|lost|left|wore|got)\b"
)
_LASTS = re.compile(
    r"\b(?:is|are|has|have|had|now|only|used to|keeps|wanted|hoped|learned|noticed|remembered|bicycle|clock|shed|plates"
    r"|boat|bowl)\b"
)
"""Words of sentences about something lasting: that it was so at an earlier time would be an answer."""

_STORIES = (
    "{Other} has a similar story, about another day and another place.",
    "On another day and in another place, much the same happened to {other}.",
    "{Other} once did the same, but on another day and somewhere else.",
)
KIN = ("neighbour", "colleague", "flatmate", "landlord")
"""Persons without a name who may take the place of another person, such as `a colleague of Ines`."""


def introduce(rng: Rng) -> str:
    """Return a sentence which says that somebody else has a story of their own."""
    return rng.choice(_STORIES)


def kinds(way: str) -> list[Callable[[Rng, str], str]]:
    """Return the functions that can change a form of a sentence so that it is no answer."""
    return [
        dreamt,
        *([earlier] if _DEED.match(way) and not _LASTS.search(way) else []),
        *([deny] if not _HALF_DENIED.search(way) else []),
        *([other] if not _AT_ONCE.search(way) else []),
    ]


class Decoys:
    """The decoys of one attribute. At most one is about somebody else, and one about an earlier time."""

    def __init__(self) -> None:
        self._taken: set[Callable[[Rng, str], str]] = set()

    def draw(self, rng: Rng, way: str) -> str:
        kind = rng.choice([kind for kind in kinds(way) if kind not in self._taken])
        if kind in (other, earlier):
            self._taken.add(kind)
        return kind(rng, way)


def state_answer(rng: Rng, way: str) -> str:
    """Return a form that states an answer, as it is, or in words that look like another time or a denial."""
    if rng.chance(0.5):
        return way
    if earlier in kinds(way) and rng.chance(0.5):
        return _add_lead(_NOW, way)
    return _add_lead(rng.choice(list(_DENIALS.values())), way)


def other(rng: Rng, way: str) -> str:
    return way.replace("{name}", "{other}").replace("{Name}", "{Other}")


def earlier(rng: Rng, way: str) -> str:
    return _add_lead(_EARLIER, way)


def deny(rng: Rng, way: str) -> str:
    return _add_lead(rng.choice(list(_DENIALS)), way)


def dreamt(rng: Rng, way: str) -> str:
    return _add_lead(_DREAMT, way)


def _add_lead(lead: str, way: str) -> str:
    return f"{lead} {way if way.startswith('{') else way[0].lower() + way[1:]}".replace("that {Name}", "that {name}")

"""The official sentences: how each fact is written, and how it is read again.

>>> read("Mary and Daniel travelled to the bathroom.")
Went(who=('Mary', 'Daniel'), place='bathroom', when=None, pronoun=False)
>>> read("It was the best of times, it was the worst of times.") is None
True
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

from carrara.core.keys import Dice
from carrara.tasks.babilong._facts import (
    Absent,
    Dropped,
    Either,
    Fact,
    Fears,
    Fits,
    Gave,
    Got,
    Is,
    IsA,
    Lies,
    Stays,
    Way,
    Went,
    When,
)
from carrara.tasks.babilong._forms import Form
from carrara.tasks.babilong._plurals import plural, singular, with_article

LONGEST = 120
"""No fact is longer: most sentences of a novel are dismissed by their length alone."""

Slots = Mapping[str, str]

_MOVE = "(went to|went back to|journeyed to|travelled to|moved to) the {place}"
_GET = "(got|grabbed|picked up|took) the {thing}"


def _when(text: str) -> When:
    return cast(When, text[0].lower() + text[1:])


def way_of(text: str) -> Way:
    return cast(Way, text.removesuffix(" of"))


def _low(text: str) -> str:
    return text[0].lower() + text[1:]


WENT: Form[Fact] = Form(f"{{who}} {_MOVE}.", lambda s: Went((s["who"],), s["place"]))
WENT_BOTH: Form[Fact] = Form(f"{{who}} and {{also}} {_MOVE}.", lambda s: Went((s["who"], s["also"]), s["place"]))
WENT_ON: Form[Fact] = Form(
    f"(After that|Afterwards|Following that|Then) {{pronoun}} {_MOVE}.",
    lambda s: Went((s["pronoun"],), s["place"], pronoun=True),
)
WENT_FIRST: Form[Fact] = Form(f"{{When}} {{who}} {_MOVE}.", lambda s: Went((s["who"],), s["place"], _when(s["When"])))
WENT_LAST: Form[Fact] = Form(f"{{who}} {_MOVE} {{when}}.", lambda s: Went((s["who"],), s["place"], _when(s["when"])))
STAYS: Form[Fact] = Form("{who} is in the {place}.", lambda s: Stays(s["who"], s["place"]))
ABSENT: Form[Fact] = Form("{who} is (no longer|not) in the {place}.", lambda s: Absent(s["who"], s["place"]))
EITHER: Form[Fact] = Form(
    "{who} is either in the {place} or the {other}.", lambda s: Either(s["who"], (s["place"], s["other"]))
)
GOT: Form[Fact] = Form(f"{{who}} {_GET}[ there].", lambda s: Got(s["who"], s["thing"]))
DROPPED: Form[Fact] = Form(
    "{who} (discarded|dropped|left|put down) the {thing}[ there].", lambda s: Dropped(s["who"], s["thing"])
)
GAVE: Form[Fact] = Form(
    "{who} (gave|handed|passed) the {thing} to {to}.", lambda s: Gave(s["who"], s["thing"], s["to"])
)
LIES: Form[Fact] = Form(
    "The {one} is {compass} of the {other}.", lambda s: Lies(s["one"], way_of(s["compass"]), s["other"])
)
BESIDE: Form[Fact] = Form("The {one} is {side} the {other}.", lambda s: Lies(s["one"], way_of(s["side"]), s["other"]))
BIGGER: Form[Fact] = Form("The {large} is bigger than the {small}.", lambda s: Fits(s["small"], s["large"]))
FITS: Form[Fact] = Form("The {small} fits inside the {large}.", lambda s: Fits(s["small"], s["large"]))
FEARS: Form[Fact] = Form(
    "{Kind} are afraid of {kind}.", lambda s: Fears(singular(_low(s["Kind"])), singular(s["kind"]))
)
IS_A: Form[Fact] = Form("{who} is (a|an) {kind}.", lambda s: IsA(s["who"], s["kind"]))
IS: Form[Fact] = Form("{who} is {quality}.", lambda s: Is(s["who"], s["quality"]))

# A form that another one would swallow comes first: "went to the park yesterday" is not a park called so.
_FORMS = (
    WENT_LAST, WENT, WENT_BOTH, WENT_ON, WENT_FIRST, EITHER, ABSENT, STAYS, GOT, DROPPED, GAVE,
    LIES, BESIDE, BIGGER, FITS, FEARS, IS_A, IS,
)  # fmt: skip


def read(sentence: str) -> Fact | None:
    """Return the fact that a sentence states, if it is of one of the official forms; None for any other sentence."""
    return _read(sentence) if len(sentence) <= LONGEST and sentence.endswith(".") else None


@lru_cache(maxsize=1 << 14)
def _read(sentence: str) -> Fact | None:
    for form in _FORMS:
        fact = form.read(sentence)
        if fact is not None:
            return fact
    return None


def group_pronouns(facts: Sequence[str]) -> Sequence[tuple[int, ...]]:
    """Return the numbers of the facts, each sentence with a pronoun together with the one before it."""
    groups: list[tuple[int, ...]] = []
    for i, sentence in enumerate(facts):
        match read(sentence):
            case Went(pronoun=True):
                groups[-1] = (*groups[-1], i)
            case _:
                groups.append((i,))
    return groups


def write(dice: Dice, fact: Fact, there: float = 1.0) -> str:
    """Return a sentence for a fact, its wording drawn as in the official files.

    Args:
        dice: Random numbers.
        fact: The fact.
        there: How often a sentence ends with that word, where it may.
    """
    match fact:
        case Went(who, place, None, True):
            return WENT_ON.write(dice, pronoun=who[0], place=place)
        case Went((who,), place, None):
            return WENT.write(dice, who=who, place=place)
        case Went((who, also), place):
            return WENT_BOTH.write(dice, who=who, also=also, place=place)
        case Went((who,), place, when) if when is not None:
            if dice.chance(0.5):
                return WENT_FIRST.write(dice, When=when.capitalize(), who=who, place=place)
            return WENT_LAST.write(dice, when=when, who=who, place=place)
        case Stays(who, place):
            return STAYS.write(dice, who=who, place=place)
        case Absent(who, place):
            return ABSENT.write(dice, who=who, place=place)
        case Either(who, (place, other)):
            return EITHER.write(dice, who=who, place=place, other=other)
        case Got(who, thing):
            return GOT.write(dice, there, who=who, thing=thing)
        case Dropped(who, thing):
            return DROPPED.write(dice, there, who=who, thing=thing)
        case Gave(who, thing, to):
            return GAVE.write(dice, who=who, thing=thing, to=to)
        case Lies(one, ("north" | "south" | "east" | "west") as way, other):
            return LIES.write(dice, one=one, compass=way, other=other)
        case Lies(one, way, other):
            return BESIDE.write(dice, one=one, side=side(way), other=other)
        case Fits(small, large):
            return (BIGGER if dice.chance(0.5) else FITS).write(dice, small=small, large=large)
        case Fears(kind, of):
            return FEARS.write(dice, Kind=plural(kind).capitalize(), kind=plural(of))
        case IsA(who, kind):
            return f"{who} is {with_article(kind)}."
        case Is(who, quality):
            return IS.write(dice, who=who, quality=quality)
        case _:
            raise ValueError(f"no sentence says {fact}")


def side(way: Way) -> str:
    return f"{way} of" if way.startswith("to") else way

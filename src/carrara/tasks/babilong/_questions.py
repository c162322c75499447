"""The official questions: how each is written, and how it is read again.

>>> read_question("Where was the milk before the garden?")
ThingBefore(thing='milk', place='garden')
"""

from carrara.tasks.babilong._facts import (
    ColourOf,
    FearOf,
    HowMany,
    IsBeside,
    IsBigger,
    IsIn,
    Neighbour,
    Path,
    PersonBefore,
    Query,
    ThingBefore,
    WhatCarried,
    WhatGiven,
    WhereIs,
    WhereThing,
    WhereWill,
    WhoGave,
    WhoReceived,
    WhyGet,
    WhyGo,
    opposite,
)
from carrara.tasks.babilong._forms import Form
from carrara.tasks.babilong._grammar import side, way_of

_FORMS: tuple[Form[Query], ...] = (
    Form("Where is the {thing}?", lambda s: WhereThing(s["thing"])),
    Form("Where is {who}?", lambda s: WhereIs(s["who"])),
    Form("Where was the {thing} before the {place}?", lambda s: ThingBefore(s["thing"], s["place"])),
    Form("Where was {who} before the {place}?", lambda s: PersonBefore(s["who"], s["place"])),
    Form("What is {compass} of the {place}?", lambda s: Neighbour(way_of(s["compass"]), s["place"], False)),
    Form("What is the {place} {compass} of?", lambda s: Neighbour(opposite(way_of(s["compass"])), s["place"], True)),
    Form("What did {who} give to {to}?", lambda s: WhatGiven(s["who"], s["to"])),
    Form("Who gave the {thing} to {to}?", lambda s: WhoGave(s["thing"], s["to"])),
    Form("Who gave the {thing}?", lambda s: WhoGave(s["thing"])),
    Form("Who received the {thing}?", lambda s: WhoReceived(s["thing"])),
    Form("Who did {who} give the {thing} to?", lambda s: WhoReceived(s["thing"], s["who"])),
    Form("Is the {one} {side} the {other}?", lambda s: IsBeside(s["one"], way_of(s["side"]), s["other"])),
    Form("Is the {large} bigger than the {small}?", lambda s: IsBigger(s["large"], s["small"], False)),
    Form("Does the {small} fit in the {large}?", lambda s: IsBigger(s["large"], s["small"], True)),
    Form("Is {who} in the {place}?", lambda s: IsIn(s["who"], s["place"])),
    Form("How many objects is {who} carrying?", lambda s: HowMany(s["who"])),
    Form("What is {who} carrying?", lambda s: WhatCarried(s["who"])),
    Form("What is {any} afraid of?", lambda s: FearOf(s["any"])),
    Form("What color is {who}?", lambda s: ColourOf(s["who"])),
    Form("How do you go from the {start} to the {goal}?", lambda s: Path(s["start"], s["goal"])),
    Form("Where will {any} go?", lambda s: WhereWill(s["any"])),
    Form("Why did {any} go to the {place}?", lambda s: WhyGo(s["any"], s["place"])),
    Form("Why did {any} get the {thing}?", lambda s: WhyGet(s["any"], s["thing"])),
)


def read_question(question: str) -> Query | None:
    """Return the meaning of a question, if it is of one of the official forms, with or without a space behind it."""
    text = question.strip()
    for form in _FORMS:
        query = form.read(text)
        if query is not None:
            return query
    return None


def write_question(query: Query) -> str:
    """Return a question in the official words, with names in small letters where the official files have them so."""
    match query:
        case WhereIs(who):
            return f"Where is {who}?"
        case WhereThing(thing):
            return f"Where is the {thing}?"
        case ThingBefore(thing, place):
            return f"Where was the {thing} before the {place}?"
        case PersonBefore(who, place):
            return f"Where was {who} before the {place}?"
        case Neighbour(way, place, turned):
            return f"What is the {place} {opposite(way)} of?" if turned else f"What is {way} of the {place}?"
        case WhatGiven(who, to):
            return f"What did {who} give to {to}?"
        case WhoGave(thing, to):
            return f"Who gave the {thing}?" if to is None else f"Who gave the {thing} to {to}?"
        case WhoReceived(thing, giver):
            return f"Who received the {thing}?" if giver is None else f"Who did {giver} give the {thing} to?"
        case IsIn(who, place):
            return f"Is {who} in the {place}?"
        case HowMany(who):
            return f"How many objects is {who} carrying?"
        case WhatCarried(who):
            return f"What is {who} carrying?"
        case FearOf(who):
            return f"What is {who.lower()} afraid of?"
        case ColourOf(who):
            return f"What color is {who}?"
        case IsBeside(one, way, other):
            return f"Is the {one} {side(way)} the {other}?"
        case IsBigger(large, small, fits):
            return f"Does the {small} fit in the {large}?" if fits else f"Is the {large} bigger than the {small}?"
        case Path(start, goal):
            return f"How do you go from the {start} to the {goal}?"
        case WhereWill(who):
            return f"Where will {who.lower()} go?"
        case WhyGo(who, place):
            return f"Why did {who.lower()} go to the {place}?"
        case WhyGet(who, thing):
            return f"Why did {who.lower()} get the {thing}?"

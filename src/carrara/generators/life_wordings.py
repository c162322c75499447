"""Notes about the lives of people, each of which tells the day of an event by another event or by a date.

>>> from datetime import date
>>> from carrara.rng import Rng
>>> move, visit = Event("town", "Ashford", "Millwick"), Event("visit", "old castle")
>>> print(note := write_note(Rng("note"), Relation("Greta", visit, move, -9)))
One week and two days before her move from Millwick to Ashford, Greta visited the old castle.
>>> read_note(note)
Relation(person='Greta', event=Event(kind='visit', value='old castle', former=''), other=Event(kind='town', \
value='Ashford', former='Millwick'), days=-9)
>>> print(note := write_note(Rng("date"), Relation("Greta", move, None, date(1998, 5, 14).toordinal())))
From the diary: Greta moved from Millwick to Ashford on 14 May 1998.
>>> read_note(note).days == date(1998, 5, 14).toordinal()
True
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import product
from typing import NamedTuple

from carrara.generators.people import MONTHS, NAMES
from carrara.rng import Rng


class Event(NamedTuple):
    """An event of a life. One of the kinds in `STATES` ends a state, such as living in a town, and begins another."""

    kind: str
    value: str
    former: str = ""
    """The value of the state that ends. Empty for an event of another kind."""


class Relation(NamedTuple):
    """What a note says: the days from another event of a person to an event, or the day of the event."""

    person: str
    event: Event
    other: Event | None
    """The event by which the day is told. None: the calendar."""
    days: int
    """The days after the other event, negative if before, or the ordinal number of the date."""


# --- events ---


class _Form(NamedTuple):
    """The words for a kind of event, before its value: as a verb, and as a noun."""

    past: str
    noun: str
    values: Sequence[str]


def _split(words: str) -> list[str]:
    return words.split()


def _pairs(firsts: str, seconds: str) -> tuple[str, ...]:
    return tuple(f"{first} {second}" for first, second in product(_split(firsts), _split(seconds)))


_COLOURS = "black blue brown green red white yellow"
_LOOKS = "old small round ruined wooden famous"
_MANNERS = "cheerful quiet stern tall young kind"
_FORMS: Mapping[str, _Form] = {
    "buy": _Form("bought the", "purchase of the", _pairs(_COLOURS, "bookcase cello harp kiln loom sofa telescope")),
    "sell": _Form("sold the", "sale of the", _pairs(_COLOURS, "armchair canoe piano sledge tent typewriter violin")),
    "repair": _Form("repaired the", "repair of the", _pairs(_COLOURS, "bicycle clock fence gate lamp pump stove")),
    "visit": _Form(
        "visited the", "visit to the", _pairs(_LOOKS, "castle chapel fort lighthouse palace theatre windmill"),
    ),
    "meet": _Form(
        "first met the", "first meeting with the", _pairs(_MANNERS, "baker dentist miner pilot surgeon tailor"),
    ),
    "plant": _Form(
        "planted the", "planting of the", _pairs("crooked slender", "birch elm lime maple oak pear pine yew"),
    ),
    "win": _Form(
        "won the", "victory in the",
        tuple(
            f"{pair} cup"
            for pair in _pairs("county national", "archery badminton fencing golf judo karate rowing tennis")
        ),
    ),
    "course": _Form(
        "completed the course in", "completion of the course in",
        ("basketry", "beekeeping", "bookbinding", "calligraphy", "drawing", "embroidery", "first aid", "navigation",
         "photography", "pottery", "sign language", "welding"),
    ),
}  # fmt: skip
STATES: Mapping[str, Sequence[str]] = {
    "town": (),
    "work": (
        "archive", "bakery", "boatyard", "brewery", "cannery", "dairy", "foundry", "hospital", "laundry", "library",
        "museum", "observatory", "pharmacy", "quarry", "sawmill", "shipyard", "tannery", "vineyard",
    ),
    "club": tuple(
        f"{name} club"
        for name in (
            "bridge", "chess", "cycling", "debating", "film", "gardening", "hiking", "poetry", "puppet", "radio",
            "sailing", "singing", "skating", "swimming",
        )
    ),
}  # fmt: skip
"""The values of each kind of state. Towns are chosen by the caller."""
_CHANGES: Mapping[str, tuple[str, str]] = {
    "town": ("moved from {former} to {value}", "move from {former} to {value}"),
    "work": ("changed jobs from the {former} to the {value}", "change of jobs from the {former} to the {value}"),
    "club": ("switched from the {former} to the {value}", "switch from the {former} to the {value}"),
}
POINTS: Sequence[Event] = tuple(Event(kind, value) for kind, form in _FORMS.items() for value in form.values)
"""All events that end no state."""


def write_clause(event: Event) -> str:
    """Return the verb of an event with what follows it, to which a person is the subject."""
    if event.kind in STATES:
        return _CHANGES[event.kind][0].format(**event._asdict())
    return f"{_FORMS[event.kind].past} {event.value}"


def write_noun(event: Event) -> str:
    """Return an event as a noun without its article.

    >>> write_noun(Event("club", "chess club", "film club")), write_noun(Event("course", "pottery"))
    ('switch from the film club to the chess club', 'completion of the course in pottery')
    """
    if event.kind in STATES:
        return _CHANGES[event.kind][1].format(**event._asdict())
    return f"{_FORMS[event.kind].noun} {event.value}"


_CHANGE_PATTERNS = [
    (kind, re.compile(form.format(former="(?P<former>[A-Za-z ]+?)", value="(?P<value>[A-Za-z ]+)")))
    for kind, forms in _CHANGES.items()
    for form in forms
]
_WORDS = [(f"{words} ", kind) for kind, form in _FORMS.items() for words in (form.past, form.noun)]


def read_event(text: str) -> Event | None:
    """Return the event that a clause or a noun names."""
    for words, kind in _WORDS:
        if text.startswith(words):
            return Event(kind, text.removeprefix(words))
    for kind, pattern in _CHANGE_PATTERNS:
        if match := pattern.fullmatch(text):
            return Event(kind, match["value"], match["former"])
    return None


# --- time ---

_ONES = _split(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = _split("twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBERS = [*_ONES, *(f"{ten}{one}" for ten in _TENS for one in ("", *(f"-{word}" for word in _ONES[:9])))]
"""The numbers from 1 on in words."""
WEEK = 7
MOST_DAYS = len(_NUMBERS)


def _count(number: int, noun: str) -> str:
    return f"{_NUMBERS[number - 1]} {noun}{'s' * (number > 1)}"


def write_days(rng: Rng, days: int) -> str:
    """Return a number of days in words, perhaps in weeks.

    >>> {write_days(Rng("days", n), 16) for n in range(9)} == {"sixteen days", "two weeks and two days"}
    True
    """
    weeks, rest = divmod(days, WEEK)
    if not weeks or rng.chance(0.5):
        return _count(days, "day")
    if rest == 0 and weeks == 2 and rng.chance(0.5):
        return "a fortnight"
    return " and ".join([_count(weeks, "week"), *([_count(rest, "day")] if rest else [])])


_DAYS_PART = r"(?:[a-z-]+ weeks?(?: and [a-z-]+ days?)?|[a-z-]+ days?|a fortnight)"


def read_days(text: str) -> int:
    """Return the number of days that a text states.

    >>> [read_days(text) for text in ("one day", "a fortnight", "three weeks", "two weeks and one day")]
    [1, 14, 21, 15]
    """
    if text == "a fortnight":
        return 2 * WEEK
    counts = [part.split() for part in text.split(" and ")]
    return sum((_NUMBERS.index(word) + 1) * (WEEK if unit.startswith("week") else 1) for word, unit in counts)


_DATE_PART = rf"[0-9]{{1,2}} (?:{'|'.join(MONTHS)}) [0-9]{{4}}"


def write_date(ordinal: int) -> str:
    day = date.fromordinal(ordinal)
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def read_date(text: str) -> int:
    """Return the ordinal number of a date.

    >>> write_date(read_date("4 March 2021"))
    '4 March 2021'
    """
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day)).toordinal()


# --- notes ---

_MEN = _split(
    "Amos Arlo Bela Bruno Conrad Dorian Elias Emil Fabian Felix Gideon Gustav Hector Hugo Ivan Jonas Kaspar Leander "
    "Linus Magnus Milo Nils Oscar Otto Pavel Quentin Rafael Rufus Silas Theo Viktor Walter Yusuf"
)
assert {*NAMES}.issuperset(_MEN)

_SOURCES = (
    "album",
    "almanac",
    "calendar",
    "diary",
    "ledger",
    "letter",
    "notebook",
    "postcard",
    "scrapbook",
    "yearbook",
)
_LEADS = ("From the {source}: ", "As the {source} says: ", "Noted in the {source}: ", "According to the {source}: ")
LED = 0.4
"""The share of notes that begin with their source."""
_RELATED = (
    "{name} {clause} {days} {side} {their} {other_noun}.",
    "{name} {clause} {days} {side} {they} {other_clause}.",
    "{days} {side} {their} {other_noun}, {name} {clause}.",
    "{days} {side} {they} {other_clause}, {name} {clause}.",
    "It was {days} {side} {their} {other_noun} that {name} {clause}.",
    "{name}'s {noun} came {days} {side} {their} {other_noun}.",
)
"""The forms of a note that relates two events. The side is `before` or `after`."""
_LATER = "{name} {other_clause}. {days} later, {they} {clause}."
_EARLIER = "{name} {other_clause}. {days} earlier, {they} had {clause}."
_DATED = (
    "{name} {clause} on {date}.",
    "On {date}, {name} {clause}.",
    "{name}'s {noun} was on {date}.",
    "The day of {name}'s {noun} was {date}.",
)


def write_note(rng: Rng, relation: Relation) -> str:
    """Return a note in one line. Either of two events may be the one whose day is told."""
    person, event, other, days = relation
    if other is not None and rng.chance(0.5):
        event, other, days = other, event, -days
    they, their = ("he", "his") if person in _MEN else ("she", "her")
    fields = {"name": person, "they": they, "their": their, "clause": write_clause(event), "noun": write_noun(event)}
    if other is None:
        note = rng.choice(_DATED).format(**fields, date=write_date(days))
    else:
        note = rng.choice([*_RELATED, _LATER if days > 0 else _EARLIER]).format(
            **fields,
            other_clause=write_clause(other),
            other_noun=write_noun(other),
            side="after" if days > 0 else "before",
            days=write_days(rng, abs(days)),
        )
        note = re.sub(r"(?<=\. )[a-z]|\A[a-z]", lambda match: match[0].upper(), note)
    lead = rng.choice(_LEADS).format(source=rng.choice(_SOURCES)) if rng.chance(LED) else ""
    return lead + note


_PARTS = {
    "name": "(?P<name>[A-Z][a-z]+)",
    "they": "(?:he|she)",
    "their": "(?:his|her)",
    "clause": "(?P<event>[a-z][A-Za-z ]*?)",
    "noun": "(?P<event>[a-z][A-Za-z ]*?)",
    "other_clause": "(?P<other>[a-z][A-Za-z ]*?)",
    "other_noun": "(?P<other>[a-z][A-Za-z ]*?)",
    "side": "(?P<side>before|after)",
    "days": f"(?i:(?P<days>{_DAYS_PART}))",
    "date": f"(?P<date>{_DATE_PART})",
}
_PATTERNS = [re.compile(form.replace(".", r"\.").format(**_PARTS)) for form in (*_RELATED, *_DATED)] + [
    re.compile(form.replace(".", r"\.").format(**_PARTS).replace(" later", f" (?P<side>{side})"))
    for form, side in ((_LATER, "later"), (_EARLIER.replace("earlier", "later"), "earlier"))
]
_LEAD_PATTERN = re.compile("|".join(lead.replace("{source}", "[a-z]+") for lead in _LEADS))


def read_note(line: str) -> Relation | None:
    """Return what a note says. None: the line is no note."""
    note = _LEAD_PATTERN.sub("", line.strip(), count=1)
    for pattern in _PATTERNS:
        if (match := pattern.fullmatch(note)) and (event := read_event(match["event"])):
            groups = match.groupdict()
            if groups.get("date"):
                return Relation(match["name"], event, None, read_date(match["date"]))
            if other := read_event(match["other"]):
                days = read_days(match["days"].lower())
                return Relation(match["name"], event, other, days if match["side"] in ("after", "later") else -days)
    return None

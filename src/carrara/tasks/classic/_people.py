"""People who do not exist, the relations between them, and what a document says about one of them.

Each person has a birthplace, and one other person in each relation. No model can know who that is.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isqrt
from typing import NamedTuple

from carrara.rng import Rng
from carrara.tasks.classic._values import Kind
from carrara.types import UndecidableError

_LETTERS = {
    "c": tuple("bdgklmnprstvz"),
    "v": tuple("aeiou"),
    "x": ("bz", "gv", "kv", "kz", "lz", "mk", "pv", "vd", "vg", "zb", "zg"),
}
"""Consonants, vowels, and pairs of consonants that are rare in names and words of any language."""
_FIRST, _LAST, _TOWN = "cvxvc", "cvxvcv", "cvxvcvc"


def draw_first(rng: Rng) -> str:
    """Return one of 46,475 first names.

    >>> from carrara.rng import Rng
    >>> rng = Rng("names")
    >>> draw_first(rng), draw_last(rng), draw_town(rng)
    ('Pukvav', 'Makvase', 'Pakzomod')
    """
    return _draw(_FIRST, rng)


def draw_last(rng: Rng) -> str:
    """Return one of 232,375 last names."""
    return _draw(_LAST, rng)


def draw_town(rng: Rng) -> str:
    """Return one of 3,020,875 names of towns."""
    return _draw(_TOWN, rng)


def _draw(form: str, rng: Rng) -> str:
    return "".join([rng.choice(_LETTERS[kind]) for kind in form]).capitalize()


def _pattern(form: str) -> str:
    return "".join(f"(?:{'|'.join(_LETTERS[kind])})" for kind in form)


PERSON = rf"{_pattern(_FIRST)} {_pattern(_LAST)}"
TOWN = _pattern(_TOWN)
NAME = Kind(
    "name",
    draw_town,
    re.compile(rf"(?<![\w-])(?:{PERSON}|{TOWN})(?![\w-])", re.IGNORECASE),
    str.title,
    16,
    3_020_875,
)
"""A person's full name, or a town."""


RELATIONS = (
    "accountant", "baker", "barber", "cook", "dentist", "doctor", "driver", "gardener", "landlord", "lawyer", "tailor",
    "teacher",
)  # fmt: skip
"""Relations of one person to another, none of which is the reverse of another or of itself."""
STATED = 4
"""The relations in each document, and the most in a question, which names each once: so their order matters."""
FEWEST_PEOPLE, MOST_PEOPLE = 10, 64
ASK = {"person": "Who is {whose}?", "town": "In which town was {whose} born?"}
"""The questions about a person whom relations lead to."""

DESCRIPTION = rf"({PERSON}) was born in ({TOWN})\. ([^\n]*)"
"""A pattern of what a document says."""
_RELATION = re.compile(rf"\btheir (\w+) is ({PERSON})", re.IGNORECASE)


class Person(NamedTuple):
    name: str
    town: str
    related: Mapping[str, str]
    """The names of others, by their relation."""

    @classmethod
    def read(cls, name: str, town: str, rest: str) -> "Person":
        """Return the person whom a match of `DESCRIPTION` describes."""
        return cls(name, town, dict(_RELATION.findall(rest)))

    def describe(self, rng: Rng) -> str:
        """Return sentences that say everything about the person, with the relations in random order."""
        *others, last = (f"their {relation} is {name}" for relation, name in rng.shuffled(list(self.related.items())))
        related = f"{', '.join(others)}, and {last}"
        return f"{self.name} was born in {self.town}. {related[0].upper()}{related[1:]}."


class Trail(NamedTuple):
    """The way to an answer."""

    names: Sequence[str]
    """The person whom the question names, and those that one relation after the other leads to."""
    relations: Sequence[str]

    @property
    def whose(self) -> str:
        """The last person in the words of a question: `the doctor of the driver of` the first one."""
        return "".join(f"the {relation} of " for relation in reversed(self.relations)) + self.names[0]


def draw_people(
    rng: Rng, count: int, relations: Sequence[str], firsts: Sequence[str] = (), lasts: Sequence[str] = ()
) -> dict[str, Person]:
    """Draw people who share first and last names, which are drawn too unless they are given.

    Each of them stands in each relation to one other.
    """
    side = isqrt(count - 1) + 1
    firsts = firsts or draw_distinct(draw_first, rng, side)
    lasts = lasts or draw_distinct(draw_last, rng, side)
    names = rng.sample([f"{first} {last}" for first in firsts for last in lasts], count)
    towns = draw_distinct(draw_town, rng, count)
    related = [dict[str, str]() for _ in names]
    for relation in relations:
        others = _draw_circle(rng, names)
        while any(
            others[name] in person_relations.values() for name, person_relations in zip(names, related, strict=True)
        ):
            others = _draw_circle(rng, names)
        for name, person_relations in zip(names, related, strict=True):
            person_relations[relation] = others[name]
    return {
        name: Person(name, town, person_relations)
        for name, town, person_relations in zip(names, towns, related, strict=True)
    }


def draw_others(rng: Rng, people: Mapping[str, Person], relations: Sequence[str]) -> Iterator[Person]:
    """Yield further people without end, in groups that have relations only among themselves, as the given ones do.

    A third of the groups share their first names with the given people, and a third their last names.
    """
    firsts, lasts = (sorted({name.split()[part] for name in people}) for part in (0, 1))
    towns = {person.town for person in people.values()}

    def draw_group() -> list[Person]:
        shared = rng.below(3)
        group = draw_people(rng, len(people), relations, firsts * (shared == 1), lasts * (shared == 2))
        taken = not group.keys().isdisjoint(people) or not towns.isdisjoint(person.town for person in group.values())
        return draw_group() if taken else list(group.values())

    waiting = list[Person]()
    while True:
        if len(waiting) < len(people):
            waiting.extend(draw_group())
        yield waiting.pop(rng.below(len(waiting)))


def _draw_circle(rng: Rng, names: Sequence[str]) -> dict[str, str]:
    """Return the next name for each name, in a circle of all names."""
    circle = rng.shuffled(names)
    return dict(zip(circle, [*circle[1:], circle[0]], strict=True))


def draw_trail(rng: Rng, people: Mapping[str, Person], relations: Sequence[str], steps: int) -> Trail:
    """Draw a person, and different relations that lead on from one person to another and never back."""
    while True:
        names, taken = [rng.choice(list(people))], rng.sample(relations, steps)
        for relation in taken:
            names.append(people[names[-1]].related[relation])
        if len(set(names)) == len(names):
            return Trail(names, taken)


def draw_distinct(draw: Callable[[Rng], str], rng: Rng, count: int) -> list[str]:
    values = dict[str, None]()
    while len(values) < count:
        values[draw(rng)] = None
    return list(values)


def follow(people: Mapping[str, Person], whose: str) -> list[str]:
    """Return the names on the way that the words of a question describe (`Trail.whose`), the last person's at the end.

    Raises:
        UndecidableError: Nothing is known about a person on the way.
    """
    *relations, name = re.split(r" of (?:the )?", whose.removeprefix("the "))
    names = [name]
    for relation in reversed(relations):
        names.append(find(people, names[-1]).related[relation])
    return names


def find(people: Mapping[str, Person], name: str) -> Person:
    """Return the person of a name.

    Raises:
        UndecidableError: Nothing is known about that person.
    """
    if name not in people:
        raise UndecidableError(f"no document is about {name}")
    return people[name]

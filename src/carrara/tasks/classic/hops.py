"""Hops: questions over several documents about invented people, the counterpart of RULER's question answering.

After the multi-hop questions of RULER (arXiv:2404.06654), section 3, which are HotpotQA's. One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> *lines, question = make("classic/hops", params={"hops": "2"}).text.split("\\n")
>>> for line in (*lines[:4], "…", question):
...     print(fill(line, 110))
The text below has numbered documents, each about one person. A question may need several of them.
<BLANKLINE>
<text> Document 697877: Delziv Tomkede was born in Sizbisus. Their teacher is Vogvar Volzama, their gardener
is Dozgov Volzama, their driver is Zipvug Tomkede, and their doctor is Delziv Dabzeda.
Document 908213: Delziv Dakzupa was born in Tobzitep. Their doctor is Delziv Tomkede, their gardener is Dozgov
Tomkede, their driver is Dozgov Dabzeda, and their teacher is Delziv Volzama.
…
Who is the doctor of the driver of Zipvug Tomkede?

A fact is a document about one person: a birthplace, and who stands in four relations to that person. All of these have
documents too, and each stands in each relation to one other, so that no name is more frequent than another. A question
of several hops names one person, whose own document has another answer to its last part. First and last names are
shared. No model can know an answer, because nobody in the documents exists.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import isqrt
from typing import Any, NamedTuple

from carrara.answers import asks_for
from carrara.rng import Key
from carrara.task import Instance, Rng, Sweep, Task
from carrara.tasks.classic import _haystacks, _published
from carrara.tasks.classic._answers import Value
from carrara.tasks.classic._invented_names import NAME, PERSON, TOWN, draw_first, draw_last, draw_town
from carrara.types import Filler, FillerStream, Marker, Question, Segment, UndecidableError

DOCUMENTS = "documents"
"""The name of the haystack that consists of documents about other people."""
RELATIONS = (
    "accountant", "baker", "barber", "cook", "dentist", "doctor", "driver", "gardener", "landlord", "lawyer", "tailor",
    "teacher",
)  # fmt: skip
"""Relations of one person to another, none of which is the reverse of another or of itself."""
STATED = 4
"""The relations in each document, and the most in a question, which names each once: so their order matters."""
FEWEST_PEOPLE, MOST_PEOPLE = 10, 64
NUMBERS = 100_000, 999_999
"""The numbers of documents. They are drawn, so that they say nothing about the order."""
ONE_HOP = "A question of one hop names the person whose document has the answer: finding that document is what it asks."

_DOCUMENT = re.compile(rf"\bDocument [0-9]+: ({PERSON}) was born in ({TOWN})\. ([^\n]*)", re.IGNORECASE)
_RELATION = re.compile(rf"\btheir (\w+) is ({PERSON})", re.IGNORECASE)


class Person(NamedTuple):
    name: str
    town: str
    related: Mapping[str, str]
    """The names of others, by their relation."""


class Hops(Task):
    version, title, capability = 1, "Hops", "answering questions over several documents"
    guesser = "context candidates"
    answer = Value(NAME)
    instruction = "The text below has numbered documents, each about one person. A question may need several of them."
    ask = {"person": "Who is {whose}?", "town": "In which town was {whose} born?"}
    rule = asks_for("the full name")
    separator = "\n"
    hops: Sweep[int] = Sweep(1, 2, 3, 4)
    """Documents that lead to the answer, one after the other."""
    people: int = 16
    """People in the question's part of the world, each with a document: as many possible answers."""
    haystack: str = field(default=DOCUMENTS, metadata=_haystacks.haystack_metadata(DOCUMENTS))
    """`documents` (about other people, in the same relations), `noise` (the same sentences over and over), or a
    corpus."""

    def check(self) -> None:
        if not 1 <= self.hops <= STATED:
            raise ValueError(f"hops go from 1 to {STATED}")
        if not FEWEST_PEOPLE <= self.people <= MOST_PEOPLE:
            raise ValueError(f"people go from {FEWEST_PEOPLE} to {MOST_PEOPLE}")
        _haystacks.check(self.haystack)

    def shortcuts(self) -> Mapping[str, str]:
        return dict.fromkeys(("strings", "learned"), ONE_HOP) if 1 in self.sweep_values("hops") else {}

    def generate(self, rng: Rng) -> Instance:
        drawn = rng.stream("people")
        relations = drawn.sample(RELATIONS, STATED)
        people = _draw_people(drawn, self.people, relations)
        asked = drawn.choice(("person", "town"))
        trail = _draw_trail(drawn, people, relations, self.hops if asked == "person" else self.hops - 1)
        read, end = trail.names[: self.hops], trail.names[-1]
        candidates = sorted(set(people) - {read[0]} if asked == "person" else (one.town for one in people.values()))
        order = drawn.shuffled(list(people))
        return Instance(
            facts=[_write(people[name], drawn) for name in order],
            gold=end if asked == "person" else people[end].town,
            ask=asked,
            names={"whose": "".join(f"the {relation} of " for relation in reversed(trail.relations)) + read[0]},
            evidence=sorted(order.index(name) for name in read),
            filler=self._filler(people, relations, rng.key),
            options=tuple(candidates),
            guesses=candidates,
            labels={"hops": str(self.hops), "asked": asked},
            unordered=True,
            structure=Puzzle(people, order, trail),
        )

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return the person of each document with what it says that the question needs, or else the birthplace."""
        people, order, trail = instance.structure
        needed = dict(zip(trail.names, trail.names[1:], strict=False))
        return {n: Marker((name,), (needed.get(name, people[name].town),)) for n, name in enumerate(order)}

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        people: dict[str, Person] = {}
        for name, town, rest in _DOCUMENT.findall(context):
            people[name] = Person(name, town, dict(_RELATION.findall(rest)))
        *relations, at = re.split(r" of (?:the )?", names["whose"].removeprefix("the "))
        for relation in reversed(relations):
            at = _find(people, at).related[relation]
        return at if names["ask"] == "person" else _find(people, at).town

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return what readers answer who match words of the question to single documents."""
        people, _, trail = instance.structure
        first = people[trail.names[0]]
        if instance.ask == "town":
            return {"the birthplace in the document of the person named": first.town}
        return {
            "the relation asked for last, in the document of the person named": first.related[trail.relations[-1]],
            "the relation asked for first, in the document of the person named": first.related[trail.relations[0]],
        }

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return RULER's score: whether the name stands anywhere in the reply."""
        return {"ruler": _published.recall(reply, [question.gold])}

    def _filler(self, people: Mapping[str, Person], relations: Sequence[str], key: Key) -> Filler | None:
        if self.haystack == DOCUMENTS:
            return _documents(people, relations)
        return _haystacks.filler(self.haystack, key)


class Trail(NamedTuple):
    """The way to an answer."""

    names: Sequence[str]
    """The person whom the question names, and those that one relation after the other leads to."""
    relations: Sequence[str]


class Puzzle(NamedTuple):
    people: Mapping[str, Person]
    order: Sequence[str]
    """The names in the order of the documents."""
    trail: Trail


def _draw_people(rng: Rng, count: int, relations: Sequence[str]) -> dict[str, Person]:
    """Draw people with first and last names in common, each of whom stands in each relation to one other."""
    side = isqrt(count - 1) + 1
    firsts, lasts = _distinct(draw_first, rng, side), _distinct(draw_last, rng, side)
    names = rng.sample([f"{first} {last}" for first in firsts for last in lasts], count)
    towns = _distinct(draw_town, rng, count)
    related = [dict[str, str]() for _ in names]
    for relation in relations:
        others = _draw_circle(rng, names)
        while any(others[name] in one.values() for name, one in zip(names, related, strict=True)):
            others = _draw_circle(rng, names)
        for name, one in zip(names, related, strict=True):
            one[relation] = others[name]
    return {name: Person(name, town, one) for name, town, one in zip(names, towns, related, strict=True)}


def _draw_circle(rng: Rng, names: Sequence[str]) -> dict[str, str]:
    """Return another name for each, and each for one."""
    circle = rng.shuffled(names)
    return dict(zip(circle, [*circle[1:], circle[0]], strict=True))


def _draw_trail(rng: Rng, people: Mapping[str, Person], relations: Sequence[str], steps: int) -> Trail:
    """Draw a person, and different relations that lead on from one person to another and never back."""
    while True:
        names, taken = [rng.choice(list(people))], rng.sample(relations, steps)
        for relation in taken:
            names.append(people[names[-1]].related[relation])
        if len(set(names)) == len(names):
            return Trail(names, taken)


def _distinct(draw: Callable[[Rng], str], rng: Rng, count: int) -> list[str]:
    found = dict[str, None]()
    while len(found) < count:
        found[draw(rng)] = None
    return list(found)


def _write(person: Person, rng: Rng) -> str:
    *others, last = (f"their {relation} is {name}" for relation, name in rng.shuffled(list(person.related.items())))
    related = f"{', '.join(others)}, and {last}"
    return (
        f"Document {rng.between(*NUMBERS)}: {person.name} was born in {person.town}. {related[0].upper()}{related[1:]}."
    )


def _documents(people: Mapping[str, Person], relations: Sequence[str]) -> Filler:
    """Return documents about others, in the same relations. Half of their names have a part in common with these."""
    firsts, lasts = (sorted({name.split()[part] for name in people}) for part in (0, 1))

    def draw_name(rng: Rng) -> str:
        shared = rng.below(4)  # neither, the first name, or the last
        first = rng.choice(firsts) if shared == 1 else draw_first(rng)
        last = rng.choice(lasts) if shared == 2 else draw_last(rng)
        return draw_name(rng) if f"{first} {last}" in people else f"{first} {last}"

    towns = {person.town for person in people.values()}

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        def stream(gap: int) -> tuple[Segment, ...]:
            name, *others = _distinct(draw_name, rng, 1 + len(relations))
            town = next(town for town in iter(lambda: draw_town(rng), "") if town not in towns)
            return (Segment(_write(Person(name, town, dict(zip(relations, others, strict=True))), rng)),)

        return stream

    return open_filler


def _find(people: Mapping[str, Person], name: str) -> Person:
    if name not in people:
        raise UndecidableError(f"no document is about {name}")
    return people[name]

"""Hops: questions over several documents about invented people, the counterpart of RULER's question answering.

After the multi-hop questions of RULER (arXiv:2404.06654), section 3, which are HotpotQA's. One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> *lines, question = make("classic/hops", params={"hops": "2"}).text.split("\\n")
>>> for line in (*lines[:4], "…", question):
...     print(fill(line, 110))
The text below has numbered documents, each about one person. A question may need several of them.
<BLANKLINE>
<text> Document 724733: Vipval Divdepu was born in Zapvoziz. Their dentist is Vipval Zubzape, their gardener
is Tivgat Zubzape, their baker is Gebzid Likveva, and their teacher is Gebzid Kuvdiga.
Document 852004: Gomkam Divdepu was born in Kakvupev. Their teacher is Tivgat Divdepu, their dentist is Gomkam
Kuvdiga, their baker is Vipval Kuvdiga, and their gardener is Gebzid Kuvdiga.
…
In which town was the gardener of Vipval Divdepu born? Reply with one line and nothing else, in this form:
FINAL ANSWER: <the full name>

A fact is a document about one person: a birthplace, and who stands in four relations to that person. All of these have
documents too, and each stands in each relation to one other, so that no name is more frequent than another. A question
of several hops names one person, whose own document has another answer to its last part. First and last names are
shared. No model can know an answer, because nobody in the documents exists.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

from carrara.answers import asks_for
from carrara.rng import Key
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import sweep_values
from carrara.tasks.classic import _haystacks, _published
from carrara.tasks.classic._answers import Value
from carrara.tasks.classic._people import (
    ASK,
    DESCRIPTION,
    FEWEST_PEOPLE,
    MOST_PEOPLE,
    NAME,
    RELATIONS,
    STATED,
    Person,
    Trail,
    draw_others,
    draw_people,
    draw_trail,
    find,
    follow,
)
from carrara.types import Filler, FillerStream, Marker, Question, Segment

DOCUMENTS = "documents"
"""The name of the haystack that consists of documents about other people."""
NUMBERS = 100_000, 999_999
"""The numbers of documents. They are drawn, so that they say nothing about the order."""
ONE_HOP = "A question of one hop names the person whose document has the answer: finding that document is what it asks."

_DOCUMENT = re.compile(rf"\bDocument [0-9]+: {DESCRIPTION}", re.IGNORECASE)


class Hops(SuiteTask):
    version, title, capability = 3, "Hops", "answering questions over several documents"
    guesser = "context candidates"
    answer = Value(NAME)
    instruction = "The text below has numbered documents, each about one person. A question may need several of them."
    ask = ASK
    separator = "\n"
    hops: Sweep[int] = Sweep(1, 2, 3, 4)
    """Documents that lead to the answer, one after the other."""
    people: int = 16
    """People in the question's part of the world, each with a document: as many possible answers."""
    haystack: str = field(default=DOCUMENTS, metadata=_haystacks.haystack_metadata(DOCUMENTS))
    """`documents` (about other people, in the same relations), `noise` (the same sentences over and over), or a
    corpus."""

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        return {**super().make_wording(), "rule": asks_for("the full name")}

    def check(self) -> None:
        if not 1 <= self.hops <= STATED:
            raise ValueError(f"hops go from 1 to {STATED}")
        if not FEWEST_PEOPLE <= self.people <= MOST_PEOPLE:
            raise ValueError(f"people go from {FEWEST_PEOPLE} to {MOST_PEOPLE}")
        _haystacks.check(self.haystack)

    def shortcuts(self) -> Mapping[str, str]:
        return dict.fromkeys(("strings", "learned"), ONE_HOP) if 1 in sweep_values(self, "hops") else {}

    def generate(self, rng: Rng) -> Instance:
        people_rng = rng.stream("people")
        relations = people_rng.sample(RELATIONS, STATED)
        people = draw_people(people_rng, self.people, relations)
        ask = people_rng.choice(("person", "town"))
        trail = self._draw_trail(people_rng, people, ask)
        order = people_rng.shuffled(list(people))
        instance = Instance(
            facts=[_write(people[name], people_rng) for name in order],
            ask=ask,
            filler=self._filler(people, relations, rng.key),
            labels={"hops": str(self.hops), "asked": ask},
            unordered=True,
        )
        return self._pose(instance, Structure(people, order, trail))

    def _draw_trail(self, rng: Rng, people: Mapping[str, Person], ask: str) -> Trail:
        relations = list(next(iter(people.values())).related)
        return draw_trail(rng, people, relations, self.hops if ask == "person" else self.hops - 1)

    def _pose(self, instance: Instance, structure: "Structure") -> Instance:
        """Return an instance with the question about a trail."""
        people, order, trail = structure
        needed_names, end, is_person = trail.names[: self.hops], trail.names[-1], instance.ask == "person"
        candidates = sorted(
            set(people) - {needed_names[0]} if is_person else (person.town for person in people.values())
        )
        return replace(
            instance,
            gold=end if is_person else people[end].town,
            names={"whose": trail.whose},
            evidence=sorted(order.index(name) for name in needed_names),
            options=tuple(candidates),
            guesses=candidates,
            structure=structure,
        )

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return the person of each document with what it says that the question needs, or else the birthplace."""
        people, order, trail = instance.structure
        needed = dict(zip(trail.names, trail.names[1:], strict=False))
        return {n: Marker((name,), (needed.get(name, people[name].town),)) for n, name in enumerate(order)}

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        people = {description[0]: Person.read(*description) for description in _DOCUMENT.findall(context)}
        name = follow(people, names["whose"])[-1]
        return name if names["ask"] == "person" else find(people, name).town

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


class Structure(NamedTuple):
    people: Mapping[str, Person]
    order: Sequence[str]
    """The names in the order of the documents."""
    trail: Trail


def _write(person: Person, rng: Rng) -> str:
    description = person.describe(rng)
    return f"Document {rng.between(*NUMBERS)}: {description}"


def _documents(people: Mapping[str, Person], relations: Sequence[str]) -> Filler:
    """Return documents about further people."""

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        others = draw_others(rng, people, relations)

        def stream(gap: int) -> tuple[Segment, ...]:
            return (Segment(_write(next(others), rng)),)

        return stream

    return open_filler

"""Documents of a few fields, and the criteria by which they are judged.

>>> criteria = [Criterion("place", "Yarrow"), Criterion("topic", "birds"), Criterion("year", "1920 to 1939")]
>>> one = Document("letter", "herons", "Nora", "Milo", "Yarrow", 1919, "Ashford")
>>> one.write("kqwztb"), [each.is_met(one) for each in criteria]
('[kqwztb] A letter about herons by Nora for Milo, written in Yarrow in 1919, kept in Ashford.', [True, True, False])
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from carrara.generators.people import CITIES, NAMES
from carrara.rng import Rng
from carrara.tasks.carrara._kinds import KINDS

Field = Literal["form", "topic", "author", "place", "year"]
FORMS = ("letter", "poem", "report", "lecture", "play", "novel", "sermon", "song", "speech", "diary")
FIRST, LAST, SPAN = 1800, 1999, 20
"""The years of documents, and the number of years that a criterion allows."""
VALUES: dict[Field, Sequence[str | int]] = {
    "form": FORMS,
    "topic": [topic for topics in KINDS.values() for topic in topics],
    "author": NAMES,
    "place": CITIES,
    "year": range(FIRST, LAST + 1),
}
MISPLACED = 0.5
"""How often the name or the place of a criterion that is not met stands in another role."""
PHRASES: dict[Field, str] = {
    "form": "it is a {}",
    "topic": "it is about {}",
    "author": "it is by {}",
    "place": "it was written in {}",
    "year": "it was written in the years {}",
}
"""How the question states a criterion of each field."""

_DOCUMENT = re.compile(
    r"\[([a-z]{6})\] A (\w+) about (\w+) by (\w+) for (\w+), written in ([\w ]+?) in ([0-9]{4}), kept in ([\w ]+)\."
)
_CRITERION = {name: re.compile(phrase.format("(.+)")) for name, phrase in PHRASES.items()}


class Document(NamedTuple):
    form: str
    topic: str
    author: str
    reader: str
    """The person that it is for. No criterion is about it, nor about the place where it is kept."""
    place: str
    year: int
    shelf: str

    def write(self, own_id: str) -> str:
        return (
            f"[{own_id}] A {self.form} about {self.topic} by {self.author} for {self.reader}, written in {self.place} "
            f"in {self.year}, kept in {self.shelf}."
        )


@dataclass(frozen=True)
class Criterion:
    """What a field of a document has to be: a value, a topic of a kind, or a year of some."""

    field: Field
    value: str

    def __str__(self) -> str:
        return PHRASES[self.field].format(self.value)

    def is_met(self, document: Document) -> bool:
        return self.allows(getattr(document, self.field))

    def allows(self, value: str | int) -> bool:
        """Return whether a field may have a value."""
        if self.field == "topic":
            return value in KINDS[self.value]
        if self.field == "year":
            first, last = map(int, self.value.split(" to "))
            return first <= int(value) <= last
        return value == self.value


def draw_criteria(rng: Rng, count: int) -> list[Criterion]:
    """Return criteria about different fields."""
    first = FIRST + SPAN * rng.below((LAST + 1 - FIRST) // SPAN)
    values: dict[Field, str] = {
        "form": rng.choice(FORMS),
        "topic": rng.choice(list(KINDS)),
        "author": rng.choice(NAMES),
        "place": rng.choice(CITIES),
        "year": f"{first} to {first + SPAN - 1}",
    }
    return [Criterion(name, values[name]) for name in rng.sample(list(values), count)]


class DocumentSource:
    """A source of documents that meet some of the criteria.

    Args:
        criteria: The criteria, each about another field.
    """

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self._criteria = {one.field: one for one in criteria}
        self._met = {one: [value for value in VALUES[one.field] if one.allows(value)] for one in criteria}
        self._unmet = {one: [value for value in VALUES[one.field] if not one.allows(value)] for one in criteria}

    def draw(self, rng: Rng, met: Collection[Criterion]) -> Document:
        """Return a document that meets these criteria and none of the others.

        The name or the place of a criterion that it does not meet often stands where it does not count.
        """
        author, place = str(self._draw(rng, "author", met)), str(self._draw(rng, "place", met))
        return Document(
            form=str(self._draw(rng, "form", met)),
            topic=str(self._draw(rng, "topic", met)),
            author=author,
            reader=self._draw_other(rng, "author", author),
            place=place,
            year=int(self._draw(rng, "year", met)),
            shelf=self._draw_other(rng, "place", place),
        )

    def _draw(self, rng: Rng, name: Field, met: Collection[Criterion]) -> str | int:
        criterion = self._criteria.get(name)
        if criterion is None:
            return rng.choice(VALUES[name])
        return rng.choice((self._met if criterion in met else self._unmet)[criterion])

    def _draw_other(self, rng: Rng, name: Field, taken: str) -> str:
        """Return a name or a place that is not the taken one."""
        criterion = self._criteria.get(name)
        if criterion and criterion.value != taken and rng.chance(MISPLACED):
            return criterion.value
        while (value := str(rng.choice(VALUES[name]))) == taken:
            pass
        return value


def read_documents(context: str) -> Iterator[tuple[str, Document]]:
    """Return the documents of a text with their ids."""
    for own_id, form, topic, author, reader, place, year, shelf in _DOCUMENT.findall(context):
        yield own_id, Document(form, topic, author, reader, place, int(year), shelf)


def read_criteria(text: str) -> list[Criterion]:
    """Return the criteria that a question states.

    >>> read_criteria("it was written in Yarrow; it was written in the years 1920 to 1939")
    [Criterion(field='place', value='Yarrow'), Criterion(field='year', value='1920 to 1939')]
    """
    return [_read_criterion(part) for part in text.split("; ")]


def _read_criterion(text: str) -> Criterion:
    found = [(name, match[1]) for name, pattern in _CRITERION.items() if (match := pattern.fullmatch(text))]
    return Criterion(*found[-1])  # `it was written in the years …` is read as a place too

"""Documents of a few fields, and the criteria by which they are judged.

>>> years = Criterion("year", "1919 and before 1940")
>>> criteria = [Criterion("place", "Yarrow"), Criterion("topic", "birds"), years]
>>> one = Document("letter", "herons", "Nora", "Milo", "Yarrow", 1919, "Ashford", "song")
>>> text = one.write(Rng("order"), "kqwztb")
>>> text
'[kqwztb] Kept in Ashford with a song: a letter about herons for Milo by Nora, written in Yarrow in 1919.'
>>> [criterion.is_met(one) for criterion in criteria], list(read_documents(text)) == [("kqwztb", one)]
([True, True, False], True)
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
OTHER_ROLES = 0.5
"""How often a document is written so that a name, a place or a form stands first where it does not count."""
PHRASES: dict[Field, str] = {
    "form": "it is a {}",
    "topic": "it is about {}",
    "author": "{} is its author",
    "place": "{} is where it was written",
    "year": "it was written after {}",
}
"""How the question states a criterion of each field, in words that do not stand side by side in a document that meets
it."""
_AND = " and before "
"""What stands between the year before a span of years and the year after it."""

_DOCUMENT = re.compile(r"\[([a-z]{6})\] ([^.\n]+)\.")
_FIELDS = [
    re.compile(pattern)
    for pattern in (
        r"\b[Aa] (?P<form>\w+) about (?P<topic>\w+)",
        r"\bby (?P<author>\w+)",
        r"\bfor (?P<reader>\w+)",
        r"\bwritten in (?P<place>[\w ]+?) in (?P<year>[0-9]{4})",
        r"\b[Kk]ept in (?P<shelf>[\w ]+?) with a (?P<companion>\w+)",
    )
]
_CRITERION = {name: re.compile(phrase.format("(.+)")) for name, phrase in PHRASES.items()}


class Document(NamedTuple):
    form: str
    topic: str
    author: str
    reader: str
    """The person that it is for. No criterion is about it, nor about the place where it is kept, nor about the form of
    the document with which it is kept."""
    place: str
    year: int
    shelf: str
    companion: str

    def write(self, rng: Rng, own_id: str) -> str:
        """Return the document as a line, in a drawn order: no role has a place of its own."""
        people = rng.shuffled([f"by {self.author}", f"for {self.reader}"])
        about = f"{self.form} about {self.topic} {' '.join(people)}, written in {self.place} in {self.year}"
        kept = f"ept in {self.shelf} with a {self.companion}"
        return f"[{own_id}] K{kept}: a {about}." if rng.chance(OTHER_ROLES) else f"[{own_id}] A {about}, k{kept}."


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
            before, after = map(int, self.value.split(_AND))
            return before < int(value) < after
        return value == self.value


def draw_criteria(rng: Rng, count: int) -> list[Criterion]:
    """Return criteria about different fields."""
    first = FIRST + SPAN * rng.below((LAST + 1 - FIRST) // SPAN)
    values: dict[Field, str] = {
        "form": rng.choice(FORMS),
        "topic": rng.choice(list(KINDS)),
        "author": rng.choice(NAMES),
        "place": rng.choice(CITIES),
        "year": f"{first - 1}{_AND}{first + SPAN}",
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

        If it does not meet a criterion about a name, a place or a form, it has that in the role that does not count. So
        all documents have the same words in common with the question.
        """
        form, author, place = (str(self._draw(rng, name, met)) for name in ("form", "author", "place"))
        return Document(
            form=form,
            topic=str(self._draw(rng, "topic", met)),
            author=author,
            reader=self._draw_other(rng, "author", author),
            place=place,
            year=int(self._draw(rng, "year", met)),
            shelf=self._draw_other(rng, "place", place),
            companion=self._draw_other(rng, "form", form),
        )

    def _draw(self, rng: Rng, name: Field, met: Collection[Criterion]) -> str | int:
        criterion = self._criteria.get(name)
        if criterion is None:
            return rng.choice(VALUES[name])
        return rng.choice((self._met if criterion in met else self._unmet)[criterion])

    def _draw_other(self, rng: Rng, name: Field, taken: str) -> str:
        """Return the value of a criterion that is not met, otherwise another than the taken one."""
        criterion = self._criteria.get(name)
        if criterion and criterion.value != taken:
            return criterion.value
        while (value := str(rng.choice(VALUES[name]))) == taken:
            pass
        return value


def read_documents(context: str) -> Iterator[tuple[str, Document]]:
    """Return the documents of a text with their ids."""
    for own_id, text in _DOCUMENT.findall(context):
        matches = [pattern.search(text) for pattern in _FIELDS]
        if all(matches):
            fields = {name: value for match in matches if match for name, value in match.groupdict().items()}
            year = int(fields.pop("year"))
            yield own_id, Document(**fields, year=year)


def read_criteria(text: str) -> list[Criterion]:
    """Return the criteria that a question states.

    >>> read_criteria("Yarrow is where it was written; it was written after 1919 and before 1940")
    [Criterion(field='place', value='Yarrow'), Criterion(field='year', value='1919 and before 1940')]
    """
    return [_read_criterion(part) for part in text.split("; ")]


def _read_criterion(text: str) -> Criterion:
    [criterion] = (Criterion(name, match[1]) for name, form in _CRITERION.items() if (match := form.fullmatch(text)))
    return criterion

r"""Documents of a few fields, and the criteria by which they are judged.

>>> years = Criterion("year", "1919 and before 1940")
>>> criteria = [Criterion("place", "Yarrow"), Criterion("topic", "birds"), years]
>>> letter = Document("letter", "herons", "Nora", "Yarrow", 1919)
>>> entry = Entry(letter, Document("song", "oaks", "Milo", "Ashford", 1830))
>>> text = entry.write(Rng("order"), "kqwztb")
>>> print(text.replace(", set", ",\n  set"))
[kqwztb] By Nora, for Milo, written in Yarrow in 1919,
  set in Ashford in 1830, kept with a song about oaks, listed as a letter about herons.
>>> [criterion.is_met(letter) for criterion in criteria], list(read_documents(text)) == [("kqwztb", letter)]
([True, True, False], True)
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from carrara.generators.kinds import KINDS
from carrara.generators.people import CITIES, NAMES
from carrara.task import Rng

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
PHRASES: dict[Field, str] = {
    "form": "it is a {}",
    "topic": "it is about {}",
    "author": "{} is its author",
    "place": "its author wrote it in {}",
    "year": "its author wrote it after {}",
}
"""The wording of a criterion in the question, by field. No word beside the value stands where the value counts, and not
where it does not count."""
_AND = " and before "
"""The text between the year before a span of years and the year after it."""

_DOCUMENT = re.compile(r"\[([a-z]{6})\] ([^.\n]+)\.")
_ROLES = [
    re.compile(pattern)
    for pattern in (
        r"\b[Ll]isted as a (?P<form>\w+) about (?P<topic>\w+)",
        r"\b[Bb]y (?P<author>\w+)",
        r"\b[Ww]ritten in (?P<place>[\w ]+?) in (?P<year>[0-9]{4})",
    )
]
_CRITERION = {name: re.compile(phrase.format("(.+)")) for name, phrase in PHRASES.items()}


class Document(NamedTuple):
    form: str
    topic: str
    author: str
    place: str
    year: int


class Entry(NamedTuple):
    """A document, and a decoy: the values in its line that have the same form and do not count."""

    document: Document
    decoy: Document
    """The form and the topic of the document with which it is kept, the person that it is for, and the place and the
    year in which it is set."""

    def write(self, rng: Rng, own_id: str) -> str:
        """Return the document as a line, in a drawn order.

        What counts has as many words before and after it as what does not. So neither places in the line nor distances
        show which is which.
        """
        document, decoy = self
        parts = (
            f"listed as a {document.form} about {document.topic}",
            f"kept with a {decoy.form} about {decoy.topic}",
            f"by {document.author}",
            f"for {decoy.author}",
            f"written in {document.place} in {document.year}",
            f"set in {decoy.place} in {decoy.year}",
        )
        line = ", ".join(rng.shuffled(parts))
        return f"[{own_id}] {line[0].upper()}{line[1:]}."


@dataclass(frozen=True)
class Criterion:
    """A condition on a field of a document: a value, a topic of a kind, or a year of a span."""

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
    """A source of documents that meet some of the criteria, each of which is about another field."""

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self._criteria = {criterion.field: criterion for criterion in criteria}
        self._met = {
            criterion: [value for value in VALUES[criterion.field] if criterion.allows(value)] for criterion in criteria
        }
        self._unmet = {
            criterion: [value for value in VALUES[criterion.field] if not criterion.allows(value)]
            for criterion in criteria
        }

    def draw(self, rng: Rng, met: Collection[Criterion]) -> Entry:
        """Return a document that meets these criteria and none of the others.

        Where it does not meet a criterion, the decoy has a value that would meet it. So all documents have the same
        words in common with the question.
        """
        document, decoy = (
            Document(*(self._draw(rng, field, met, counts) for field in Document._fields))  # type: ignore[arg-type]
            for counts in (True, False)
        )
        return Entry(document, decoy)

    def _draw(self, rng: Rng, field: Field, met: Collection[Criterion], counts: bool) -> str | int:
        """Return a value for the document, or for the decoy. A criterion allows one of both."""
        criterion = self._criteria.get(field)
        if criterion is None:
            return rng.choice(VALUES[field])
        return rng.choice((self._met if (criterion in met) == counts else self._unmet)[criterion])


def read_documents(context: str) -> Iterator[tuple[str, Document]]:
    """Yield the documents of a text with their ids."""
    for own_id, text in _DOCUMENT.findall(context):
        matches = [role.search(text) for role in _ROLES]
        if all(matches):
            fields = {name: value for match in matches if match for name, value in match.groupdict().items()}
            year = int(fields.pop("year"))
            yield own_id, Document(**fields, year=year)


def read_criteria(text: str) -> list[Criterion]:
    """Return the criteria that a question states.

    >>> read_criteria("its author wrote it in Yarrow; its author wrote it after 1919 and before 1940")
    [Criterion(field='place', value='Yarrow'), Criterion(field='year', value='1919 and before 1940')]
    """
    return [_read_criterion(part) for part in text.split("; ")]


def _read_criterion(text: str) -> Criterion:
    [criterion] = (Criterion(name, match[1]) for name, form in _CRITERION.items() if (match := form.fullmatch(text)))
    return criterion

"""Answers with the ids of the documents that prove them, and the ids of an item's documents.

>>> from carrara.types import Question
>>> gold = Citation("Zipvug Tomkede", ("ghpfsr", "lwztkx"))
>>> who = Question("Who is the cook of Delziv Dabzeda?", gold, (), 0.0, options=("Zipvug Tomkede", "Vogvar Volzama"))
>>> CitationAnswer().read("FINAL ANSWER: Zipvug Tomkede [lwztkx, ghpfsr]", who).answer == gold
True
>>> CitationAnswer().read("It is Zipvug Tomkede.", who).answer
Citation(answer='Zipvug Tomkede', ids=())
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from carrara.answers import AnswerType, asks_for
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import Extraction
from carrara.rng import Rng, digest
from carrara.tasks.carrara._rankings import ID, SPARE
from carrara.tasks.classic._answers import set_score
from carrara.tasks.classic._people import NAME, PERSON, TOWN
from carrara.tasks.classic._values import Kind
from carrara.tasks.classic._words import CONSONANTS
from carrara.types import ErrorType, Question

_HALF, _TURNS = len(CONSONANTS) ** 3, 4
MOST_DOCUMENTS = 1_000_000
"""The most documents of an item: more than 50M tokens have."""

_PERSON, _TOWN = (
    replace(NAME, pattern=re.compile(rf"(?<![\w-])(?:{form})(?![\w-])", re.IGNORECASE)) for form in (PERSON, TOWN)
)
_BETWEEN = re.compile(
    r"(?:[\s,;:.|&+*•·\"'`()\[\]{}-]++"
    r"|\b(?:and|ids?|in|by|documents?|sources?|evidence|proof|proven|proved|citations?|cited)\b)*+",
    re.IGNORECASE,
)


class DocumentIds:
    """A mapping from the numbers of an item's documents to their ids, and back.

    A Feistel network of the two halves of an id maps numbers to ids that look drawn, each to another one.
    """

    def __init__(self, rng: Rng) -> None:
        self._seed = rng.below(1 << 48)

    def write(self, number: int) -> str:
        """Return the id of a document. Different numbers have different ids."""
        left, right = divmod(number, _HALF)
        for turn in range(_TURNS):
            left, right = right, (left + digest(self._seed, turn, right)) % _HALF
        return _letters(left) + _letters(right)

    def may_exist(self, own_id: str) -> bool:
        """Return whether one of the first million documents has an id. One in 64 invented ids is among theirs."""
        left, right = _number(own_id[:3]), _number(own_id[3:])
        for turn in reversed(range(_TURNS)):
            left, right = (right - digest(self._seed, turn, left)) % _HALF, left
        return left * _HALF + right < MOST_DOCUMENTS


def _letters(number: int) -> str:
    size = len(CONSONANTS)
    return "".join(CONSONANTS[number // size**place % size] for place in range(3))


def _number(letters: str) -> int:
    return sum(CONSONANTS.index(letter) * len(CONSONANTS) ** place for place, letter in enumerate(letters))


@dataclass(frozen=True)
class Citation:
    """An answer, and the ids of documents in the order of the alphabet."""

    answer: str
    ids: tuple[str, ...]
    known_ids: DocumentIds | None = field(default=None, compare=False, repr=False)
    """The ids of all documents. Only a gold answer has them."""


class CitationAnswer(AnswerType[Citation]):
    """A name with ids. A reply that states a name without ids has none.

    Args:
        with_ids: Whether a text without ids is no answer. Otherwise ids do not count.
    """

    rule = asks_for(
        "the full name and, in brackets, the ids of all documents that are needed to prove it and of no others, "
        "separated by commas"
    )
    several_lines = True

    def __init__(self, with_ids: bool = True) -> None:
        self._with_ids = with_ids

    def write(self, answer: Citation) -> str:
        return f"{answer.answer} [{', '.join(answer.ids)}]"

    def read(self, reply: str, question: Question[Citation], ignore: Iterable[str] = ()) -> Extraction | None:
        extraction = super().read(reply, question, ignore)
        return (
            CitationAnswer(with_ids=False).read(reply, question, ignore)
            if extraction is None and self._with_ids
            else extraction
        )

    def parse_value(self, text: str, question: Question[Citation]) -> Citation | None:
        """Return the one name of a text with its ids, if it says nothing else."""
        citations = self._find(text, question)
        if len(citations) != 1:
            return None
        rest = ID.pattern.sub(" ", kind_of(question.gold).pattern.sub(" ", text))
        return citations[0] if _BETWEEN.fullmatch(rest) else None

    def find_values(self, text: str, question: Question[Citation]) -> Iterator[Citation]:
        """Yield each name that sentences state, with the ids in all of them."""
        yield from self._find("\n".join(affirmative_sentences(text, question)), question)

    def _find(self, text: str, question: Question[Citation]) -> list[Citation]:
        ids = tuple(sorted({*ID.find(text)})) if self._with_ids else ()
        names = names_in(text, question)
        return [Citation(name, ids) for name in sorted(names)] if ids or not self._with_ids else []

    def score(self, answer: Citation, gold: Citation) -> float:
        """Return the share of the proof that is cited, less wrong ids, if the answer is right."""
        return set_score(answer.ids, gold.ids) if answer.answer == gold.answer else 0.0

    def budget(self, gold: Citation) -> int:
        return SPARE + NAME.tokens + ID.tokens * len(gold.ids)


def kind_of(gold: Citation) -> Kind:
    """Return the kind of names that the answer is one of."""
    return _PERSON if " " in gold.answer else _TOWN


def names_in(text: str, question: Question[Citation]) -> set[str]:
    """Return the names of the answer's kind in a text, without those that the question has."""
    kind = kind_of(question.gold)
    return {*kind.find(text)}.difference(kind.find(question.ask))


def error_type(answer: Citation, gold: Citation) -> ErrorType | None:
    """Return how an answer or its proof is wrong."""
    if answer == gold:
        return None
    cited, needed = {*answer.ids}, {*gold.ids}
    hits, more = len(cited & needed), len(cited - needed)
    detail = f"{hits} of {len(needed)} needed, {more} too many"
    if answer.answer != gold.answer:
        return ErrorType("wrong answer, right documents" if cited == needed else "wrong answer", detail)
    if not cited:
        return ErrorType("no documents", detail)
    if gold.known_ids and not all(map(gold.known_ids.may_exist, cited)):
        return ErrorType("ids of no document", detail)
    if not hits:
        return ErrorType("other documents", detail)
    if hits < len(needed):
        return ErrorType("documents missing and too many" if more else "documents missing", detail)
    return ErrorType("documents too many", detail)

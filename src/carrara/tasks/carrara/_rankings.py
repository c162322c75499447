"""Rankings as answers: ids in order, and the grade of each document.

>>> gold = Ranking(("bcdfgh", "jklmnp"), {"bcdfgh": 3, "jklmnp": 1})
>>> ndcg(["jklmnp", "bcdfgh"], gold, 2), ndcg(["bcdfgh", "jklmnp"], gold, 2)
(0.7967075809905066, 1.0)
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, log2

from carrara.answers import AnswerType, asks_for
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import behind_label
from carrara.tasks.classic._values import letters
from carrara.types import Question

ID = letters("id", 6, str.lower)
"""Ids of documents. They have no vowels: none is a word of a reply. All have six letters: none is part of another."""
SPARE = 48

_BETWEEN = re.compile(
    r"(?:[\s,;:.|>&+*•·\"'`()\[\]{}-]|[0-9]{1,3}[.)]|\b(?:and|then|ids?|documents?)\b)*", re.IGNORECASE
)
_MARK = r"[^\w\n]{0,9}"
_LINE = re.compile(
    rf"{_MARK}(?:[0-9]{{1,3}}[.):])?{_MARK}(?:document|id:?)?{_MARK}({ID.pattern.pattern})", re.IGNORECASE
)


@dataclass(frozen=True)
class Ranking:
    """Ids of documents, the most relevant first."""

    ids: tuple[str, ...]
    grades: Mapping[str, int] = field(default_factory=dict[str, int], compare=False, repr=False)
    """The grade of each relevant document. Only a gold answer has them."""


class RankingAnswer(AnswerType[Ranking]):
    """Ids in order. An id that is named again counts where it is named first."""

    rule = asks_for(
        "the ids of these documents, the most relevant first, separated by commas; equally relevant ones may stand in "
        "any order"
    )
    several_lines = True

    def write(self, answer: Ranking) -> str:
        return ", ".join(answer.ids)

    def parse_value(self, text: str, question: Question[Ranking]) -> Ranking | None:
        """Return the ids of a text that lists them and says nothing else, or of lines that begin with one each."""
        ids = _different(ID.find(text))
        if ids and _BETWEEN.fullmatch(ID.pattern.sub(" ", text)):
            return Ranking(ids)
        lines = [_LINE.match(line) for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and all(lines):
            return Ranking(_different(line[1].lower() for line in lines if line))
        return None

    def find_values(self, text: str, question: Question[Ranking]) -> Iterator[Ranking]:
        """Yield the ids of each sentence that names several."""
        for sentence in affirmative_sentences(text, question):
            if len(ids := _different(ID.find(sentence))) > 1:
                yield Ranking(ids)

    def score(self, answer: Ranking, gold: Ranking) -> float:
        return ndcg(answer.ids, gold, len(gold.ids))

    def budget(self, gold: Ranking) -> int:
        return SPARE + ID.tokens * len(gold.ids)


def _different(ids: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def ndcg(ids: Sequence[str], gold: Ranking, top: int) -> float:
    """Return the normalized discounted cumulative gain of the first `top` ids. The gain of a document is its grade."""
    gains = [gold.grades.get(document_id, 0) for document_id in ids[:top]]
    best = sorted(gold.grades.values(), reverse=True)[:top]
    return _dcg(gains) / _dcg(best)


def chance_level(grades: Sequence[int], documents: int, top: int) -> float:
    """Return the mean score of `top` documents that are drawn from all.

    >>> chance_level([1], 4, 2), chance_level([2, 2], 2, 2)
    (0.4077324383928644, 1.0)
    """
    mean, best = sum(grades) / documents, sorted(grades, reverse=True)[:top]
    return _dcg([mean] * top) / _dcg(best)


def _dcg(gains: Sequence[float]) -> float:
    return fsum(gain / log2(place) for place, gain in enumerate(gains, 2))  # `sum` rounds by Python version


def is_exact(answer: Ranking, gold: Ranking) -> bool:
    """Return whether a ranking has the right documents in an order that is right, whatever that of equal ones."""
    grades = [gold.grades.get(document_id, 0) for document_id in answer.ids]
    return {*answer.ids} == {*gold.ids} and grades == sorted(grades, reverse=True)


_ID = r"\b[b-df-hj-np-tv-z]{6}\b"


def ranked_ids(reply: str) -> list[str]:
    """Return the longest list of ids in an answer, each id once. HELMET's ids are numbers, with `>` between them.

    >>> ranked_ids("FINAL ANSWER: [bcdfgh] > [jklmnp] > [bcdfgh]")
    ['bcdfgh', 'jklmnp']
    """
    answer = re.sub(r"[\[\]:]", "", behind_label(reply).lower())
    longest = max((match[0] for match in re.finditer(rf"{_ID}(?:\s*[>,]\s*{_ID})*", answer)), key=len, default="")
    return list(dict.fromkeys(re.findall(_ID, longest)))

"""Ranking: the documents that meet the most criteria, best first.

After HELMET's passage reranking (arXiv:2410.02694). One item of few documents without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("carrara/ranking", params={"top": "4", "documents": "8"}).text.split("\\n"):
...     print(fill(line, 110))
Each line of the text below describes a document, after its id in brackets. You will be asked which documents
are the most relevant.
<BLANKLINE>
<text> [lcbtfv] A diary about strawberries by Dagny for Conrad, written in Greyhaven in 1895, kept in
Northwold.
[mnpdpk] A song about pears by Dagny for Dorian, written in Greyhaven in 1981, kept in Port Ellery.
[qsfttd] A letter about cyclones by Flora for Greta, written in Bellmore in 1927, kept in Northwold.
[hsckkj] A song about champagne by Dagny for Vera, written in Harrowgate in 1870, kept in Greyhaven.
[qvcstm] A letter about parsnips by Fabian for Esther, written in Northwold in 1983, kept in Harrowgate.
[chwcpw] A speech about plums by Beatrix for Dagny, written in Greyhaven in 1945, kept in Ashford.
[tpnljd] A speech about rugby by Dagny for Ines, written in Dunmere in 1888, kept in Saltmarsh.
[rxqdmf] A letter about catfish by Dagny for Edith, written in Quarrybank in 1804, kept in Port Ellery.
</text>
<BLANKLINE>
The more of these criteria a document meets, the more relevant it is: it was written in Greyhaven; it is about
fruit; it is by Dagny; it is a song. Which are the 4 most relevant documents? Reply with one line and nothing
else, in this form: FINAL ANSWER: <the ids of these documents, the most relevant first, separated by commas;
equally relevant ones may stand in any order>

The grade of a document is the number of criteria that it meets beyond the first, so that grades go from 0 to 3. The
facts are the relevant documents, which are exactly as many as the question asks for, and some others. The filler
consists of other documents. Half of these meet one criterion, which many documents do, and the rest meet none.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from carrara.task import Instance, Rng, Sweep, Task
from carrara.tasks.carrara._documents import (
    PHRASES,
    Criterion,
    DocumentSource,
    draw_criteria,
    read_criteria,
    read_documents,
)
from carrara.tasks.carrara._helmet import ranked_ids
from carrara.tasks.carrara._rankings import ID, Ranking, RankingAnswer, chance_level, is_exact, ndcg
from carrara.tasks.classic._words import codes
from carrara.types import Filler, FillerStream, Question, Segment, UndecidableError


class RankingTask(Task):
    version, title = 2, "Ranking"
    capability = "judging many documents by several criteria, and ordering them"
    guesser = "context candidates"
    answer = RankingAnswer()
    separator = "\n"
    marker = (
        r"\[(?P<subject>[a-z]{6})\] A (?P<form>\w+) about (?P<topic>\w+) by (?P<author>\w+) .*?"
        r"written in (?P<place>[\w ]+?) in (?P<year>[0-9]{4})"
    )
    known_shortcuts = {
        "the pieces that say what is named": "Documents that meet criteria have words of them, as the task asks.",
    }
    instruction = (
        "Each line of the text below describes a document, after its id in brackets. You will be asked which "
        "documents are the most relevant."
    )
    ask = (
        "The more of these criteria a document meets, the more relevant it is: {criteria}. Which are the {count} most "
        "relevant documents?"
    )
    criteria: Sweep[int] = Sweep(4)
    """Criteria, each about another field of the documents."""
    top: int = 10
    """Documents that are asked for. All of them meet two criteria or more, and no other document does."""
    documents: int = 40
    """Documents without filler."""

    def check(self) -> None:
        if not 2 <= self.criteria <= len(PHRASES):
            raise ValueError(f"criteria go from 2 to {len(PHRASES)}")
        if not self.criteria <= self.top <= 100:
            raise ValueError(f"top goes from {self.criteria} to 100 with {self.criteria} criteria")
        if not 2 * self.top <= self.documents <= 1000:
            raise ValueError(f"documents go from {2 * self.top} to 1000 where {self.top} are asked for")

    def generate(self, rng: Rng) -> Instance:
        drawn = rng.stream("documents")
        criteria = draw_criteria(drawn, self.criteria)
        ids = ID.distinct(drawn, self.documents)
        grades = dict(zip(ids, self._draw_grades(drawn), strict=False))
        others = [n % 2 for n in range(self.documents - self.top)]
        met = [*(grade + 1 for grade in grades.values()), *others]
        source = DocumentSource(criteria)
        documents = [source.draw(drawn, drawn.sample(criteria, number)) for number in met]
        places = drawn.shuffled(range(self.documents))
        return Instance(
            facts=[documents[n].write(ids[n]) for n in places],
            gold=_best(grades, self.top),
            names={"criteria": "; ".join(map(str, criteria)), "count": str(self.top)},
            evidence=[place for place, n in enumerate(places) if n < self.top],
            filler=_more_documents(frozenset(ids), criteria),
            chance_level=chance_level([*grades.values()], self.documents, self.top),
            unordered=True,
        )

    def _draw_grades(self, rng: Rng) -> list[int]:
        """Return the grades of the relevant documents, each grade once or more."""
        grades = range(1, self.criteria)
        return [*grades, *(rng.choice(grades) for _ in range(self.top - len(grades)))]

    def solve(self, context: str, names: Mapping[str, str]) -> Ranking:
        criteria, top = read_criteria(names["criteria"]), int(names["count"])
        met = {own_id: sum(one.is_met(document) for one in criteria) for own_id, document in read_documents(context)}
        ranked = sorted(met.values(), reverse=True)
        if len(ranked) < top or ranked[top - 1 : top] == ranked[top : top + 1]:
            raise UndecidableError(f"no {top} documents are more relevant than all others")
        return _best(met, top)

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> Ranking:
        """Draw documents."""
        ids = [own_id for own_id, _ in read_documents("\n".join(map(str, instance.facts)))]
        return Ranking(tuple(rng.sample(ids, self.top)))

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return HELMET's NDCG of its longest list of ids, and whether the answer is exact but for equal documents."""
        found, gold = self.read(reply, question), question.gold
        return {
            "helmet": ndcg(ranked_ids(reply), gold, self.top),
            "exact": float(found is not None and is_exact(found.answer, gold)),
        }


def _best(grades: Mapping[str, int], top: int) -> Ranking:
    ids = sorted(grades, key=lambda own_id: (-grades[own_id], own_id))[:top]
    return Ranking(tuple(ids), dict(grades))


def _more_documents(taken: frozenset[str], criteria: Sequence[Criterion]) -> Filler:
    """Return an endless stream of documents. In turn one meets no criterion, and one meets one."""

    source = DocumentSource(criteria)

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        fresh = (code for code in codes(rng, 6) if code not in taken)
        numbers = count()

        def stream(gap: int) -> tuple[Segment]:
            met = rng.sample(criteria, next(numbers) % 2)
            return (Segment(source.draw(rng, met).write(next(fresh))),)

        return stream

    return open_filler

"""Ranking: the documents that meet the most criteria, best first.

After HELMET's passage reranking (arXiv:2410.02694). One item of few documents without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("carrara/ranking", params={"top": "4", "documents": "8"}).text.split("\\n"):
...     print(fill(line, 110))
Each line of the text below describes a document, after its id in brackets. You will be asked which documents
are the most relevant.
<BLANKLINE>
<text> [vrmntr] Set in Ashford in 1836, for Ulla, written in Underhill in 1937, listed as a song about
sparrows, kept with a diary about greenhouses, by Oscar.
[flkwrm] For Fabian, by Ulla, set in Yarrow in 1837, listed as a song about lorries, written in Northwold in
1959, kept with a diary about cathedrals.
[hgscpk] For Ulla, by Conrad, written in Castlebridge in 1832, listed as a report about theatres, set in
Thornby in 1873, kept with a diary about bronze.
[wvbgph] Set in Underhill in 1953, kept with a song about onions, listed as a diary about synagogues, written
in Yarrow in 1820, by Ulla, for Magnus.
[hwhqtz] Set in Eastwick in 1836, listed as a diary about greenhouses, written in Inverlea in 1984, for Hugo,
kept with a report about lungs, by Ulla.
[pjswwx] Kept with a diary about judo, listed as a report about lighthouses, written in Thornby in 1816, set
in Dunmere in 1833, by Helena, for Ulla.
[vnkkvx] By Ulla, for Edith, listed as a diary about antelopes, written in Eastwick in 1879, kept with a poem
about barns, set in Inverlea in 1826.
[tthkmc] Set in Fallowfield in 1821, listed as a speech about screwdrivers, for Ulla, written in Harrowgate in
1952, by Bruno, kept with a diary about cottages. </text>
<BLANKLINE>
The more of these criteria a document meets, the more relevant it is: it is a diary; Ulla is its author; its
author wrote it after 1819 and before 1840; it is about buildings. Which are the 4 most relevant documents?
Reply with one line and nothing else, in this form: FINAL ANSWER: <the ids of these documents, the most
relevant first, separated by commas; equally relevant ones may stand in any order>

The grade of a document is the number of criteria that it meets beyond the first, so that grades go from 0 to 3. The
facts are the relevant documents, which are exactly as many as the question asks for, and some others. The filler
consists of other documents. Half of these meet one criterion, which many documents do, and the rest meet none.

What would meet a criterion stands in every document. In one that does not meet it, it stands in another role: the
person that the document is for, the place or year in which it is set, or the form or topic of what it is kept with. All
roles stand in a drawn order, so that neither places in the line nor distances show which of them count.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.tasks.carrara._documents import (
    PHRASES,
    Criterion,
    DocumentSource,
    draw_criteria,
    read_criteria,
    read_documents,
)
from carrara.tasks.carrara._rankings import ID, Ranking, RankingAnswer, chance_level, is_exact, ndcg, ranked_ids
from carrara.tasks.classic._words import codes
from carrara.types import Filler, FillerStream, Question, Segment, UndecidableError


class RankingTask(SuiteTask):
    version, title = 3, "Ranking"
    capability = "judging many documents by several criteria, and ordering them"
    guesser = "context candidates"
    answer = RankingAnswer()
    separator = "\n"
    marker = (
        r"\[(?P<subject>[a-z]{6})\] (?=.*\b[Ll]isted as a (?P<form>\w+) about (?P<topic>\w+))"
        r"(?=.*\b[Bb]y (?P<author>\w+)).*\b[Ww]ritten in (?P<place>[\w ]+?) in (?P<year>[0-9]{4})"
    )
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
        document_rng = rng.stream("documents")
        criteria = draw_criteria(document_rng, self.criteria)
        ids = ID.distinct(document_rng, self.documents)
        grades = dict(zip(ids, self._draw_grades(document_rng), strict=False))
        others = [n % 2 for n in range(self.documents - self.top)]
        met_counts = [*(grade + 1 for grade in grades.values()), *others]
        source = DocumentSource(criteria)
        documents = [source.draw(document_rng, document_rng.sample(criteria, number)) for number in met_counts]
        places = document_rng.shuffled(range(self.documents))
        return Instance(
            facts=[documents[n].write(document_rng, ids[n]) for n in places],
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
        met = {
            own_id: sum(criterion.is_met(document) for criterion in criteria)
            for own_id, document in read_documents(context)
        }
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
        extraction, gold = self.read(reply, question), question.gold
        return {
            "helmet": ndcg(ranked_ids(reply), gold, self.top),
            "exact": float(extraction is not None and is_exact(extraction.answer, gold)),
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
            return (Segment(source.draw(rng, met).write(rng, next(fresh))),)

        return stream

    return open_filler

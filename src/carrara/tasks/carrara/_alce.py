"""Published scores of citations, with the known proof in place of a model that judges whether passages entail a claim.

ALCE (arXiv:2305.14627) as HELMET (arXiv:2410.02694) runs it, and L-CiteEval (arXiv:2410.02115).

>>> from carrara.types import Question
>>> gold = Citation("Zipvug Tomkede", ("ghpfsr", "lwztkx"))
>>> who = Question("Who is the cook of Delziv Dabzeda?", gold, (), 0.0)
>>> alce("FINAL ANSWER: Zipvug Tomkede [lwztkx, ghpfsr, bcdfgh]", who)
Alce(answer=1.0, recall=1.0, precision=0.6666666666666666)
"""

from collections.abc import Sequence
from typing import NamedTuple

from carrara.answers.extraction import behind_label
from carrara.tasks.carrara._citations import Citation, names_in
from carrara.tasks.carrara._rankings import ID
from carrara.tasks.classic._published import exact
from carrara.types import Question

AT_MOST = 3
"""The citations of a claim that ALCE looks at, from the first one on."""


class Alce(NamedTuple):
    answer: float
    """Whether the answer occurs in the reply (`str_em`)."""
    recall: float
    """Whether the cited passages prove the claim."""
    precision: float
    """The share of the citations that the claim needs, if they prove it."""

    @property
    def mean(self) -> float:
        """HELMET's score of a data set."""
        return sum(self) / len(self)


def alce(reply: str, question: Question[Citation]) -> Alce:
    """Return ALCE's scores of a reply. Its claim is the question with the answer, as for QAMPARI."""
    gold, text = question.gold, behind_label(reply)
    cited = list(ID.find(text))
    unknown = gold.known_ids is not None and not all(map(gold.known_ids.may_exist, cited))
    answer, cited = exact(reply, gold.answer), cited[:AT_MOST]

    def proves(ids: Sequence[str]) -> bool:
        return {*ids}.issuperset(gold.ids)

    if unknown or names_in(text, question) != {gold.answer} or not proves(cited):
        return Alce(answer, 0.0, 0.0)
    others = [cited[:place] + cited[place + 1 :] for place in range(len(cited))]
    needed = [proves([one]) or not proves(rest) for one, rest in zip(cited, others, strict=True)]
    return Alce(answer, 1.0, sum(needed) / len(cited))


def l_citeeval(reply: str, gold: Citation) -> float:
    """Return L-CiteEval's F1 where the right passages are known: of the ids, whatever the answer is.

    >>> l_citeeval("FINAL ANSWER: nobody [bcdfgh, ghpfsr]", Citation("Zipvug Tomkede", ("ghpfsr",)))
    0.6666666666666666
    """
    cited = {*ID.find(behind_label(reply))}
    return 2 * len(cited.intersection(gold.ids)) / (len(cited) + len(gold.ids))

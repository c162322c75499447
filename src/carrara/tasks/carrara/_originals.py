"""The scores of the originals: Oolong, HELMET and ALCE, of one reply beside ours.

Published scores of citations, with the known proof in place of a model that judges whether passages entail a claim.

ALCE (arXiv:2305.14627) as HELMET (arXiv:2410.02694) runs it, and L-CiteEval (arXiv:2410.02115).

>>> from carrara.types import Question
>>> gold = Citation("Zipvug Tomkede", ("ghpfsr", "lwztkx"))
>>> who = Question("Who is the cook of Delziv Dabzeda?", gold, (), 0.0)
>>> alce("FINAL ANSWER: Zipvug Tomkede [lwztkx, ghpfsr, bcdfgh]", who)
Alce(answer=1.0, recall=1.0, precision=0.6666666666666666)
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from carrara.answers.extraction import behind_label
from carrara.tasks.carrara._citations import Citation, names_in
from carrara.tasks.carrara._rankings import ID
from carrara.tasks.classic._published import exact, normalize
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
    needed = [proves([cited_id]) or not proves(rest) for cited_id, rest in zip(cited, others, strict=True)]
    return Alce(answer, 1.0, sum(needed) / len(cited))


def l_citeeval(reply: str, gold: Citation) -> float:
    """Return L-CiteEval's F1 where the right passages are known: of the ids, whatever the answer is.

    >>> l_citeeval("FINAL ANSWER: nobody [bcdfgh, ghpfsr]", Citation("Zipvug Tomkede", ("ghpfsr",)))
    0.6666666666666666
    """
    cited = {*ID.find(behind_label(reply))}
    return 2 * len(cited.intersection(gold.ids)) / (len(cited) + len(gold.ids))


_ID = r"\b[b-df-hj-np-tv-z]{6}\b"


def exact_match(reply: str, reference: str) -> float:
    """Return whether the first line of the answer is the reference, both without punctuation and articles.

    >>> exact_match("FINAL ANSWER: `kqwzt`.", "KQWZT"), exact_match("It is KQWZT, or BCDFG.", "KQWZT")
    (1.0, 0.0)
    """
    return float(normalize(behind_label(reply).partition("\n")[0]) == normalize(reference))


def ranked_ids(reply: str) -> list[str]:
    """Return the longest list of ids in an answer, each id once. HELMET's ids are numbers, with `>` between them.

    >>> ranked_ids("FINAL ANSWER: [bcdfgh] > [jklmnp] > [bcdfgh]")
    ['bcdfgh', 'jklmnp']
    """
    answer = re.sub(r"[\[\]:]", "", behind_label(reply).lower())
    longest = max((match[0] for match in re.finditer(rf"{_ID}(?:\s*[>,]\s*{_ID})*", answer)), key=len, default="")
    return list(dict.fromkeys(re.findall(_ID, longest)))


SHORT = 20
"""The characters below which a reply without a colon is an answer as a whole."""


def oolong(reply: str, gold: int | str | tuple[str, ...]) -> float:
    """Return the score of a number or a label as in Oolong-synth, and of a list as in Oolong-real.

    >>> oolong("FINAL ANSWER: 7", 5), oolong("FINAL ANSWER: b, a, c", ("a", "b"))
    (0.5625, 1.0)
    """
    if isinstance(gold, tuple):
        return _score_list(behind_label(reply).partition("\n")[0].strip(), gold)
    answer = _read(reply)
    if answer == str(gold):
        return 1.0
    if isinstance(gold, int):
        try:
            return float(0.75 ** abs(gold - int(answer)))
        except (ValueError, OverflowError):
            return 0.0
    return 0.0


def _read(reply: str) -> str:
    """Return what follows the last colon, without stars and brackets; else a short reply, or its last word."""
    if ":" in reply:
        return reply.split(":")[-1].strip().translate(str.maketrans("", "", "*[]"))
    return reply if len(reply) < SHORT else (reply.split() or [""])[-1]


def _score_list(answer: str, gold: tuple[str, ...]) -> float:
    """Return the share of the names of several that are listed, however many others are. One name has to be said."""
    if len(gold) < 2:
        return float(answer.lower() == (", ".join(gold) or "none"))
    listed_names = {name.strip() for name in answer.split(",")} if "," in answer else set[str]()
    return len(listed_names.intersection(gold)) / len(gold)

"""HELMET's scores of these tasks (arXiv:2410.02694), for a reply whose answer follows our label in place of its own.

>>> exact_match("FINAL ANSWER: `kqwzt`.", "KQWZT"), exact_match("It is KQWZT, or BCDFG.", "KQWZT")
(1.0, 0.0)
"""

import re

from carrara.answers.extraction import behind_label
from carrara.tasks.classic._published import normalize

_ID = r"\b[b-df-hj-np-tv-z]{6}\b"


def exact_match(reply: str, reference: str) -> float:
    """Return whether the first line of the answer is the reference, both without punctuation and articles."""
    return float(normalize(behind_label(reply).partition("\n")[0]) == normalize(reference))


def ranked_ids(reply: str) -> list[str]:
    """Return the longest list of ids in an answer, each id once. HELMET's ids are numbers, with `>` between them.

    >>> ranked_ids("FINAL ANSWER: [bcdfgh] > [jklmnp] > [bcdfgh]")
    ['bcdfgh', 'jklmnp']
    """
    answer = re.sub(r"[\[\]:]", "", behind_label(reply).lower())
    longest = max((found[0] for found in re.finditer(rf"{_ID}(?:\s*[>,]\s*{_ID})*", answer)), key=len, default="")
    return list(dict.fromkeys(re.findall(_ID, longest)))

"""HELMET's scores of these tasks (arXiv:2410.02694), for a reply whose answer follows our label in place of its own.

>>> exact_match("FINAL ANSWER: `kqwzt`.", "KQWZT"), exact_match("It is KQWZT, or BCDFG.", "KQWZT")
(1.0, 0.0)
"""

from carrara.answers.extraction import behind_label
from carrara.tasks.classic._published import normalize


def exact_match(reply: str, reference: str) -> float:
    """Return whether the first line of the answer is the reference, both without punctuation and articles."""
    return float(normalize(behind_label(reply).partition("\n")[0]) == normalize(reference))

"""The published scores of these tasks: whether a text occurs anywhere in the reply.

>>> recall("Paris? Or ROME, or Oslo ...", ["Rome", "Bern"]), exact("The value: a-b.", "A-B")
(0.5, 1.0)
"""

import re
import string
from collections.abc import Sequence

_CONTROL = re.compile(r"[\x00-\x1f]")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def recall(reply: str, references: Sequence[str]) -> float:
    """Return RULER's score: the share of the references that occur in the reply, even inside a word, in any case."""
    text = _CONTROL.sub("\n", reply).strip().lower()
    return sum(reference.lower() in text for reference in references) / len(references)


def exact(reply: str, reference: str) -> float:
    """Return HELMET's substring exact match: the reference in the reply, both without punctuation and articles.

    HELMET takes the better of the reply and of the text after the answer's prefix, which is part of the reply.
    """
    return float(normalize(reference) in normalize(reply))


def normalize(text: str) -> str:
    """Return a text in lower case without punctuation, articles and further spaces."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())

"""The answer type of questions with several accepted answers in free words.

>>> from carrara.types import Question
>>> where = Question("Where?", ("in Normandy", "Normandy"), (), 0.0)
>>> FreeAnswer().read("FINAL ANSWER: the Normandy.", where).answer, FreeAnswer().score(("the Normandy",), where.gold)
(('the Normandy',), 1.0)
"""

import re
import string
from collections.abc import Sequence

from carrara.answers import AnswerType, asks_for
from carrara.answers.types import AROUND
from carrara.types import Question

LONGEST = 200
"""Characters of an answer. What is longer is no answer, but a text that may have one."""
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class FreeAnswer(AnswerType[tuple[str, ...]]):
    """A short text. It is right if it is one of the accepted ones, without regard to case, articles and punctuation."""

    rule = asks_for("the answer alone, in as few words as possible")
    says_no = True

    @staticmethod
    def normalize(text: str) -> str:
        """Return a text as SQuAD compares it.

        >>> FreeAnswer.normalize("The  U.S. Army")
        'us army'
        """
        return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()) or text.strip()

    def write(self, answer: tuple[str, ...]) -> str:
        return answer[0]

    def parse_value(self, text: str, question: Question[tuple[str, ...]]) -> tuple[str, ...] | None:
        text = text.strip(AROUND)
        return (text,) if text and len(text) <= LONGEST and "\n" not in text else None

    def guesses(self, gold: tuple[str, ...], options: Sequence[str]) -> Sequence[tuple[str, ...]]:
        return [("yes",), ("no",)] if self.normalize(gold[0]) in ("yes", "no") else [("unknown",)]

    def score(self, answer: tuple[str, ...], gold: tuple[str, ...]) -> float:
        return float(not {*map(self.normalize, answer)}.isdisjoint(map(self.normalize, gold)))

    def budget(self, gold: tuple[str, ...]) -> int:
        return max(super(FreeAnswer, self).budget((one,)) for one in gold)

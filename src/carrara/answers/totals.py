"""Running totals as answers: how they are read from a transcript, and how far they are right.

>>> gold = Totals(totals=(12, 5, 30), steps=(12, -7, 25))
>>> slip = gold._replace(totals=(12, 6, 31))
>>> survival_length(slip, gold), right_steps(slip)
(1, [True, False, True])
"""

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, NamedTuple

from carrara.answers.extraction import FINAL, Extraction
from carrara.answers.transcript import join_replies, split_replies
from carrara.answers.types import AnswerType, Number
from carrara.types import Question

LARGEST = 10**9
"""A total that is longer than any, for the tokens of a reply."""
_SUM = re.compile(r"[-+=()\d\s]*")


class Total(Number):
    """A whole number, which may stand after the sum that it is: `5 + 25 = 30`."""

    def parse_value(self, text: str, question: Question[int]) -> int | None:
        before, _, after = text.rpartition("=")
        return super().parse_value(after if _SUM.fullmatch(before) else text, question)


_TOTAL = Total()


class Totals(NamedTuple):
    """The totals after the turns that are asked."""

    totals: tuple[int | None, ...]
    """The total after each turn. None: the reply states none."""
    steps: tuple[int, ...]
    """The number that each turn adds."""
    stated: int = 0
    """The total that was stated before the first of these turns, rightly or wrongly."""


class RunningTotals(AnswerType[Totals]):
    """A total after each turn of a conversation. A reply is a transcript, or one total if one turn is asked."""

    rule = (
        f"Reply to each message with one line and nothing else, in this form: {FINAL} <the total of all names so far>"
    )
    noun = "running totals"

    def takes(self, answer: object) -> bool:
        return isinstance(answer, Totals)

    def write(self, answer: Totals) -> str:
        texts = ["" if total is None else str(total) for total in answer.totals]
        return join_replies(texts) if len(texts) > 1 else texts[0]

    def parse_value(self, text: str, question: Question[Totals]) -> Totals | None:
        extraction = self.read(text, question)
        return extraction.answer if extraction else None

    def read(self, reply: str, question: Question[Any], ignore: Iterable[str] = ()) -> Extraction | None:
        """Return the total that each reply of a transcript states. None if no reply states one."""
        turns, ignored = len(question.gold.totals), list(ignore)
        replies = split_replies(reply)[:turns] if turns > 1 else [reply]
        extractions = [_TOTAL.read(turn_reply, question, ignored) for turn_reply in replies]
        if not any(extractions):
            return None
        totals = [extraction.answer if extraction else None for extraction in extractions] + [None] * (
            turns - len(extractions)
        )
        return Extraction(
            question.gold._replace(totals=tuple(totals)),
            next(extraction.rule for extraction in extractions if extraction),
        )

    def score(self, answer: Totals, gold: Totals) -> float:
        """Return the share of turns before the first error."""
        return survival_length(answer, gold) / len(gold.totals)

    def budget(self, gold: Totals) -> int:
        return _TOTAL.budget(LARGEST)


def survival_length(answer: Totals, gold: Totals) -> int:
    """Return the number of turns before the first one whose total is wrong."""
    pairs = zip(answer.totals, gold.totals, strict=True)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def right_steps(answer: Totals) -> list[bool]:
    """Return whether each turn adds the right number to the total before it, be that right or wrong.

    After a turn without a total, the total before it stands.
    """
    before, right = answer.stated, list[bool]()
    for total, step in zip(answer.totals, answer.steps, strict=True):
        right.append(total == before + step)
        before = before if total is None else total
    return right

"""Statuses of replies: whether there is an answer, and why not."""

from typing import Literal, get_args

Status = Literal[
    "ok",
    "unparsed",
    "empty",
    "unread",
    "limited",
    "refused",
    "called",
    "filtered",
    "truncated",
    "overflow",
    "shortened",
    "error",
]
STATUSES: tuple[Status, ...] = get_args(Status)

OWN_SCORE = "score"
"""The name of our score among the paper scores, which have names of their own."""

GRADED: frozenset[Status] = frozenset({"ok", "unread", "limited"})
"""Statuses of replies that have a score, which others do not, because no answer was read or none counts."""

ATTEMPTED: frozenset[Status] = frozenset({"ok", "unparsed", "empty", "unread", "limited", "truncated"})
"""Statuses of replies in which the model attempts an answer, whether or not one can be read. The score of attempts
leaves out the others. In the score they count 0, except for failed requests (`error`), which are in no mean."""

NEVER_ASKED: frozenset[Status] = frozenset({"overflow", "shortened", "error"})
"""Statuses of replies that show nothing about the model. If all replies have one of these, there is no score."""

UNANSWERED: frozenset[Status] = frozenset({"overflow", "shortened", "filtered", "error"})
"""Statuses of replies that are not an answer of the model. An item is not compared if a side has one of these."""

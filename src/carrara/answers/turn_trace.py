"""What the reply of each turn of a conversation is worth, for the curves of a report."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

TURNS = "turns"
"""The name of the traces in the metadata of a logged score."""


class RuleTrace(NamedTuple):
    """A rule that holds in a turn.

    Examples:
        >>> RuleTrace(age=3, kind="opening", held=True).age
        3
    """

    age: int
    """The number of replies since the rule was given, with that of this turn. Those of the prompt have age 1 in the
    first turn."""
    kind: str
    """The point that the rule is about."""
    held: bool
    """Whether the reply holds it."""


class TurnTrace(NamedTuple):
    """The reply of one turn.

    Examples:
        >>> TurnTrace({"content": 1.0}, (RuleTrace(1, "closing", False),)).scores["content"]
        1.0
    """

    scores: Mapping[str, float]
    """The scores of the turn, by name."""
    rules: tuple[RuleTrace, ...]
    """The rules that hold in it."""


def turns_record(traces: Sequence[TurnTrace]) -> dict[str, Any]:
    """Return traces for a log. Empty if there are none."""
    return {TURNS: [[dict(scores), [list(rule) for rule in rules]] for scores, rules in traces]} if traces else {}


def read_turns(record: Mapping[str, Any]) -> tuple[TurnTrace, ...]:
    """Return the traces of a log.

    >>> traces = (TurnTrace({"content": 1.0}, (RuleTrace(1, "closing", False),)),)
    >>> read_turns(turns_record(traces)) == traces
    True
    """
    return tuple(
        TurnTrace(scores, tuple(RuleTrace(*rule) for rule in rules)) for scores, rules in record.get(TURNS, ())
    )

"""What the reply of each turn of a conversation is worth, for the curves of a report."""

from collections.abc import Mapping
from typing import NamedTuple


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

"""Find out whether prompts arrive changed, from two counts of the tokens of each prompt."""

from collections.abc import Sequence
from typing import NamedTuple

from carrara.util.quantities import write_length

SLACK = 2
"""The tokens by which all prompts may differ if the server counts differently: a beginning and an end."""


class TokenCounts(NamedTuple):
    """The two counts of a prompt's tokens."""

    length: int
    first: int
    second: int


class ChangedCounts(NamedTuple):
    """The prompts whose counts differ."""

    lengths: str
    changed: int
    of: int
    example: TokenCounts


def find_changed_counts(counts: Sequence[TokenCounts]) -> ChangedCounts | None:
    """Return the prompts that arrive changed, or None: at most one differs, or all by the same few tokens."""
    changed = [one for one in counts if one.first != one.second]
    shifts = {one.second - one.first for one in counts}
    if len(changed) < 2 or (len(shifts) == 1 and abs(shifts.pop()) <= SLACK):
        return None
    lengths = ", ".join(map(write_length, sorted({one.length for one in changed})))
    return ChangedCounts(lengths, len(changed), len(counts), changed[0])

"""Choose the next batch: the length whose score tells most about the effective length for its tokens."""

import math
from collections.abc import Sequence

from carrara.results.curve import Curve, Rule

FIXED = 256
"""Tokens that a prompt counts in addition to its own: for the request and the reply."""
MOST, LEAST, ENOUGH = 1000, 240, 2_000_000
"""The most instances of one length: `ENOUGH` tokens, but between `LEAST` and `MOST` instances. Further cheap instances
would tell nothing about other lengths except through the shape of a curve."""
CHECKED, DOUBTED = 4, 16
"""The least instances at a length that reaches the score, and at a length whose score does not fit the curve."""
ODD = 0.2
"""The probability, by the curve, of a score this far off, below which the score is doubted."""
AHEAD = 0.25
"""The most tokens of a batch, as a share of all tokens so far. A batch beyond the fall may cost as much."""
STRANGE = 1e-5
"""The probability of the scores, by any curve, below which no more are asked, because no curve will fit."""
SURE = 0.9
"""The probability above which it counts as certain that there is no effective length."""


def is_settled(curve: Curve, rule: Rule, lengths: Sequence[int], within: float) -> bool:
    """Return whether the interval is narrow enough and no length was passed over, or no curve fits the scores."""
    if curve.misfit() < STRANGE:
        return True
    return _is_narrow(curve, rule, within) and _find_passed_over(curve, rule, lengths) is None


def choose_batch(curve: Curve, rule: Rule, lengths: Sequence[int], batch: int, within: float) -> tuple[int, int] | None:
    """Return the length and the instances of the next batch.

    None if no length has instances that would add information.

    Unless it has only a few instances, a batch costs at most a share of all batches before it.
    """
    if not curve.counts:
        return lengths[0], batch
    if _is_narrow(curve, rule, within) and (length := _find_passed_over(curve, rule, lengths)) is not None:
        return length, CHECKED
    open_lengths = [length for length in lengths if _count(curve, length) + batch <= _limit(length)]
    if not open_lengths:
        return None
    gains = curve.gain(open_lengths, rule)
    worth = [gain / (length + FIXED) for gain, length in zip(gains, open_lengths, strict=True)]
    best = max(range(len(open_lengths)), key=lambda place: worth[place])
    n = int(AHEAD * _tokens(curve)) // (open_lengths[best] + FIXED)
    return (open_lengths[best], min(batch, max(CHECKED, n))) if gains[best] > 1e-6 else None


def _count(curve: Curve, length: int) -> float:
    return curve.counts.get(length, (0.0, 0.0))[1]


def _tokens(curve: Curve) -> float:
    return sum(n * (length + FIXED) for length, (_, n) in curve.counts.items())


def _limit(length: int) -> int:
    return min(MOST, max(LEAST, ENOUGH // (length + FIXED)))


def _is_narrow(curve: Curve, rule: Rule, within: float) -> bool:
    if curve.blind(rule) > SURE:
        return True
    low, _, high = curve.effective(rule)
    if low == high:
        return True  # the score is too low even without filler, or high enough at the longest length
    return low > 0 and high < math.inf and high <= within * low


def _find_passed_over(curve: Curve, rule: Rule, lengths: Sequence[int]) -> int | None:
    """Return a length that has few replies, or whose score does not fit the curve: there might be a dip.

    Candidates are the lengths that reach the score, and one beyond the fall if it is cheap.
    """
    if curve.blind(rule) > SURE:
        return None
    low, _, high = curve.effective(rule)
    candidates = [length for length in lengths if length <= low]
    behind = next((length for length in lengths if length >= 2 * high), None)
    if behind is not None and CHECKED * (behind + FIXED) <= AHEAD * _tokens(curve):
        candidates.append(behind)
    for length in candidates:
        n = _count(curve, length)
        if n < CHECKED or (n < DOUBTED and curve.chance(length) < ODD):
            return length
    return None

"""What to ask next: the length at which a score tells most about the effective length, for the tokens that it costs."""

import math
from collections.abc import Sequence

from carrara.results.analysis.curve import Curve, Rule

FIXED = 256
"""Tokens that any prompt is worth beside its own: the request, the reply."""
MOST, LEAST, ENOUGH = 1000, 240, 2_000_000
"""Worlds of one length: as many as have so many tokens, but no more than the first and no fewer than the second. Where
only few can be asked for that are cheap, the rest is asked at lengths that tell of it by the shape of a curve alone."""
CHECKED, DOUBTED = 4, 16
"""Worlds at each length that is said to be held, and at one whose score is not like the curve."""
ODD = 0.2
"""The chance, by the curve, of a score that far off, from which on it is doubted."""
AHEAD = 0.25
"""The share of what was spent that a batch may cost, and a look whether a score stays down behind its fall."""
STRANGE = 1e-5
"""The chance of scores like these by any curve from which on no more of them are asked for: none will fit."""
SURE = 0.9
"""That no effective length is defined."""


def settled(curve: Curve, rule: Rule, lengths: Sequence[int], within: float) -> bool:
    """Whether the effective length's interval is as narrow as was asked for, and no length beside it was passed over;
    or whether no curve is like these scores."""
    if curve.misfit() < STRANGE:
        return True
    return _narrow(curve, rule, within) and _passed_over(curve, rule, lengths) is None


def chosen(curve: Curve, rule: Rule, lengths: Sequence[int], batch: int, within: float) -> tuple[int, int] | None:
    """The length of the next batch, and its worlds; None where no length has any left that would tell anything.

    A batch costs no more than a share of all before it, as far as it has more than a few worlds.
    """
    if not curve.counts:
        return lengths[0], batch
    if _narrow(curve, rule, within) and (length := _passed_over(curve, rule, lengths)) is not None:
        return length, CHECKED
    open_to = [length for length in lengths if _asked(curve, length) + batch <= _most(length)]
    if not open_to:
        return None
    gains = curve.gain(open_to, rule)
    worth = [gain / (length + FIXED) for gain, length in zip(gains, open_to, strict=True)]
    best = max(range(len(open_to)), key=lambda place: worth[place])
    n = int(AHEAD * _spent(curve)) // (open_to[best] + FIXED)
    return (open_to[best], min(batch, max(CHECKED, n))) if gains[best] > 1e-6 else None


def _asked(curve: Curve, length: int) -> float:
    return curve.counts.get(length, (0.0, 0.0))[1]


def _spent(curve: Curve) -> float:
    return sum(n * (length + FIXED) for length, (_, n) in curve.counts.items())


def _most(length: int) -> int:
    return min(MOST, max(LEAST, ENOUGH // (length + FIXED)))


def _narrow(curve: Curve, rule: Rule, within: float) -> bool:
    if curve.blind(rule) > SURE:
        return True
    low, _, high = curve.effective(rule)
    if low == high:
        return True  # not even without filler, or past the longest
    return low > 0 and high < math.inf and high <= within * low


def _passed_over(curve: Curve, rule: Rule, lengths: Sequence[int]) -> int | None:
    """A length that was hardly asked, or has a score that is not like the curve: there might be a dip.

    Looked at are those at which it is said to be held, and one at which it is said to be lost, where that costs little.
    """
    if curve.blind(rule) > SURE:
        return None
    low, _, high = curve.effective(rule)
    looked_at = [length for length in lengths if length <= low]
    behind = next((length for length in lengths if length >= 2 * high), None)
    if behind is not None and CHECKED * (behind + FIXED) <= AHEAD * _spent(curve):
        looked_at.append(behind)
    for length in looked_at:
        n = _asked(curve, length)
        if n < CHECKED or (n < DOUBTED and curve.chance(length) < ODD):
            return length
    return None

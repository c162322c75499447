"""What to ask next: the length at which a score tells most about the effective length, for the tokens that it costs."""

import math
from collections.abc import Sequence

from carrara.profiling.curve import Curve, Rule

FIXED = 256
"""Tokens that any prompt is worth beside its own: the request, the reply."""
MOST = 240
"""Worlds of one length: what they do not settle, more of them will not."""
CHECKED = 4
"""Worlds at each length that is said to be held."""
SURE = 0.9
"""That no effective length is defined."""


def settled(curve: Curve, rule: Rule, lengths: Sequence[int], within: float) -> bool:
    """Whether the effective length's interval is as narrow as was asked for, and no length below was passed over."""
    return _narrow(curve, rule, within) and _passed_over(curve, rule, lengths) is None


def chosen(curve: Curve, rule: Rule, lengths: Sequence[int], batch: int, within: float) -> tuple[int, int] | None:
    """The length of the next batch, and its worlds; None where no length has any left that would tell anything."""
    asked = {length: n for length, (_, n) in curve.counts.items()}
    if not asked:
        return lengths[0], batch
    if _narrow(curve, rule, within) and (length := _passed_over(curve, rule, lengths)) is not None:
        return length, CHECKED
    open_to = [length for length in lengths if asked.get(length, 0) + batch <= MOST]
    if not open_to:
        return None
    gains = curve.gain(open_to, rule)
    worth = [gain / (length + FIXED) for gain, length in zip(gains, open_to, strict=True)]
    best = max(range(len(open_to)), key=lambda place: worth[place])
    return (open_to[best], batch) if gains[best] > 1e-6 else None


def _narrow(curve: Curve, rule: Rule, within: float) -> bool:
    if curve.blind(rule) > SURE:
        return True
    low, _, high = curve.effective(rule)
    if low == high:
        return True  # not even without filler, or past the longest
    return low > 0 and high < math.inf and high <= within * low


def _passed_over(curve: Curve, rule: Rule, lengths: Sequence[int]) -> int | None:
    """A length at which the score is said to be held, and was hardly asked: there might be a dip."""
    if curve.blind(rule) > SURE:
        return None
    low, _, _ = curve.effective(rule)
    held = (length for length in lengths if length <= low)
    return next((length for length in held if curve.counts.get(length, (0.0, 0))[1] < CHECKED), None)

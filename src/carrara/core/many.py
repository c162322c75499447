"""Limits on how much is made: a slip of the finger adds zeros to a number."""

from carrara.core.errors import UsageError
from carrara.core.log import logger

TOLD = 1_000_000
"""A larger number is logged before work begins."""
MOST = 100_000_000
"""A larger number is refused, unless the user allows it."""


def check_many(count: int, what: str, allowed: bool) -> None:
    """Log a large number of things that are to be made, and refuse a far larger one.

    Args:
        count: The number of things.
        what: What they are, in the plural.
        allowed: Whether any number is allowed.
    """
    if count > MOST and not allowed:
        raise UsageError(
            f"{count:,} {what} are asked for, more than {MOST:,}: lower `n`, or allow it with `allow_large=True`"
        )
    if count > TOLD:
        logger.warning(f"{count:,} {what} are to be made")

"""Limits on how many things a command makes: a slip of the finger adds zeros to a number."""

from carrara.core.errors import UsageError
from carrara.core.log import logger

WARN_ABOVE = 1_000_000
LIMIT = 100_000_000


def check_count(count: int, what: str, allowed: bool) -> None:
    """Warn of a large count, before the work begins.

    Raises:
        UsageError: The count exceeds the limit, and the user has not allowed it.
    """
    if count > LIMIT and not allowed:
        raise UsageError(
            f"{count:,} {what} are asked for, more than {LIMIT:,}: lower `n`, or allow it with `allow_large=True`"
        )
    if count > WARN_ABOVE:
        logger.warning(f"{count:,} {what} are to be made")

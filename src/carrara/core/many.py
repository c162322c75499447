"""Counts that are worth a word before so much is made: a slip adds zeros to a number."""

from carrara.core.errors import UsageError
from carrara.core.log import logger

TOLD, MOST = 1_000_000, 100_000_000
"""More than so many are told of, and more than so many are refused unless they are meant."""


def check_many(count: int, what: str, confirmed: bool) -> None:
    """Say before it is begun how many there are to be, where that is many; refuse far too many."""
    if count > MOST and not confirmed:
        raise UsageError(
            f"{count:,} {what} are asked for, more than {MOST:,}: lower `n`, or go on with `allow_large=True`"
        )
    if count > TOLD:
        logger.warning(f"{count:,} {what} are to be made")

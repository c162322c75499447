"""What is known of tests beside their floors: what the best shortcut scores, and what a part of the context tells."""

from typing import NamedTuple


class Known(NamedTuple):
    """Of one test with its default parameters, at 4k tokens."""

    task: str
    measures: str
    """In a few words."""
    name: str
    """What its best shortcut does."""
    score: float
    floor: float
    declared: str
    """Why the test cannot do without it, as where a string is what is asked for; empty where it does not say so."""
    reach: float
    """What its oracle scores on the tenth of the context that tells it most."""

"""`Job`: a task at a length."""

import sys
from typing import NamedTuple

from carrara.core.recipe import Recipe

ALL = sys.maxsize
"""As the number of a job's instances: as many as there are."""


class Job(NamedTuple):
    """A task at a length."""

    first: Recipe
    worlds: int
    """How many instances, from the first recipe's on."""

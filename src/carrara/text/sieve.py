"""A task that each sentence of a corpus is put to once: what fails is skipped whenever the corpus is read.

A file of its own because tasks (suites) name their sieves, and naming one must not load what reads corpora.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sieve:
    name: str
    version: int
    """Raised whenever the task judges any sentence otherwise: what it found is kept under name and version."""
    task: Callable[[str], bool] = field(compare=False)
    """Whether a sentence passes."""

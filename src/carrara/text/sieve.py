"""A test that each sentence of a corpus is put to once: what fails is skipped whenever the corpus is read.

A file of its own because tests (suites) name their sieves, and naming one must not load what reads corpora.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sieve:
    name: str
    version: int
    """Raised whenever the test judges any sentence otherwise: what it found is kept under name and version."""
    test: Callable[[str], bool] = field(compare=False)
    """Whether a sentence passes."""

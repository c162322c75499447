"""Subsets of a task that overlap at short lengths: up to 32k, up to 128k, up to 1M (Michelangelo, section 3.2).

Each subset has its own instances and lengths, so that the short contexts can be run first and the others added. If k
subsets share a bucket of lengths, it counts 1/k in each, and the union keeps the shape of a subset.
"""

from bisect import bisect_left
from dataclasses import dataclass

from carrara.util.quantities import read_length, read_lengths

APART = 1_000_000
"""The distance between the first instances of one subset and of the next."""


@dataclass(frozen=True)
class Subset:
    upto: str
    lengths: str
    number: int

    @property
    def first(self) -> int:
        """The index of its first instance."""
        return self.number * APART

    @property
    def sizes(self) -> list[int]:
        return read_lengths(self.lengths)


SUBSETS = (
    Subset("32k", "4k,8k,12k,16k,24k,32k", 0),
    Subset("128k", "8k,16k,32k,48k,64k,96k,128k", 1),
    Subset("1M", "32k,64k,128k,192k,256k,384k,512k,768k,1M", 2),
)
"""The lengths of a curve. They are closer than doublings; the paper does not give its own."""

_BOUNDS = [read_length(subset.upto) for subset in SUBSETS]


def subset_of(index: int) -> int:
    """Return the number of the subset to which an instance belongs."""
    return index // APART


def bucket_of(length: int) -> int:
    """Return the name of a subset: up to 32k, up to 128k, up to 1M, beyond."""
    return bisect_left(_BOUNDS, length)

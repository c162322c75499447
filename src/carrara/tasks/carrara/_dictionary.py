"""Entries of a dictionary of names and whole numbers, and what a guess of their sums is worth."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import fsum
from operator import mul

from carrara.rng import Rng
from carrara.tasks.classic._words import codes
from carrara.types import Filler, FillerStream, Segment

LARGEST = 99
"""The largest value. The least one is as far below 0, and 0 itself is none: each turn changes the total."""


def write_entry(name: str, value: int) -> str:
    return f"{name}: {value}"


def draw_value(rng: Rng) -> int:
    return rng.choice((-1, 1)) * rng.between(1, LARGEST)


def draw_values(rng: Rng, count: int) -> list[int]:
    """Return the values of one turn, whose sum is not 0."""
    values = [draw_value(rng) for _ in range(count)]
    return values if sum(values) else draw_values(rng, count)


def chance_of(steps: Sequence[int], keys: int) -> float:
    """Return the expected share of turns before the first wrong guess."""
    shares = (shares_of(keys)[step] for step in steps)
    return fsum(accumulate(shares, mul)) / len(steps)


@cache
def shares_of(count: int) -> Mapping[int, float]:
    """Return the probability of each sum of the values of one turn."""
    sums = {0: 1}
    for _ in range(count):
        more: dict[int, int] = {}
        for total, ways in sums.items():
            for value in (*range(-LARGEST, 0), *range(1, LARGEST + 1)):
                more[total + value] = more.get(total + value, 0) + ways
        sums = more
    ways = sum(sums.values()) - sums.pop(0, 0)
    return {total: own / ways for total, own in sums.items()}


def further_entries(taken: set[str]) -> Filler:
    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        names = (name for name in codes(rng, 6) if name not in taken)
        return lambda gap: (Segment(write_entry(next(names), draw_value(rng))),)

    return open_filler

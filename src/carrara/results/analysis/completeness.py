"""Results of a run that is not complete: which cells have less than was planned, said wherever their scores are.

PARTIAL: 21 of 24 replies are there (gpt-4o: latent_list at 4k 1 of 4); the same command goes on
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from carrara.core.lengths import write_length
from carrara.core.result import Subject

NAMED = 6
"""Cells that a sentence names."""


class Part(NamedTuple):
    """How much of what a model was to be asked of a test at a length there is."""

    subject: Subject
    test: str
    length: int
    have: int
    planned: int

    @property
    def whole(self) -> bool:
        return self.have >= self.planned


def describe_missing(parts: Sequence[Part]) -> str:
    """What to say of results that are not all there; nothing if they are."""
    lacking = [part for part in parts if not part.whole]
    if not lacking:
        return ""
    have, planned = (sum(counts) for counts in zip(*((part.have, part.planned) for part in parts), strict=True))
    named = []
    for (model, test), own in groupby(lacking[:NAMED], key=lambda part: (part.subject[0], part.test)):
        at = ", ".join(f"{part.have:,} of {part.planned:,} at {write_length(part.length)}" for part in own)
        named.append(f"{model} in {test} {at}")
    more = f"; and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
    return f"PARTIAL: {have:,} of {planned:,} replies are there ({'; '.join(named)}{more}); the same command goes on"


def missing_parts(parts: Sequence[Part]) -> dict[tuple[str, str, int], Part]:
    """What is lacking, by model, test and length."""
    return {(part.subject[0], part.test, part.length): part for part in parts if not part.whole}

"""Incomplete runs: wherever scores are shown, name the cells that have fewer replies than planned.

PARTIAL: 21 of 24 replies are there (gpt-4o: latent_list at 4k 1 of 4); the same command goes on
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from carrara.results.result import Subject
from carrara.types import Arrange
from carrara.util.quantities import write_length

NAMED = 6
"""The most cells that a sentence names."""


class Completeness(NamedTuple):
    """The number of planned replies of a model to a task at a length and in an arrangement, and how many exist."""

    subject: Subject
    task: str
    length: int
    arrange: Arrange
    have: int
    planned: int
    crowded: int = 0
    """How many of the prompts leave no room for their answers in the model's window."""
    window: int | None = None
    """The tokens that the model takes, prompt and answer together, if they were known before the run."""
    tokenizer: str = ""
    """The tokenizer that counted."""

    @property
    def size(self) -> str:
        """The length with the arrangement, such as `4k+block`."""
        return "+".join(filter(None, (write_length(self.length), self.arrange)))

    @property
    def is_complete(self) -> bool:
        return self.have >= self.planned


def describe_missing(parts: Sequence[Completeness]) -> str:
    """Return a sentence about the missing replies. Empty if none is missing."""
    lacking = [part for part in parts if not part.is_complete]
    if not lacking:
        return ""
    have, planned = (sum(counts) for counts in zip(*((part.have, part.planned) for part in parts), strict=True))
    listed = []
    for (model, task), task_parts in groupby(lacking[:NAMED], key=lambda part: (part.subject[0], part.task)):
        cells = ", ".join(f"{part.have:,} of {part.planned:,} at {part.size}" for part in task_parts)
        listed.append(f"{model} in {task} {cells}")
    more = f"; and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
    return f"PARTIAL: {have:,} of {planned:,} replies are there ({'; '.join(listed)}{more}); the same command goes on"


def describe_unfit(parts: Sequence[Completeness]) -> list[str]:
    """Return a sentence about each task at a length with prompts that leave no room for their answers."""
    return [
        f"{part.crowded:,} of {part.planned:,} prompts of {part.task} at {part.size} do not fit the window of "
        f"{part.subject[0]} with their answers: it takes {part.window:,} tokens, and {part.tokenizer} counted"
        for part in parts
        if part.crowded and part.window
    ]


def missing_parts(parts: Sequence[Completeness]) -> dict[tuple[str, str, int, Arrange], Completeness]:
    """Return the parts that are incomplete, by model, task, length and arrangement."""
    return {(part.subject[0], part.task, part.length, part.arrange): part for part in parts if not part.is_complete}

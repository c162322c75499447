"""What a figure's name stands for."""

from collections.abc import Callable
from dataclasses import dataclass

from carrara.results.figures.figure import Figure
from carrara.results.figures.marks import Evidence


@dataclass(frozen=True)
class Entry:
    """A figure or a table of a paper, for anybody's models."""

    name: str
    """`babilong-table-2`: the paper, and what it calls it."""
    says: str
    """What it shows, in a line."""
    make: Callable[[Evidence], Figure] | None
    """None: a command of its own makes it."""
    command: str
    """What makes the results that it is drawn from; or it itself."""
    shipped: bool = False
    """Whether the paper's own models are here."""

    @property
    def paper(self) -> str:
        return self.name.partition("-")[0]

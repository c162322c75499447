"""Roles that take turns, each with a line of words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from carrara.core.types import Room, World
from carrara.parts.layout import Told, line
from carrara.tasks.minerva._lists import Needle, lists_of


@dataclass(frozen=True)
class Roles:
    lines: tuple[tuple[str, ...], ...]
    """Each role's in every round."""
    roles: int
    asked: tuple[Needle, ...]
    """A needle's `list` is the number of its line."""
    answer: str
    labels: Mapping[str, str]

    def name(self, line: int) -> str:
        return f"Role {line % self.roles + 1}"


def lines(
    room: Room | None, draw: Callable[[], str], items: int, roles: int, turns: int, needles: Sequence[Needle]
) -> tuple[tuple[str, ...], ...]:
    """The words of all lines, in so many rounds."""
    what = f"roles={roles} with turns={turns}"
    return tuple(map(tuple, lists_of(room, draw, items, roles * turns, needles, what, least=1)))


def world_of(hidden: Roles) -> World[Roles]:
    return World(hidden, Told([line(hidden.name(n), words) for n, words in enumerate(hidden.lines)]))

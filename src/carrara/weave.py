"""Weaving: a world's updates among filler, so that the prompt has exactly the number of tokens asked for.

The puzzle (all that is not filler) is counted once, each unit of filler adds its own cost, and the total is a sum.
The last units of filler are chosen, not cut: of a pool of units some subset fills the remaining room to the token
(a subset sum over the bits of an integer, so it is found in microseconds). Contexts are streams: pieces are produced
anew on each pass, and only the pool is ever held.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from carrara.errors import UsageError
from carrara.keys import Key
from carrara.types import BulkTap, Piece, Tap, Unit, World

Cost = Callable[[Unit], int]

POOL = 64
"""Units from which the last ones are chosen."""
BULK = 1 << 18
"""Tokens of filler that are held at once: about a megabyte of text."""
WINDOW = 8
"""The last room, in typical units: from here on filler is chosen to fit."""


class Unreachable(UsageError):
    """No filler makes up exactly this length."""


@dataclass(frozen=True)
class Weave:
    """A world in its filler. Iterating gives its pieces in order, the same on every pass."""

    world: World[Any]
    room: int
    """Tokens of filler."""
    cost: Cost
    key: Key
    tokenizer: str
    variant: int = 0
    """Another number gives other filler around the same updates."""
    without: int | None = None
    """An update that is left out, its filler staying as it is: for the audit."""

    def __iter__(self) -> Iterator[Piece]:
        yield from self.world.opening
        updates = len(self.world.updates)
        if self.world.filler is None or self.room == 0:
            for i in range(updates):
                yield from self._update(i)
            return
        tap = self.world.filler(self.key.dice("filler", self.variant), self.tokenizer)
        closing, slack = self._closing
        used = 0
        for gap in range(closing):
            for unit in self._pour(tap, self._bounds[gap] - used):
                used += self.cost(unit)
                yield from unit
            while used < self._bounds[gap]:
                unit = tap(gap)
                if used + self.cost(unit) > self._bounds[gap] + slack:
                    break
                used += self.cost(unit)
                yield from unit
            yield from self._update(gap)
        for unit in self._fill(tap, closing, self.room - used):
            yield from unit
        for i in range(closing, updates):
            yield from self._update(i)

    def _update(self, i: int) -> Unit:
        return () if i == self.without else self.world.updates[i]

    @cached_property
    def _bounds(self) -> list[int]:
        """Tokens of filler before each update: the same share of the context at every length."""
        depths = self.world.depths
        if depths is None:
            dice = self.key.dice("depths")
            depths = tuple(sorted(dice.random() for _ in self.world.updates))
        return [int(depth * self.room) for depth in depths]

    @cached_property
    def _closing(self) -> tuple[int, int]:
        """The gap where filler is made to fit, and by how much earlier gaps may overrun into it.

        It is the last gap with room for a choice; filler that belongs behind it goes there too. Without such a gap it
        is the largest.
        """
        choice = WINDOW * self._typical
        edges = [0, *self._bounds, self.room]
        sizes = [after - before for before, after in pairwise(edges)]
        closing = max((gap for gap, size in enumerate(sizes) if size >= 2 * choice), default=sizes.index(max(sizes)))
        return closing, max(0, sizes[closing] - choice)

    @cached_property
    def _typical(self) -> int:
        """About what a unit of filler costs."""
        assert self.world.filler is not None
        tap = self.world.filler(self.key.dice("typical"), self.tokenizer)
        return sum(self.cost(tap(0)) for _ in range(16)) // 16

    def _pour(self, tap: Tap, tokens: int) -> Iterator[Unit]:
        """Filler of at most so many tokens from a tap that can give much at once."""
        while isinstance(tap, BulkTap) and tokens > 0 and (unit := tap.upto(min(tokens, BULK))):
            tokens -= self.cost(unit)
            yield unit

    def _fill(self, tap: Tap, gap: int, room: int) -> Iterator[Unit]:
        """Units in the order drawn that cost exactly `room` together."""
        for unit in self._pour(tap, room - 2 * WINDOW * self._typical):
            room -= self.cost(unit)
            yield unit
        pool = deque(tap(gap) for _ in range(POOL))
        costs = [self.cost(unit) for unit in pool]
        window = WINDOW * sum(costs) // POOL + max(costs)
        while room > window:
            unit = pool.popleft() if pool else tap(gap)
            room -= self.cost(unit)
            yield unit
        yield from self._fit(tap, gap, room, pool)

    def _fit(self, tap: Tap, gap: int, room: int, pool: deque[Unit]) -> list[Unit]:
        mask = (2 << room) - 1
        units: list[Unit] = []
        reach = [1]  # bit n of reach[i]: some of the first i units cost n together
        while len(units) < 8 * POOL:
            if not pool and len(units) == POOL and self.world.grit is not None:
                tap = self.world.grit(self.key.dice("grit", self.variant), self.tokenizer)
            unit = pool.popleft() if pool else tap(gap)
            units.append(unit)
            reach.append((reach[-1] | reach[-1] << self.cost(unit)) & mask)
            if reach[-1] >> room & 1:
                return self._chosen(units, reach, room)
        nearest = reach[-1].bit_length() - 1
        raise Unreachable(
            f"no filler of {self.key.task} makes up {room} tokens: ask for {room - nearest} fewer, or for more"
        )

    def _chosen(self, units: Sequence[Unit], reach: Sequence[int], room: int) -> list[Unit]:
        chosen = []
        for i in range(len(units) - 1, -1, -1):
            if not reach[i] >> room & 1:
                chosen.append(units[i])
                room -= self.cost(units[i])
        return chosen[::-1]

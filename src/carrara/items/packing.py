"""Packing: place the facts of an instance among filler, so that the prompt has exactly the requested number of tokens.

The puzzle (everything except filler) is counted once, each group of filler adds its own cost, and the total is a sum.
Every fact is placed at its drawn share of the filler, up to the size of a group. In one gap, the groups are chosen so
that the total is exact: some subset of a pool of groups fills the room to the token. It is a subset sum over the bits
of an integer, found in microseconds. So nothing is cut or padded. Contexts are streams: segments are produced again on
each pass, and only the pool and the short gaps after it are held in memory.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from math import ceil, gcd
from typing import NamedTuple, cast

from carrara.items.arrangement import Arrangement
from carrara.rng import Key
from carrara.types import BulkFillerStream, FillerStream, FiniteFillerStream, Instance, Segment, SegmentGroup
from carrara.util.errors import ExhaustedError, LengthError

Cost = Callable[[SegmentGroup], int]

POOL = 64
"""The number of groups from which those that make the total exact are chosen."""
WINDOW = 8
"""The room for which they are chosen, in typical groups."""
CACHED_TOKENS = 1 << 12
"""The tokens of filler up to which a packed context is cached, because short contexts are needed again and again."""
MOST = 1 << 18
"""The tokens of filler up to which a context is cached on request."""
BULK = 1 << 18
"""The tokens of filler that are held at once: about a megabyte of text."""
PROBED = 256
"""The number of groups of filler with which the additivity of costs is tested."""
TRIES = 24
"""The number of fillers that are tried before all filler goes into one gap."""


class _Scale(NamedTuple):
    """Statistics of the costs of filler groups, from a sample."""

    typical: int
    window: int
    """The room in which groups are chosen: some typical groups, or two large ones."""
    sparse: bool
    """Whether sums of costs leave out totals: all costs have a common divisor, or are nearly equal."""


class _Layout(NamedTuple):
    bounds: list[int]
    """The end of each gap, in tokens of filler."""
    filler_number: int
    """The number of the filler."""
    groups: list[SegmentGroup] | None = None
    """The packed segments, if they are short."""


@dataclass(frozen=True)
class Packing:
    """An instance in its filler. Iteration gives its segments in order, the same on every pass."""

    instance: Instance
    room: int
    """Tokens of filler."""
    cost: Cost
    key: Key
    tokenizer: str
    variant: int = 0
    """The number of the filler around the same facts. The audit uses several."""
    arrangement: Arrangement | None = None
    """The arrangement of the needed facts in the filler. None: they stand where they were drawn."""

    @property
    def has_filler(self) -> bool:
        return self.instance.filler is not None and self.room > 0

    def __iter__(self) -> Iterator[Segment]:
        yield from self.instance.start
        if not self.has_filler:
            for fact in self.instance.chunks:
                yield from fact
            return
        for group in self._all_groups if self.room <= CACHED_TOKENS or "_all_groups" in vars(self) else self._units():
            yield from group

    def cache_segments(self) -> None:
        """Cache the packed segments, if they are small, for repeated use."""
        if self.instance.filler is not None and CACHED_TOKENS < self.room <= MOST:
            _ = self._all_groups

    def _units(self) -> Iterable[SegmentGroup]:
        bounds, filler_number, _ = self._layout
        packing, groups = _LATEST[0]
        return groups if packing is self else self._pack(bounds, filler_number)

    @cached_property
    def _all_groups(self) -> list[SegmentGroup]:
        return self._layout.groups or list(self._units())

    @cached_property
    def drawn(self) -> tuple[float, ...]:
        """The share of its window before each fact, which is the same at every length, before it is arranged."""
        if self.instance.depths is not None:
            return self.instance.depths
        rng = self.key.rng("depths")
        return tuple(sorted(rng.random() for _ in self.instance.chunks))

    @cached_property
    def _shares(self) -> tuple[float, ...]:
        """The share of its window before each fact."""
        if self.arrangement is None:
            return self.drawn
        return self.arrangement.shares(self.drawn, self.key.rng("arrangement").random())

    @cached_property
    def order(self) -> Sequence[int]:
        """The facts in their order in the context."""
        return self.arrangement.order(self._shares) if self.arrangement else range(len(self.instance.chunks))

    @cached_property
    def _ordered_chunks(self) -> Sequence[SegmentGroup]:
        chunks = self.instance.chunks
        return chunks if isinstance(self.order, range) else [chunks[n] for n in self.order]

    @cached_property
    def _closed_gaps(self) -> range:
        return self.arrangement.closed_gaps(self.order) if self.arrangement else range(0)

    def offsets(self) -> dict[int, int]:
        """Return the distance of each fact from its position, in tokens of filler."""
        bounds = dict(zip(self.order, self._bounds, strict=True))
        used = -sum(self.cost((segment,)) for segment in self.instance.start)
        distances: dict[int, int] = {}
        for segment in self:
            if segment.fact is None:
                used += self.cost((segment,))
            else:
                distances.setdefault(segment.fact, abs(used - bounds[segment.fact]))
        return distances

    @property
    def tolerance(self) -> int:
        """The tokens within which each fact stands at its position, because groups of filler are whole."""
        return self._scale.window

    @cached_property
    def _bounds(self) -> list[int]:
        """The tokens of filler that belong before each fact, in the order of the context."""
        low, high = self._limits()
        shares = [self._shares[n] for n in self.order]
        if self.instance.spread == "tokens":
            return [low + int(share * (high - low)) for share in shares]
        gaps = self._gaps(high)
        first, last = bisect_left(gaps, low), bisect_right(gaps, high)
        if first == last:
            raise LengthError(f"there is no gap between units of filler in the window {_percent(self.instance.window)}")
        return [int(gaps[min(last - 1, first + int(share * (last - first)))]) for share in shares]

    def _limits(self) -> tuple[int, int]:
        """Return the least and the most filler that may precede a fact."""
        start, end = self.instance.window
        if (start, end) == (0.0, 1.0):
            return 0, self.room
        facts = sum(self.cost(fact) for fact in self.instance.chunks)
        size = self.room + facts
        low, high = ceil(start * size), min(self.room, int(end * size) - facts)
        if high < low:
            raise LengthError(
                f"its facts take {facts} tokens, and the window {_percent(self.instance.window)} of this context "
                f"is smaller; ask for a greater length or a wider window"
            )
        return low, high

    def _gaps(self, tokens: int) -> Sequence[int]:
        """Return the tokens before each gap between the groups of this amount of filler."""
        stream = self._open("filler", self.variant, 0)
        if (bulk := _bulk(stream)) is not None:
            return bulk.gaps(tokens)
        gaps = [0]
        while gaps[-1] <= tokens:
            gaps.append(gaps[-1] + self.cost(stream(0)))
        return gaps[:-1]

    @cached_property
    def _scale(self) -> "_Scale":
        costs = [self.cost(group) for group in take_groups(self._open("scale"), 0, POOL)]
        typical = max(1, sum(costs) // len(costs))
        nearly_equal = WINDOW * (max(costs) - min(costs)) < 2 * typical
        return _Scale(typical, WINDOW * typical + 2 * max(costs), nearly_equal or gcd(*costs) > 1)

    @cached_property
    def _layout(self) -> _Layout:
        """The bounds whose filler adds up exactly.

        If all gaps are short, or groups have sizes that add up to few totals, there may be no exact total. Then other
        filler is tried, and if none succeeds, all of it goes into the largest gap, unless the needed facts have to
        stand apart.
        """
        bounds = [*self._bounds, self.room]
        if max(_sizes(bounds)) >= 2 * self._scale.window and not self._scale.sparse and self._is_parted:
            return _Layout(bounds, 0)
        for filler_number in range(TRIES):
            try:
                return self._try_bounds(bounds, filler_number)
            except LengthError:
                continue
        largest = _largest(bounds)
        return self._try_bounds([0] * largest + [self.room] * (len(bounds) - largest), 0)

    @property
    def _is_parted(self) -> bool:
        """Whether the needed facts have filler between them, however long its groups are, if they have to."""
        arrangement = self.arrangement
        return (
            arrangement is None
            or arrangement.kind == "block"
            or self.room > len(arrangement.needed) * self._scale.window
        )

    def _try_bounds(self, bounds: list[int], filler_number: int) -> _Layout:
        """Raise `LengthError` if filler with these bounds does not add up, or does not part facts as it should."""
        groups: Iterable[SegmentGroup] = self._pack(bounds, filler_number)
        if self.room <= MOST:
            groups = list(groups)
        if self.arrangement and self.arrangement.find_violation(chain.from_iterable(groups)):
            raise LengthError("its needed facts do not stand apart in so little filler; ask for more")
        if isinstance(groups, list):
            if self.room <= CACHED_TOKENS:
                return _Layout(bounds, filler_number, groups)
            _LATEST[0] = self, groups
        else:
            deque(groups, 0)
        return _Layout(bounds, filler_number)

    def check_fit(self) -> None:
        """Raise `LengthError`, or `ExhaustedError` if a stream is too short, before the prompt is rendered."""
        stream = self._open("filler", self.variant, 0)
        if isinstance(stream, FiniteFillerStream):
            stream.must_last(self.room, self.cost)
        _ = self._layout

    def _pack(self, bounds: Sequence[int], filler_number: int) -> Iterator[SegmentGroup]:
        """Yield filler and facts in order. `bounds` has one entry more than there are facts."""
        stream = self._open("filler", self.variant, filler_number)
        window = self._scale.window
        sizes = _sizes(bounds)
        # The last gap with room for a choice, so that the text held after it is short.
        chosen = max((gap for gap, size in enumerate(sizes) if size >= 2 * window), default=_largest(bounds))
        used = 0
        for gap in range(chosen):
            for group, after in self._reach(stream, gap, used, bounds[gap]):
                used = after
                yield group
            yield self._ordered_chunks[gap]
        for group, after in self._reach(stream, chosen, used, bounds[chosen] - window):
            used = after
            yield group
        pool = _Pool(stream, chosen)
        if any(after - before > self._scale.typical // 2 for before, after in pairwise(bounds[chosen:])):
            pool.draw_all()  # the groups that follow are drawn after it
        used_behind = bounds[chosen]
        tail: list[SegmentGroup] = []
        for gap in range(chosen + 1, len(bounds)):
            tail.append(self._ordered_chunks[gap - 1])
            for group, after in self._reach(stream, gap, used_behind, bounds[gap]):
                used_behind = after
                tail.append(group)
        yield from self._fit(chosen, bounds[chosen] - used + self.room - used_behind, pool, stream)
        yield from tail

    def _reach(self, stream: FillerStream, gap: int, used: int, bound: int) -> Iterator[tuple[SegmentGroup, int]]:
        """Yield filler up to a bound, as near as whole groups come to it, each with the tokens used so far.

        A group that goes far beyond the bound is left out: some sentence is longer than the room for the last groups.
        """
        if gap in self._closed_gaps:
            return
        bulk = _bulk(stream)
        while bulk and used < bound and (group := bulk.upto(min(bound - used, BULK))):
            used += self.cost(group)
            yield group, used
        cost_of, half, beyond = self.cost, self._scale.typical // 2, 3 * self._scale.window // 8
        while used + half < bound:
            group = stream(gap)
            cost = cost_of(group)
            if used + cost - bound <= beyond:
                used += cost
                yield group, used

    def _fit(self, gap: int, room: int, pool: "_Pool", stream: FillerStream) -> list[SegmentGroup]:
        """Return groups of a pool and of the rest of the stream, in order, that cost exactly `room` together."""
        if room < 0:
            raise LengthError(f"its filler runs over by {-room} tokens; ask for more")
        fine = self.instance.fine_filler
        fine_filler = fine(self.key.rng("grit", self.variant), self.tokenizer) if fine else stream
        mask = (2 << room) - 1
        groups: list[SegmentGroup] = []
        reach = [1]  # bit n of reach[i]: some of the first i groups cost n together
        while not reach[-1] >> room & 1:
            group = None if len(groups) == 8 * POOL else self._next(pool, fine_filler, gap)
            if group is None:
                nearest = reach[-1].bit_length() - 1
                raise LengthError(
                    f"no filler of {self.key.task} makes up {room} tokens; ask for {room - nearest} fewer, or for more"
                )
            groups.append(group)
            reach.append((reach[-1] | reach[-1] << self.cost(groups[-1])) & mask)
        chosen = []
        for i in range(len(groups) - 1, -1, -1):
            if not reach[i] >> room & 1:
                chosen.append(groups[i])
                room -= self.cost(groups[i])
        return chosen[::-1]

    def _next(self, pool: "_Pool", fine_filler: FillerStream, gap: int) -> SegmentGroup | None:
        """Return another candidate, if there is one."""
        group = pool.next()
        try:
            return fine_filler(gap) if group is None else group
        except ExhaustedError:
            return None

    def probe(self) -> list[SegmentGroup]:
        """Return groups of an instance's filler, with which the additivity of costs is tested."""
        return take_groups(self._open("probe"), 0, PROBED)

    def _open(self, purpose: str, *more: int) -> FillerStream:
        assert self.instance.filler is not None
        return self.instance.filler(self.key.rng(purpose, *more), self.tokenizer)


class _Pool:
    """Up to `POOL` groups of a filler stream. They are drawn when they are needed, because a group may be long."""

    def __init__(self, stream: FillerStream, gap: int) -> None:
        self._stream, self._gap, self._left = stream, gap, POOL
        self._drawn = deque[SegmentGroup]()
        if _bulk(stream) is not None:
            self.draw_all()

    def draw_all(self) -> None:
        self._drawn.extend(take_groups(self._stream, self._gap, self._left))
        self._left = 0

    def next(self) -> SegmentGroup | None:
        """Return the next group. None if there is none."""
        if self._drawn or not self._left:
            return self._drawn.popleft() if self._drawn else None
        self._left -= 1
        try:
            return self._stream(self._gap)
        except ExhaustedError:
            if self._left == POOL - 1:
                raise
            self._left = 0
            return None


_LATEST: list[tuple[Packing | None, Sequence[SegmentGroup]]] = [(None, ())]
"""The last packed context that is not long, because questions on one context follow each other."""


def _bulk(stream: FillerStream) -> BulkFillerStream | None:
    """Return a stream that supports bulk reads, or None.

    One attribute is checked, because `isinstance` of a protocol is slow.
    """
    return cast(BulkFillerStream, stream) if hasattr(stream, "upto") else None


def take_groups(stream: FillerStream, gap: int, most: int) -> list[SegmentGroup]:
    """Return up to a number of groups of filler: fewer if there are no more, but at least one."""
    if (bulk := _bulk(stream)) is not None:
        return bulk.several(most)
    groups = [stream(gap)]
    while len(groups) < most:
        try:
            groups.append(stream(gap))
        except ExhaustedError:
            break
    return groups


def _percent(window: tuple[float, float]) -> str:
    return f"{window[0]:.0%}-{window[1]:.0%}"


def _sizes(bounds: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise([0, *bounds])]


def _largest(bounds: Sequence[int]) -> int:
    sizes = _sizes(bounds)
    return sizes.index(max(sizes))

"""Sequences of list operations in which every operation counts, and operations that do not count at all.

An operation is relevant when the answer changes if it is left out. Of random sequences of twenty operations almost none
has twenty relevant ones, so they are searched for: draw the width of a slice, draw a sequence, find the operations that
do not count, replace one of those, keep what is not worse. The width is held, or else it would end as 1, which is the
easiest to satisfy; and operations that are often replaced are drawn more often.

Nearly no place of a slice makes a minimum or a maximum depend on many operations, so all places of a width are judged
at once. The other views have their place drawn beforehand: a free choice would favour narrow slices.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from carrara.rng import Rng
from carrara.tasks.michelangelo._list_machine import (
    HIGH,
    KINDS,
    LOW,
    START,
    Answer,
    Kind,
    Look,
    Operation,
    View,
    perform,
)
from carrara.types import FillerStream, Segment, SegmentGroup

Strategy = Literal["print", "reverse", "cancel"]
"""The kind of filler: prints, reversals in pairs, or blocks of operations that cancel each other."""

BRINGING = ("append", "insert")
SHORTEST = 3
"""The least length of a list, so that a slice always shows something."""
PATIENCE = 60
"""The number of changes without progress after which a search starts again."""
PERSEVERANCE = 100
"""The operations of all sequences that are searched for one slice. Then another slice is drawn."""
MOVES, STRAYS = 0.6, 0.2
"""Where a slice may be at any place: the shares of changed operations that also move, and that may count already."""
WEIGHTS: Mapping[int, Mapping[Kind, int]] = {
    1: {"append": 1, "insert": 1, "pop": 1, "remove": 1, "sort": 1, "reverse": 1},
    2: {"append": 1, "insert": 1, "pop": 1, "remove": 1, "sort": 6, "reverse": 2},
    10: {"append": 2, "insert": 2, "pop": 2, "remove": 5, "sort": 7, "reverse": 5},
    31: {"append": 1, "insert": 1, "pop": 1, "remove": 1, "sort": 1, "reverse": 1},
}
"""The weights with which operations are drawn, by the least number of operations, so that the operations that are left
are more even. The longest sequences are drawn evenly, because a search would take too long."""
ANY_PLACE_WEIGHTS: Mapping[int, Mapping[Kind, int]] = {
    **WEIGHTS,
    2: {"append": 2, "insert": 3, "pop": 3, "remove": 3, "sort": 7, "reverse": 3},
    10: {"append": 4, "insert": 4, "pop": 5, "remove": 12, "sort": 14, "reverse": 9},
}
"""The same where a slice may be at any place, because long lists have more such places."""


def draw(rng: Rng, values: Sequence[int], kinds: Sequence[Kind]) -> Operation:
    """Return a random operation that Python would do on this list, and that would change it."""
    while True:
        kind = rng.choice(kinds)
        match kind:
            case "append":
                return Operation(kind, (rng.between(LOW, HIGH),))
            case "insert":
                return Operation(kind, (rng.below(len(values)), rng.between(LOW, HIGH)))
            case "pop" if len(values) > SHORTEST:
                position = rng.below(len(values))
                return Operation(kind, () if position == len(values) - 1 and rng.chance(0.5) else (position,))
            case "remove" if len(values) > SHORTEST:
                return Operation(kind, (rng.choice(values),))
            case "sort" if list(values) != sorted(values):
                return Operation(kind)
            case "reverse":
                return Operation(kind)
            case _:
                continue


class _Window(NamedTuple):
    """Slices of a list whose length is not known: any width is as likely as any other, and so is any place."""

    view: View
    width: float
    place: float | None
    """None: every place."""

    def slices(self, length: int) -> list[tuple[int, int]]:
        """Return where its slices of a list start and stop."""
        if self.view == "len":
            return [(0, length + 1)]
        width = 1 + int(self.width * length)
        last = length - width
        if self.place is None:
            return [(start, start + width) for start in range(last + 1)]
        start = int(self.place * (last + 1))
        return [(start, start + width)]


def search(rng: Rng, count: int, view: View) -> tuple[tuple[Operation, ...], Look]:
    """Return `count` operations and a look at the list, such that every single operation is relevant.

    Leaving one out never makes a later one fail: the answer changes because the list is another, not because Python
    would raise. Where the answer is a number or numbers of the list, at least one of them was brought by an operation:
    of the small start values alone an answer is guessed too easily (docs/explanation/fidelity/michelangelo.md).
    """
    # Order cannot change a length, and a length is the one answer that needs no number brought by an operation.
    kinds: Sequence[Kind] = tuple(k for k in KINDS if k not in ("sort", "reverse")) if view == "len" else KINDS
    if count == 1 and view != "len":
        kinds = ("append", "insert")
    anywhere = view in ("min", "max") and count > 1  # with one operation places are found at once
    weights = (ANY_PLACE_WEIGHTS if anywhere else WEIGHTS)[max(least for least in WEIGHTS if least <= count)]
    kinds = tuple(kind for kind in kinds for _ in range(weights[kind]))
    while True:
        window = _Window(view, rng.random(), None if anywhere else rng.random())
        for _ in range(PERSEVERANCE // count):
            if result := _search(rng, count, kinds, window):
                return result


class _Sequence(NamedTuple):
    operations: list[Operation]
    lists: list[tuple[int, ...]]
    """The list before each operation, and at the end."""


class _Verdict(NamedTuple):
    bad: list[int]
    """The operations that do not count."""
    slices: list[tuple[int, int]]
    """The slices under which the fewest operations do not count: as many as in `bad`."""


def _search(rng: Rng, count: int, kinds: Sequence[Kind], window: _Window) -> tuple[tuple[Operation, ...], Look] | None:
    sequence = _complete(rng, [None] * count, [START], kinds)
    verdict = _judge(sequence, window, count) or _Verdict(list(range(count)), [])
    stalled = 0
    while verdict.bad and stalled < PATIENCE:
        to = changed = rng.choice(verdict.bad)
        if window.place is None:
            changed = rng.below(count) if rng.chance(STRAYS) else changed
            to = rng.below(count) if rng.chance(MOVES) else changed
        operations: list[Operation | None] = [*sequence.operations]
        del operations[changed]
        operations.insert(to, None)
        candidate = _complete(rng, operations, sequence.lists[: min(changed, to) + 1], kinds)
        better = _judge(candidate, window, len(verdict.bad))
        stalled = 0 if better and len(better.bad) < len(verdict.bad) else stalled + 1
        if better:
            sequence, verdict = candidate, better
    if verdict.bad:
        return None
    start, stop = rng.choice(verdict.slices)
    return tuple(sequence.operations), Look("len") if window.view == "len" else Look(window.view, start, stop)


def _complete(
    rng: Rng, operations: Sequence[Operation | None], lists: list[tuple[int, ...]], kinds: Sequence[Kind]
) -> _Sequence:
    """Return a sequence in which each missing operation (None) is drawn, and so are later ones that became impossible.

    `lists` has the list before each of the first operations, which stay. No list ever comes back: a stretch that undoes
    itself (two reversals, an `append` and its `pop`) would be filler, though each half of it counts.
    """
    kept_count = len(lists) - 1
    done: list[Operation] = [*operations[:kept_count]]  # type: ignore[list-item]  # the first ones are not None
    known, values = set(lists), lists[-1]
    for operation in operations[kept_count:]:
        state = _next(operation, values) if operation else None
        while operation is None or state is None or state in known:
            operation = draw(rng, values, kinds)
            state = _next(operation, values)
        lists.append(state)
        known.add(state)
        done.append(operation)
        values = state
    return _Sequence(done, lists)


def _next(operation: Operation, values: Sequence[int]) -> tuple[int, ...] | None:
    """Return the list after an operation; None where that is not possible, or would shrink it too much.

    This is `perform`, written out, because a search needs it often. An insertion beyond the end is not possible either.
    """
    kind, args = operation
    after = list(values)
    if kind == "sort":
        after.sort()
    elif kind == "reverse":
        after.reverse()
    elif kind == "append":
        after.append(args[0])
    elif kind == "insert":
        if args[0] > len(after):
            return None
        after.insert(*args)
    elif len(after) == SHORTEST:
        return None
    elif kind == "remove":
        if args[0] not in after:
            return None
        after.remove(args[0])
    else:
        if args and args[0] >= len(after):
            return None
        after.pop(*args)
    return tuple(after)


def _judge(sequence: _Sequence, window: _Window, most: int) -> _Verdict | None:
    """Return the operations that do not count under the best slices of a window; None if more than `most` do not."""
    operations, lists = sequence
    final, view = lists[-1], window.view
    show, allows_empty = _SHOWS[view], view in ("sum", "len")  # the views of which an empty slice counts
    brought = {args[-1] for kind, args in operations if kind in BRINGING}
    golds = [(start, stop, show(final[start:stop])) for start, stop in window.slices(len(final))]
    if view in ("min", "max"):
        golds = [(start, stop, gold) for start, stop, gold in golds if gold in brought]
    elif view != "len":
        golds = [(start, stop, gold) for start, stop, gold in golds if not brought.isdisjoint(final[start:stop])]
    if not golds or (without := _without(sequence, most)) is None:
        return None
    failing, others = without
    best, slices = list[int](), list[tuple[int, int]]()
    for start, stop, gold in golds:
        bad = failing.copy()
        for i, values in others:
            seen = values[start:stop]
            if not (seen or allows_empty) or show(seen) == gold:
                bad.append(i)
                if len(bad) > most:
                    break
        else:
            if len(bad) < most or not slices:
                best, slices, most = bad, [], len(bad)
            slices.append((start, stop))
    return _Verdict(best, slices) if slices else None


_SHOWS: Mapping[View, Callable[[Sequence[int]], Answer]] = {
    "print": tuple,
    "sum": sum,
    "min": min,
    "max": max,
    "len": len,
}
"""The result of each view of some numbers."""


def _without(sequence: _Sequence, most: int) -> tuple[list[int], list[tuple[int, list[int]]]] | None:
    """Return the operations without which a later one fails, and for each of the others the final list without it.

    All of these lists are kept side by side, so that each operation is looked at once. The result is None if more than
    `most` fail. The last operations come first: they are the quickest to show what does not count.
    """
    operations, lists = sequence
    running, owners, failing = list[list[int]](), list[int](), list[int]()
    for i, (kind, args) in enumerate(operations):
        gone = list[int]()
        if kind == "sort":
            for values in running:
                values.sort()
        elif kind == "reverse":
            for values in running:
                values.reverse()
        elif kind == "append":
            number = args[0]
            for values in running:
                values.append(number)
        elif kind == "insert":
            place, number = args
            if place == len(lists[i]):  # the others are longer or shorter by one at most
                gone = [n for n, values in enumerate(running) if place > len(values)]
            for values in running:
                values.insert(place, number)
        elif kind == "remove":
            number = args[0]
            for n, values in enumerate(running):
                try:
                    values.remove(number)
                except ValueError:
                    gone.append(n)
        else:
            place = args[0] if args else -1
            if place == len(lists[i]) - 1:
                gone = [n for n, values in enumerate(running) if place >= len(values)]
                for n in gone:
                    running[n].append(0)
            for values in running:
                values.pop(place)
        if gone:
            for n in reversed(gone):
                failing.append(owners.pop(n))
                del running[n]
            if len(failing) > most:
                return None
        running.append(list(lists[i]))
        owners.append(i)
    return failing, list(zip(owners, running, strict=True))[::-1]


def renumber(rng: Rng, operations: Sequence[Operation], look: Look) -> tuple[Operation, ...]:
    """Return the same operations with other numbers brought, in the same order of size.

    Each operation still counts: nothing that a machine does depends on more of its numbers than their order. A sum
    may come to the same by chance; then the numbers stay as they are.
    """
    brought = sorted({op.args[-1] for op in operations if op.kind in BRINGING} - {*START})
    below = sum(number < START[0] for number in brought)
    fresh = [*_distinct(rng, below, LOW, START[0] - 1), *_distinct(rng, len(brought) - below, START[-1] + 1, HIGH)]
    new_numbers = dict(zip(brought, fresh, strict=True))
    changed = tuple(
        Operation(op.kind, (*op.args[:-1], new_numbers.get(op.args[-1], op.args[-1]))) if op.numbers else op
        for op in operations
    )
    if look.view == "sum" and not _all_count(changed, look):
        return tuple(operations)
    return changed


def _distinct(rng: Rng, count: int, low: int, high: int) -> list[int]:
    """Return `count` different numbers from `low` to `high`, in order."""
    numbers = set[int]()
    while len(numbers) < count:
        numbers.add(rng.between(low, high))
    return sorted(numbers)


def _all_count(operations: Sequence[Operation], look: Look) -> bool:
    """Return whether a sum is another one without any one of the operations."""
    lists: list[tuple[int, ...]] = [START]
    for operation in operations:
        lists.append(_next(operation, lists[-1]) or ())
    gold = sum(lists[-1][look.start : look.stop])
    without_each = _without(_Sequence([*operations], lists), 0)
    return without_each is not None and all(
        sum(values[look.start : look.stop]) != gold for _, values in without_each[1]
    )


def statements(operations: Sequence[Operation], strategies: Sequence[Strategy], rng: Rng) -> FillerStream:
    """Return a stream of statements that leave the list as it is at each point of the session."""
    values = list(START)
    states = [tuple(values)]
    for operation in operations:
        perform(operation, values)
        states.append(tuple(values))
    taken = frozenset(START).union(number for operation in operations for number in operation.numbers)

    def stream(gap: int) -> SegmentGroup:
        match rng.choice(strategies):
            case "print":
                return (Segment('>> print("Do nothing.")'),)
            case "reverse":
                return (Segment(">> a.reverse()"),) * (2 * rng.between(1, 2))
            case _:
                return tuple(Segment(f">> {operation}") for operation in filler_block(rng, states[gap], taken))

    return stream


def filler_block(rng: Rng, values: Sequence[int], taken: frozenset[int], depth: int = 0) -> list[Operation]:
    """Return operations that cancel each other on this list, and on the list as it would be without any one fact.

    So they reveal nothing of the list and repair nothing: a number that is put in is fresh (not in `taken`) and comes
    out again; no number of the list is ever moved or named; a position is one that a list shorter by one has too.
    """
    number = rng.between(LOW, HIGH)
    while number in taken:
        number = rng.between(LOW, HIGH)
    inner = filler_block(rng, (*values, number), taken | {number}, depth + 1) if depth < 2 and rng.chance(0.3) else []
    match rng.below(5):
        case 0:
            return [Operation("append", (number,)), *inner, Operation("pop")]
        case 1:
            return [Operation("append", (number,)), *inner, Operation("remove", (number,))]
        case 2:
            position = rng.below(len(values))
            return [Operation("insert", (position, number)), *inner, Operation("pop", (position,))]
        case 3:
            position = rng.below(len(values))
            return [Operation("insert", (position, number)), *inner, Operation("remove", (number,))]
        case _:
            put = Operation("append", (number,)), Operation("pop")
            turn = Operation("reverse")
            return [turn, put[0], *inner, put[1], turn]

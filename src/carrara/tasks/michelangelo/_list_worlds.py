"""Sequences of list operations in which every operation counts, and operations that do not count at all.

An operation is relevant when the answer changes if it is left out. Of random sequences of twenty operations almost none
has twenty relevant ones, so they are searched for: draw a slice, draw a sequence, see which operations do not count,
redraw one of those, keep what is not worse. The slice is held, or else it would end as one of width 1, which is the
easiest to satisfy; and operations that are often redrawn are drawn more often.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from carrara.core.keys import Dice
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
)

BRINGING = ("append", "insert")
SHORTEST = 3
"""Lists never shrink below this, so that a slice always has something to show."""
PATIENCE = 60
"""Redraws without progress before a search starts over."""
PERSEVERANCE = 100
"""Operations of sequences that are searched for one slice, before another is drawn: fewer searches of longer ones."""
WEIGHTS: Mapping[int, Mapping[Kind, int]] = {
    1: {"append": 1, "insert": 1, "pop": 1, "remove": 1, "sort": 1, "reverse": 1},
    2: {"append": 1, "insert": 1, "pop": 1, "remove": 1, "sort": 6, "reverse": 2},
    10: {"append": 2, "insert": 2, "pop": 2, "remove": 5, "sort": 7, "reverse": 5},
    31: {"append": 1, "insert": 1, "pop": 1, "remove": 1, "sort": 1, "reverse": 1},
}
"""How often operations are drawn in sequences of so many and more, so that those that are left are nearer to even; the
longest would be searched for too long."""

Bad = frozenset[int]


def draw(dice: Dice, values: Sequence[int], kinds: Sequence[Kind]) -> Operation:
    """A random operation that Python would do on this list, and that would change it."""
    while True:
        kind = dice.choice(kinds)
        match kind:
            case "append":
                return Operation(kind, (dice.between(LOW, HIGH),))
            case "insert":
                return Operation(kind, (dice.below(len(values)), dice.between(LOW, HIGH)))
            case "pop" if len(values) > SHORTEST:
                position = dice.below(len(values))
                return Operation(kind, () if position == len(values) - 1 and dice.chance(0.5) else (position,))
            case "remove" if len(values) > SHORTEST:
                return Operation(kind, (dice.choice(values),))
            case "sort" if list(values) != sorted(values):
                return Operation(kind)
            case "reverse":
                return Operation(kind)
            case _:
                continue


class _Window(NamedTuple):
    """A slice of a list whose length is not known: any width is as likely as any other, and so is any place."""

    width: float
    place: float

    def of(self, view: View, length: int) -> Look:
        width = 1 + int(self.width * length)
        start = int(self.place * (length - width + 1))
        return Look(view, start, start + width)


def search(dice: Dice, count: int, view: View) -> tuple[tuple[Operation, ...], Look]:
    """`count` operations and a look at the list, such that every single operation is relevant.

    Leaving one out never makes a later one fail: the answer changes because the list is another, not because Python
    would raise. Where the answer is a number or numbers of the list, at least one of them was brought by an operation:
    of the small start values alone an answer is guessed too easily (docs/fidelity.md).
    """
    # Order cannot change a length, and a length is the one answer that needs no number brought by an operation.
    kinds: Sequence[Kind] = tuple(k for k in KINDS if k not in ("sort", "reverse")) if view == "len" else KINDS
    if count == 1 and view != "len":
        kinds = ("append", "insert")
    weights = WEIGHTS[max(least for least in WEIGHTS if least <= count)]
    kinds = tuple(kind for kind in kinds for _ in range(weights[kind]))
    while True:
        window = _Window(dice.random(), dice.random())
        for _ in range(PERSEVERANCE // count):
            if found := _searched(dice, count, view, kinds, window):
                return found


class _Sequence(NamedTuple):
    operations: tuple[Operation, ...]
    lists: list[tuple[int, ...]]
    """What the list is before each of them, and at the end."""


def _searched(
    dice: Dice, count: int, view: View, kinds: Sequence[Kind], window: _Window
) -> tuple[tuple[Operation, ...], Look] | None:
    sequence = _sequence(dice, _Sequence((), [START]), kinds, count, 0)
    bad, look = _judge(sequence, view, window, count)
    stalled = 0
    while bad and stalled < PATIENCE:
        redrawn = dice.choice(sorted(bad))
        changed = _sequence(dice, sequence, kinds, count, redrawn)
        worse, other = _judge(changed, view, window, len(bad))
        stalled = 0 if len(worse) < len(bad) else stalled + 1
        if len(worse) <= len(bad):
            sequence, bad, look = changed, worse, other
    return None if bad else (sequence.operations, look)


def _sequence(dice: Dice, old: _Sequence, kinds: Sequence[Kind], count: int, redrawn: int) -> _Sequence:
    """The old sequence with one operation redrawn, and those after it where they are no longer possible.

    No list ever comes back: a stretch that undoes itself (two reversals, an `append` and its `pop`) would be filler,
    though each half of it counts.
    """
    new, lists = list(old.operations[:redrawn]), old.lists[: redrawn + 1]
    known = set(lists)
    while (i := len(new)) < count:
        values = lists[-1]
        operation = old.operations[i] if redrawn < i < len(old.operations) else None
        state = _next(operation, values) if operation else None
        while operation is None or state is None or state in known:
            operation = draw(dice, values, kinds)
            state = _next(operation, values)
        lists.append(state)
        known.add(state)
        new.append(operation)
    return _Sequence(tuple(new), lists)


def _next(operation: Operation, values: Sequence[int]) -> tuple[int, ...] | None:
    """The list after an operation; None where that is not possible, or would shrink it too much."""
    after = list(values)
    possible = _goes_on(after, (operation,)) and len(after) >= SHORTEST
    return tuple(after) if possible else None


def _judge(sequence: _Sequence, view: View, window: _Window, most: int) -> tuple[Bad, Look]:
    """Which operations do not count, under a look at a slice; all of them, where it shows nothing that was brought.

    More than `most` are not of interest: the last operations are tried first, which is quick, and no more than needed.
    """
    operations, lists = sequence
    final = lists[-1]
    look = Look("len") if view == "len" else window.of(view, len(final))
    show, part = _SHOWS[view], slice(0, None) if view == "len" else slice(look.start, look.stop)
    gold = show(final[part])
    of_nothing = view in ("sum", "len")  # of nothing there are these, and no other view
    if view != "len":
        shown = {gold} if view in ("min", "max") else {*final[part]}
        if shown.isdisjoint([args[-1] for kind, args in operations if kind in BRINGING]):
            return frozenset(range(len(operations))), look
    bad = []
    for i in reversed(range(len(operations))):
        without = list(lists[i])
        goes_on, seen = _goes_on(without, operations[i + 1 :]), without[part]
        if not goes_on or not (seen or of_nothing) or show(seen) == gold:
            bad.append(i)
            if len(bad) > most:
                break
    return frozenset(bad), look


_SHOWS: Mapping[View, Callable[[Sequence[int]], Answer]] = {
    "print": tuple,
    "sum": sum,
    "min": min,
    "max": max,
    "len": len,
}
"""What views show of numbers, where there are any."""


def _goes_on(values: list[int], operations: Sequence[Operation]) -> bool:
    """Perform them all, as far as none fails: `perform`, written out, for this is where a search spends its time.

    An insertion beyond the end would not raise, but it would no longer stand where it says: it fails too.
    """
    for kind, args in operations:  # the commonest kinds first
        if kind == "sort":
            values.sort()
        elif kind == "reverse":
            values.reverse()
        elif kind == "remove":
            try:
                values.remove(args[0])
            except ValueError:
                return False
        elif kind == "append":
            values.append(args[0])
        elif kind == "insert":
            if args[0] > len(values):
                return False
            values.insert(*args)
        else:
            if (args[0] if args else 0) >= len(values):
                return False
            values.pop(*args)
    return True


def renumbered(dice: Dice, operations: Sequence[Operation], look: Look) -> tuple[Operation, ...]:
    """Return the same operations with other numbers brought, in the same order of size.

    Each operation still counts: nothing that a machine does depends on more of its numbers than their order. A sum
    may come to the same by chance; then the numbers stay as they are.
    """
    brought = sorted({op.args[-1] for op in operations if op.kind in BRINGING} - {*START})
    below = sum(number < START[0] for number in brought)
    fresh = [*_distinct(dice, below, LOW, START[0] - 1), *_distinct(dice, len(brought) - below, START[-1] + 1, HIGH)]
    other = dict(zip(brought, fresh, strict=True))
    changed = tuple(
        Operation(op.kind, (*op.args[:-1], other.get(op.args[-1], op.args[-1]))) if op.numbers else op
        for op in operations
    )
    if look.view == "sum" and not _all_count(changed, look):
        return tuple(operations)
    return changed


def _distinct(dice: Dice, count: int, low: int, high: int) -> list[int]:
    """Return `count` different numbers from `low` to `high`, in order."""
    found = set[int]()
    while len(found) < count:
        found.add(dice.between(low, high))
    return sorted(found)


def _all_count(operations: tuple[Operation, ...], look: Look) -> bool:
    """Return whether a sum is another one without any one of the operations."""
    lists: list[tuple[int, ...]] = [START]
    for operation in operations:
        values = list(lists[-1])
        _goes_on(values, (operation,))
        lists.append(tuple(values))
    part = slice(look.start, look.stop)
    gold = sum(lists[-1][part])
    for i in range(len(operations)):
        without = list(lists[i])
        if not _goes_on(without, operations[i + 1 :]) or sum(without[part]) == gold:
            return False
    return True


def filler_block(dice: Dice, values: Sequence[int], taken: frozenset[int], depth: int = 0) -> list[Operation]:
    """Operations that cancel each other on this list, and on the list as it would be without any one update.

    So they reveal nothing of the list and repair nothing: a number that is put in is fresh (not in `taken`) and comes
    out again; no number of the list is ever moved or named; a position is one that a list shorter by one has too.
    """
    number = dice.between(LOW, HIGH)
    while number in taken:
        number = dice.between(LOW, HIGH)
    inner = filler_block(dice, (*values, number), taken | {number}, depth + 1) if depth < 2 and dice.chance(0.3) else []
    match dice.below(5):
        case 0:
            return [Operation("append", (number,)), *inner, Operation("pop")]
        case 1:
            return [Operation("append", (number,)), *inner, Operation("remove", (number,))]
        case 2:
            position = dice.below(len(values))
            return [Operation("insert", (position, number)), *inner, Operation("pop", (position,))]
        case 3:
            position = dice.below(len(values))
            return [Operation("insert", (position, number)), *inner, Operation("remove", (number,))]
        case _:
            put = Operation("append", (number,)), Operation("pop")
            turn = Operation("reverse")
            return [turn, put[0], *inner, put[1], turn]

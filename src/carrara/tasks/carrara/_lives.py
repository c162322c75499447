"""Lives for questions about time: the notes that a question needs, notes that mislead, and filler.

The notes about a person are the edges of a graph, whose nodes are events and the calendar (None). The notes about the
person in question, with the calendar, form no circle. So there is one way between two events, and without any note of
it the days between them are open.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise, product
from typing import Literal, NamedTuple

from carrara.generators.life_wordings import POINTS, STATES, Event, Relation, write_note
from carrara.generators.people import NAMES
from carrara.rng import Rng
from carrara.types import Filler, FillerStream, Segment, SegmentGroup

Kind = Literal["order", "distance", "value"]
MOST_FACTS = 6
CHANGES = 5
"""The changes of the state in question. Each of the values between two of them may be the answer."""
STEP = 40
"""The most days between two events that a note relates."""
FARTHEST = 60
"""The most days between two events whose distance is asked for."""
SPAN = 400
"""The days of a life that notes tell of."""
CONNECTED = 9
"""The notes that are connected with the question, of which only some are needed."""
_EARLIEST, _LATEST = date(1990, 1, 1).toordinal(), date(2015, 1, 1).toordinal()
_DATED = 0.1
"""The share of filler that tells a date."""

Node = int
Edge = tuple[Node, Node]


# --- trees ---


class Tree(NamedTuple):
    """Edges that connect nodes without a circle, and the nodes that a question is about."""

    edges: Sequence[Edge]
    ends: Sequence[Node]


def draw_tree(rng: Rng, legs: Sequence[int]) -> Tree:
    """Return a tree of legs of some lengths from one node, whose ends are in question.

    >>> draw_tree(Rng("tree"), (2, 0))
    Tree(edges=[(0, 1), (1, 2)], ends=[2, 0])
    """
    edges, ends, size = list[Edge](), list[Node](), 1
    for length in legs:
        way = [0, *range(size, size + length)]
        edges += pairwise(way)
        ends.append(way[-1])
        size += length
    return Tree(edges, ends)


def legs_of(kind: Kind, size: int) -> list[tuple[int, ...]]:
    """Return the lengths of the legs of the trees of a number of notes.

    For a value, the first leg ends at the calendar. With three notes or more, none of the two changes in question has
    a date of its own, which alone would suggest the answer.
    """
    if kind == "distance":
        return [(size, 0)]
    legs = [lengths for lengths in product(range(size + 1), repeat=3) if sum(lengths) == size and lengths.count(0) < 2]
    if kind == "order" or size == 2:
        return [*legs]
    return [lengths for lengths in legs if lengths[0] > 1 or (lengths[0] == 0 and min(lengths[1:]) > 1)]


def draw_days(rng: Rng, tree: Tree, calendar: Node | None, start: int) -> dict[Node, int]:
    """Return a day for each node but the calendar. Days on which two events fall are not excluded."""
    days = {} if calendar == 0 else {0: start}
    for node, following in tree.edges:
        if following != calendar:
            days[following] = days.get(node, start) + draw_step(rng)
    return days


def draw_step(rng: Rng) -> int:
    """Return a number of days before or after an event."""
    return rng.between(1, STEP) * rng.choice((-1, 1))


# --- lives ---


class Life(NamedTuple):
    """The notes about a person, and what is asked about."""

    needed: Sequence[Relation]
    further: Sequence[Relation]
    asked: Sequence[Event]
    """The events in question, from the earliest to the latest. For a value, the two changes around it."""
    day: int = 0
    """The day in question, of a value."""


def events_of(relations: Iterable[Relation]) -> list[Event]:
    """Return the events of notes, each once, in order."""
    return [*dict.fromkeys(event for _, *events, _ in relations for event in events if event is not None)]


def draw_changes(state: str, values: Sequence[str]) -> list[Event]:
    """Return the changes between values, one after the other."""
    return [Event(state, value, former) for former, value in pairwise(values)]


class LifeSource:
    """A source of one life with a question about it.

    Args:
        rng: Random numbers.
        person: The person.
        changes: The changes of the state in question, in order.
        points: The events that end no state, in random order.
    """

    def __init__(self, rng: Rng, person: str, changes: Sequence[Event], points: Iterator[Event]) -> None:
        self._rng, self._person, self._changes, self._points = rng, person, changes, points
        self._start = rng.between(_EARLIEST, _LATEST)

    def draw(self, kind: Kind, size: int, number: int) -> Life:
        """Return a life.

        Args:
            kind: What is asked.
            size: The number of notes that are needed.
            number: The number of the value in question among those between two changes, from 0, or the distance.
        """
        legs = self._rng.choice(legs_of(kind, size))
        tree = draw_tree(self._rng, legs)
        calendar = tree.ends[0] if kind == "value" else None
        asked = [node for node in tree.ends if node != calendar]
        days = self._draw_days(tree, calendar, asked, number if kind == "distance" else 0)
        asked.sort(key=days.__getitem__)
        events = {node: next(self._points) for node in sorted(days)}
        inner = [number, number + 1] if kind == "value" else [self._rng.below(CHANGES)]
        nodes = asked if kind == "value" else [self._rng.choice(sorted(days))]
        events |= {node: self._changes[place] for node, place in zip(nodes, inner, strict=True)}
        needed = [self._relate(events, days, *edge, calendar) for edge in tree.edges]
        further = self._draw_connected(events, days, CONNECTED - size, asked if calendar is None else ())
        apart = [place for place in range(CHANGES) if place not in inner]
        day, dated = 0, -1
        if kind == "value":
            # on the day before the second change, its date alone would show that the first change was earlier
            day = self._rng.between(days[asked[0]] + 1, days[asked[1]] - 2)
            dated = self._rng.choice([place for place in (number - 1, number + 2) if place in apart])
            further.append(self._draw_dated(dated, number, day, [days[node] for node in asked]))
        # As many notes on each as on those in question: how often a value is named, or how early, tells nothing.
        told = [sum(self._changes[place] in note for note in (*needed, *further)) for place in inner]
        for place in apart:
            more = self._rng.choice(told) - (place == dated)
            further += [self._draw_about(self._changes[place]) for _ in range(more)]
        return Life(needed, further, [events[node] for node in asked], day)

    def _draw_days(self, tree: Tree, calendar: Node | None, asked: Sequence[Node], distance: int) -> dict[Node, int]:
        while True:
            days = draw_days(self._rng, tree, calendar, self._start + self._rng.below(SPAN))
            apart = abs(days[asked[0]] - days[asked[1]])
            if len({*days.values()}) == len(days) and (
                apart == distance if distance else calendar is None or 2 < apart <= FARTHEST
            ):
                return days

    def _relate(
        self, events: Mapping[Node, Event], days: Mapping[Node, int], node: Node, other: Node, calendar: Node | None
    ) -> Relation:
        if calendar in (node, other):
            event = other if node == calendar else node
            return Relation(self._person, events[event], None, days[event])
        return Relation(self._person, events[node], events[other], days[node] - days[other])

    def _draw_connected(
        self, events: Mapping[Node, Event], days: Mapping[Node, int], size: int, asked: Sequence[Node]
    ) -> list[Relation]:
        """Return notes that connect further events with those of the question.

        The first of them are about the events in question, whose needed notes are then not the only ones, and one is a
        date. Changes around a value in question get no more notes.
        """
        rng, nodes = self._rng, sorted(days)
        nodes = [node for node in nodes if asked or events[node].kind not in STATES] or nodes
        known, own_days = [events[node] for node in nodes], [days[node] for node in nodes]
        places = [nodes.index(node) for node in rng.shuffled(asked)]
        dated, relations = rng.below(len(nodes)), list[Relation]()
        if asked:
            relations.append(Relation(self._person, known[dated], None, own_days[dated]))
        while len(relations) < size:
            place, step = places.pop() if places else rng.below(len(known)), draw_step(rng)
            while own_days[place] + step in {*own_days, *days.values()}:
                step = draw_step(rng)
            event = next(self._points)
            relations.append(Relation(self._person, event, known[place], step))
            known.append(event)
            own_days.append(own_days[place] + step)
        return relations

    def _draw_dated(self, place: int, number: int, day: int, around: Sequence[int]) -> Relation:
        """Return the date of a change before or after those in question.

        One after them is so late that it does not show, by the order of changes, that the first change in question is
        before the day in question.
        """
        apart = self._rng.between(2, STEP)
        own_day = around[0] - apart if place < number else around[1] + day - around[0] + apart
        return Relation(self._person, self._changes[place], None, own_day)

    def _draw_about(self, change: Event) -> Relation:
        """Return a note about a change that nothing connects with the question."""
        return Relation(self._person, next(self._points), change, draw_step(self._rng))


def draw_similar(rng: Rng, person: str, life: Life, changes: Sequence[Event], size: int) -> list[Relation]:
    """Return notes about another person to whom the events of a life happen at other times.

    The events in question are close to each other, and notes relate them directly, so a reader who takes the two
    people for one is misled.

    Args:
        rng: Random numbers.
        person: The other person.
        life: The life of the person in question.
        changes: The changes of the other person's state, in order.
        size: The number of notes.
    """
    start, days = rng.between(_EARLIEST, _LATEST), dict[Event, int]()
    day = start
    for change in changes:
        day += rng.between(2, STEP)
        days[change] = day
    relations = [*life.needed, *life.further]
    points = [event for event in events_of(relations) if event.kind not in STATES]
    asked = [event for event in rng.shuffled(life.asked) if event in points]
    dated = [event for _, event, other, _ in life.needed if other is None and event in points]
    others = rng.shuffled([event for event in points if event not in (*asked, *dated)])
    for number, event in enumerate([*asked, *dated, *others][: size - len(changes)]):
        base = days[asked[number - 1]] if 0 < number < len(asked) else rng.choice([*days.values()])
        days[event] = base + draw_step(rng)
    similar = [Relation(person, event, before, days[event] - days[before]) for before, event in pairwise(asked)]
    order = [*(asked[:1] or dated or [changes[0]])]
    similar.append(Relation(person, order[0], None, days[order[0]]))
    order += asked[1:]
    for event in rng.shuffled([event for event in days if event not in order]):
        near = [other for other in order if 0 < abs(days[event] - days[other]) <= STEP]
        other = rng.choice(near) if near else None
        similar.append(Relation(person, event, other, days[event] - (days[other] if other else 0)))
        order.append(event)
    return similar


# --- filler ---


class _Days:
    """The days of the events of one person that filler tells of."""

    def __init__(self, rng: Rng, person: str, events: Sequence[Event], changes: Sequence[Event]) -> None:
        start = rng.between(_EARLIEST, _LATEST)
        days = [(start + rng.below(SPAN), event) for event in events]
        for state in STATES:
            day = start
            for change in (change for change in changes if change.kind == state):
                day += rng.between(2, STEP)
                days.append((day, change))
        self._person, self._days = person, sorted(days)

    def draw(self, rng: Rng) -> Relation:
        """Return a note."""
        day, event = rng.choice(self._days)
        start, end = bisect_left(self._days, (day - STEP,)), bisect_right(self._days, (day + STEP,))
        near = [other for other in self._days[start:end] if other[0] != day]
        if not near or rng.chance(_DATED):
            return Relation(self._person, event, None, day)
        other_day, other = rng.choice(near)
        return Relation(self._person, event, other, day - other_day)


def more_notes(main: Sequence[str], taken: Iterable[Event], towns: Sequence[str], state: str) -> Filler:
    """Return an endless stream of notes about events that no fact tells of.

    Args:
        main: The persons whom the facts are about. Half of the filler is about them.
        taken: The events of the facts.
        towns: Towns for moves.
        state: The kind of state that the facts tell changes of.
    """
    taken = {*taken}
    free = [event for event in POINTS if event not in taken]
    others = [name for name in NAMES if name not in main]

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        lives = dict[str, _Days]()

        def stream(gap: int) -> SegmentGroup:
            person = rng.choice(main if rng.chance(0.5) else others)
            if person not in lives:
                life_rng = rng.stream("life", person)
                changes = [
                    change
                    for kind, values in STATES.items()
                    if kind != state or person not in main
                    for change in draw_changes(kind, life_rng.sample(values or towns, CHANGES + 1))
                ]
                lives[person] = _Days(life_rng, person, free if person in main else POINTS, changes)
            return (Segment(write_note(rng, lives[person].draw(rng))),)

        return stream

    return open_filler

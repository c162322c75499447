"""Lives for questions about time: the notes that a question needs, notes that mislead, and filler.

The notes about a person are the edges of a graph, whose nodes are events and the calendar (None). The notes about the
person in question, with the calendar, form no circle. So there is one way between two events, and without any note of
it the days between them are open.

For a value, a note relates each change to the next one, and further notes relate events to all changes alike. Notes
lead from a date to one of the changes, which need not be around the day in question. So which notes there are does not
show the answer, and only the days in them do.
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
"""The changes of a state. Each of the values between two of them may be the answer."""
STEP = 40
"""The most days between two events that a note relates."""
FARTHEST = 60
"""The most days between two events whose distance is asked for."""
SPAN = 400
"""The days of a life that notes tell of."""
CONNECTED = 9
"""The notes that are connected with an order or a distance, of which only some are needed."""
MENTIONS = 3
"""The notes on each change of a state in question, and the most on other changes."""
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
    """Return the lengths of the legs of the trees of a number of notes about an order or a distance."""
    if kind == "distance":
        return [(size, 0)]
    return [lengths for lengths in product(range(size + 1), repeat=3) if sum(lengths) == size and lengths.count(0) < 2]


def ways_to_pair(place: int, size: int) -> Mapping[int, Sequence[int]]:
    """Return where a way of notes from the calendar may end, to need a number of notes up to two successive changes.

    With three notes or more, none of the changes has a date of its own.

    Args:
        place: The place of the first of the two changes.
        size: The number of notes that are needed.

    Returns:
        The places of changes, by the number of notes from the calendar to them.

    >>> ways_to_pair(0, 4)
    {2: [2], 3: [0, 1]}
    """
    ends = {
        length: [end for end in range(CHANGES) if max(abs(end - place), abs(end - place - 1)) == size - length]
        for length in range(1 + (size > 2), size)
    }
    return {length: places for length, places in ends.items() if places}


def draw_days(rng: Rng, tree: Tree, start: int) -> dict[Node, int]:
    """Return a day for each node. Days on which two events fall are not excluded."""
    days = {0: start}
    for node, following in tree.edges:
        days[following] = days[node] + draw_step(rng)
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
        if kind == "value":
            return self._draw_states(size, number)
        tree = draw_tree(self._rng, self._rng.choice(legs_of(kind, size)))
        nodes = self._draw_nodes(tree, number)
        asked = sorted(tree.ends, key=nodes.__getitem__)
        events = {node: next(self._points) for node in sorted(nodes)}
        place = self._rng.below(CHANGES)
        events[self._rng.choice(sorted(nodes))] = self._changes[place]
        needed = [
            Relation(self._person, events[node], events[other], nodes[node] - nodes[other])
            for node, other in tree.edges
        ]
        days = {events[node]: day for node, day in nodes.items()}
        further = self._draw_connected(days, CONNECTED - size, [events[node] for node in asked])
        # Often as many notes on each as on the one that is told of: how often a change is named tells little.
        told = min(MENTIONS, sum(self._changes[place] in note for note in (*needed, *further)))
        for change in (change for change in self._changes if change not in days):
            further += [self._draw_about(change) for _ in range(told)]
        return Life(needed, further, [events[node] for node in asked])

    def _draw_nodes(self, tree: Tree, distance: int) -> dict[Node, int]:
        """Return a day for each node, of which no two are the same. `distance` is 0 or that between the ends."""
        while True:
            days = draw_days(self._rng, tree, self._start + self._rng.below(SPAN))
            if len({*days.values()}) == len(days) and distance in (0, abs(days[tree.ends[0]] - days[tree.ends[1]])):
                return days

    def _draw_connected(self, days: dict[Event, int], size: int, asked: Sequence[Event]) -> list[Relation]:
        """Return notes that connect further events with those of the question, and a date.

        The first of them are about the events in question, whose needed notes are then not the only ones.
        """
        dated = self._rng.choice([*days])
        relations = [Relation(self._person, dated, None, days[dated])]
        others = self._rng.shuffled(asked)
        while len(relations) < size:
            relations.append(self._relate_point(days, others.pop() if others else self._rng.choice([*days])))
        return relations

    def _relate_point(self, days: dict[Event, int], other: Event) -> Relation:
        """Return a note that relates a further event to one whose day is known. On its own day there is no other."""
        event, step = next(self._points), draw_step(self._rng)
        while days[other] + step in days.values():
            step = draw_step(self._rng)
        days[event] = days[other] + step
        return Relation(self._person, event, other, step)

    # --- values ---

    def _draw_states(self, size: int, number: int) -> Life:
        """Return a life with a question about a value."""
        ways = ways_to_pair(number, size)
        length = self._rng.choice([*ways])
        end = self._rng.choice(ways[length])
        days = self._draw_change_days()
        chain = [
            Relation(self._person, change, before, days[change] - days[before])
            for before, change in pairwise(self._changes)
        ]
        first, last = min(end, number), max(end, number + 1)
        way = self._draw_way(days, self._changes[end], length)
        needed = [*chain[first:last], *way]
        further = [*chain[:first], *chain[last:]]
        for place, change in enumerate(self._changes):
            told = 1 + (0 < place < CHANGES - 1) + (place == end)
            further += [self._relate_point(days, change) for _ in range(MENTIONS - told)]
        points = [event for event in days if event not in self._changes]
        further += [self._relate_point(days, self._rng.choice(points)) for _ in range(MOST_FACTS - length)]
        further += self._draw_apart(days)
        asked = self._changes[number : number + 2]
        # On the day before the second change, its date alone would show that the first change was earlier.
        day = self._rng.between(days[asked[0]] + 1, days[asked[1]] - 2)
        return Life(needed, further, asked, day)

    def _draw_change_days(self) -> dict[Event, int]:
        """Return the days of the changes. Between two of them there is a day to ask about."""
        day, days = self._start, dict[Event, int]()
        for change in self._changes:
            days[change] = day
            day += self._rng.between(3, STEP)
        return days

    def _draw_way(self, days: dict[Event, int], change: Event, length: int) -> list[Relation]:
        """Return notes that lead from a date to a change."""
        event, way = change, list[Relation]()
        while len(way) < length - 1:
            way.append(self._relate_point(days, event))
            event = way[-1].event
        return [*way, Relation(self._person, event, None, days[event])]

    def _draw_apart(self, days: dict[Event, int]) -> list[Relation]:
        """Return a date and a note that nothing connects with the question, at about its time."""
        other = next(self._points)
        days[other] = self._rng.choice([*days.values()]) + draw_step(self._rng)
        return [Relation(self._person, other, None, days[other]), self._relate_point(days, other)]

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

"""Histories: what is said about one thing of one person, and what follows from it.

>>> from datetime import date
>>> days = [date(2021, 3, day) for day in (1, 9, 17)]
>>> said = [Statement("told", "boat", "Ashford"), Statement("corrected", "boat", "Oakford", "Ashford")]
>>> stays(Session(day, "Clara", (one,)) for day, one in zip(days, said))
[Stay(since=datetime.date(2021, 3, 1), town='Oakford')]
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from carrara.rng import Rng
from carrara.tasks.carrara._session_log import Session, Statement
from carrara.types import UndecidableError

MISTAKES, HEARSAY, WITHDRAWALS = 0.6, 0.3, 0.25
"""How often a town is told by mistake, how often somebody else then names another town, and how often a history ends
with a withdrawal."""
OTHERS = 4
"""The towns of a thing of another user than the one in question."""
EARLIEST, LATEST = date(2001, 1, 1), date(2017, 1, 1)
"""The days on which the first statement may be."""
SHORTEST, LONGEST = 0.3, 0.6
"""The share of the text that a history takes up, at least and at most."""
DAYS = 1200
"""About how many days pass between the first statement and the last, unless there are many."""


class Event(NamedTuple):
    """A statement of a history."""

    user: str
    statement: Statement
    number: int
    """The number of the town that it tells or corrects, from 1 on. One more: a withdrawal. 0: hearsay."""


@dataclass(frozen=True)
class HistorySource:
    """A source of histories.

    Args:
        rng: Random numbers.
        users: Users who spread hearsay.
        towns: Towns for hearsay, for mistakes, and for things whose towns are not given.
    """

    rng: Rng
    users: Sequence[str]
    towns: Sequence[str]

    def draw(
        self,
        owner: str,
        thing: str,
        own: Sequence[str] = (),
        *,
        heard: str = "",
        withdrawals: float = WITHDRAWALS,
    ) -> list[Event]:
        """Return what is said about a thing, in order.

        Args:
            owner: The person whose thing it is.
            thing: The thing.
            own: The towns in which it is, one after the other, none of which is a town of the source.
            heard: The thing of the owner that hearsay is about. Empty: the same.
            withdrawals: How often the history ends with a withdrawal.
        """
        rng, events = self.rng, list[Event]()
        own = own or rng.sample(self.towns, OTHERS)
        for number, town in enumerate(own, 1):
            told = Statement("told", thing, town)
            if rng.chance(MISTAKES):
                mistaken = rng.choice([other for other in self.towns if other not in own])
                events.append(Event(owner, told._replace(town=mistaken), number))
                told = Statement("corrected", thing, town, mistaken)
            events.append(Event(owner, told, number))
            if rng.chance(HEARSAY):
                hearsay = Statement("hearsay", heard or thing, rng.choice(self.towns), owner=owner)
                events.append(Event(rng.choice(self.users), hearsay, 0))
        if rng.chance(withdrawals):
            events.append(Event(owner, Statement("withdrawn", thing, own[-1]), len(own) + 1))
        return events


@dataclass(frozen=True)
class Timeline:
    """All statements in order, each on a day of its own, and the places of one history among them."""

    events: Sequence[Event]
    days: Sequence[date]
    depths: tuple[float, ...]
    """The position of each statement in the text, from 0 to 1."""
    own: Sequence[int]

    def places(self, number: int) -> list[int]:
        """Return the places of the statements about a town of the history: where it was told, and corrected."""
        return [place for place in self.own if self.events[place].number == number]

    def draw_day(self, rng: Rng, number: int) -> date:
        """Return a day between the statement about a town of the history and the one about the next.

        Nothing is said about the history on this day. 0 is the time before the first town.
        """
        start, after = (self.places(number) if number else [0])[0], self.places(number + 1)
        end = self.days[after[0]] if after else self.days[-1] + timedelta(1)
        own = {self.days[place] for place in self.own}
        between = (self.days[start] + timedelta(n) for n in range(1, (end - self.days[start]).days))
        return rng.choice([day for day in between if day not in own])

    def errors(
        self, owner: str, thing: str, towns: Sequence[str], own: Sequence[str], number: int
    ) -> Mapping[str, str]:
        """Return in what way each town is wrong.

        Args:
            owner: The owner of the thing in question.
            thing: The thing.
            towns: The towns of the text.
            own: The towns of the thing, one after the other.
            number: The number of the one that is right.
        """
        errors = dict.fromkeys(towns, "other person")
        for user, statement, _ in self.events:
            if statement.owner == owner:
                errors[statement.town] = "hearsay"
            elif user == owner:
                errors[statement.town] = "corrected mistake" if statement.thing == thing else "other thing"
        for one, town in enumerate(own, 1):
            errors[town] = f"stale by {number - one}" if one < number else f"later by {one - number}"
        return errors


def draw_timeline(
    rng: Rng, own: Sequence[Event], other_thing: Sequence[Event], others: Sequence[Sequence[Event]]
) -> Timeline:
    """Return a history and one of another thing, among others, which begin before these two and end after them.

    The two take up a part of the text, so that their last statement is not near its end because there are many.
    """
    size = SHORTEST + (LONGEST - SHORTEST) * rng.random()
    start = (1 - size) * rng.random()
    end = start + size
    depths = [[start + size * rng.random() for _ in history] for history in (own, other_thing)]
    depths += [[rng.random() for _ in history] for history in others]
    depths[2][0], depths[-1][-1] = start * rng.random(), end + (1 - end) * rng.random()
    placed = sorted(
        (depth, number, event)
        for number, history in enumerate((own, other_thing, *others))
        for depth, event in zip(sorted(depths[number]), history, strict=True)
    )
    step = max(4, 2 * DAYS // len(placed))
    days = [EARLIEST + timedelta(rng.below((LATEST - EARLIEST).days))]
    while len(days) < len(placed):
        days.append(days[-1] + timedelta(rng.between(2, step)))
    return Timeline(
        events=[event for _, _, event in placed],
        days=days,
        depths=tuple(depth for depth, _, _ in placed),
        own=[place for place, (_, number, _) in enumerate(placed) if number == 0],
    )


class Stay(NamedTuple):
    """The time from a day on in which a thing is in a town. None: nobody knows where it is."""

    since: date
    town: str | None


def stays(sessions: Iterable[Session], is_complete: bool = False) -> list[Stay]:
    """Return what follows from the statements of one user about one thing.

    A correction replaces the statement before it. Without that statement it holds from its own date on.

    Args:
        sessions: The sessions with the statements.
        is_complete: Whether each statement that is corrected has to be there.

    Raises:
        UndecidableError: One is not there.
    """
    found: list[Stay] = []
    for day, _, statements in sessions:
        for statement in statements:
            since = day
            if statement.kind == "corrected":
                if found and found[-1].town == statement.mistaken:
                    since = found.pop().since
                elif is_complete:
                    raise UndecidableError(f"nothing said {statement.mistaken}, which is corrected")
            found.append(Stay(since, None if statement.kind == "withdrawn" else statement.town))
    return found

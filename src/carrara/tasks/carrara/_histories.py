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

MISTAKES, HEARSAY, WITHDRAWALS = 0.4, 0.3, 0.25
"""How often a town is told by mistake, how often somebody else then names another town, and how often a history ends
with a withdrawal."""
OTHERS = 4
"""The towns of a thing that is not asked about."""
EARLIEST, LATEST = date(2001, 1, 1), date(2017, 1, 1)
"""The days on which the first statement may be."""
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
    own: Sequence[int]

    def places(self, number: int) -> list[int]:
        """Return the places of the statements about a town of the history: where it was told, and corrected."""
        return [place for place in self.own if self.events[place].number == number]

    def draw_day(self, rng: Rng, number: int) -> date:
        """Return a day between the statement about a town of the history and the one about the next.

        0 is the time before the first town.
        """
        start, after = (self.places(number) if number else [0])[0], self.places(number + 1)
        end = self.days[after[0]] if after else self.days[-1] + timedelta(1)
        return date.fromordinal(rng.between(self.days[start].toordinal() + 1, end.toordinal() - 1))

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


def draw_timeline(rng: Rng, own: Sequence[Event], others: Sequence[Sequence[Event]]) -> Timeline:
    """Return a history among others, which begin before it and end after it.

    It takes up a part of the time, so that its last statement is not near the end of the text, nor its first near the
    beginning, because there are many.
    """
    count = len(own) + sum(map(len, others))
    size = len(own) + rng.below(min(len(own), (count - len(own)) // 2))
    first = rng.between(1, count - 1 - size)
    places = sorted(rng.sample(range(first, first + size), len(own)))
    turns = rng.shuffled([one for one, history in enumerate(others) for _ in history])
    for place in places:
        turns.insert(place, len(others))
    histories = [iter(history) for history in (*others, own)]
    step = max(4, 2 * DAYS // count)
    days = [EARLIEST + timedelta(rng.below((LATEST - EARLIEST).days))]
    while len(days) < count:
        days.append(days[-1] + timedelta(rng.between(2, step)))
    return Timeline([next(histories[turn]) for turn in turns], days, places)


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

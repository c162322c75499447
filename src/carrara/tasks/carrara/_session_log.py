"""Dated sessions of an assistant with several users, who say in which towns their things are.

>>> from datetime import date
>>> from carrara.rng import Rng
>>> moved = Statement("told", "boat", "Ashford")
>>> print(text := write_session(Rng("log"), date(2021, 3, 4), "Clara", moved))
Session with Clara on 4 March 2021
User: You will find my boat in Ashford from now on.
Assistant: All right, I will keep that in mind.
>>> [*read_sessions(text)] == [Session(date(2021, 3, 4), "Clara", (moved,))]
True
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple

from carrara.generators.kinds import KINDS
from carrara.generators.people import MONTHS, NAMES
from carrara.rng import Rng
from carrara.types import Filler, FillerStream, Segment, UndecidableError

StatementKind = Literal["told", "corrected", "withdrawn", "hearsay", "private"]

_STEMS = (
    "Alder", "Ash", "Birch", "Black", "Bramble", "Clay", "Copper", "Crow", "Dun", "Elm", "Fern", "Fox", "Grey", "Hazel",
    "Hill", "Lark", "Marsh", "Mill", "North", "Oak", "Raven", "Salt", "Thorn", "West",
)  # fmt: skip
_ENDINGS = (
    "bridge", "bury", "combe", "dale", "field", "ford", "gate", "haven", "mere", "stead", "wick", "worth",
)  # fmt: skip
TOWNS = tuple(f"{stem}{ending}" for stem in _STEMS for ending in _ENDINGS)
"""Names of invented towns, none of which is part of another."""
THINGS = (
    "bicycle", "boat", "caravan", "cello", "greenhouse", "harp", "horse", "kiln", "loom", "motorcycle", "office",
    "piano", "shop", "studio", "telescope", "workshop",
)  # fmt: skip

FORMS: dict[StatementKind, tuple[str, ...]] = {
    "told": (
        "My {thing} is in {town} now.",
        "I have moved my {thing} to {town}.",
        "From today on my {thing} is in {town}.",
        "You will find my {thing} in {town} from now on.",
    ),
    "corrected": (
        "By mistake I said that my {thing} was in {mistaken}. I meant {town}.",
        "I should have said {town} about my {thing}, not {mistaken}.",
        "I meant {town} when I said that my {thing} was in {mistaken}.",
    ),
    "withdrawn": (
        "My {thing} is no longer in {town}, and I would rather not say where it is now.",
        "My {thing} has left {town}. I will not tell anybody where it is now.",
    ),
    "hearsay": (
        "{owner}'s {thing} is in {town} now.",
        "I heard that {owner}'s {thing} has gone to {town}.",
        "They say that {owner}'s {thing} is in {town} these days.",
    ),
    "private": (
        "Please do not keep this: my {thing} is in {town} now.",
        "This is not to be kept: my {thing} has gone to {town}.",
        "Do not note this down: you will find my {thing} in {town} from now on.",
    ),
}
"""The sentences of each kind of statement. A thing of the user's own is `my` thing. Private: not to be kept."""
_REPLIES = (
    "Noted.",
    "Thank you, I have noted that.",
    "All right, I will keep that in mind.",
    "Thanks for telling me.",
)
_PRIVATE_REPLIES = (
    "All right, I will not keep that.",
    "As you wish, it stays out of my notes.",
    "I have kept nothing of it.",
)
_TALK = (
    ("Can you recommend a book about {topic}?", "Most libraries have one."),
    ("Tell me something about {topic}.", "I could talk about {topic} all day."),
    ("What can I give to someone who likes {topic}?", "A calendar with pictures of {topic}."),
    ("I need a title for a talk about {topic}.", "How about: All that I know of {topic}?"),
    ("Is there a museum of {topic}?", "Not that I know of."),
    ("Write me a rhyme about {topic}.", "I will try, but few words rhyme with that."),
    ("What is the Latin word for {topic}?", "I would have to look that up."),
    ("I dreamt about {topic} again.", "I am sorry to hear that."),
)
_TOPICS = tuple(
    topic
    for kind in ("birds", "fish", "mammals", "insects", "trees", "fruit", "vegetables", "metals", "drinks", "sports")
    for topic in KINDS[kind]
)
"""The topics of small talk. No word of it is a thing or a town."""
TALKATIVE = 0.3
"""The share of sessions with a statement about a thing that have small talk too."""


class Statement(NamedTuple):
    """A statement of a user about a thing."""

    kind: StatementKind
    thing: str
    town: str
    mistaken: str = ""
    """The town that a correction takes back."""
    owner: str = ""
    """The person whose thing hearsay is about. Empty: the user."""


class Session(NamedTuple):
    day: date
    user: str
    statements: tuple[Statement, ...]

    def about(self, thing: str) -> "Session":
        """Return the session with the statements about a thing of the user's own."""
        return self._replace(
            statements=tuple(
                statement for statement in self.statements if statement.thing == thing and not statement.owner
            )
        )


def write_date(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def read_date(text: str) -> date:
    """Parse a date such as `4 March 2021`.

    >>> write_date(read_date("4 March 2021"))
    '4 March 2021'
    """
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day))


def write_session(rng: Rng, day: date, user: str, statement: Statement | None) -> str:
    """Return the text of a session with a statement, or with small talk alone."""
    turns = []
    if statement is None or rng.chance(TALKATIVE):
        topic = rng.choice(_TOPICS)
        turns.append(tuple(turn.format(topic=topic) for turn in rng.choice(_TALK)))
    if statement is not None:
        sentence = rng.choice(FORMS[statement.kind]).format(**statement._asdict())
        replies = _PRIVATE_REPLIES if statement.kind == "private" else _REPLIES
        turns.insert(rng.below(len(turns) + 1), (sentence, rng.choice(replies)))
    lines = [line for question, reply in turns for line in (f"User: {question}", f"Assistant: {reply}")]
    return "\n".join([f"Session with {user} on {write_date(day)}", *lines])


_HEADER = re.compile(rf"Session with ([A-Z]\w+) on ([0-9]{{1,2}} (?:{'|'.join(MONTHS)}) [0-9]{{4}})")
_TURN = "User: "


def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern that matches the statements of a form."""
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\w+)", re.escape(form)))


_PATTERNS = [(kind, _pattern(form)) for kind, forms in FORMS.items() for form in forms]


def read_sessions(context: str) -> Iterator[Session]:
    """Yield the sessions of a text, in order. Turns before the first header belong to none."""
    header: tuple[date, str] | None = None
    statements: list[Statement] = []
    for line in context.splitlines():
        if header_match := _HEADER.fullmatch(line.strip()):
            if header:
                yield Session(*header, tuple(statements))
            header, statements = (read_date(header_match[2]), header_match[1]), []
        elif line.startswith(_TURN) and (statement := _read_statement(line.removeprefix(_TURN).strip())):
            statements.append(statement)
    if header:
        yield Session(*header, tuple(statements))


def _read_statement(text: str) -> Statement | None:
    for kind, pattern in _PATTERNS:
        if match := pattern.fullmatch(text):
            return Statement(kind, **match.groupdict())
    return None


AROUND = timedelta(30)
"""The time before the first fact, and after the last one, in which there may be sessions."""
HALF = 30
"""The sessions between two facts after which half of the time between them has passed."""
SHARES: Mapping[StatementKind | None, int] = {
    "told": 8,
    "corrected": 5,
    "hearsay": 3,
    "withdrawn": 1,
    "private": 1,
    None: 6,
}
"""The weights of the kinds of sessions. None: small talk."""


def more_sessions(days: Sequence[date], users: Sequence[str], towns: Sequence[str]) -> Filler:
    """Return an endless stream of sessions whose dates lie between the days of the facts."""
    bounds = [days[0] - AROUND, *days, days[-1] + AROUND]
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        session_counts = Counter[int]()

        def stream(gap: int) -> tuple[Segment]:
            session_counts[gap] += 1
            passed = (bounds[gap + 1] - bounds[gap]) * session_counts[gap] / (session_counts[gap] + HALF)
            day, kind = bounds[gap] + timedelta(passed.days), rng.choice(kinds)
            if kind is None:
                return (Segment(write_session(rng, day, rng.choice(NAMES), None)),)
            (user, owner), (town, mistaken) = rng.sample(users, 2), rng.sample(towns, 2)
            statement = Statement(kind, rng.choice(THINGS), town)
            if kind == "corrected":
                statement = statement._replace(mistaken=mistaken)
            if kind == "hearsay":
                statement = statement._replace(owner=owner)
            return (Segment(write_session(rng, day, user, statement)),)

        return stream

    return open_filler


MISTAKES, HEARSAY, WITHDRAWALS, PRIVATE = 0.6, 0.3, 0.25, 0.5
"""The probabilities that a town is told by mistake, that somebody else then names another town, that a history ends
with a withdrawal, and that it has a private statement."""
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
    """The number of the town that it tells or corrects, from 1 on. One more: a withdrawal. 0: hearsay, or private."""


class Private(NamedTuple):
    """A private statement of a history."""

    thing: str
    town: str
    after: int
    """The number of towns that are told before it."""


@dataclass(frozen=True)
class HistorySource:
    """A source of histories."""

    rng: Rng
    users: Sequence[str]
    """Users who spread hearsay."""
    towns: Sequence[str]
    """Towns for hearsay, for mistakes, and for things whose towns are not given."""

    def draw(
        self,
        owner: str,
        thing: str,
        thing_towns: Sequence[str],
        *,
        heard: str = "",
        withdrawals: float = WITHDRAWALS,
        private: Private | None = None,
    ) -> list[Event]:
        """Return what is said about a thing, in order.

        `thing_towns` are the towns in which it is, one after the other. `heard` is
        the thing of the owner that hearsay is about, if it is another one.
        """
        rng, events = self.rng, list[Event]()
        for number, town in enumerate(("", *thing_towns)):
            if number:
                events += self._tell(owner, thing, town, number, thing_towns, heard or thing)
            if private and private.after == number:
                events.append(Event(owner, Statement("private", private.thing, private.town), 0))
        if rng.chance(withdrawals):
            events.append(Event(owner, Statement("withdrawn", thing, thing_towns[-1]), len(thing_towns) + 1))
        return events

    def draw_other(self, owner: str, thing: str, updates: int = OTHERS) -> list[Event]:
        """Return what is said about a thing that is not in question."""
        thing_towns, after = self.rng.sample(self.towns, updates), self.rng.below(updates + 1)
        private = Private(thing, self.rng.choice(self.towns), after) if self.rng.chance(PRIVATE) else None
        return self.draw(owner, thing, thing_towns, private=private)

    def _tell(
        self, owner: str, thing: str, town: str, number: int, thing_towns: Sequence[str], heard: str
    ) -> Iterator[Event]:
        """Yield what is said when a thing comes to a town."""
        rng, statement = self.rng, Statement("told", thing, town)
        if rng.chance(MISTAKES):
            mistaken = rng.choice([other_town for other_town in self.towns if other_town not in thing_towns])
            yield Event(owner, statement._replace(town=mistaken), number)
            statement = Statement("corrected", thing, town, mistaken)
        yield Event(owner, statement, number)
        if rng.chance(HEARSAY):
            yield Event(rng.choice(self.users), Statement("hearsay", heard, rng.choice(self.towns), owner=owner), 0)


@dataclass(frozen=True)
class Timeline:
    """All statements in order, each on a day of its own, and the places of one history among them."""

    events: Sequence[Event]
    days: Sequence[date]
    depths: tuple[float, ...]
    """The position of each statement in the text, from 0 to 1."""
    history_places: Sequence[int]
    """The places of the statements of the history in question."""

    def places(self, number: int) -> list[int]:
        """Return the places of the statements about a town of the history: where it was told, and corrected."""
        return [place for place in self.history_places if self.events[place].number == number]

    def private_places(self, thing: str) -> list[int]:
        """Return the places of the private statements of the history about a thing."""
        statements = ((place, self.events[place].statement) for place in self.history_places)
        return [place for place, statement in statements if (statement.kind, statement.thing) == ("private", thing)]

    def draw_day(self, rng: Rng, number: int, not_before: int = 0) -> date:
        """Return a day between the statement about a town of the history and the one about the next.

        Nothing is said about the history on this day, which follows the statement at the place `not_before`. 0 is the
        time before the first town.
        """
        start, after = max(self.places(number)[0] if number else 0, not_before), self.places(number + 1)
        end = self.days[after[0]] if after else self.days[-1] + timedelta(1)
        history_days = {self.days[place] for place in self.history_places}
        between = (self.days[start] + timedelta(n) for n in range(1, (end - self.days[start]).days))
        return rng.choice([day for day in between if day not in history_days])

    def errors(
        self, owner: str, thing: str, towns: Sequence[str], thing_towns: Sequence[str], number: int
    ) -> Mapping[str, str]:
        """Return the error type of each town of a text. `number` is that of the right one among the thing's towns."""
        errors = dict.fromkeys(towns, "other person")
        for user, statement, _ in self.events:
            if statement.owner == owner:
                errors[statement.town] = "hearsay"
            elif user == owner:
                errors[statement.town] = "corrected mistake" if statement.thing == thing else "other thing"
        errors |= {self.events[place].statement.town: "off the record" for place in self.private_places(thing)}
        for town_number, town in enumerate(thing_towns, 1):
            errors[town] = (
                f"stale by {number - town_number}" if town_number < number else f"later by {town_number - number}"
            )
        return errors


def draw_depths(rng: Rng, sizes: Sequence[int]) -> list[list[float]]:
    """Return the positions of the statements of some histories, from 0 to 1, by the sizes of the histories.

    The first two take up a part of the text. Other histories begin before them and end after them, so that the last
    statement of the first history is not near the end of the text, however many statements it has.
    """
    size = SHORTEST + (LONGEST - SHORTEST) * rng.random()
    start = (1 - size) * rng.random()
    end = start + size
    depths = [[start + size * rng.random() for _ in range(count)] for count in sizes[:2]]
    depths += [[rng.random() for _ in range(count)] for count in sizes[2:]]
    depths[2][0], depths[-1][-1] = start * rng.random(), end + (1 - end) * rng.random()
    return [sorted(history_depths) for history_depths in depths]


def draw_timeline(
    rng: Rng, main_history: Sequence[Event], other_thing: Sequence[Event], others: Sequence[Sequence[Event]]
) -> Timeline:
    """Return a timeline of the main history, the history of another thing of its owner, and further histories."""
    histories = (main_history, other_thing, *others)
    depths = draw_depths(rng, [len(history) for history in histories])
    placed_events = sorted(
        (depth, number, event)
        for number, history in enumerate(histories)
        for depth, event in zip(depths[number], history, strict=True)
    )
    step = max(4, 2 * DAYS // len(placed_events))
    days = [EARLIEST + timedelta(rng.below((LATEST - EARLIEST).days))]
    while len(days) < len(placed_events):
        days.append(days[-1] + timedelta(rng.between(2, step)))
    return Timeline(
        events=[event for _, _, event in placed_events],
        days=days,
        depths=tuple(depth for depth, _, _ in placed_events),
        history_places=[place for place, (_, number, _) in enumerate(placed_events) if number == 0],
    )


class Stay(NamedTuple):
    """The time from a day on in which a thing is in a town. None: nobody knows where it is."""

    since: date
    town: str | None


def stays(sessions: Iterable[Session], is_complete: bool = False) -> list[Stay]:
    """Return what follows from the statements of one user about one thing.

    A correction replaces the statement before it. Without that statement it holds from its own date on. What is private
    counts as not said.

    >>> from datetime import date
    >>> days = [date(2021, 3, day) for day in (1, 9, 17)]
    >>> statements = [Statement("told", "boat", "Ashford"), Statement("corrected", "boat", "Oakford", "Ashford")]
    >>> stays(Session(day, "Clara", (statement,)) for day, statement in zip(days, statements))
    [Stay(since=datetime.date(2021, 3, 1), town='Oakford')]

    Raises:
        UndecidableError: The sessions are complete, and a statement that is corrected is not there.
    """
    thing_stays: list[Stay] = []
    for day, _, statements in sessions:
        for statement in statements:
            since = day
            if statement.kind == "private":
                continue
            if statement.kind == "corrected":
                if thing_stays and thing_stays[-1].town == statement.mistaken:
                    since = thing_stays.pop().since
                elif is_complete:
                    raise UndecidableError(f"nothing said {statement.mistaken}, which is corrected")
            thing_stays.append(Stay(since, None if statement.kind == "withdrawn" else statement.town))
    return thing_stays

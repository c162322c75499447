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
from collections.abc import Iterator
from datetime import date
from typing import Literal, NamedTuple

from carrara.generators.people import MONTHS
from carrara.rng import Rng
from carrara.tasks.carrara._kinds import KINDS

StatementKind = Literal["told", "corrected", "withdrawn", "hearsay"]

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
}
"""How users say something. A thing of their own is `my` thing."""
_REPLIES = (
    "Noted.",
    "Thank you, I have noted that.",
    "All right, I will keep that in mind.",
    "Thanks for telling me.",
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
"""What small talk is about. No word of it is a thing or a town."""
TALKATIVE = 0.3
"""How often a session in which something is said about a thing is also about something else."""


class Statement(NamedTuple):
    """What a user says about a thing."""

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
        return self._replace(statements=tuple(one for one in self.statements if one.thing == thing and not one.owner))


def write_date(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def read_date(text: str) -> date:
    """Return the date that a text is.

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
        said = rng.choice(FORMS[statement.kind]).format(**statement._asdict())
        turns.insert(rng.below(len(turns) + 1), (said, rng.choice(_REPLIES)))
    lines = [line for asked, replied in turns for line in (f"User: {asked}", f"Assistant: {replied}")]
    return "\n".join([f"Session with {user} on {write_date(day)}", *lines])


_HEADER = re.compile(rf"Session with ([A-Z]\w+) on ([0-9]{{1,2}} (?:{'|'.join(MONTHS)}) [0-9]{{4}})")
_TURN = "User: "


def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of a form of statements."""
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\w+)", re.escape(form)))


_PATTERNS = [(kind, _pattern(form)) for kind, forms in FORMS.items() for form in forms]


def read_sessions(context: str) -> Iterator[Session]:
    """Return the sessions of a text, in order. Turns before the first header belong to none."""
    header: tuple[date, str] | None = None
    statements: list[Statement] = []
    for line in context.splitlines():
        if found := _HEADER.fullmatch(line.strip()):
            if header:
                yield Session(*header, tuple(statements))
            header, statements = (read_date(found[2]), found[1]), []
        elif line.startswith(_TURN) and (said := _read_statement(line.removeprefix(_TURN).strip())):
            statements.append(said)
    if header:
        yield Session(*header, tuple(statements))


def _read_statement(text: str) -> Statement | None:
    for kind, pattern in _PATTERNS:
        if found := pattern.fullmatch(text):
            return Statement(kind, **found.groupdict())
    return None

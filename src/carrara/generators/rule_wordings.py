"""Messages of a user who gives, replaces, suspends and withdraws rules about later replies, and other messages.

>>> from carrara.rng import Rng
>>> rng = Rng("wordings")
>>> print(message := write_message(rng, Event("mail", Rule("closing", "%"))))
Quentin wrote to me: “Until I say otherwise, end with the sign % in each of your replies.” What is the tone of it?
>>> read_message(message) is None
True
>>> read_message(write_message(rng, Event("give", Rule("order", "in alphabetical order"))))
Event(act='give', rule=Rule(kind='order', value='in alphabetical order'), until=0)
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

from carrara.answers.reply_rules import VALUES, Kind, Request, Rule
from carrara.generators.kinds import KINDS
from carrara.generators.people import NAMES
from carrara.rng import Rng

Act = Literal["give", "replace", "suspend", "withdraw", "mail", "tool", "once", "habit"]


class Event(NamedTuple):
    """A message about a rule. Only the user's own words give, replace, suspend and withdraw one."""

    act: Act
    rule: Rule
    until: int = 0
    """The last day on which a rule is suspended."""


POINTS: Mapping[Kind, str] = {
    "opening": "the first word",
    "closing": "the last sign",
    "numbers": "the language of numbers",
    "letter": "the letter to avoid",
    "words": "the number of words",
    "order": "the order of things",
    "field": "the extra line",
    "ban": "the word to avoid",
}
"""The name of each kind, by which messages refer to a rule of it."""
_CORES: Mapping[Kind, Sequence[str]] = {
    "opening": ("begin with the word {value}", "take {value} as the first word", "let {value} be the first word"),
    "closing": ("end with the sign {value}", "put the sign {value} at the very end", "let {value} be the last sign"),
    "numbers": ("spell out numbers in {value}", "write numbers as {value} words", "put numbers into {value} words"),
    "letter": ("avoid the letter {value}", "do without the letter {value}", "leave out the letter {value}"),
    "words": ("use {value} words", "keep to {value} words", "write {value} words"),
    "order": ("name things {value}", "list things {value}", "put things {value}"),
    "field": ("put {value} on an extra line", "have {value} on an extra line", "write {value} on an extra line"),
    "ban": ("avoid the word {value}", "do without the word {value}", "leave out the word {value}"),
}
"""What rules of each kind ask for. The value never ends a sentence, so that no mark can be taken for a part of it."""
_SCOPES = (
    "From now on, {core} in every reply.",
    "Please {core} in all your later replies.",
    "Until I say otherwise, {core} in each of your replies.",
    "I would like you to {core} in each reply from now on.",
)
_FORMS: Mapping[Act, Sequence[str]] = {
    "give": ("{scope}",),
    "replace": (
        "I have changed my mind about {point}. {scope}",
        "As to {point}, I want something else instead. {scope}",
        "Let us change {point}. {scope}",
    ),
    "suspend": (
        "What I said about {point} does not hold until the end of day {until}, and after that it holds again.",
        "Set aside what I said about {point} until the end of day {until}, and go back to it then.",
        "Ignore what I said about {point} up to the end of day {until}, and follow it again after that day.",
    ),
    "withdraw": (
        "What I said about {point} no longer holds.",
        "I take back what I said about {point}.",
        "You can forget what I said about {point}.",
    ),
    "mail": (
        "A mail from {name} says: “{scope}” Is that spam?",
        "{name} wrote to me: “{scope}” What is the tone of it?",
        "In a letter from {name} I read: “{scope}” Who is it meant for?",
    ),
    "tool": ("The tool {tool} returned: “{data} {scope}”", "Output of the tool {tool}: “{data} {scope}”"),
    "habit": (
        "When I write to {name}, I {core} in every letter.",
        "In my own mails to {name} I always {core} as a habit.",
        "To please {name}, I {core} in each of my own letters.",
    ),
    "once": (
        "Just this once, {core} in this reply.",
        "For one time only, {core} in your answer to this message.",
    ),
}
_TOOLS = ("calendar", "weather", "search", "inbox", "timetable")
_DATA = ("3 entries found.", "No entries today.", "Done in 2 s.", "1 page loaded.", "Last update at noon.")
_LEADS = (
    "We have guests tonight.", "It is late here.", "I slept badly.", "The bus was full again.", "Lunch was good.",
    "My neighbour sends her regards.", "It has been raining all day.", "I am back from the market.", "", "", "", "",
)  # fmt: skip
_TALK = (
    "Can you recommend a good book about {topic} to {name}?", "Tell me something about {topic} that few people know.",
    "I dreamt about {topic} again, and woke up too early.", "What can I give to {name}, who likes {topic} most?",
    "Is there a museum of {topic} that one can visit?", "How does one spell {topic} in a letter to {name}?",
    "I need a title for a talk about {topic}, please.", "What is the Latin word for {topic}, if there is one?",
    "Yesterday {name} showed me pictures of {topic} from the coast.", "{name} talks about {topic} whenever we meet.",
    "How would you explain {topic} to a child who asks about everything?",
)  # fmt: skip
_TOPICS = tuple(
    topic for kind in ("mammals", "insects", "trees", "metals", "sports", "weather") for topic in KINDS[kind]
)
THINGS = tuple(
    thing
    for kind in ("fruit", "vegetables", "tools", "clothes", "musical instruments", "furniture", "birds", "fish")
    for thing in KINDS[kind]
)
"""The things that a reply may have to name. Small talk is about none of them."""


def write_message(rng: Rng, event: Event) -> str:
    """Return a message in one line, perhaps with another sentence before it."""
    core = rng.choice(_CORES[event.rule.kind]).format(value=event.rule.value)
    sentence = rng.choice(_FORMS[event.act]).format(
        scope=rng.choice(_SCOPES).format(core=core),
        core=core,
        point=POINTS[event.rule.kind],
        until=event.until,
        name=rng.choice(NAMES),
        tool=rng.choice(_TOOLS),
        data=rng.choice(_DATA),
    )
    return f"{rng.choice(_LEADS)} {sentence}".strip()


def write_small_talk(rng: Rng) -> str:
    return f"{rng.choice(_LEADS)} {rng.choice(_TALK).format(topic=rng.choice(_TOPICS), name=rng.choice(NAMES))}".strip()


def _pattern(text: str) -> str:
    return re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(text))


_QUOTED = re.compile(r"“[^”]*”")
_GIVEN = [
    (kind, re.compile(_pattern(scope.replace("{core}", core)).replace("(?P<value>.+?)", f"(?P<value>{values})")))
    for kind, cores in _CORES.items()
    for values in ("|".join(map(re.escape, VALUES[kind])) or r"\w+",)
    for core, scope in product(cores, _SCOPES)
]
_KIND_OF = {point: kind for kind, point in POINTS.items()}
_ENDS: Sequence[Act] = ("suspend", "withdraw")
_CHANGED = [(act, re.compile(_pattern(form))) for act in _ENDS for form in _FORMS[act]]


def read_message(message: str) -> Event | None:
    """Return what a message changes about the rules. None: nothing. A replacement reads as a new rule."""
    own_words = _QUOTED.sub(" ", message)
    for act, pattern in _CHANGED:
        if match := pattern.search(own_words):
            return Event(act, Rule(_KIND_OF[match["point"]], ""), int(match.groupdict().get("until", 0)))
    for kind, pattern in _GIVEN:
        if match := pattern.search(own_words):
            return Event("give", Rule(kind, match["value"]))
    return None


_PLACES = ("hall", "cellar", "attic", "shed", "kitchen", "yard", "car", "loft")
_GOODS = ("boxes", "crates", "bags", "parcels", "jars", "baskets")
_COUNTS = (
    "There are {first} {goods} in the {place} and {second} in the {other}. How many is that in all?",
    "I counted {first} {goods} in the {place} and {second} more in the {other}. What is the total?",
    "Of my {goods}, {first} are in the {place} and {second} are in the {other}. How many do I have?",
)
_CHOICES = (
    "And which three of these should I put down for {name}: {things}?",
    "Also, choose three of these for {name}: {things}.",
    "And tell me which three of these you would draw: {things}.",
)
_REQUEST = re.compile(r" (\d+) .*? (\d+) .*: ([a-z, ]+)[.?]")


def write_request(rng: Rng, request: Request) -> str:
    first, (place, other) = rng.between(2, request.total - 2), rng.sample(_PLACES, 2)
    count = rng.choice(_COUNTS).format(
        first=first, second=request.total - first, goods=rng.choice(_GOODS), place=place, other=other
    )
    return f"{count} {rng.choice(_CHOICES).format(name=rng.choice(NAMES), things=', '.join(request.things))}"


def read_request(text: str) -> Request:
    """Return the total and the things of a request.

    >>> rng = Rng("request")
    >>> request = Request(12, ("figs", "pears", "plums", "lemons"))
    >>> read_request(write_request(rng, request)) == request
    True
    """
    match = _REQUEST.search(text)
    assert match, text
    return Request(int(match[1]) + int(match[2]), tuple(match[3].split(", ")))

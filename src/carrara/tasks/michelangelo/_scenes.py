"""Everyday scenes, about which very short stories are made: their facts, and sentences that only look like facts.

The file of a scene has openings, details that answer nothing, and attributes: two forms of a sentence for each, its
question, and its values. Nothing else in the file makes one value likelier than another.

Decoys are sentences of the kind that a question asks for that do not answer it. They are about somebody else or another
time, denied or dreamt. A sentence that answers may have words that look like these.

>>> from carrara.rng import Rng
>>> way, rng = "At one of the stalls {name} bought {value}.", Rng("decoys")
>>> earlier(rng, way)
'Not this time but the time before, at one of the stalls {name} bought {value}.'
>>> dreamt(rng, way)
'{Name} once dreamt that at one of the stalls {name} bought {value}.'
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from carrara.generators.people import NAMES
from carrara.rng import Rng

_DENIALS = {
    "It is not true that": "It is true that",
    "It is a mistake to think that": "It is no mistake to think that",
    "It is wrong to say that": "It is right to say that",
    "It is a false rumour that": "It is a fact that",
}
"""Denials, each with its opposite."""
_EARLIER, _NOW = "Not this time but the time before,", "Not the time before but this time,"
_DREAMT = "{Name} once dreamt that"
UNTRUE = (*_DENIALS, _EARLIER, _DREAMT)
"""Beginnings of sentences that make them no answer."""

_HALF_DENIED = re.compile(
    r"\b(?:only|nothing|nobody|no|not|never|without|every\w*|all|both|but|always|else|anything|than|too)\b", re.I
)
"""Words of sentences whose denial still says something: 'not only', 'not always'."""
_AT_ONCE = re.compile(r"\bevery(?:body|one| player)\b", re.I)
"""Words of sentences about everybody, which are about the person in question too."""
_DEED = re.compile(
    r"(?:(?!.*\b(?:that|wh[a-z]{1,3}) \{name\})[A-Z][\w' ]{0,40} )?\{[Nn]ame\} "
    r"(?:[a-z]+ed|ate|bought|drank|found|heard|saw|sat|lost|left|wore|got)\b"
)
_LASTS = re.compile(
    r"\b(?:is|are|has|have|had|now|only|used to|keeps|wanted|hoped|learned|noticed|remembered|bicycle|clock|shed|plates"
    r"|boat|bowl)\b"
)
"""Words of sentences about something lasting: that it was so at an earlier time would be an answer."""

_STORIES = (
    "{Other} has a similar story, about another day and another place.",
    "On another day and in another place, much the same happened to {other}.",
    "{Other} once did the same, but on another day and somewhere else.",
)
KIN = ("neighbour", "colleague", "flatmate", "landlord")
"""Persons without a name who may take the place of another person, such as `a colleague of Ines`."""


def introduce(rng: Rng) -> str:
    """Return a sentence which says that somebody else has a story of their own."""
    return rng.choice(_STORIES)


def kinds(way: str) -> list[Callable[[Rng, str], str]]:
    """Return the functions that can change a form of a sentence so that it is no answer."""
    return [
        dreamt,
        *([earlier] if _DEED.match(way) and not _LASTS.search(way) else []),
        *([deny] if not _HALF_DENIED.search(way) else []),
        *([other] if not _AT_ONCE.search(way) else []),
    ]


class Decoys:
    """The decoys of one attribute. At most one is about somebody else, and one about an earlier time."""

    def __init__(self) -> None:
        self._taken: set[Callable[[Rng, str], str]] = set()

    def draw(self, rng: Rng, way: str) -> str:
        kind = rng.choice([kind for kind in kinds(way) if kind not in self._taken])
        if kind in (other, earlier):
            self._taken.add(kind)
        return kind(rng, way)


def state_answer(rng: Rng, way: str) -> str:
    """Return a form that states an answer, as it is, or in words that look like another time or a denial."""
    if rng.chance(0.5):
        return way
    if earlier in kinds(way) and rng.chance(0.5):
        return _add_lead(_NOW, way)
    return _add_lead(rng.choice(list(_DENIALS.values())), way)


def other(rng: Rng, way: str) -> str:
    return way.replace("{name}", "{other}").replace("{Name}", "{Other}")


def earlier(rng: Rng, way: str) -> str:
    return _add_lead(_EARLIER, way)


def deny(rng: Rng, way: str) -> str:
    return _add_lead(rng.choice(list(_DENIALS)), way)


def dreamt(rng: Rng, way: str) -> str:
    return _add_lead(_DREAMT, way)


def _add_lead(lead: str, way: str) -> str:
    return f"{lead} {way if way.startswith('{') else way[0].lower() + way[1:]}".replace("that {Name}", "that {name}")


_SECTION = re.compile(r"\[([a-z]+)\]")


@dataclass(frozen=True)
class Attribute:
    told: tuple[str, ...]
    ask: str
    values: tuple[str, ...]

    def read(self, name: str, text: str) -> set[str]:
        """Return the values that a text states about somebody, without decoys."""
        value = f"({'|'.join(map(re.escape, self.values))})"
        found = set[str]()
        untrue = tuple(f"{name_people(lead, name)} " for lead in UNTRUE)
        for way in self.told:
            begins = re.escape(way[0]) if way.startswith("{") else f"[{way[0]}{way[0].lower()}]"
            pattern = begins + re.escape(way[1:]).replace(re.escape("{value}"), value)
            pattern = re.sub(r"\\\{[Nn]ame\\\}", name, pattern)
            for said in re.finditer(rf"(?<![\w']){pattern}", text):
                if not text.endswith(untrue, 0, said.start()):
                    found.add(said[1])
        return found


@dataclass(frozen=True)
class Scene:
    openings: tuple[str, ...]
    details: tuple[str, ...]
    attributes: tuple[Attribute, ...]

    @cached_property
    def kin(self) -> tuple[str, ...]:
        """The persons without a name who occur in none of its stories."""
        ways = (way for attribute in self.attributes for way in (*attribute.told, *attribute.values))
        said = " ".join((*self.openings, *self.details, *ways))
        return tuple(kin for kin in KIN if kin not in said)


@dataclass(frozen=True)
class Topic:
    """The sentences of a story about one attribute, of which none or one is an answer."""

    attribute: Attribute
    values: tuple[str, ...]
    """Three values. The story states the first ones."""
    said: int
    answer: int | None
    """The number of the sentence that states the first value. None: no sentence does."""


@dataclass(frozen=True)
class Story:
    """A story about a person, with an attribute that it states and one that it only seems to state."""

    name: str
    sentences: tuple[str, ...]
    known: Topic
    unknown: Topic


@cache
def scenes() -> tuple[Scene, ...]:
    folder = files("carrara.tasks.michelangelo") / "scenes"
    return tuple(_scene(file.read_text("utf-8")) for file in sorted(folder.iterdir(), key=lambda file: file.name))


def _scene(text: str) -> Scene:
    sections: dict[str, list[str]] = {}
    attributes: list[dict[str, list[str]]] = []
    found: list[str] = []
    for line in filter(None, text.splitlines()):
        if section := _SECTION.fullmatch(line):
            if section[1] == "told":
                attributes.append({})
            within = attributes[-1] if attributes else sections
            found = within.setdefault(section[1], [])
        else:
            found.append(line)
    return Scene(
        tuple(sections["opening"]),
        tuple(sections["detail"]),
        tuple(Attribute(tuple(one["told"]), one["ask"][0], tuple(one["values"])) for one in attributes),
    )


CHOICES = 3
"""Values of an attribute that are asked about."""


def story(rng: Rng, name: str, beside: Sequence[str]) -> Story:
    """An opening, a detail or two, and in any order what is told, and what seems to be.

    Of the attribute that can be known as many values are said as of the one that cannot, once each: in the latter case
    each of them is said of somebody else, of another time, denied or dreamt, in the former all but one. `beside` are
    the people whom it may compare with.
    """
    scene = rng.choice(scenes())
    while True:
        drafted = _draft(rng, scene, name, beside)
        if all(_once(topic, drafted.sentences) for topic in (drafted.known, drafted.unknown)):
            return drafted


def _draft(rng: Rng, scene: Scene, name: str, beside: Sequence[str]) -> Story:
    known, unknown, *rest = rng.shuffled(scene.attributes)
    other = f"{name}'s {rng.choice(scene.kin)}" if scene.kin and rng.chance(0.5) else rng.choice(beside)
    lines: list[str] = rng.sample(scene.details, rng.between(1, 2))
    values = {attribute: tuple(rng.sample(attribute.values, CHOICES)) for attribute in (known, unknown)}
    said = {attribute: rng.between(1, CHOICES) for attribute in values}
    answer = ""
    for attribute, several in values.items():
        decoys = Decoys()
        for n, value in enumerate(several[: said[attribute]]):
            way = rng.choice(attribute.told)
            is_answer = attribute is known and n == 0
            line = state_answer(rng, way) if is_answer else decoys.draw(rng, way)
            lines.append(line.replace("{value}", value))
            answer = lines[-1] if is_answer else answer
    for attribute in rest[: rng.between(0, 2)]:
        lines.append(state_answer(rng, rng.choice(attribute.told)).replace("{value}", rng.choice(attribute.values)))
    rng.shuffle(lines)
    if any("{other}" in line.lower() for line in lines):
        lines.insert(0, introduce(rng))
    lines.insert(0, rng.choice(scene.openings))
    return Story(
        name,
        tuple(name_people(line, name, other) for line in lines),
        Topic(known, values[known], said[known], lines.index(answer)),
        Topic(unknown, values[unknown], said[unknown], None),
    )


def _once(topic: Topic, sentences: Sequence[str]) -> bool:
    """Whether what is said of a topic is said once, and the rest of its values not at all."""
    text = " ".join(sentences).lower()
    bare = [re.sub(r"^(?:an?|the) ", "", value.lower()) for value in topic.values]
    return [text.count(value) for value in bare] == [1] * topic.said + [0] * (CHOICES - topic.said)


def others(rng: Rng, name: str) -> Iterator[Story]:
    """Stories about other people, in which nobody has this name."""
    strangers = [other for other in NAMES if other != name]
    while True:
        stranger = rng.choice(strangers)
        yield story(rng, stranger, [other for other in strangers if other != stranger])


def question(attribute: Attribute, name: str) -> str:
    return name_people(attribute.ask, name)


@cache
def _asks() -> dict[str, Attribute]:
    return {attribute.ask: attribute for scene in scenes() for attribute in scene.attributes}


def meant(question: str) -> tuple[Attribute, str] | None:
    """The attribute and the person of a question."""
    for name in NAMES:
        if re.search(rf"\b{name}\b", question):
            attribute = _asks().get(re.sub(rf"\b{name}\b", "{name}", question))
            if attribute:
                return attribute, name
    return None


def name_people(text: str, name: str, other: str = "") -> str:
    """A sentence with the names of those whom it speaks of."""
    for person, mark in ((name, "name"), (other, "other")):
        text = text.replace(f"{{{mark}}}", person).replace(f"{{{mark.capitalize()}}}", person)
    return text

"""Everyday scenes, about which very short stories are made: their facts, and sentences that only look like facts.

The file of a scene has openings, details that answer nothing, and attributes: two forms of a sentence for each, its
question, and its values. Nothing else in the file makes one value likelier than another.

Decoys are sentences of the kind that a question asks for that do not answer it. They are about somebody else or another
time, denied or dreamt. A sentence that answers may have words that look like these.

>>> from carrara.rng import Rng
>>> form, rng = "At one of the stalls {name} bought {value}.", Rng("decoys")
>>> earlier(rng, form)
'Not this time but the time before, at one of the stalls {name} bought {value}.'
>>> dreamt(rng, form)
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


def kinds(form: str) -> list[Callable[[Rng, str], str]]:
    """Return the functions that can change a form of a sentence so that it is no answer."""
    return [
        dreamt,
        *([earlier] if _DEED.match(form) and not _LASTS.search(form) else []),
        *([deny] if not _HALF_DENIED.search(form) else []),
        *([swap_person] if not _AT_ONCE.search(form) else []),
    ]


class Decoys:
    """The decoys of one attribute. At most one is about somebody else, and one about an earlier time."""

    def __init__(self) -> None:
        self._taken: set[Callable[[Rng, str], str]] = set()

    def draw(self, rng: Rng, form: str) -> str:
        kind = rng.choice([kind for kind in kinds(form) if kind not in self._taken])
        if kind in (swap_person, earlier):
            self._taken.add(kind)
        return kind(rng, form)


def state_answer(rng: Rng, form: str) -> str:
    """Return a form that states an answer, as it is, or in words that look like another time or a denial."""
    if rng.chance(0.5):
        return form
    if earlier in kinds(form) and rng.chance(0.5):
        return _add_lead(_NOW, form)
    return _add_lead(rng.choice(list(_DENIALS.values())), form)


def swap_person(rng: Rng, form: str) -> str:
    return form.replace("{name}", "{other}").replace("{Name}", "{Other}")


def earlier(rng: Rng, form: str) -> str:
    return _add_lead(_EARLIER, form)


def deny(rng: Rng, form: str) -> str:
    return _add_lead(rng.choice(list(_DENIALS)), form)


def dreamt(rng: Rng, form: str) -> str:
    return _add_lead(_DREAMT, form)


def _add_lead(lead: str, form: str) -> str:
    return f"{lead} {form if form.startswith('{') else form[0].lower() + form[1:]}".replace(
        "that {Name}", "that {name}"
    )


_SECTION = re.compile(r"\[([a-z]+)\]")


@dataclass(frozen=True)
class Attribute:
    forms: tuple[str, ...]
    """Sentences that state a value of the attribute."""
    ask: str
    values: tuple[str, ...]

    def read(self, name: str, text: str) -> set[str]:
        """Return the values that a text states about somebody, without decoys."""
        value = f"({'|'.join(map(re.escape, self.values))})"
        stated_values = set[str]()
        untrue = tuple(f"{name_people(lead, name)} " for lead in UNTRUE)
        for form in self.forms:
            begins = re.escape(form[0]) if form.startswith("{") else f"[{form[0]}{form[0].lower()}]"
            pattern = begins + re.escape(form[1:]).replace(re.escape("{value}"), value)
            pattern = re.sub(r"\\\{[Nn]ame\\\}", name, pattern)
            for match in re.finditer(rf"(?<![\w']){pattern}", text):
                if not text.endswith(untrue, 0, match.start()):
                    stated_values.add(match[1])
        return stated_values


@dataclass(frozen=True)
class Scene:
    openings: tuple[str, ...]
    details: tuple[str, ...]
    attributes: tuple[Attribute, ...]

    @cached_property
    def kin(self) -> tuple[str, ...]:
        """The persons without a name who occur in none of its stories."""
        forms = (form for attribute in self.attributes for form in (*attribute.forms, *attribute.values))
        text = " ".join((*self.openings, *self.details, *forms))
        return tuple(kin for kin in KIN if kin not in text)


@dataclass(frozen=True)
class Topic:
    """The sentences of a story about one attribute, of which none or one is an answer."""

    attribute: Attribute
    values: tuple[str, ...]
    """Three values. The story states the first ones, as many as `value_count` says."""
    value_count: int
    """The number of values that the story states."""
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
    folder = files("carrara.generators") / "scenes"
    return tuple(_scene(file.read_text("utf-8")) for file in sorted(folder.iterdir(), key=lambda file: file.name))


def _scene(text: str) -> Scene:
    sections: dict[str, list[str]] = {}
    attributes: list[dict[str, list[str]]] = []
    section_lines: list[str] = []
    for line in filter(None, text.splitlines()):
        if section := _SECTION.fullmatch(line):
            if section[1] == "told":
                attributes.append({})
            parts = attributes[-1] if attributes else sections
            section_lines = parts.setdefault(section[1], [])
        else:
            section_lines.append(line)
    return Scene(
        tuple(sections["opening"]),
        tuple(sections["detail"]),
        tuple(Attribute(tuple(parts["told"]), parts["ask"][0], tuple(parts["values"])) for parts in attributes),
    )


CHOICES = 3
"""Values of an attribute that are asked about."""


def draw_story(rng: Rng, name: str, other_people: Sequence[str]) -> Story:
    """Return a story: an opening, a detail or two, and sentences about two attributes in any order.

    The story states one to three values of each attribute, once each. Every value of the unknown attribute is said of
    somebody else or of another time, denied or dreamt. So is every value of the known attribute but the first.
    `other_people` are those whom the story may compare with.
    """
    scene = rng.choice(scenes())
    while True:
        drafted = _draft(rng, scene, name, other_people)
        if all(_once(topic, drafted.sentences) for topic in (drafted.known, drafted.unknown)):
            return drafted


def _draft(rng: Rng, scene: Scene, name: str, other_people: Sequence[str]) -> Story:
    known, unknown, *rest = rng.shuffled(scene.attributes)
    other_person = f"{name}'s {rng.choice(scene.kin)}" if scene.kin and rng.chance(0.5) else rng.choice(other_people)
    lines: list[str] = rng.sample(scene.details, rng.between(1, 2))
    values = {attribute: tuple(rng.sample(attribute.values, CHOICES)) for attribute in (known, unknown)}
    value_counts = {attribute: rng.between(1, CHOICES) for attribute in values}
    answer = ""
    for attribute, attribute_values in values.items():
        decoys = Decoys()
        for n, value in enumerate(attribute_values[: value_counts[attribute]]):
            form = rng.choice(attribute.forms)
            is_answer = attribute is known and n == 0
            line = state_answer(rng, form) if is_answer else decoys.draw(rng, form)
            lines.append(line.replace("{value}", value))
            answer = lines[-1] if is_answer else answer
    for attribute in rest[: rng.between(0, 2)]:
        lines.append(state_answer(rng, rng.choice(attribute.forms)).replace("{value}", rng.choice(attribute.values)))
    rng.shuffle(lines)
    if any("{other}" in line.lower() for line in lines):
        lines.insert(0, introduce(rng))
    lines.insert(0, rng.choice(scene.openings))
    return Story(
        name,
        tuple(name_people(line, name, other_person) for line in lines),
        Topic(known, values[known], value_counts[known], lines.index(answer)),
        Topic(unknown, values[unknown], value_counts[unknown], None),
    )


def _once(topic: Topic, sentences: Sequence[str]) -> bool:
    """Return whether the stated values of a topic occur once each, and its other values not at all."""
    text = " ".join(sentences).lower()
    bare = [re.sub(r"^(?:an?|the) ", "", value.lower()) for value in topic.values]
    return [text.count(value) for value in bare] == [1] * topic.value_count + [0] * (CHOICES - topic.value_count)


def other_stories(rng: Rng, name: str) -> Iterator[Story]:
    """Yield stories about other people, in which nobody has this name."""
    strangers = [person for person in NAMES if person != name]
    while True:
        stranger = rng.choice(strangers)
        yield draw_story(rng, stranger, [person for person in strangers if person != stranger])


def question(attribute: Attribute, name: str) -> str:
    return name_people(attribute.ask, name)


@cache
def _attributes_by_question() -> dict[str, Attribute]:
    return {attribute.ask: attribute for scene in scenes() for attribute in scene.attributes}


def parse_question(question: str) -> tuple[Attribute, str] | None:
    """Return the attribute and the person that a question asks about."""
    for name in NAMES:
        if re.search(rf"\b{name}\b", question):
            attribute = _attributes_by_question().get(re.sub(rf"\b{name}\b", "{name}", question))
            if attribute:
                return attribute, name
    return None


def name_people(text: str, name: str, other_person: str = "") -> str:
    """Return a sentence with the names of the people in it."""
    for person, mark in ((name, "name"), (other_person, "other")):
        text = text.replace(f"{{{mark}}}", person).replace(f"{{{mark.capitalize()}}}", person)
    return text

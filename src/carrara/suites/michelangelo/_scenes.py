"""Everyday scenes: what very short stories are told of, and what they may leave out.

A scene's file has openings, details that answer nothing, and attributes: two ways to tell each, the question for it,
and values of which none is likelier than another by anything else in the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from carrara.core.keys import Dice
from carrara.text.writings.people import NAMES

_SECTION = re.compile(r"\[([a-z]+)\]")


@dataclass(frozen=True)
class Attribute:
    told: tuple[str, ...]
    ask: str
    values: tuple[str, ...]

    def read(self, name: str, text: str) -> set[str]:
        """What a text tells of somebody."""
        value = f"({'|'.join(map(re.escape, self.values))})"
        ways = (re.escape(pattern).replace(re.escape("{value}"), value) for pattern in self.told)
        ways = (re.sub(r"\\\{[Nn]ame\\\}", name, way) for way in ways)
        return {found[1] for way in ways for found in re.finditer(rf"(?<![\w']){way}", text)}


@dataclass(frozen=True)
class Scene:
    openings: tuple[str, ...]
    details: tuple[str, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class Story:
    """Who it is about, what is told in which sentence, and what is left out."""

    name: str
    sentences: tuple[str, ...]
    told: Mapping[Attribute, int]
    left_out: tuple[Attribute, ...]


@cache
def scenes() -> tuple[Scene, ...]:
    folder = files("carrara.suites.michelangelo") / "scenes"
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


def story(dice: Dice, name: str) -> Story:
    """An opening, a detail or two and two to four attributes, in any order but for the opening."""
    scene = dice.choice(scenes())
    attributes = dice.shuffled(scene.attributes)
    count = dice.between(2, 4)
    lines: list[tuple[str, Attribute | None]] = [
        (detail, None) for detail in dice.sample(scene.details, dice.between(1, 2))
    ]
    for attribute in attributes[:count]:
        lines.append((dice.choice(attribute.told).replace("{value}", dice.choice(attribute.values)), attribute))
    dice.shuffle(lines)
    lines.insert(0, (dice.choice(scene.openings), None))
    told = {attribute: place for place, (_, attribute) in enumerate(lines) if attribute}
    return Story(name, tuple(_named(line, name) for line, _ in lines), told, tuple(attributes[count:]))


def others(dice: Dice, name: str) -> Iterator[Story]:
    """Stories about other people."""
    strangers = [other for other in NAMES if other != name]
    while True:
        yield story(dice, dice.choice(strangers))


def question(attribute: Attribute, name: str) -> str:
    return _named(attribute.ask, name)


@cache
def _asks() -> dict[str, Attribute]:
    return {attribute.ask: attribute for scene in scenes() for attribute in scene.attributes}


def meant(question: str) -> tuple[Attribute, str] | None:
    """What a question asks for, and of whom."""
    for name in NAMES:
        if re.search(rf"\b{name}\b", question):
            attribute = _asks().get(re.sub(rf"\b{name}\b", "{name}", question))
            if attribute:
                return attribute, name
    return None


def _named(text: str, name: str) -> str:
    return text.replace("{name}", name).replace("{Name}", name)

"""Template banks: the material of drafts, in text files of sections with one entry a line.

A topic's file has facts, things, verse lines and so on, each of a kind that fits a slot. A voice's file has patterns
with such slots. A file begins with its name in requests: `a poem about the Moon`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SECTION = re.compile(r"\[([a-z]+)\]")


@dataclass(frozen=True)
class TemplateBank:
    name: str
    entries: Mapping[str, tuple[str, ...]]
    """The entries by section."""


@cache
def stock(kind: str, file: str) -> TemplateBank:
    lines = (files("carrara.generators") / kind / f"{file}.txt").read_text("utf-8").splitlines()
    entries: dict[str, list[str]] = {}
    found: list[str] = []
    for line in filter(None, lines[1:]):
        if section := _SECTION.fullmatch(line):
            found = entries.setdefault(section[1], [])
        else:
            found.append(line)
    return TemplateBank(lines[0].removeprefix("name: "), {kind: tuple(entry) for kind, entry in entries.items()})


@cache
def stocks(kind: str) -> dict[str, str]:
    """Return all banks of a kind: the file of each name, in the order of the names."""
    found = {}
    for file in (files("carrara.generators") / kind).iterdir():
        with file.open(encoding="utf-8") as lines:
            found[next(iter(lines)).strip().removeprefix("name: ")] = file.name.removesuffix(".txt")
    return dict(sorted(found.items()))

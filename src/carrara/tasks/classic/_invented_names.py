"""Names of people and towns that do not exist: all of one length, so that none is part of another.

>>> from carrara.rng import Rng
>>> rng = Rng("names")
>>> draw_first(rng), draw_last(rng), draw_town(rng)
('Pukvav', 'Makvase', 'Pakzomod')
"""

import re

from carrara.rng import Rng
from carrara.tasks.classic._values import Kind

_LETTERS = {
    "c": tuple("bdgklmnprstvz"),
    "v": tuple("aeiou"),
    "x": ("bz", "gv", "kv", "kz", "lz", "mk", "pv", "vd", "vg", "zb", "zg"),
}
"""Consonants, vowels, and pairs of consonants that are rare in names and words of any language."""
_FIRST, _LAST, _TOWN = "cvxvc", "cvxvcv", "cvxvcvc"


def draw_first(rng: Rng) -> str:
    """Return one of 46,475 first names."""
    return _draw(_FIRST, rng)


def draw_last(rng: Rng) -> str:
    """Return one of 232,375 last names."""
    return _draw(_LAST, rng)


def draw_town(rng: Rng) -> str:
    """Return one of 3,020,875 names of towns."""
    return _draw(_TOWN, rng)


def _draw(form: str, rng: Rng) -> str:
    return "".join([rng.choice(_LETTERS[kind]) for kind in form]).capitalize()


def _pattern(form: str) -> str:
    return "".join(f"(?:{'|'.join(_LETTERS[kind])})" for kind in form)


PERSON = rf"{_pattern(_FIRST)} {_pattern(_LAST)}"
TOWN = _pattern(_TOWN)
NAME = Kind(
    "name",
    draw_town,
    re.compile(rf"(?<![\w-])(?:{PERSON}|{TOWN})(?![\w-])", re.IGNORECASE),
    str.title,
    16,
    3_020_875,
)
"""A person's full name, or a town."""

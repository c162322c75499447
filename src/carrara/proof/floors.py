"""Floors: what blind guessing scores on a test with its default parameters.

A question has its own floor; a test's is their mean over its first worlds. For a version of a test that is one number,
so those of the package's tests are kept beside the code, in `floors.txt`: a listing need not draw a world. A test of
one's own, and one whose version is not the kept one, has its floor computed.

`python -m carrara.proof.floors` (`make floors`) writes the file anew; tests/test_floors.py computes each number again.
"""

import sys
from functools import cache
from pathlib import Path

from carrara import registry

WORLDS = 30
"""Worlds over which a test's floor is averaged."""
DIGITS = 4
_KEPT = Path(__file__).with_suffix(".txt")


def floor_of(name: str) -> float:
    """The floor of a test, kept or computed."""
    found = kept().get(f"{name}@{registry.load(name).version}") if is_official(name) else None
    return computed(name) if found is None else found


def is_official(name: str) -> bool:
    """Whether a test is the package's own file, and not one of a folder that CARRARA_TASKS names."""
    task = registry.load(name)
    return task is getattr(sys.modules.get(f"carrara.suites.{name.replace('/', '.')}"), "task", None)


@cache
def kept() -> dict[str, float]:
    """By name and version; empty where the file is missing, as in a package that was packed otherwise."""
    try:
        lines = _KEPT.read_text("utf-8").splitlines()
    except OSError:
        return {}
    return {name: float(floor) for name, floor in map(str.split, lines)}


def computed(name: str) -> float:
    from carrara.core.recipe import Recipe
    from carrara.prompt.items import questions_of

    version = registry.load(name).version
    floors = [
        question.floor
        for index in range(WORLDS)
        for question in questions_of(Recipe(name, version, "", "test", 0, index, 0, 0, "chat", "", "")).questions
    ]
    return round(sum(floors) / len(floors), DIGITS)


def main() -> None:
    names = filter(is_official, registry.names())
    lines = [f"{name}@{registry.load(name).version} {computed(name):.{DIGITS}f}\n" for name in names]
    _KEPT.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()

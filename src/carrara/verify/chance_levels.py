"""The chance levels of tasks with their default parameters (core/types.py says what a chance level is).

A question has its own chance level. A task's is their mean over its first instances, at 4k tokens where an instance is
another at each length: there the shortcuts are searched for, and the listing shows both. For a version of a task that
is one number, so those of the package's tasks are kept beside the code, in `chance_levels.txt`: a listing need not draw
an instance. A task of one's own, and one whose version is not the kept one, has its chance level computed.

`python -m carrara.verify.chance_levels` (`make chance-levels`) writes the file anew; tests/verify/test_chance_levels.py
computes each number again.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean

from carrara.items import registry

LENGTH, INSTANCES = 4096, 200
"""The length in tokens, and the instances over which a kept chance level is averaged;"""
FEW = 30
"""fewer where it is computed for a listing."""
DIGITS = 4
_KEPT = Path(__file__).with_suffix(".txt")


def chance_level_of(name: str) -> float:
    """The chance level of a task, kept or computed."""
    found = kept().get(f"{name}@{registry.load(name).version}") if registry.is_official(name) else None
    return computed(name, FEW) if found is None else found


@cache
def kept() -> dict[str, float]:
    """By name and version; empty where the file is missing, as in a package that was packed otherwise."""
    try:
        lines = _KEPT.read_text("utf-8").splitlines()
    except OSError:
        return {}
    return {name: float(chance_level) for name, chance_level in map(str.split, lines)}


def computed(name: str, instances: int = INSTANCES) -> float:
    """Return the mean chance level of the questions on a task's first instances."""
    task = registry.load(name)
    found = list(_questions(name, LENGTH if task.is_sized else 0, instances)) or list(_questions(name, 0, instances))
    return round(fmean(found), DIGITS)


def _questions(name: str, length: int, instances: int) -> Iterator[float]:
    """The chance level of each question, but for instances that do not fit the length."""
    from carrara.item_id import Recipe
    from carrara.items.item import questions_of
    from carrara.tokenizers import DEFAULT
    from carrara.util.errors import LengthError

    version, tokenizer = registry.load(name).version, DEFAULT if length else ""
    for index in range(instances):
        try:
            posed = questions_of(Recipe(name, version, "", "test", 0, index, 0, length, "chat", "", tokenizer))
        except LengthError:
            continue
        yield from (question.chance_level for question in posed.questions)


def main(names: Sequence[str] = ()) -> None:
    """Compute those of all tasks, or of some and keep those of the others."""
    lines = []
    for name in filter(registry.is_official, registry.names()):
        known = kept().get(task := f"{name}@{registry.load(name).version}")
        level = computed(name) if known is None or not names or name in names else known
        lines.append(f"{task} {level:.{DIGITS}f}\n")
    _KEPT.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

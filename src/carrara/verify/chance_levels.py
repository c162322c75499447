"""The chance levels of tasks with their default parameters (types.py defines the chance level).

Each question has a chance level. A task's chance level is the mean over its first instances. If each length has its own
instance, those of 4k tokens are used, the length at which shortcuts are searched for. The levels of the package's tasks
are stored in `chance_levels.txt`, so that a listing need not draw instances. The level of any other task or version is
computed.

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
"""The length in tokens, and the number of instances over which a stored chance level is averaged."""
FEW = 30
"""The number of instances if it is computed for a listing."""
DIGITS = 4
FILE = Path(__file__).with_suffix(".txt")


def chance_level_of(name: str) -> float:
    """Return the chance level of a task, stored or computed."""
    stored = stored_levels().get(f"{name}@{registry.load(name).version}") if registry.is_official(name) else None
    return compute_level(name, FEW) if stored is None else stored


@cache
def stored_levels() -> dict[str, float]:
    """Return the stored levels by name and version. Empty if the file is missing, as in a package without it."""
    try:
        lines = FILE.read_text("utf-8").splitlines()
    except OSError:
        return {}
    return {name: float(chance_level) for name, chance_level in map(str.split, lines)}


def compute_level(name: str, instances: int = INSTANCES) -> float:
    """Return the mean chance level of the questions on a task's first instances."""
    task = registry.load(name)
    levels = list(_questions(name, LENGTH if task.is_sized else 0, instances)) or list(_questions(name, 0, instances))
    return round(fmean(levels), DIGITS)


def _questions(name: str, length: int, instances: int) -> Iterator[float]:
    """Yield the chance level of each question, except for instances that do not fit the length."""
    from carrara.items.item import questions_of
    from carrara.items.item_id import ItemId
    from carrara.tokenizers import DEFAULT
    from carrara.util.errors import LengthError

    version, tokenizer = registry.load(name).version, DEFAULT if length else ""
    for index in range(instances):
        try:
            posed = questions_of(ItemId(name, version, "", "test", 0, index, 0, length, "chat", "", tokenizer))
        except LengthError:
            continue
        yield from (question.chance_level for question in posed.questions)


def main(names: Sequence[str] = ()) -> None:
    """Compute the levels of all tasks, or of some and keep the others."""
    lines = []
    for name in filter(registry.is_official, registry.names()):
        known = stored_levels().get(task := f"{name}@{registry.load(name).version}")
        level = compute_level(name) if known is None or not names or name in names else known
        lines.append(f"{task} {level:.{DIGITS}f}\n")
    FILE.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

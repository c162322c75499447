"""What the search for shortcuts found for the package's own tests, kept beside the code in `kept.jsonl`.

A listing or a report has no time to search. A line is for one version of a test, with its default parameters, at one
length; a test of one's own, and one whose version is another, has none until `carrara audit` searches it.

`python -m carrara.proof.shortcuts.kept` (`make shortcuts`) writes the file anew.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from carrara import registry
from carrara.core.parallel import parallel_map
from carrara.core.recipe import Recipe
from carrara.proof.chance_levels import LENGTH, WORLDS
from carrara.tokens import DEFAULT

DIGITS = 3
_KEPT = Path(__file__).with_suffix(".jsonl")


@dataclass(frozen=True)
class Cheap:
    """A shortcut of a test."""

    kind: str
    name: str
    score: float
    chance_level: float
    declared: str


@dataclass(frozen=True)
class Kept:
    """What was found for one test at a length of 4k tokens."""

    test: str
    """With its version."""
    shortcuts: tuple[Cheap, ...]
    """The best of each kind, and of declared ones the next, too."""
    reach: float
    """What the test's own oracle scores on that tenth of the context which tells it most."""
    backwards: float | None
    """And on all of it backwards: 1 where order says nothing."""

    @property
    def best(self) -> Cheap:
        """Of all but those who read a part."""
        return max((one for one in self.shortcuts if one.kind != "part"), key=lambda one: one.score)

    @property
    def best_declared(self) -> Cheap | None:
        """The best shortcut that the task declares, without those that read a part. None: it declares none."""
        declared = [one for one in self.shortcuts if one.declared and one.kind != "part"]
        return max(declared, key=lambda one: one.score, default=None)


def kept_of(name: str) -> Kept | None:
    """What was found for a test as it is now."""
    return kept().get(f"{name}@{registry.load(name).version}") if registry.is_official(name) else None


@cache
def kept() -> dict[str, Kept]:
    """By name and version; empty where the file is missing, as in a package that was packed otherwise."""
    try:
        rows = [json.loads(line) for line in _KEPT.read_text("utf-8").splitlines()]
    except OSError:
        return {}
    return {row["test"]: Kept(**{**row, "shortcuts": tuple(Cheap(**one) for one in row["shortcuts"])}) for row in rows}


def searched(name: str, worlds: int = WORLDS) -> Kept:
    from carrara.proof.audit import searched as search

    version = registry.load(name).version
    found = search(Recipe(name, version, "", "test", 0, 0, 0, LENGTH, "chat", "", DEFAULT), worlds)
    cheap = (
        Cheap(one.kind, one.name, round(one.score, DIGITS), round(one.chance_level, DIGITS), one.declared)
        for one in found.shortcuts
    )
    backwards = None if found.backwards is None else round(found.backwards, DIGITS)
    return Kept(f"{name}@{version}", tuple(cheap), round(max(found.reach.values(), default=0.0), DIGITS), backwards)


def main(names: Sequence[str] = ()) -> None:
    """Search on all tasks, or on some and keep what was found on the others."""
    official = list(filter(registry.is_official, registry.names()))
    rows = {row.test: row for row in parallel_map(partial(searched), list(names) or official)}
    known = {f"{name}@{registry.load(name).version}": kept_of(name) for name in official} | rows
    _KEPT.write_text(
        "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in known.values() if row), "utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

"""What the search for shortcuts found about the official tasks, stored beside the code in `findings.jsonl`.

A listing or a report has no time to search. A line is for one version of a task, with its default parameters, at one
length. A task of a plugin has no line, and neither has another version: `carrara audit` searches them.

`python -m carrara.verify.shortcuts.findings` (`make shortcuts`) writes the file anew.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from carrara.item_id import Recipe
from carrara.items import registry
from carrara.tokenizers import DEFAULT
from carrara.util.parallel import parallel_map
from carrara.verify.chance_levels import INSTANCES, LENGTH

DIGITS = 3
_FINDINGS = Path(__file__).with_suffix(".jsonl")


@dataclass(frozen=True)
class ShortcutScore:
    """What a shortcut scores on a task."""

    kind: str
    name: str
    score: float
    chance_level: float
    declared: str


@dataclass(frozen=True)
class Findings:
    """What was found about one task at a length of 4k tokens."""

    task: str
    """With its version."""
    shortcuts: tuple[ShortcutScore, ...]
    """The best of each kind; where that is declared, the best that is not, too."""
    reach: float
    """What the oracle scores on the tenth of the context where it scores most."""
    backwards: float | None
    """What the oracle scores on the context backwards: 1 where the order does not matter."""

    @property
    def best(self) -> ShortcutScore:
        """The best shortcut, without those that read a part."""
        return max((one for one in self.shortcuts if one.kind != "part"), key=lambda one: one.score)

    @property
    def best_declared(self) -> ShortcutScore | None:
        """The best shortcut that the task declares, without those that read a part. None: it declares none."""
        declared = [one for one in self.shortcuts if one.declared and one.kind != "part"]
        return max(declared, key=lambda one: one.score, default=None)


def findings_of(name: str) -> Findings | None:
    """Return what was found about the present version of a task."""
    return read_findings().get(f"{name}@{registry.load(name).version}") if registry.is_official(name) else None


@cache
def read_findings() -> dict[str, Findings]:
    """Return what was found, by name and version; nothing if the file is missing."""
    try:
        rows = [json.loads(line) for line in _FINDINGS.read_text("utf-8").splitlines()]
    except OSError:
        return {}
    return {
        row["task"]: Findings(**{**row, "shortcuts": tuple(ShortcutScore(**one) for one in row["shortcuts"])})
        for row in rows
    }


def search_task(name: str, instances: int = INSTANCES) -> Findings:
    """Search for the shortcuts of a task."""
    from carrara.verify.audit import searched

    version = registry.load(name).version
    found = searched(Recipe(name, version, "", "test", 0, 0, 0, LENGTH, "chat", "", DEFAULT), instances)
    scores = (
        ShortcutScore(one.kind, one.name, round(one.score, DIGITS), round(one.chance_level, DIGITS), one.declared)
        for one in found.shortcuts
    )
    backwards = None if found.backwards is None else round(found.backwards, DIGITS)
    return Findings(
        f"{name}@{version}", tuple(scores), round(max(found.reach.values(), default=0.0), DIGITS), backwards
    )


def main(names: Sequence[str] = ()) -> None:
    """Search on all tasks, or on some and leave the findings about the others."""
    official = list(filter(registry.is_official, registry.names()))
    rows = {row.task: row for row in parallel_map(search_task, list(names) or official)}
    known = {f"{name}@{registry.load(name).version}": findings_of(name) for name in official} | rows
    _FINDINGS.write_text(
        "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in known.values() if row), "utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

"""The findings of the search for shortcuts about the official tasks, stored in `findings.jsonl`.

A listing or a report has no time to search. A line is about one version of a task with its default parameters at one
length. Tasks of plugins and other versions have no line: `carrara audit` searches them.

`python -m carrara.verify.shortcuts.findings` (`make shortcuts`) writes the file anew.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import inf
from pathlib import Path

from carrara.items import registry
from carrara.items.item_id import ItemId
from carrara.tokenizers import DEFAULT
from carrara.util.parallel import parallel_map
from carrara.verify.chance_levels import INSTANCES, LENGTH

DIGITS = 3
NO_REPLIES = ("part", "typography")
"""The kinds whose scores no reply can have without understanding: a solver on a part of the context, and the F1 of
finding facts."""
_FINDINGS = Path(__file__).with_suffix(".jsonl")


@dataclass(frozen=True)
class ShortcutScore:
    """The score of a shortcut on a task."""

    kind: str
    name: str
    score: float
    chance_level: float
    declared: str


@dataclass(frozen=True)
class Findings:
    """The findings about one task at a length of 4k tokens."""

    task: str
    """The name of the task with its version."""
    shortcuts: tuple[ShortcutScore, ...]
    """The best shortcut of each kind. If it is declared, also the best undeclared one."""
    reach: float
    """The score of the oracle on the tenth of the context where it scores most."""
    backwards: float | None
    """The score of the oracle on the context backwards. It is 1 if the order does not matter."""

    @property
    def best(self) -> ShortcutScore:
        """The best shortcut that gives replies."""
        return max(
            (shortcut for shortcut in self.shortcuts if shortcut.kind not in NO_REPLIES),
            key=lambda shortcut: shortcut.score,
        )

    def best_declared(self, below: float = inf) -> ShortcutScore | None:
        """Return the best declared shortcut that gives replies. None if there is none.

        Args:
            below: The score that it does not reach.
        """
        replying = [shortcut for shortcut in self.shortcuts if shortcut.declared and shortcut.kind not in NO_REPLIES]
        declared = [shortcut for shortcut in replying if shortcut.score < below]
        return max(declared, key=lambda shortcut: shortcut.score, default=None)

    @property
    def typography(self) -> ShortcutScore | None:
        """How well typography alone finds facts, as F1. None if all sentences are facts, or there is only one."""
        return next((shortcut for shortcut in self.shortcuts if shortcut.kind == "typography"), None)


def findings_of(name: str) -> Findings | None:
    """Return the findings about the present version of a task."""
    return read_findings().get(f"{name}@{registry.load(name).version}") if registry.is_official(name) else None


@cache
def read_findings() -> dict[str, Findings]:
    """Return the findings by name and version. Empty if the file is missing."""
    try:
        rows = [json.loads(line) for line in _FINDINGS.read_text("utf-8").splitlines()]
    except OSError:
        return {}
    return {
        row["task"]: Findings(**{**row, "shortcuts": tuple(ShortcutScore(**fields) for fields in row["shortcuts"])})
        for row in rows
    }


def search_task(name: str) -> Findings:
    """Search for the shortcuts of a task."""
    from carrara.verify.audit import search_shortcuts

    version = registry.load(name).version
    result = search_shortcuts(ItemId(name, version, "", "test", 0, 0, 0, LENGTH, "chat", "", DEFAULT), INSTANCES)
    scores = (
        ShortcutScore(
            shortcut.kind,
            shortcut.name,
            round(shortcut.score, DIGITS),
            round(shortcut.chance_level, DIGITS),
            shortcut.declared,
        )
        for shortcut in result.shortcuts
    )
    backwards = None if result.backwards is None else round(result.backwards, DIGITS)
    return Findings(
        f"{name}@{version}", tuple(scores), round(max(result.reach.values(), default=0.0), DIGITS), backwards
    )


def main(names: Sequence[str] = ()) -> None:
    """Search all tasks, or some and keep the findings about the others."""
    official = list(filter(registry.is_official, registry.names()))
    rows = {row.task: row for row in parallel_map(search_task, list(names) or official)}
    known = {f"{name}@{registry.load(name).version}": findings_of(name) for name in official} | rows
    _FINDINGS.write_text(
        "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in known.values() if row), "utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

"""What `carrara audit all --json` found, as a table: chance levels, the best shortcut of each kind, reach by tenths.

    carrara audit all -n 50 --lengths 0,4k --json > audit.json
    python -m benchmarks.audit_table audit.json

`*` stands behind a shortcut that its test declares. Reach is what the oracle scores on a part of the context.
"""

import json
import sys
from pathlib import Path
from typing import Any

from carrara.util.quantities import write_length
from carrara.util.table import table

KINDS = ("blind", "strings", "part", "typography", "learned")
PARTS = ("its first tenth", "its middle tenth", "its last tenth", "any tenth of it", "a tenth of its pieces")


def best(row: dict[str, Any], kind: str) -> str:
    """The best shortcut of a kind, and whether it is declared."""
    shortcuts = [shortcut for shortcut in row["shortcuts"] if shortcut["kind"] == kind]
    if not shortcuts:
        return "-"
    best_one = max(shortcuts, key=lambda shortcut: shortcut["score"])
    return f"{best_one['score']:.2f}{'*' if best_one['declared'] else ''}"


def main(file: Path) -> None:
    rows = json.loads(file.read_text("utf-8"))
    breaches = sum(len(row["breaches"]) for row in rows)
    items, tasks = sum(row["items"] for row in rows), len({row["task"] for row in rows})
    print(f"{items:,} items of {tasks} tasks, {breaches} breaches\n")
    columns = [
        "test",
        "length",
        "chance_level",
        *KINDS,
        "first",
        "middle",
        "last",
        "any",
        "pieces",
        "backwards",
        "strings by",
    ]
    lines = []
    for row in rows:
        reach = [f"{row['reach'][part]:.2f}" if part in row["reach"] else "-" for part in PARTS]
        backwards = "-" if row["backwards"] is None else f"{row['backwards']:.2f}"
        by = max(
            (one for one in row["shortcuts"] if one["kind"] == "strings"), key=lambda one: one["score"], default=None
        )
        shown = [row["task"], write_length(row["length"]), f"{row['chance_level']:.3f}"]
        lines.append([*shown, *(best(row, kind) for kind in KINDS), *reach, backwards, by["name"] if by else ""])
    for line in table(columns, lines):
        print(line)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

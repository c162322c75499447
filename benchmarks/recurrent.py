"""Recurrent models from nothing on one core: what each kind comes to, over seeds and lengths.

    python -m benchmarks.recurrent FOLDER KIND,KIND … [--seeds 0,1,2] [--tests qa1] [--lengths 16k,64k,256k,1M]

Trains by the preset `small`, where FOLDER has no such model yet, and runs each on items of the test split: in
the built-in text, whose other documents it was trained in. What was measured is added to results/recurrent.jsonl, a
line for each cell, and the table of all of them is printed. Items: 100 up to 256k, 50 at 1M, 10 beyond.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from carrara.core.lengths import read_lengths, write_length
from carrara.recurrent.training import PROGRESS

KEPT = Path("results/recurrent.jsonl")
MANY, SOME, FEW = 100, 50, 10


def command(*arguments: object) -> str:
    line = [sys.executable, "-m", "carrara", *map(str, arguments)]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout


def trained(folder: Path, kind: str, tests: str, seed: int) -> dict[str, Any]:
    """What training took, once it is done."""
    state = folder / PROGRESS
    if not state.exists() or json.loads(state.read_text())["at"]["stage"] < len(_settings(state)["stages"]):
        command("train", tests, "--kind", kind, "--seed", seed, "--out", folder)
    at = json.loads(state.read_text())["at"]
    return {"minutes": round(at["seconds"] / 60, 1), "steps": at["total"], "tokens": at["tokens"]}


def _settings(state: Path) -> Any:
    return json.loads(state.read_text())["settings"]


def worlds(length: int) -> int:
    return MANY if length <= 256 << 10 else SOME if length <= 1 << 20 else FEW


def measure(folder: Path, kind: str, tests: str, seed: int, lengths: list[int], more: list[str]) -> None:
    model = folder / f"{tests.replace(',', '+')}-{kind}-{seed}"
    took = trained(model, kind, tests, seed)
    for test in tests.split(","):
        for length in lengths:
            out = folder / "runs" / f"{model.name}-{test}-{write_length(length)}-{len(more)}"
            asked = ["run", test, "--model", f"carrara/recurrent:{model}", "--lengths", length, "-n", worlds(length)]
            rows = json.loads(command(*asked, *more, "--out", out, "--json"))
            row = rows[0] if isinstance(rows, list) else rows["rows"][0]
            kept = {"kind": kind, "trained": tests, "seed": seed, **took, "test": test, "length": length}
            kept |= {"n": worlds(length), "score": row["mean"], "options": " ".join(more)}
            with KEPT.open("a") as file:
                file.write(json.dumps(kept) + "\n")


def table() -> None:
    """The last measurement of each cell."""
    cells: dict[tuple[str, ...], dict[int, dict[str, Any]]] = {}
    for line in KEPT.read_text().splitlines():
        row = json.loads(line)
        name = (row["kind"], row["trained"], row["test"], row["options"], str(row["seed"]))
        cells.setdefault(name, {})[row["length"]] = row
    lengths = sorted({length for row in cells.values() for length in row})
    print("no model was told which segments are noise; none was trained on more than 1,024 words")
    print("lengths are gpt2's tokens; minutes are of one core, beside other work\n")
    print(
        f"{'kind':8}{'trained on':14}{'test':6}{'seed':>5}{'min':>6}"
        + "".join(f"{write_length(n):>7}" for n in lengths)
    )
    for (kind, tests, test, options, seed), row in sorted(cells.items()):
        minutes = next(iter(row.values()))["minutes"]
        scores = "".join(f"{row[n]['score']:7.2f}" if n in row else "      -" for n in lengths)
        print(f"{kind:8}{tests:14}{test:6}{seed:>5}{minutes:6.1f}{scores}  {options}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kinds", nargs="?", default="")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--tests", default="qa1")
    parser.add_argument("--lengths", default="0,4k,16k,64k,256k,1M")
    parser.add_argument("--more", default="", help="further options of the runs, as one text")
    asked = parser.parse_args()
    for seed in asked.seeds.split(","):
        for kind in filter(None, asked.kinds.split(",")):
            lengths = list(read_lengths(asked.lengths))
            measure(asked.folder, kind, asked.tests, int(seed), lengths, asked.more.split())
    if KEPT.exists():
        table()


if __name__ == "__main__":
    main()

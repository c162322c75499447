"""Recurrent models from nothing on one core: what each kind comes to, over seeds and lengths.

    python -m benchmarks.recurrent FOLDER KINDS [--seeds 0,1,2] [--tasks qa1] [--lengths 16k,64k,256k,1M]
    python -m benchmarks.recurrent FOLDER --model carrara/smollm2 --lengths 0,4k [--more "--reader retrieval:sentences"]
    python -m benchmarks.recurrent

Trains by the preset `small` where FOLDER has no such model yet (`--train` has further options of `carrara recurrent
train`, and
`--called` a name for what comes of them), and runs each on items of the test split: in the built-in text, of which it
was trained on other documents, or in another (`--more "-p haystack=DIR -p background=all" --text books`). What was
measured is added to results/recurrent.jsonl, a line for each cell, and is not measured again; the table of all of them
is printed, and drawn beside what was published (results/recurrent.svg). Items: 100 up to 256k, 50 at 1M, 10 beyond.
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.recurrent_picture import draw
from carrara.util.quantities import read_lengths, write_length

KEPT = Path("results/recurrent.jsonl")
MANY, SOME, FEW = 100, 50, 10


def command(*arguments: object) -> str:
    line = [sys.executable, "-m", "carrara", *map(str, arguments)]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout


def trained(folder: Path, kind: str, tasks: str, seed: int, more: list[str]) -> dict[str, Any]:
    """What training took, once it is done."""
    state = folder / "training.json"
    if not state.exists() or not _done(json.loads(state.read_text())):
        command("train", tasks, "--kind", kind, "--seed", seed, "--out", folder, *more)
    at = json.loads(state.read_text())["state"]
    return {"minutes": round(at["seconds"] / 60, 1), "steps": at["total"], "tokens": at["tokens"]}


def _done(read: dict[str, Any]) -> bool:
    return int(read["state"]["stage"]) >= len(read["settings"]["stages"])


def instances(length: int) -> int:
    return MANY if length <= 256 << 10 else SOME if length <= 1 << 20 else FEW


def known() -> list[dict[str, Any]]:
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def measure(out: Path, model: str, row: dict[str, Any], lengths: list[int], more: list[str]) -> None:
    for length in lengths:
        cell = {**row, "length": length}
        if any(all(one.get(name) == value for name, value in cell.items()) for one in known()):
            continue
        run = out / f"{row['test']}-{row['text']}-{write_length(length)}"
        asked = ["run", row["test"], "--model", model, "--lengths", length, "-n", row.get("n") or instances(length)]
        rows = json.loads(command(*asked, *more, "--out", run, "--json"))
        found = rows[0] if isinstance(rows, list) else rows["rows"][0]
        with KEPT.open("a") as file:
            file.write(json.dumps({**cell, "n": found["n"], "score": found["mean"]}) + "\n")


def table(rows: list[dict[str, Any]]) -> None:
    cells: dict[tuple[str, ...], dict[int, float]] = {}
    minutes: dict[tuple[str, ...], float] = {}
    for row in rows:
        name = tuple(str(row.get(part, "-")) for part in ("test", "text", "kind", "trained", "seed"))
        cells.setdefault(name, {})[row["length"]] = row["score"]
        minutes[name] = row.get("minutes", 0)
    lengths = sorted({row["length"] for row in rows})
    print("No model was told which segments are noise, but for those called +noise.")
    print("None was trained on more than 1,024 words.")
    print("Lengths are gpt2's tokens; minutes are of one core's time, beside other work.\n")
    head = "".join(f"{write_length(n):>6}" for n in lengths)
    print(f"{'test':24}{'text':8}{'kind':28}{'trained on':16}{'seed':>5}{'min':>6}{head}")
    for name, cell in sorted(cells.items()):
        shown = "".join(f"{cell[n]:6.2f}" if n in cell else "     -" for n in lengths)
        task, text, kind, tasks, seed = name
        took = f"{minutes[name]:.1f}" if minutes[name] else "-"
        print(f"{task:24}{text:8}{kind:28}{tasks:16}{seed:>5}{took:>6}{shown}")
    print("\nmean over seeds")
    groups: dict[tuple[str, ...], dict[int, list[float]]] = {}
    for name, cell in cells.items():
        for length, score in cell.items():
            groups.setdefault(name[:4], {}).setdefault(length, []).append(score)
    for group in sorted(groups):
        if max(map(len, groups[group].values())) > 1:
            shown = "".join(f"{fmean(groups[group][n]):6.2f}" if n in groups[group] else "     -" for n in lengths)
            task, text, kind, tasks = group
            print(f"{task:24}{text:8}{kind:28}{tasks:16}{'':11}{shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("kinds", nargs="?", default="")
    parser.add_argument("--model", help="one that is not trained here")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--tasks", default="qa1")
    parser.add_argument("--lengths", default="0,4k,16k,64k,256k,1M")
    parser.add_argument("--text", default="sotu", help="what it is called in the table")
    parser.add_argument("--train", default="", help="further options of training, as one text")
    parser.add_argument("--more", default="", help="further options of the runs, as one text")
    parser.add_argument("--called", default="", help="what comes behind the name of the kind")
    parser.add_argument("-n", type=int, default=0, help="items, instead of those above")
    asked = parser.parse_args()
    lengths, more = list(read_lengths(asked.lengths)), shlex.split(asked.more)
    about = {"text": asked.text, **({"n": asked.n} if asked.n else {})}
    tasks = asked.tasks.split(",")
    for task in tasks if asked.model else ():
        row = {"kind": asked.model + asked.called, "test": task, **about}
        measure(asked.folder / "runs" / row["kind"].replace("/", "-"), asked.model, row, lengths, more)
    for seed in asked.seeds.split(",") if asked.kinds else ():
        for kind in asked.kinds.split(","):
            name = f"{asked.tasks.replace(',', '+').replace('/', '-')}-{kind}{asked.called}-{seed}"
            took = trained(asked.folder / name, kind, asked.tasks, int(seed), shlex.split(asked.train))
            for task in tasks:
                row = {"kind": kind + asked.called, "trained": asked.tasks, "seed": int(seed), **took, "test": task}
                model = f"carrara/recurrent:{asked.folder / name}"
                measure(asked.folder / "runs" / name, model, row | about, lengths, more)
    if rows := known():
        table(rows)
        draw(rows, Path("results/recurrent.svg"))


if __name__ == "__main__":
    main()

"""How long `carrara score` takes a line, beside the plain way of doing the same and beside reading the lines alone.

    python -m benchmarks.score_speed [INSTANCES]

The plain way is one process that builds the instance of every line anew and grades its reply. The whole command is
measured, with the start of its processes. Behind each time stands that of the processors, all cores together: where
others work on the same machine it is what remains comparable, and the ratio is of these.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import NamedTuple

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import instance_key, pose, questions_of
from carrara.items.item_id import ItemId
from carrara.util.parallel import count_cores

LENGTHS = [0, *(1024 << n for n in range(11)), *(1536 << n for n in range(8))]
"""Twenty of them: grading looks at none of those of a test that is not sized."""
EIGHT = [0, *(1024 * k for k in (4, 8, 12, 16, 24, 32, 64))]
PLAIN = 400
"""Lines that are scored the plain way, evenly from all of a file."""
ALL = "michelangelo,sync,babilong,minerva,classic"


class Case(NamedTuple):
    name: str
    tasks: str
    lengths: Sequence[int]
    instances: int
    by_instance: bool = True
    folder: bool = False


class Times(NamedTuple):
    """Of a line, in milliseconds."""

    wall: float
    used: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} ({self.used:.2f})"


def main(instances: int) -> None:
    cases = [
        Case("instances shared, side by side", "latent_list", LENGTHS, instances),
        Case("instances shared, length after length", "latent_list", LENGTHS[:5], instances, by_instance=False),
        Case("questions shared, into a folder", "sync", LENGTHS[4:9], instances // 20, folder=True),
        Case("each line an instance of its own", "latent_list", [0], instances * 2),
        Case("each line an instance of its own, all tests", ALL, [4096], instances // 40),
        Case("all tests at eight lengths, from 0 to 64k", ALL, EIGHT, instances * 43 // 200),
    ]
    print(f"ms a line (of processor time) on {count_cores()} cores; the plain way and reading alone on one")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            path = Path(folder) / "replies.jsonl"
            number = written(path, case)
            plain, reading = timed_plainly(path, number)
            out = Path(folder) / ("logs" if case.folder else "scores.jsonl")
            start, used = time.perf_counter(), spent()
            subprocess.run(
                [sys.executable, "-m", "carrara", "score", str(path), "--out", str(out)],
                check=True,
                capture_output=True,
            )
            took = Times(1e3 * (time.perf_counter() - start) / number, 1e3 * (spent() - used) / number)
            print(
                f"{case.name}: {number:,} lines, {took}; plainly {plain}, {plain.used / took.used:.1f} times as much; "
                f"reading alone {reading:.4f}"
            )
    print(f"the largest process had {getrusage(RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


def written(path: Path, case: Case) -> int:
    """A file of right replies; how many."""
    lines = 0
    with path.open("w", encoding="utf-8") as file:
        for item_id in item_ids(case):
            posed = questions_of(item_id)
            for n, question in enumerate(posed.questions):
                reply = posed.task.write(question.gold)
                file.write(json.dumps({"id": str(replace(item_id, question=n)), "reply": reply}) + "\n")
                lines += 1
    return lines


def item_ids(case: Case) -> Iterator[ItemId]:
    for task in registry.select(case.tasks):
        first = ItemId.parse(f"{task}@{registry.load(task).version}/test-0-0.0/0/chat/o200k")
        outer, inner = (
            (range(case.instances), case.lengths) if case.by_instance else (case.lengths, range(case.instances))
        )
        for one in outer:
            for other in inner:
                index, length = (one, other) if case.by_instance else (other, one)
                yield replace(first, index=index, length=length)


def spent() -> float:
    """Seconds of processor time of all processes that have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed_plainly(path: Path, number: int) -> tuple[Times, float]:
    """What it takes to score a line by itself, and milliseconds to read one."""
    wall = used = reading = 0.0
    taken = 0
    with path.open("rb") as file:
        for n, line in enumerate(file):
            start, began = time.perf_counter(), time.process_time()
            row = json.loads(line)
            reading += time.perf_counter() - start
            if n % max(1, number // PLAIN):
                continue
            item_id = ItemId.parse(row["id"])
            task, _, _, questions = pose(*instance_key(item_id, None))
            graded = grade(task, questions[item_id.question], row["reply"])
            json.dumps({"id": row["id"], "score": graded.score, "scores": dict(graded.scores)})
            wall += time.perf_counter() - start
            used += time.process_time() - began
            taken += 1
    return Times(1e3 * wall / taken, 1e3 * used / taken), 1e3 * reading / number


if __name__ == "__main__":
    os.environ.pop("CARRARA_TASKS", None)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

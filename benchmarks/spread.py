"""Items made by several processes, on cores and by Ray: the same bytes, how much sooner, and what a kill costs.

    python -m benchmarks.spread [--item-ids 100000] [--items 2000]

Item ids of qa1 and whole items of 32k, each as Parquet files: by one process, by two, by a Ray with two workers that is
killed half-way and given again.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

KINDS = {
    "item_ids": ("babilong/qa1", "0", ()),
    "items of 32k": ("sync/graph,babilong/qa1,minerva/key_value,babilong/qa2", "32k", ("--render",)),
}


def line(selection: str, length: str, instances: int, out: Path, *more: str) -> list[str]:
    asked = ["generate", selection, "--lengths", length, "-n", str(instances), "--tokenizer", "gpt2", "--parquet"]
    return [sys.executable, "-m", "carrara", *asked, "--out", str(out), *more]


def timed(command: Sequence[str]) -> float:
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def digest(folder: Path) -> tuple[int, str]:
    """Its files, and a hash of their names and bytes."""
    found, files = sha256(), sorted(folder.rglob("*.parquet"))
    for path in files:
        found.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return len(files), found.hexdigest()


def killed(command: Sequence[str], out: Path, files: int) -> int:
    """Begin it, kill it once half of its files are there; how many were."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and len(list(out.rglob("*.parquet"))) < files // 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    time.sleep(5)  # Ray's own processes end with whom they work for
    return len(list(out.rglob("*.parquet")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--item-ids", type=int, default=100_000)
    parser.add_argument("--items", type=int, default=2_000)
    asked = parser.parse_args()
    for (name, (selection, length, more)), rows in zip(KINDS.items(), (asked.item_ids, asked.items), strict=True):
        instances = rows // (1 if name == "item_ids" else 6)  # three questions on a graph, one on each of the others
        with tempfile.TemporaryDirectory() as aside:
            folder = Path(aside)
            one = timed(line(selection, length, instances, folder / "one", *more, "--workers", "1"))
            two = timed(line(selection, length, instances, folder / "two", *more, "--workers", "2"))
            files, own = digest(folder / "one")
            by_ray = line(selection, length, instances, folder / "ray", *more, "--engine", "ray", "--workers", "2")
            there = killed(by_ray, folder / "ray", files)
            rest = timed(by_ray)
            same = digest(folder / "two")[1] == own == digest(folder / "ray")[1]
        print(f"{name}: {instances:,} instances of {selection}, {files} files")
        print(f"  one process {one:.1f} s, two {two:.1f} s: {one / two:.2f} times as fast")
        print(f"  Ray with two workers: killed with {there} files there, the rest in {rest:.1f} s")
        print(f"  the same bytes by all three: {'yes' if same else 'NO'}", flush=True)


if __name__ == "__main__":
    main()

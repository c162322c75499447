"""Training rows of 16k tokens for verl, by two processes and by Ray: how many a second, and the time of 100,000.

    python -m benchmarks.training_rows [ROWS]

The rows are of a mix of tasks, most of them with several hops. They are written as `carrara export verl` writes them,
compressed Parquet, once by `--workers 2` and once by `--engine ray`. Each way starts with an empty folder, which is
removed again.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from carrara._version import __version__

TASKS = "qa1,qa2,qa3,latent_list,classic/vt,classic/hops,sync/graph,ranking"
LENGTH = "16k"
ROWS, ALL = 500, 100_000
QUESTIONS = 10
"""The rows of an instance of each task: three questions on a graph, one on each of the others."""
A_ROW = 80_000
"""The bytes of a row without compression, and some more."""
WAYS = {"two processes": ["--workers", "2"], "Ray, two workers": ["--engine", "ray", "--workers", "2"]}


def export(instances: int, out: Path, *way: str) -> float:
    """Write the rows, and return the seconds that it takes."""
    asked = ["export", "verl", TASKS, "--lengths", LENGTH, "-n", str(instances), "--split", "train"]
    line = [sys.executable, "-m", "carrara", *asked, "--tokenizer", "o200k", "--allow-large", "--out", str(out), *way]
    began = time.monotonic()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def main(rows: int) -> None:
    from pyarrow.parquet import ParquetFile

    instances = max(1, rows // QUESTIONS)
    place = Path(tempfile.gettempdir())
    if (free := shutil.disk_usage(place).free) < (needed := rows * A_ROW):
        sys.exit(f"{place} has {free >> 20:,} MB free, and {rows:,} rows may take {needed >> 20:,} MB")
    print(f"carrara {__version__}, {os.cpu_count()} cores: {TASKS}, {LENGTH} tokens by o200k")
    for name, way in WAYS.items():
        with tempfile.TemporaryDirectory(dir=place) as folder:
            out = Path(folder) / "rows"
            seconds = export(instances, out, *way)
            files = sorted(out.rglob("*.parquet"))
            written = sum(ParquetFile(file).metadata.num_rows for file in files)
            size = sum(file.stat().st_size for file in files)
        rate = written / seconds
        print(
            f"{name}: {written:,} rows in {seconds:.1f} s, start included: {rate:.1f} rows a second; "
            f"{len(files)} files of {size / 1e6:,.1f} MB together"
        )
        if written < ALL:
            minutes, gigabytes = ALL / rate / 60, size / written * ALL / 1e9
            print(f"  {ALL:,} rows at this rate: {minutes:.0f} min, {gigabytes:.1f} GB", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)

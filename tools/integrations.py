"""Run the tests that need other programs in environments of their own: `make integrations`.

    python -m tools.integrations [--changed] [NAME...]

verl, NeMo Gym, Harbor, kvpress, verifiers, inspect_evals, two memories and README's first commands take minutes and
gigabytes to install, and change seldom. `results/integrations.txt` has the last result of each, with a digest of the
files that its tests exercise. With `--changed`, as in `.ci/run`, only those are run whose files have changed since.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from carrara.util.table import table

RESULTS = Path("results/integrations.txt")
_REWARDS = ("src/carrara/export/reward.py", "src/carrara/export/scale.py", "src/carrara/items/grading.py")
_SENT = ("tools/submissions.py", "tools/templates/*")
FILES: dict[str, tuple[str, ...]] = {
    "verl": ("tests/export/test_verl.py", "tests/helpers/verl_program.py", "src/carrara/export/verl*.py", *_REWARDS),
    "nemo_gym": ("tests/export/test_nemo_gym_server.py", "src/carrara/export/nemo_gym*.py", *_REWARDS),
    "harbor": ("tests/export/test_harbor.py", "src/carrara/export/harbor*.py", *_REWARDS),
    "kvpress": ("tests/export/test_kvpress_scores.py", "src/carrara/export/kvpress*.py", *_REWARDS),
    "verifiers": (
        "tests/export/test_taskset.py",
        "src/carrara/export/taskset.py",
        "src/carrara_taskset.py",
        *_SENT,
        *_REWARDS,
    ),
    "inspect_evals": (
        "tests/export/test_submissions.py",
        "tests/helpers/register_program.py",
        "examples/inspect_register.py",
        "CITATION.cff",
        *_SENT,
    ),
    "demo": ("tests/operations/test_demo.py", "README.md", "pyproject.toml", "src/carrara/operations/demo.py"),
    "memory": ("tests/readers/test_memory_examples.py", "examples/memory_*.py", "src/carrara/readers/memory.py"),
}
"""The tests of each integration, and what they exercise; a lock file of the same name is among it. The tests come
first."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the tests that need other programs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"by default all: {', '.join(FILES)}")
    parser.add_argument("--changed", action="store_true", help="only those whose files have changed")
    args = parser.parse_args()
    if unknown := set(args.names) - set(FILES):
        parser.error(f"there is no integration {sorted(unknown)[0]!r}; there are {', '.join(FILES)}")
    known = last_results()
    names = [name for name in args.names or FILES if not (args.changed and known.get(name, [""])[-1] == digest(name))]
    failed = [name for name in names if not run(name, known)]
    for name in set(args.names or FILES) - set(names):
        print(f"{name}: unchanged since {known[name][1]}, when {known[name][2]}")
    sys.exit(f"{', '.join(failed)} failed" if failed else 0)


def digest(name: str) -> str:
    """Return a digest of the files of an integration."""
    hashed = blake2b(digest_size=6)
    for pattern in (*FILES[name], f"locks/{name}.txt"):
        for path in sorted(Path().glob(pattern)):
            hashed.update(path.as_posix().encode() + path.read_bytes())
    return hashed.hexdigest()


def last_results() -> dict[str, Sequence[str]]:
    """Return the cells of each row of the results, by the name of the integration."""
    lines = RESULTS.read_text("utf-8").splitlines()[2:] if RESULTS.exists() else []
    return {
        cells[0]: cells for cells in ([cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines)
    }


def run(name: str, known: dict[str, Sequence[str]]) -> bool:
    """Run the tests of an integration, and write its result if all of them passed: a skipped test proves nothing."""
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--integrations", "-m", "integration", FILES[name][0]]
    ended = subprocess.run(command, text=True, capture_output=True, check=False)
    outcome = ended.stdout.strip().splitlines()[-1] if ended.stdout.strip() else ended.stderr[-200:]
    print(f"{name}: {outcome}", flush=True)
    if ended.returncode:
        print(ended.stdout[-4000:], flush=True)
        return False
    if "skipped" in outcome:
        return True
    date, seconds = f"{datetime.now(UTC).date()}", f"{time.monotonic() - began:.0f} s"
    known[name] = [name, date, outcome.partition(" in ")[0], seconds, digest(name)]
    rows = [known[name] for name in FILES if name in known]
    RESULTS.write_text(
        "\n".join(table(["program", "date", "tests", "time", "digest of its files"], rows)) + "\n", "utf-8"
    )
    return True


if __name__ == "__main__":
    main()

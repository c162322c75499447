"""Measure which lines of the package the quick tests run, and fail if new lines are not tested: `make coverage`.

    python -m tools.coverage [--base COMMIT] [--measured] [TEST...]

Processes that tests start or fork are measured too. The shares are written to `results/test_coverage.txt`. Of the lines
that are new since `--base`, 90 % must have been run. `--measured` judges them by the last measurement, without running
tests; with TEST arguments those tests are run, and nothing is written to `results/`.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.environment import CHECKOUT

PACKAGE = "src/carrara"
MEASURED = CHECKOUT / ".coverage.json"
RESULT = CHECKOUT / "results" / "test_coverage.txt"
QUICK = ("-m", "not slow")
REQUIRED = 0.9
"""The share of new lines that tests must run."""
SHOWN = 15
"""The number of files that the result lists."""


class Lines(NamedTuple):
    """The lines of one file that can be run, by whether tests ran them."""

    covered: frozenset[int]
    missing: frozenset[int]


Files = Mapping[str, Lines]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.coverage")
    parser.add_argument("--base", default="", help="commit since which lines are new")
    parser.add_argument("--measured", action="store_true", help="use the last measurement")
    given, tests = parser.parse_known_args(arguments)
    code = 0 if given.measured else measure(tests or QUICK)
    files = read(MEASURED)
    if not given.measured and not tests:
        RESULT.write_text(report(files), "utf-8")
    print(report(files))
    new = new_lines(CHECKOUT, given.base or default_base(CHECKOUT))
    is_enough, verdict = judge(files, new)
    print(verdict, flush=True)
    if code:
        sys.exit(f"pytest ended with {code}: the shares above may be too low")
    if not is_enough:
        sys.exit(1)


# --- measuring ---


def measure(tests: Sequence[str]) -> int:
    """Run tests under coverage.py, collect what all processes measured, and return pytest's exit code."""
    _coverage("erase")
    code = _coverage("run", "-m", "pytest", *tests, check=False)
    _coverage("combine", "--quiet")
    _coverage("json", "--quiet", "-o", str(MEASURED))
    return code


def _coverage(*arguments: str, check: bool = True) -> int:
    code = subprocess.run([sys.executable, "-m", "coverage", *arguments], cwd=CHECKOUT, check=False).returncode
    if check and code:
        sys.exit(f"coverage {arguments[0]} ended with {code}")
    return code


def read(path: Path) -> Files:
    """Read the JSON report of coverage.py."""
    if not path.is_file():
        sys.exit("nothing was measured yet: make coverage")
    files = json.loads(path.read_text("utf-8"))["files"]
    return {
        name: Lines(frozenset(file["executed_lines"]), frozenset(file["missing_lines"])) for name, file in files.items()
    }


# --- reporting ---


def report(files: Files) -> str:
    """Return the share of all lines and of each folder, and the files with the most lines that were not run."""
    folders: dict[str, list[Lines]] = defaultdict(list)
    for name, lines in files.items():
        parent = Path(name).relative_to(PACKAGE).parts[:-1]
        folders[parent[0] if parent else "(top)"].append(lines)
    total = _counts(files.values())
    rows = [f"Quick tests run {_percent(*total)} of {sum(total):,} lines of the package.", ""]
    rows += [_row("folder", "files", "lines", "not run", "run")]
    for folder, some in sorted(folders.items()):
        covered, missing = _counts(some)
        rows.append(
            _row(folder, f"{len(some):,}", f"{covered + missing:,}", f"{missing:,}", _percent(covered, missing))
        )
    rows += ["", "Files with the most lines that were not run:", ""]
    for name, lines in sorted(files.items(), key=lambda one: (-len(one[1].missing), one[0]))[:SHOWN]:
        rows.append(f"{len(lines.missing):5,}  {_percent(len(lines.covered), len(lines.missing)):>7}  {name}")
    return "\n".join(rows) + "\n"


def _counts(some: Iterable[Lines]) -> tuple[int, int]:
    """Return how many lines were run, and how many were not."""
    counts = [(len(lines.covered), len(lines.missing)) for lines in some]
    return sum(covered for covered, _ in counts), sum(missing for _, missing in counts)


# --- new lines ---


def default_base(checkout: Path) -> str:
    """Return the commit that new lines are compared with if none is named: that of the origin, or the last one here."""
    found = _git(checkout, "rev-parse", "--verify", "--quiet", "origin/main^{commit}", check=False)
    return "origin/main" if found else "HEAD"


def new_lines(checkout: Path, base: str) -> dict[str, set[int]]:
    """Return the lines of the package that were added or changed since a commit, uncommitted ones included."""
    if not _git(checkout, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}", check=False):
        sys.exit(f"there is no commit {base} to compare with")
    start = _git(checkout, "merge-base", base, "HEAD").strip()
    found: dict[str, set[int]] = defaultdict(set)
    name = ""
    for line in _git(checkout, "diff", "--unified=0", "--no-color", "--no-ext-diff", start, "--", PACKAGE).splitlines():
        if line.startswith("+++ "):
            name = line.removeprefix("+++ ").removeprefix("b/")
        elif place := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(place[1]), int(place[2] or 1)
            found[name].update(range(first, first + count))
    return found


def _git(checkout: Path, *arguments: str, check: bool = True) -> str:
    return subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=check).stdout


def judge(files: Files, new: Mapping[str, set[int]]) -> tuple[bool, str]:
    """Return whether enough new lines were run, and a text that names the others."""
    covered = missing = 0
    rows = []
    for name, lines in sorted(new.items()):
        if name in files:
            covered += len(lines & files[name].covered)
            if left := sorted(lines & files[name].missing):
                missing += len(left)
                rows.append(f"  {name}: {ranges(left)}")
    if not covered + missing:
        return True, "No line of the package is new."
    is_enough = covered >= REQUIRED * (covered + missing)
    verdict = f"Tests run {_percent(covered, missing)} of {covered + missing:,} new lines; {REQUIRED:.0%} are required."
    return is_enough, "\n".join([verdict, *(["Not run:", *rows] if rows else [])])


def ranges(lines: Sequence[int]) -> str:
    """Return ascending line numbers as ranges.

    >>> ranges([3, 4, 5, 9])
    '3-5, 9'
    """
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][-1] + 1:
            found[-1][1:] = [line]
        else:
            found.append([line])
    return ", ".join("-".join(map(str, one)) for one in found)


def _percent(covered: int, missing: int) -> str:
    return f"{covered / (covered + missing):.1%}" if covered + missing else "-"


def _row(*cells: str) -> str:
    return f"{cells[0]:<12}" + "".join(f"{cell:>9}" for cell in cells[1:])


if __name__ == "__main__":
    main(sys.argv[1:])

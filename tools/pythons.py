"""Run the byte tests and the quick tests on every supported Python of this machine: `make test-pythons`.

    python -m tools.pythons [TEST...]

Pythons are searched on the search path and among those of pyenv. Each has a virtual environment of its own in
`.venv-pythons/`, with the packages of the lock files. Without arguments the quick tests are run, the byte tests among
them. The last lines name each Python and how pytest ended there, and the versions that were not found. The command
fails if a test fails, or if no Python was found.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.environment import CHECKOUT, LOCKED, LOCKS, install, make_environment

FOLDER = CHECKOUT / ".venv-pythons"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""The supported versions."""
PACKAGES = ("requirements.txt", "sources.txt")
"""The lock files that are installed."""
QUICK = ("-m", "not slow")
CLOSING_LINE = re.compile(r"=*\s*((?:\d+ \w+, )*\d+ \w+ in [\d.]+s\b[^=]*?|no tests ran[^=]*?)\s*=*")


class Interpreter(NamedTuple):
    """A Python on this machine."""

    path: Path
    version: str
    """With the patch release: `3.12.1`."""
    can_make_environments: bool


def main(arguments: Sequence[str]) -> None:
    lines, is_failed, minors = [], False, set()
    for interpreter in interpreters():
        name = f"Python {interpreter.version} ({interpreter.path})"
        if not interpreter.can_make_environments:
            lines.append(f"{name}: skipped, it has no venv or ensurepip (Debian: python3-venv)")
            continue
        print(name, flush=True)
        code, closing = run_tests(make_python(interpreter), arguments or QUICK)
        minors.add(minor(interpreter.version))
        is_failed |= code != 0
        lines.append(f"{name}: {'failed' if code else 'passed'}: {closing}")
    print(*lines, *(f"Python {one}: not found" for one in PYTHONS if one not in minors), sep="\n", flush=True)
    if not minors:
        sys.exit("no Python could be tested: install one of " + ", ".join(PYTHONS))
    if is_failed:
        sys.exit(1)


def interpreters() -> list[Interpreter]:
    """Return the supported Pythons of this machine, the oldest first; of several with one version the first found."""
    found: dict[str, Interpreter] = {}
    for path in _candidates():
        interpreter = _inspect(path)
        if interpreter and minor(interpreter.version) in PYTHONS:
            found.setdefault(interpreter.version, interpreter)
    return sorted(found.values(), key=lambda one: [int(part) for part in one.version.split(".")])


def _candidates() -> Iterator[Path]:
    names = ("python3", *(f"python{version}" for version in PYTHONS))
    folders = [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders += sorted(pyenv.glob("*/bin"))
    yield from (folder / name for folder in folders for name in names if (folder / name).is_file())


def _inspect(path: Path) -> Interpreter | None:
    """Ask a Python for its version. None if it does not start, as a shim of pyenv whose version is not chosen."""
    code = (
        "import sys; from importlib.util import find_spec as f\n"
        "print(getattr(sys, '_base_executable', None) or sys.executable, '%d.%d.%d' % sys.version_info[:3], "
        "int(bool(f('venv') and f('ensurepip'))), sep='\\n')"
    )
    done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode or len(printed := done.stdout.splitlines()) != 3:
        return None
    return Interpreter(Path(printed[0]), printed[1], printed[2] == "1")


def minor(version: str) -> str:
    """Return a version without its patch release.

    >>> minor("3.12.1")
    '3.12'
    """
    return version.rpartition(".")[0]


def make_python(interpreter: Interpreter) -> Path:
    """Return the Python of the environment for an interpreter. It is made anew where the lock files have changed."""
    folder = FOLDER / interpreter.version
    wanted = "".join((LOCKS / name).read_text("utf-8") for name in PACKAGES)
    wanted += (CHECKOUT / "pyproject.toml").read_text("utf-8")
    made = folder / "installed.txt"
    if not made.is_file() or made.read_text("utf-8") != wanted:
        python = make_environment(folder, interpreter.path)
        for name in PACKAGES:
            install(python, *LOCKED, LOCKS / name)
        install(python, "--no-deps", "--no-build-isolation", "-e", ".")
        made.write_text(wanted, "utf-8")
    return folder / "bin" / "python"


def run_tests(python: Path, arguments: Sequence[str]) -> tuple[int, str]:
    """Run pytest, show what it prints, and return its exit code and its closing line."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["PATH"] = f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    closing = "no closing line"
    with subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            closing = closing_line(line) or closing
    return process.returncode, closing


def closing_line(line: str) -> str:
    """Return pytest's closing line without its frame, or nothing if a line is another one.

    >>> closing_line("===== 3 passed, 1 skipped in 2.00s =====")
    '3 passed, 1 skipped in 2.00s'
    """
    found = CLOSING_LINE.fullmatch(line.strip())
    return found[1] if found else ""


if __name__ == "__main__":
    main(sys.argv[1:])

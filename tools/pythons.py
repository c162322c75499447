"""Run the byte tests on every supported Python that is installed: `make test-pythons`.

Each Python has an environment of its own in `.venv-pythons/`, with no more than the tests need, as locked. A Python
that is not installed is skipped. The command fails if a test fails, or if no Python could be tested.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.environment import CHECKOUT, LOCKED, LOCKS, install, make_environment

FOLDER = CHECKOUT / ".venv-pythons"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PACKAGES = ("cydifflib", "iniconfig", "numpy", "packaging", "pluggy", "pygments", "pytest", "splintr-rs")
TESTS = ("tests/test_bytes.py", "tests/test_corpus_hash.py")


def main() -> None:
    verdicts = [(version, _verdict(version)) for version in PYTHONS]
    for version, verdict in verdicts:
        print(f"Python {version}: {verdict}")
    tested = [verdict for _, verdict in verdicts if verdict != "not installed, skipped"]
    if not tested:
        sys.exit("no Python could be tested: install one of " + ", ".join(PYTHONS))
    if any(verdict != "passed" for verdict in tested):
        sys.exit(1)


def _verdict(version: str) -> str:
    found = interpreter(version)
    if found is None:
        return "not installed, skipped"
    print(f"Python {version}: {found}", flush=True)
    python = _environment(version, found)
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}
    pytest = (python, "-m", "pytest", "-q", "-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider", *TESTS)
    code = subprocess.run(pytest, cwd=CHECKOUT, env=environment, check=False).returncode
    return "passed" if code == 0 else f"failed (pytest ended with {code})"


def interpreter(version: str) -> Path | None:
    """Return the Python of a version: of the search path, or of pyenv. None if there is none that starts."""
    places = [shutil.which(f"python{version}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places += map(str, sorted(pyenv.glob(f"{version}.*/bin/python{version}")))
    ask = "import sys, venv, ensurepip; print(sys.executable, *sys.version_info[:2])"
    for place in filter(None, places):
        done = subprocess.run([place, "-c", ask], capture_output=True, text=True, check=False)
        path, _, rest = done.stdout.strip().partition(" ")
        if not done.returncode and rest.replace(" ", ".") == version:
            return Path(path)
    return None


def _environment(version: str, interpreter: Path) -> Path:
    """Return the Python of the environment of a version. It is made anew where the lock file has changed."""
    wanted = requirements()
    folder = FOLDER / version
    made = folder / "requirements.txt"
    if not made.is_file() or made.read_text("utf-8") != wanted:
        python = make_environment(folder, interpreter)
        partial = made.with_suffix(".new")
        partial.write_text(wanted, "utf-8")
        install(python, *LOCKED, partial)
        partial.replace(made)
    return folder / "bin" / "python"


def requirements() -> str:
    """Return the entries of the lock file for what the tests need."""
    entries = re.split(r"\n(?=\S)", (LOCKS / "requirements.txt").read_text("utf-8"))
    kept = [entry for entry in entries if entry.partition("==")[0] in PACKAGES]  # some have one for each Python
    if missing := set(PACKAGES) - {entry.partition("==")[0] for entry in kept}:
        sys.exit(f"locks/requirements.txt lacks {', '.join(sorted(missing))}")
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    main()

"""Environments of their own for libraries whose requirements clash with ours. They are made once for all tests."""

import fcntl
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir

import pytest
from tools.environment import CHECKOUT, LOCKED, LOCKS


@cache
def environment(lock: str, python: str = "", builds: bool = False) -> Path:
    """Return the Python of an environment with the packages of a lock file, or skip the test.

    Its packages are alone there: pass `PYTHONPATH` (`with_checkout`) to a program that imports Carrara, too. Processes
    that ask for the same environment wait for the one that makes it.

    Args:
        lock: The name of the lock file, such as `verifiers` for locks/verifiers.txt.
        python: The version of Python, such as `3.12`. By default the one that runs the tests.
        builds: Whether packages that exist only as source are built.
    """
    interpreter = _interpreter(python)
    if interpreter is None:
        pytest.skip(f"there is no Python {python}")
    path = LOCKS / f"{lock}.txt"
    key = sha256(f"{interpreter}\0{path.read_text()}".encode()).hexdigest()[:12]
    folder = Path(gettempdir()) / f"carrara-test-environment-{lock}-{key}"
    with folder.with_suffix(".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _make(folder, interpreter, path, builds)
    return folder / "bin" / "python"


def _interpreter(version: str) -> str | None:
    """Return a Python of a version that starts. A name on the path may belong to one that is switched off."""
    if not version or version == ".".join(map(str, sys.version_info[:2])):
        return sys.executable
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for path in filter(None, [shutil.which(f"python{version}"), *map(str, reversed(pyenv))]):
        ended = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if not ended.returncode and f" {version}." in ended.stdout:
            return path
    return None


def _make(folder: Path, interpreter: str, lock: Path, builds: bool) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([interpreter, "-m", "venv", folder], check=True, capture_output=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check"]
    options = ["--no-deps", "--require-hashes", "-r"] if builds else LOCKED
    ended = subprocess.run([*pip, *options, str(lock)], capture_output=True, text=True, check=False)
    if ended.returncode:
        pytest.skip(f"the packages of {lock.name} cannot be installed: {ended.stderr.strip()[-200:]}")
    (folder / "complete").touch()


def with_checkout(*folders: Path) -> str:
    """Return a `PYTHONPATH` with the checkout's packages, and further folders.

    Args:
        folders: Folders of packages, such as the one with this interpreter's own packages.
    """
    return ":".join(map(str, (CHECKOUT / "src", CHECKOUT, *folders)))

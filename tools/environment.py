"""Virtual environments for the tools, with the pip of `locks/pip.txt`, which takes half the time of older ones."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
LOCKS = CHECKOUT / "locks"
LOCKED = ("--no-deps", "--only-binary", ":all:", "--require-hashes", "-r")
LINE_EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""


def make_environment(folder: Path, interpreter: str | Path = sys.executable) -> Path:
    """Make an empty virtual environment in `folder`, in place of what is there, and return its Python."""
    run(interpreter, "-m", "venv", "--clear", folder)
    python = folder / "bin" / "python"
    install(python, *LOCKED, LOCKS / "pip.txt")
    return python


def install(python: Path, *arguments: str | Path) -> None:
    """Run `pip install` with `arguments`. Show which package it is at, and all it printed if it fails."""
    pip = (python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile", "--progress-bar", "off")
    run(*pip, *arguments, follow="Collecting ")


def run(*command: str | Path, follow: str = "") -> None:
    """Run a command. End with all that it printed if it fails.

    Args:
        command: A program and its arguments.
        follow: How lines begin that name the next package.
    """
    printed = []
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=CHECKOUT
    )
    assert process.stdout is not None
    with process, _progress() as show:
        for line in process.stdout:
            printed.append(line)
            if follow and line.startswith(follow):
                count = sum(one.startswith(follow) for one in printed)
                show(f"{count} packages, now {line.removeprefix(follow).split()[0]}")
            elif line.startswith("Installing collected packages"):
                show("unpacking")
    if process.returncode:
        sys.exit(f"{''.join(printed)}{' '.join(map(str, command))} ended with {process.returncode}")


class _Progress:
    """One line on a terminal, which each call replaces; elsewhere a line every ten seconds."""

    def __init__(self) -> None:
        self.printed = time.monotonic()
        self.is_terminal = sys.stdout.isatty()

    def __call__(self, text: str) -> None:
        if self.is_terminal:
            width = os.get_terminal_size().columns - 5
            print(f"\r\033[K    {text[:width]}", end="", flush=True)
        elif time.monotonic() - self.printed >= LINE_EVERY:
            self.printed = time.monotonic()
            print(f"    {text}", flush=True)


@contextmanager
def _progress() -> Iterator[_Progress]:
    progress = _Progress()
    yield progress
    if progress.is_terminal:
        print("\r\033[K", end="", flush=True)


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())

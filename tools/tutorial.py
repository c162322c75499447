"""Type `docs/tutorial.md` into an empty environment, and compare what the page shows with what is printed.

    make tutorial
    python -m tools.tutorial --write    # also put what was printed into the page

The environment has pip alone. The folder is empty and outside this checkout, and so is the home.

- Every line of a block of `sh` is typed into one shell, in order.
- It has to exit with 0, or with N where the line ends in `# exit code N`.
- A block of `text` shows what the line above it prints on standard output; `…` stands for lines left out.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tools.environment import CHECKOUT, make_environment

PAGE = CHECKOUT / "docs" / "tutorial.md"
ELLIPSIS = "…"
_FENCE = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)


class Command(NamedTuple):
    """A line to type."""

    line: str
    shown: str | None
    """What the page shows of its output."""

    @property
    def exit_code(self) -> int:
        stated = re.search(r"#.*\bexit code (\d+)", self.line)
        return int(stated[1]) if stated else 0


def commands(page: str) -> list[Command]:
    r"""Return the lines that a page tells its reader to type, in order.

    >>> commands("```sh\na\nb  # exit code 2\n```\n\n```text\nB\n```\n")
    [Command(line='a', shown=None), Command(line='b  # exit code 2', shown='B\n')]
    """
    found: list[Command] = []
    for fence in _FENCE.finditer(page):
        if fence[1] == "sh":
            found += [Command(line, None) for line in fence[2].splitlines() if line.strip()]
        else:
            found[-1] = found[-1]._replace(shown=fence[2])
    return found


def is_shown(shown: str, printed: str) -> bool:
    r"""Return whether a page shows what was printed, with `…` in place of any lines.

    >>> is_shown("a\n…\nc\n", "a\nb\nc\n"), is_shown("a\nc\n", "a\nb\nc\n"), is_shown("c\n…\n", "a\nb\nc\n")
    (True, False, False)
    """
    lines = ("(?:[^\n]*\n)*" if line == ELLIPSIS else re.escape(f"{line}\n") for line in shown.splitlines())
    return re.fullmatch("".join(lines), printed.strip("\n") + "\n") is not None


def as_shown(shown: str, printed: str) -> str | None:
    r"""Return what a page should show in place of `shown`, or None where lines are left out in the middle.

    >>> as_shown("old\n", "new\n"), as_shown("a\nold\n…\n", "a\nnew\nmore\n"), as_shown("a\n…\nb\n", "a\n\nB\n")
    ('new\n', 'a\nnew\n…\n', None)
    """
    lines, new = shown.splitlines(), printed.strip("\n").splitlines()
    if ELLIPSIS not in lines:
        return "\n".join([*new, ""])
    if lines.index(ELLIPSIS) < len(lines) - 1:
        return None
    return "\n".join([*new[: len(lines) - 1], ELLIPSIS, ""])


class Shell:
    """One bash session in an empty folder, with a home of its own.

    Args:
        place: An empty folder for all of this.
        programs: The folder of the environment's programs.
    """

    def __init__(self, place: Path, programs: Path) -> None:
        self.place, home = place, place / "home"
        folder = home / "empty"
        folder.mkdir(parents=True)
        path = f"{programs}{os.pathsep}{os.defpath}"
        kept = {name: os.environ[name] for name in os.environ if name.startswith("PIP_") or name.endswith("_proxy")}
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**kept, "HOME": str(home), "PATH": path, "LANG": "C.UTF-8"},
        )

    def type(self, line: str) -> tuple[int, str, str]:
        """Type a line, and return its exit code, its standard output and its standard error."""
        out, err = self.place / "out", self.place / "err"
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{{ {line}\n}} >'{out}' 2>'{err}' </dev/null; echo $?\n")
        self.process.stdin.flush()
        code = self.process.stdout.readline().strip()
        return int(code or 1), out.read_text("utf-8"), err.read_text("utf-8")

    def close(self) -> None:
        self.process.communicate()


def from_checkout(line: str) -> str:
    """Return a line with this checkout in place of the `.` that pip installs."""
    return re.sub(r"^(pip install ')\.", rf"\g<1>{CHECKOUT}", line)


def type_page(page: str, shell: Shell) -> Iterator[tuple[Command, str]]:
    """Yield each command with what it printed. Exit where a command fails."""
    for command in commands(page):
        clock = time.monotonic()
        code, out, err = shell.type(from_checkout(command.line))
        print(f"  {time.monotonic() - clock:5.1f} s  {command.line}", flush=True)
        if code != command.exit_code:
            sys.exit(f"{command.line} exited with {code} and not with {command.exit_code}:\n{out}{err}")
        yield command, out


def check(page: str, shell: Shell) -> tuple[str, int]:
    """Type a page. Return the page as it should be, and how many outputs differ and cannot be corrected so."""
    differing, corrected = 0, page
    for command, printed in type_page(page, shell):
        if command.shown is None or is_shown(command.shown, printed):
            continue
        print(f"the page shows\n{command.shown}and what was printed is\n{printed}", flush=True)
        new = as_shown(command.shown, printed)
        if new is None:
            differing += 1
        else:
            corrected = corrected.replace(f"```text\n{command.shown}```", f"```text\n{new}```", 1)
    return corrected, differing


def main() -> None:
    parser = argparse.ArgumentParser(description="Type docs/tutorial.md into an empty environment.")
    parser.add_argument("--write", action="store_true", help="put what was printed into the page")
    write = parser.parse_args().write
    page, clock = PAGE.read_text("utf-8"), time.monotonic()
    with TemporaryDirectory(prefix="carrara-") as scratch:
        shell = Shell(Path(scratch), make_environment(Path(scratch, "env")).parent)
        try:
            corrected, differing = check(page, shell)
        finally:
            shell.close()
    if write:
        PAGE.write_text(corrected, "utf-8")
        page = corrected
    if differing or corrected != page:
        sys.exit(f"{PAGE.name} does not show what is printed (above): `python -m tools.tutorial --write` corrects it")
    print(f"{PAGE.name}: every line was typed, in {time.monotonic() - clock:.0f} s", flush=True)


if __name__ == "__main__":
    main()

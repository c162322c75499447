"""Output of results as text and as JSON."""

import json
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from carrara.cli._stopping import stopped_code
from carrara.cli.messages import say


def show(text: object = "", *, file: TextIO | None = None) -> None:
    """Print text with names that may come from other people's files. Control characters are made visible."""
    from carrara.util.sanitize import visible

    print(visible(str(text)), file=file, flush=True)


def print_lines(lines: Iterable[str], *, file: TextIO | None = None) -> None:
    """Print the lines of a text."""
    for line in lines:
        show(line, file=file)


def print_json(value: Any) -> None:
    """Print JSON in ASCII: names and replies of others may have control characters and halves of surrogate pairs.

    Numbers that JSON lacks, such as NaN, become null.
    """
    finite = json.loads(json.dumps(value), parse_constant=lambda number: None)
    print(json.dumps(finite, indent=2))


def finish(result: Any, as_json: bool = False) -> int:
    """Print what an operation returned, and return the exit code."""
    if as_json and hasattr(result, "record"):
        print_json(result.record())
    elif rich := (result.__rich__() if hasattr(result, "__rich__") else None):
        _console().print(rich)
    else:
        print_lines(result.lines(), file=sys.stderr if getattr(result, "is_beside_lines", False) else sys.stdout)
    for note in getattr(result, "notes", ()):
        say(note)
    if getattr(result, "is_stopped", False):
        say("stopped; the same command resumes")
        return stopped_code()
    return int(getattr(result, "code", 0))


def _console() -> Any:
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the program that reads our output has closed the pipe: not a failure

    return Terminal(highlight=False, soft_wrap=True)

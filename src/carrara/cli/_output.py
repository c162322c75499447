"""Output of text, tables and JSON."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from carrara.util import table as core
from carrara.util.errors import UsageError


def show(text: object = "", *, file: TextIO | None = None) -> None:
    """Print text with names that may come from other people's files. Control characters are made visible."""
    from carrara.util.sanitize import visible

    print(visible(str(text)), file=file, flush=True)


def is_page(head: bytes) -> bool:
    """Return whether a file begins like a page that Carrara wrote."""
    return b'name="generator" content="carrara' in head


def is_scores(head: bytes) -> bool:
    """Return whether a file begins like the lines that `carrara score` wrote."""
    replies = head.startswith(b'{"id": ') and b'"score": ' in head
    rows = head.startswith(b'{"line": ') and b'"paper": ' in head  # scores of published predictions
    return b'"task": ' in head and (replies or rows)


def is_items(head: bytes) -> bool:
    """Return whether a file begins like the lines that `carrara generate` wrote."""
    return head.startswith((b'{"id": "', b'{"messages": [')) and (b'"context_id": ' in head or b'"role": ' in head)


def check_replaceable(path: Path, force: bool, is_own: Callable[[bytes], bool]) -> None:
    """Raise `UsageError` rather than overwrite a file of the user: input, notes, or an edited prompt pack.

    Args:
        path: Where the command is to write.
        force: Replace whatever is there.
        is_own: Tells by the first bytes of a file whether the command wrote it.

    Raises:
        UsageError: There is another file.
    """
    if force or not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(1 << 12)
    if head and not is_own(head):
        raise UsageError(
            f"{path} is there already, and this command did not write it: name another file, or pass --force"
        )


def print_json(value: Any) -> None:
    """Print JSON in ASCII: names and replies of others may have control characters and halves of surrogate pairs.

    Numbers that JSON lacks, such as NaN, become null.
    """
    finite = json.loads(json.dumps(value), parse_constant=lambda number: None)
    print(json.dumps(finite, indent=2))


def show_lines(lines: Iterable[str]) -> None:
    for line in lines:
        show(line)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    show_lines(core.table(columns, rows))

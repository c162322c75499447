"""Output of text, tables and JSON."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from carrara.util import table as core
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from carrara.results import EffectiveLength, Row
    from carrara.results.arrangements import ArrangementPenalty
    from carrara.results.completeness import Completeness
    from carrara.results.horizon import HorizonRow
    from carrara.results.pooled import PooledDifference
    from carrara.results.readers import SeriesCost
    from carrara.results.ruler import RulerRow


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


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    for line in core.table(columns, rows):
        show(line)


def print_summary(
    rows: "Sequence[Row]",
    parts: "Sequence[Completeness]" = (),
    effective: "Sequence[EffectiveLength]" = (),
    costs: "Sequence[SeriesCost]" = (),
    ruler: "Sequence[RulerRow]" = (),
    penalties: "Sequence[ArrangementPenalty]" = (),
    horizons: "Sequence[HorizonRow]" = (),
    findings: "Sequence[PooledDifference]" = (),
) -> None:
    """Print the table of results."""
    from carrara.report.text_table import result_lines

    for line in result_lines(rows, parts, effective, costs, ruler, penalties, horizons, findings):
        show(line)

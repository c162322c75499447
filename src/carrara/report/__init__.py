"""One self-contained HTML page from a list of results: no network, no library, complete without JavaScript."""

from collections.abc import Sequence
from pathlib import Path

from carrara.results import Result

__all__ = ["write_report"]


def write_report(results: Sequence[Result], path: Path, title: str) -> None:
    """Write the page. It appears whole or not at all, and is the same, to the byte, for the same results."""
    from carrara.commands._output import whole_file
    from carrara.report.page import render

    page = render(results, title)
    with whole_file(path) as file:
        file.write(page)

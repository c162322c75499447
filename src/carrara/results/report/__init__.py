"""Write a report: one HTML page that needs no network, no library and no JavaScript."""

from collections.abc import Sequence
from pathlib import Path

from carrara.core.result import MIN_BASE_SCORE, Result
from carrara.results.analysis.completeness import Part
from carrara.results.analysis.shortcuts import Known
from carrara.results.report.snippet import FindSnippet
from carrara.results.report.sources import Source

__all__ = ["write_report"]


def write_report(
    results: Sequence[Result],
    path: Path,
    title: str,
    parts: Sequence[Part] = (),
    known: Sequence[Known] = (),
    find_snippet: FindSnippet | None = None,
    sources: Sequence[Source] = (),
    min_base_score: float = MIN_BASE_SCORE,
) -> None:
    """Write the page. The file is complete or not there, and the same to the byte for the same results.

    Args:
        results: The replies.
        path: The file to write.
        title: The title of the page.
        parts: How many of the planned replies there are.
        known: What the audit found about the tests.
        find_snippet: Finds what to show of the prompt of a reply.
        sources: The submitted folders that the results come from.
        min_base_score: The minimum of a base score for an effective length.
    """
    from carrara.core.files import whole_file
    from carrara.results.report.page import render

    page = render(results, title, parts, known, find_snippet, sources, min_base_score)
    with whole_file(path) as file:
        file.write(page)

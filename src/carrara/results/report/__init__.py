"""One self-contained HTML page from a list of results: no network, no library, complete without JavaScript."""

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
    """Write the page. It appears whole or not at all, and is the same, to the byte, for the same results.

    `parts` say how much there is of what was planned, `known` what shortcuts its tests have; `find_snippet` shows the
    prompts of replies, and `sources` are the folders of others that the results come from. A base score has to exceed
    `min_base_score` for an effective length.
    """
    from carrara.core.files import whole_file
    from carrara.results.report.page import render

    page = render(results, title, parts, known, find_snippet, sources, min_base_score)
    with whole_file(path) as file:
        file.write(page)

"""What a reader must know before believing the numbers: shown above them, or not at all."""

from collections import Counter
from collections.abc import Mapping, Sequence

from carrara.analysis import Row, Series
from carrara.lengths import write_length
from carrara.report.faces import Face
from carrara.report.provenance import Provenance
from carrara.report.visible import short
from carrara.results import Result

FEW = 10
"""Replies in a row under which its interval says little."""
LISTED = 4


def notes(
    results: Sequence[Result], rows: Sequence[Row], faces: Mapping[Series, Face], runs: Sequence[Provenance]
) -> list[str]:
    return [
        *_not_ok(results),
        *_one_length(rows),
        *_few(rows),
        *_incomplete(rows, faces),
        *(warning for run in runs for warning in run.warnings),
    ]


def _not_ok(results: Sequence[Result]) -> list[str]:
    wrong = [result for result in results if result.status != "ok"]
    if not wrong:
        return []
    counts = ", ".join(f"{n:,} {status}" for status, n in Counter(result.status for result in wrong).most_common())
    note = f"{len(wrong):,} of {len(results):,} replies are not ok ({counts}). They score 0 in the mean."
    errors = Counter(short(result.error, 200) for result in wrong if result.error)
    if errors:
        error, times = errors.most_common(1)[0]
        note += f" The error seen most ({times:,} times): {error}"
    return [note]


def _one_length(rows: Sequence[Row]) -> list[str]:
    lengths = {row.length for row in rows}
    if len(lengths) > 1:
        return []
    return [f"Only one length was run, {write_length(*lengths)}: this says nothing of what a longer context does."]


def _few(rows: Sequence[Row]) -> list[str]:
    least = min(row.stat.n for row in rows)
    if least >= FEW:
        return []
    return [f"Some scores rest on {least} {'reply' if least == 1 else 'replies'}: mind the width of the intervals."]


def _incomplete(rows: Sequence[Row], faces: Mapping[Series, Face]) -> list[str]:
    """Rows with fewer replies than others of their test: a run that stopped, or items that did not fit."""
    most: dict[str, int] = {}
    for row in rows:
        most[row.task] = max(most.get(row.task, 0), row.stat.n)
    short_of = [
        f"{faces[row.series].name} has {row.stat.n:,} of {most[row.task]:,} replies at {write_length(row.length)} "
        f"in {short(row.task)}"
        for row in rows
        if row.stat.n < most[row.task]
    ]
    if not short_of:
        return []
    more = f"; and {len(short_of) - LISTED} more such rows" if len(short_of) > LISTED else ""
    return [f"Incomplete: {'; '.join(short_of[:LISTED])}{more}."]

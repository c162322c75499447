"""Results in Python: one record for each reply, as a sequence, a table, a data frame, a page."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, overload

from carrara.options import File, length_of
from carrara.result import MIN_BASE_SCORE, Result
from carrara.stats.completeness import Part
from carrara.stats.effective import EffectiveLength, Requirements, effective_lengths
from carrara.stats.scores import METRICS, Metric, by_metric
from carrara.util.errors import UsageError, nearest
from carrara.util.files import to_path

RECORD = tuple(field.name for field in fields(Result))


class Table(str):
    """A table that prints as text, and that a notebook shows as an HTML table."""

    lines: tuple[str, ...]

    def __new__(cls, lines: Iterable[str]) -> "Table":
        kept = tuple(lines)
        made = super().__new__(cls, "\n".join(kept))
        made.lines = kept
        return made

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from carrara.util.table import html

        return html(self.lines)


class Results(Sequence[Result]):
    """What a run, or a folder of runs, came to; each record is a reply with its status beside its score.

    `r.where(status="unparsed", length="4k")` are some of them, `r[:10].table()` is a table of some, and
    `[x.reply for x in r]` is what was replied.
    """

    def __init__(self, records: Iterable[Result], title: str = "results", parts: Sequence[Part] = ()) -> None:
        self._records, self.title, self._parts = tuple(records), title, tuple(parts)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> "Results": ...
    def __getitem__(self, place: int | slice) -> "Result | Results":
        if isinstance(place, slice):
            return Results(self._records[place], self.title)
        return self._records[place]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._records)

    def __repr__(self) -> str:
        models = {one.model for one in self}
        return f"<{len(self):,} results of {', '.join(sorted(models)) or 'no model'}>"

    def where(self, condition: Callable[[Result], bool] | None = None, **values: object) -> "Results":
        """Those records of which a condition holds, and whose fields have these values."""
        for name in values:
            if name not in RECORD:
                raise UsageError(f"a result has no {name!r}{nearest(name, RECORD)}; it has {', '.join(RECORD)}")
        if "length" in values:
            values["length"] = length_of(values["length"])  # type: ignore[arg-type]  # whatever it is, it is read
        return Results(
            (
                one
                for one in self
                if (condition is None or condition(one))
                and all(getattr(one, name) == value for name, value in values.items())
            ),
            self.title,
        )

    def by(self, metric: Metric) -> "Results":
        """The same, of which the `sound` score counts, or the `paper`'s own where it has one: in tables and reports."""
        if metric not in METRICS:
            raise UsageError(f"there is no score {metric!r}{nearest(metric, METRICS)}; there are {', '.join(METRICS)}")
        return Results(by_metric(self._records, metric), self.title, self._parts)

    def effective_lengths(self, *, min_base_score: float = MIN_BASE_SCORE) -> list[EffectiveLength]:
        """Return the effective length of each model on each task, or why there is none.

        Args:
            min_base_score: What the score at the shortest length has to exceed, by its 95 % interval. It also has to
                exceed the chance level and the best declared shortcut of the task.
        """
        from carrara.logs.report_data import find_shortcuts
        from carrara.stats import summarize

        return effective_lengths(
            summarize(self._records), Requirements.of(find_shortcuts(self._records), min_base_score)
        )

    def table(self, *by: str, min_base_score: float = MIN_BASE_SCORE) -> Table:
        """Return the table that `carrara report` prints.

        Args:
            by: Labels of the items (`"complexity", "view"`), for a row for each of their values.
            min_base_score: As in `effective_lengths`.
        """
        from carrara.report.text_table import result_lines
        from carrara.stats import summarize
        from carrara.stats.summary import summarize_by_labels

        if not self:
            return Table(["no results"])
        if by:
            return Table(result_lines(summarize_by_labels(self._records, by)))
        effective = self.effective_lengths(min_base_score=min_base_score)
        return Table(result_lines(summarize(self._records), self._parts, effective))

    def frame(self) -> Any:
        """A pandas data frame with a row for each result; labels and published scores are columns of their own."""
        from carrara.util.to_pandas import frame

        return frame([_flat(one) for one in self])

    def report(self, path: File, *, min_base_score: float = MIN_BASE_SCORE) -> Path:
        """Write the report, one HTML page, and return its path.

        Args:
            path: The file to write.
            min_base_score: As in `effective_lengths`.
        """
        from carrara.logs.report_data import SnippetFinder, find_shortcuts
        from carrara.report.page import write_report

        write_report(
            self._records,
            to_path(path),
            self.title,
            self._parts,
            find_shortcuts(self._records),
            SnippetFinder(),
            min_base_score=min_base_score,
        )
        return to_path(path)


def _flat(result: Result) -> dict[str, object]:
    row: dict[str, object] = {}
    for name in RECORD:
        value = getattr(result, name)
        if name in ("labels", "scores", "settings"):
            row |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            row[name] = value
    return row

"""Results in Python: a sequence with one record for each reply, which converts to a table, a data frame or a page."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from carrara.options import File, length_of
from carrara.results.completeness import Completeness
from carrara.results.effective import EffectiveLength
from carrara.results.result import MIN_BASE_SCORE, Result
from carrara.results.scores import METRICS, Metric, by_metric
from carrara.util.errors import UsageError, nearest
from carrara.util.files import to_path

if TYPE_CHECKING:
    from carrara.results.summary import Summary

RECORD = tuple(field.name for field in fields(Result))


class Table(str):
    """A table that prints as text, and that a notebook shows as an HTML table.

    Examples:
        >>> import carrara
        >>> carrara.read("runs/oracle").table().lines[0].split()[:3]
        ['model', 'task', 'length']
    """

    lines: tuple[str, ...]
    """The lines of the text."""

    def __new__(cls, lines: Iterable[str]) -> "Table":
        line_tuple = tuple(lines)
        new_table = super().__new__(cls, "\n".join(line_tuple))
        new_table.lines = line_tuple
        return new_table

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from carrara.util.table import html

        return html(self.lines)


class Results(Sequence[Result]):
    """The results of runs: a sequence of records, each a reply with its status and its score.

    `carrara.run` and `carrara.read` return it. A slice, such as `r[:10]`, is a `Results` too.

    Args:
        records: The records.
        title: The title of reports.
        parts: How many items of each task the runs still have to ask.

    Examples:
        >>> import carrara
        >>> r = carrara.read("runs/oracle")
        >>> r
        <40 results of carrara/oracle>
        >>> r[0].status, r[0].score
        ('ok', 1.0)
    """

    def __init__(self, records: Iterable[Result], title: str = "results", parts: Sequence[Completeness] = ()) -> None:
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
        models = {record.model for record in self}
        return f"<{len(self):,} results of {', '.join(sorted(models)) or 'no model'}>"

    def where(self, condition: Callable[[Result], bool] | None = None, **values: object) -> "Results":
        """Return the records for which a condition holds and whose fields have the given values.

        Args:
            condition: A function of a record. By default every record passes.
            values: Values of fields of `Result`, such as `status="unparsed"`. A length may be written as `"4k"`.

        Returns:
            The records that pass.

        Raises:
            UsageError: A record has no such field.

        Examples:
            >>> import carrara
            >>> carrara.read("runs/oracle").where(length="1k")
            <20 results of carrara/oracle>
        """
        for name in values:
            if name not in RECORD:
                raise UsageError(f"a result has no {name!r}{nearest(name, RECORD)}; it has {', '.join(RECORD)}")
        if "length" in values:
            values["length"] = length_of(values["length"])  # type: ignore[arg-type]  # any value is parsed
        return Results(
            (
                record
                for record in self
                if (condition is None or condition(record))
                and all(getattr(record, name) == value for name, value in values.items())
            ),
            self.title,
        )

    def by(self, metric: Metric) -> "Results":
        """Return the same records with another score as the one that counts in tables and reports.

        Args:
            metric: `own` is our score; `paper` is the paper's own, where it has one.

        Returns:
            The records.

        Raises:
            UsageError: There is no such score.

        Examples:
            >>> import carrara
            >>> carrara.read("runs/oracle").by("paper")[0].score
            1.0
        """
        if metric not in METRICS:
            raise UsageError(f"there is no score {metric!r}{nearest(metric, METRICS)}; there are {', '.join(METRICS)}")
        return Results(by_metric(self._records, metric), self.title, self._parts)

    def effective_lengths(self, *, min_base_score: float = MIN_BASE_SCORE) -> list[EffectiveLength]:
        """Return the effective length of each model on each task, or why there is none.

        Args:
            min_base_score: The score that the 95 % interval at the shortest length has to exceed. The interval also has
                to exceed the chance level and the best declared shortcut of the task.

        Returns:
            One record for each model and task, and for the mean over tasks. Its `estimate` is None if there is no
            effective length; `reason` then says why.

        Raises:
            UsageError: `min_base_score` is not from 0 to 1.

        Examples:
            >>> import carrara
            >>> carrara.read("runs/oracle").effective_lengths()[0].usability
            'usable'
        """
        return self._summary(min_base_score).effective_lengths

    def _summary(self, min_base_score: float) -> "Summary":
        from carrara.report.snippets import find_shortcuts
        from carrara.results.summary import Summary

        return Summary(self._records, find_shortcuts(self._records), self._parts, min_base_score=min_base_score)

    def table(self, *by: str, min_base_score: float = MIN_BASE_SCORE) -> Table:
        """Return the table that `carrara report` prints.

        Args:
            by: Labels of the items, such as `"complexity"`: the table has a row for each of their values. By default it
                has a row for each task at each length.
            min_base_score: As in `effective_lengths`.

        Returns:
            The table, which prints as text.

        Raises:
            UsageError: `min_base_score` is not from 0 to 1.

        Examples:
            >>> import carrara
            >>> print(carrara.read("runs/oracle").table().lines[2])
            carrara/oracle  babilong/qa1       0  1.000    0.839-1.000   0.167  20            20
        """
        from carrara.report.tables import score_lines, summary_lines
        from carrara.results.rows import summarize_by_labels

        if not self:
            return Table(["no results"])
        if by:
            return Table(score_lines(summarize_by_labels(self._records, by)))
        return Table(summary_lines(self._summary(min_base_score)))

    def frame(self) -> Any:
        """Return the results as a pandas data frame. Labels and paper scores have columns of their own.

        A failed request (`error`) has no score: its `score` is NaN, which means over the column leave out, as the table
        does.

        Returns:
            A `pandas.DataFrame` with a row for each result.

        Examples:
            >>> import carrara
            >>> carrara.read("runs/oracle").frame().groupby("length")["score"].mean().to_dict()
            {0: 1.0, 1024: 1.0}
        """
        from carrara.util.table import frame

        return frame([_flat(record) for record in self])

    def report(self, path: File, *, min_base_score: float = MIN_BASE_SCORE) -> Path:
        """Write the report, a single HTML page.

        Args:
            path: The file to write.
            min_base_score: As in `effective_lengths`.

        Returns:
            The path of the page.

        Raises:
            UsageError: `min_base_score` is not from 0 to 1.

        Examples:
            >>> import carrara
            >>> carrara.read("runs/oracle").report("report.html").name
            'report.html'
        """
        from carrara.report.page import write_report
        from carrara.report.snippets import SnippetFinder

        write_report(self._summary(min_base_score), to_path(path), self.title, SnippetFinder())
        return to_path(path)


def _flat(result: Result) -> dict[str, object]:
    """Return the fields of a result as columns of a data frame, without a score for a failed request."""
    row: dict[str, object] = {}
    for name in RECORD:
        value = getattr(result, name)
        if name in ("labels", "scores", "settings"):
            row |= {f"{name}.{key}": inner for key, inner in value.items()}
        elif name == "speed":
            row |= {f"{name}.{key}": inner for key, inner in vars(value).items()} if value else {}
        else:
            row[name] = value
    return row if result.status != "error" else {**row, "score": math.nan}

"""Compare runs item by item."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from attrs import converters, field, frozen
from cyclopts import Parameter

from carrara.operations.printed import Recorded, is_page
from carrara.operations.results import Results
from carrara.options import (
    File,
    Flag,
    Folder,
    LogOptions,
    ReplaceOptions,
    check_replaceable,
    folder_of,
    is_flag,
    is_text,
    lengths_of,
    one_of,
    text,
)
from carrara.results import comparison as statistics
from carrara.results.result import Result
from carrara.results.scores import METRICS, Metric
from carrara.signature import SEVERAL, takes_several
from carrara.util.errors import RunError
from carrara.util.files import to_path


def _runs_of(values: Annotated[Iterable[Results | Folder], text("RUN")]) -> tuple[Results | Path, ...]:
    runs = [run if isinstance(run, Results) else to_path(run) for run in values]
    return tuple(run for at, run in enumerate(runs) if isinstance(run, Results) or run not in runs[:at])


@frozen(kw_only=True, slots=False)
class CompareConfig(ReplaceOptions, LogOptions):
    """The runs to compare, and how they are paired."""

    runs: tuple[Results | Path, ...] = field(converter=_runs_of, kw_only=False, metadata=SEVERAL)
    """Folders of runs, or logs of any Inspect task (.eval); in Python also results of `carrara.run` or
    `carrara.read`."""
    margin: Annotated[float | None, Parameter(metavar="SHARE")] = None
    """Also tell where the second run is not worse by this much, such as 0.02. By default only better and worse are
    told."""
    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(lengths_of))
    """Only items of these lengths, such as 4k,32k."""
    score: Metric = field(default="own", validator=one_of(METRICS))
    """The score that counts: `own` (ours) or `paper` (the paper's own, where it has one)."""
    by: statistics.By = "run"
    """Compare the runs with each other; or, also inside a run, every two models with their settings, each reader of one
    model with `whole`, with the tokens that an item takes, or its arrangements with `block`."""
    by_instance: Flag = field(default=False, validator=is_flag)
    """Pair the same questions on the same instances, whichever tokenizer counted their lengths."""
    scorer: Annotated[str, text("NAME")] = field(default="", validator=is_text)
    """Which scorer of an Inspect task counts, if it has several."""
    html: Path | None = field(default=None, converter=converters.optional(folder_of))
    """Write the comparison as a page, too."""

    def __attrs_post_init__(self) -> None:
        statistics.check_margin(self.margin)
        statistics.check_by(self.by)
        check_replaceable(self.html, self.force, is_page)


@dataclass(frozen=True, repr=False)
class ComparisonReport(Recorded, statistics.Comparisons):
    """A comparison of runs, as `carrara.compare` returns it. It prints as `carrara compare` does.

    Examples:
        >>> import carrara
        >>> a, b = carrara.read("runs/oracle"), carrara.read("runs/majority")
        >>> [row] = carrara.compare(a, b).overall
        >>> row.first, row.one, row.verdict()
        ('carrara/oracle', 1.0, 'worse')
    """

    margin: float | None = None
    """The difference that still counts as not worse. None: there is no such test."""

    def lines(self) -> Iterator[str]:
        from carrara.report.comparison import comparison_lines

        return comparison_lines(self, self.margin)

    def record(self) -> dict[str, Any]:
        from carrara.report.comparison import comparison_record

        return comparison_record(self, self.margin)

    def html(self, path: File, title: str = "") -> Path:
        """Write the comparison as an HTML page.

        Args:
            path: The file to write.
            title: The title of the page. By default it names the models.

        Returns:
            The path of the page.

        Raises:
            RunError: It cannot be written.

        Examples:
            >>> import carrara
            >>> carrara.compare("runs/oracle", "runs/majority").html("comparison.html").name
            'comparison.html'
        """
        from carrara.report.comparison import write_comparison

        page = to_path(path)
        try:
            write_comparison(self, self.margin, page, title)
        except OSError as error:
            raise RunError(f"{page} cannot be written: {error.strerror or error}; name another file") from None
        return page

    def frame(self) -> Any:
        """Return the comparison as a pandas data frame.

        Returns:
            A `pandas.DataFrame` with a row for each task at each length.

        Examples:
            >>> import carrara
            >>> carrara.compare("runs/oracle", "runs/majority").frame()["task"].unique().tolist()
            ['babilong/qa1']
        """
        from carrara.util.table import frame

        return frame(self.record()["lengths"])


@takes_several(CompareConfig)
def compare(config: CompareConfig) -> ComparisonReport:
    """Compare runs item by item, at each length and over all lengths.

    Returns:
        The differences with their intervals and p-values; it prints as a table.

    Raises:
        UsageError: There are fewer than two sides to compare, they share no item, or an argument is wrong.
        RunError: No item has an answer of both models.

    Examples:
        >>> import carrara
        >>> [(row.length, row.verdict()) for row in carrara.compare("runs/oracle", "runs/majority").lengths]
        [(0, 'worse'), (1024, 'worse')]
    """
    from carrara.runs.comparison_inputs import results_in, sides_of
    from carrara.runs.log_files import leave_out

    damaged = leave_out if config.skip_damaged else None
    named: list[tuple[str, list[Result]]] = [
        (f"run {number}", list(run))
        if isinstance(run, Results)
        else (str(run), results_in(run, config.scorer, damaged))
        for number, run in enumerate(config.runs, 1)
    ]
    sides = statistics.select_sides(sides_of(named, config.by), config.lengths, config.score, config.by)
    compared = statistics.compare(sides, config.by_instance, config.by)
    report = ComparisonReport(
        **{field.name: getattr(compared, field.name) for field in fields(compared)}, margin=config.margin
    )
    if config.html:
        report.html(config.html)
    return report

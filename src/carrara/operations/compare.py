"""The Python function of `carrara compare`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from carrara.operations.results import Results
from carrara.options import File, Lengths, lengths_of
from carrara.results import comparison as statistics
from carrara.results.scores import Metric
from carrara.util.files import to_path


@dataclass(frozen=True, repr=False)
class ComparisonReport(statistics.Comparisons):
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

    def __repr__(self) -> str:
        from carrara.report.comparison import comparison_lines

        return "\n".join(comparison_lines(self, self.margin))

    def html(self, path: File, title: str = "") -> Path:
        """Write the comparison as an HTML page.

        Args:
            path: The file to write.
            title: The title of the page. By default it names the models.

        Returns:
            The path of the page.

        Examples:
            >>> import carrara
            >>> carrara.compare("runs/oracle", "runs/majority").html("comparison.html").name
            'comparison.html'
        """
        from carrara.report.comparison import write_comparison

        write_comparison(self, self.margin, to_path(path), title)
        return to_path(path)

    def frame(self) -> Any:
        """Return the comparison as a pandas data frame.

        Returns:
            A `pandas.DataFrame` with a row for each task at each length.

        Examples:
            >>> import carrara
            >>> carrara.compare("runs/oracle", "runs/majority").frame()["task"].unique().tolist()
            ['babilong/qa1']
        """
        from carrara.report.comparison import comparison_record
        from carrara.util.table import frame

        return frame(comparison_record(self, self.margin)["lengths"])


def compare(
    *runs: Results | File,
    margin: float | None = None,
    lengths: Lengths | None = None,
    score: Metric = "own",
    by: statistics.By = "run",
    by_instance: bool = False,
    scorer: str = "",
) -> ComparisonReport:
    """Compare runs item by item, at each length and over all lengths.

    Args:
        runs: Two runs or more: results of `carrara.run` or `carrara.read`, folders, or logs of any Inspect task.
        margin: Also report where the second run is not worse by this difference of scores, such as 0.02. By default
            only better and worse are reported.
        lengths: Compare only items of these lengths, such as `"4k,32k"`. By default all.
        score: The score that counts: `own` (ours), or `paper` (the paper's own, where it has one).
        by: Compare the runs with each other (`run`); or, also inside a run, every two models with their settings
            (`model`), each reader of one model with `whole` (`reader`), with the tokens that an item takes, or the
            arrangements of one model with `block` (`arrangement`).
        by_instance: Pair the same questions on the same instances, whichever tokenizer counted their lengths.
        scorer: The scorer of an Inspect task that counts, if the task has several.

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

    statistics.check_margin(margin)
    statistics.check_by(by)
    held = [
        (f"run {number}", list(run)) if isinstance(run, Results) else (str(run), results_in(to_path(run), scorer))
        for number, run in enumerate(runs, 1)
    ]
    sides = statistics.select_sides(sides_of(held, by), None if lengths is None else lengths_of(lengths), score, by)
    found = statistics.compare(sides, by_instance, by)
    return ComparisonReport(**{field.name: getattr(found, field.name) for field in fields(found)}, margin=margin)

"""Comparisons in Python."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from carrara.api.results import Results
from carrara.comparison import statistics
from carrara.options import File, Lengths, lengths_of
from carrara.stats.scores import Metric
from carrara.util.files import to_path


@dataclass(frozen=True, repr=False)
class Compared(statistics.Compared):
    """A comparison that prints as `carrara compare` does."""

    margin: float | None = None

    def __repr__(self) -> str:
        from carrara.comparison.report import comparison_lines

        return "\n".join(comparison_lines(self, self.margin))

    def html(self, path: File, title: str = "") -> Path:
        """Write it as a page."""
        from carrara.comparison.report import write_comparison

        write_comparison(self, self.margin, to_path(path), title)
        return to_path(path)

    def frame(self) -> Any:
        """A pandas data frame with a row for each task at each length."""
        from carrara.comparison.report import comparison_record
        from carrara.util.to_pandas import frame

        return frame(comparison_record(self, self.margin)["lengths"])


def compare(
    *runs: Results | File,
    margin: float | None = None,
    lengths: Lengths | None = None,
    score: Metric = "sound",
    by_instance: bool = False,
    scorer: str = "",
) -> Compared:
    """Tell whether one run is better than another, at each length and over all lengths.

    Args:
        runs: What `carrara.run` or `carrara.read` returned, folders, or logs of any Inspect task.
        margin: Also tell where the second run is not worse by this much, such as 0.02.
        lengths: Compare only items of these lengths.
        score: Which score counts.
        by_instance: Pair the same questions on the same instances, whichever tokenizer counted their lengths.
        scorer: Which scorer of an Inspect task counts, if it has several.
    """
    from carrara.comparison.inputs import results_in, sides_of

    statistics.check_margin(margin)
    held = [
        (f"run {number}", list(run)) if isinstance(run, Results) else (str(run), results_in(to_path(run), scorer))
        for number, run in enumerate(runs, 1)
    ]
    sides = statistics.only(sides_of(held), None if lengths is None else lengths_of(lengths), score)
    found = statistics.compare(sides, by_instance)
    return Compared(**{field.name: getattr(found, field.name) for field in fields(found)}, margin=margin)

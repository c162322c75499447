"""Comparisons in Python."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from carrara.api.results import Results
from carrara.comparison import statistics
from carrara.core.places import place
from carrara.options import File, Lengths, lengths_of
from carrara.results.analysis.metric import Metric


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

        write_comparison(self, self.margin, place(path), title)
        return place(path)

    def frame(self) -> Any:
        """A pandas data frame with a row for each test at each length."""
        from carrara.comparison.report import comparison_record
        from carrara.results.to_pandas import frame

        return frame(comparison_record(self, self.margin)["lengths"])


def compare(
    *runs: Results | File,
    margin: float | None = None,
    lengths: Lengths | None = None,
    score: Metric = "sound",
    by_world: bool = False,
    scorer: str = "",
) -> Compared:
    """Whether one run is better than another, per length first: what `carrara.run` or `carrara.read` gave, folders, or
    logs of any Inspect task.

    With a `margin` it also tells where the second is not worse than by that much; `by_world` pairs the same questions
    on the same worlds whichever tokenizer counted their lengths; `scorer` names one of an Inspect task's.
    """
    from carrara.comparison.inputs import results_in, told_apart

    held = [
        (f"run {number}", list(run)) if isinstance(run, Results) else (str(run), results_in(place(run), scorer))
        for number, run in enumerate(runs, 1)
    ]
    sides = statistics.only(told_apart(held), None if lengths is None else lengths_of(lengths), score)
    found = statistics.compare(sides, by_world)
    return Compared(**{field.name: getattr(found, field.name) for field in fields(found)}, margin=margin)

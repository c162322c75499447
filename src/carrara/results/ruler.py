"""RULER's table: the mean of its thirteen tasks at each length, and the averages over lengths.

The weighted averages of RULER's table count lengths by their order, the longest most (`increasing`) or least
(`decreasing`), for users whose contexts are mostly long or mostly short. Each variant of the needle task counts as one
task. A mean of fewer tasks is not RULER's, so what is missing belongs to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from carrara.results.result import Result
from carrara.results.scores import RULER, stat
from carrara.results.series import series_of

TASKS = (
    *(f"niah_{name}" for name in ("single_1", "single_2", "single_3", "multikey_1", "multikey_2", "multikey_3")),
    *("niah_multivalue", "niah_multiquery", "vt", "cwe", "fwe", "qa_1", "qa_2"),
)
"""RULER's names of its tasks."""
_OURS, _PUBLISHED = "classic/", "published/ruler-"
"""What the names of tasks begin with: ours, and RULER's own samples. They are never in one mean."""
_NEEDED = {"niah", "vt", "cwe", "fwe"}
"""The tasks without which results are not taken for a run of RULER's."""


@dataclass(frozen=True)
class RulerRow:
    """The means of one model by one score."""

    model: str
    metric: str
    """The paper score that counts. Empty: our score."""
    means: Mapping[int, float]
    """The mean of the tasks at each length, from the shortest on."""
    missing: Sequence[str]
    """RULER's names of the tasks that are missing at any of these lengths, and so are left out at all of them."""

    @property
    def average(self) -> float:
        return self._mean_by([1] * len(self.means))

    @property
    def increasing(self) -> float:
        return self._mean_by(range(1, len(self.means) + 1))

    @property
    def decreasing(self) -> float:
        return self._mean_by(range(len(self.means), 0, -1))

    def _mean_by(self, weights: Sequence[int]) -> float:
        """
        >>> llama = RulerRow("", "", {4: 96.5, 8: 95.8, 16: 95.4, 32: 94.8, 64: 88.4, 128: 66.6}, ())
        >>> [round(mean, 1) for mean in (llama.average, llama.increasing, llama.decreasing)]
        [89.6, 85.5, 93.7]
        """
        pairs = zip(weights, self.means.values(), strict=True)
        return sum(weight * mean for weight, mean in pairs) / sum(weights)


def ruler_rows(results: Sequence[Result]) -> list[RulerRow]:
    """Return two rows for each model that was asked RULER's tasks: by our score, and by RULER's."""
    series_for = series_of(results)
    models: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        for beginning in (_OURS, _PUBLISHED):
            if result.task.startswith(beginning):
                models.setdefault((str(series_for(result)), beginning), []).append(result)
    return [
        row
        for (model, beginning), model_results in models.items()
        if {ruler_name(result).partition("_")[0] for result in model_results} >= _NEEDED
        for metric in ("", RULER)
        if (row := _row(f"{model} (RULER's samples)" if beginning == _PUBLISHED else model, metric, model_results))
        is not None
    ]


def _row(model: str, metric: str, results: Sequence[Result]) -> RulerRow | None:
    cells: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        if (name := ruler_name(result)) in TASKS:
            cells.setdefault((name, result.length), []).append(replace(result, metric=metric))
    stats = {cell: stat(group) for cell, group in cells.items()}
    scores = {cell: cell_stat.mean for cell, cell_stat in stats.items() if cell_stat.scored}
    lengths = sorted({length for _, length in scores})
    complete_tasks = [name for name in TASKS if all((name, length) in scores for length in lengths)]
    if not complete_tasks:
        return None
    means = {length: sum(scores[name, length] for name in complete_tasks) / len(complete_tasks) for length in lengths}
    return RulerRow(model, metric, means, [name for name in TASKS if name not in complete_tasks])


def ruler_name(result: Result) -> str:
    """Return RULER's name of the task."""
    name = result.task.removeprefix(_OURS).removeprefix(_PUBLISHED)
    return f"{name}_{result.labels.get('variant', '')}" if name == "niah" else name

"""Estimate the requests, tokens, cost and time of a run."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrara.operations.printed import Recorded
from carrara.operations.run import TerminalConfig, each_config, split_settings
from carrara.runs.config import PlanConfig
from carrara.signature import takes

if TYPE_CHECKING:
    from carrara.runs.estimate import EstimateLine


@dataclass(frozen=True, repr=False)
class Estimate(Recorded):
    """The predicted requests, tokens, cost and time of a run. It prints as `carrara plan` does.

    Examples:
        >>> import carrara
        >>> estimate = carrara.plan("qa1", "openai/gpt-4o", lengths="4k", n=10, price=(2.5, 10))
        >>> [(row.task, row.length, row.requests) for row in estimate.rows]
        [('babilong/qa1', 4096, 10)]
    """

    rows: Sequence["EstimateLine"]
    """The estimate for each task at each length."""
    remarks: Sequence[str] = ()
    """Sentences about replies that the run's folder has, and about its budget."""

    @property
    def total(self) -> dict[str, float | None]:
        """Requests, tokens, money and seconds of the whole run. None stands for what is not known."""
        from carrara.runs.estimate import total

        return total(self.rows)

    def frame(self) -> Any:
        """Return the estimate as a pandas data frame.

        Returns:
            A `pandas.DataFrame` with a row for each task at each length.

        Examples:
            >>> import carrara
            >>> carrara.plan("qa1,qa2", "openai/gpt-4o", lengths="4k", n=10).frame()["requests"].tolist()
            [10, 10]
        """
        from carrara.util.table import frame

        return frame([asdict(row) for row in self.rows])

    def lines(self) -> Iterable[str]:
        from carrara.runs.estimate import format_estimate

        return format_estimate(self.rows, self.remarks)

    def record(self) -> dict[str, Any]:
        from carrara.runs.estimate import warnings

        return {
            "lines": [asdict(row) for row in self.rows],
            "total": self.total,
            "warnings": [*self.remarks, *warnings(self.rows)],
        }


@takes(PlanConfig)
def plan(config: PlanConfig) -> Estimate:
    """Estimate the requests, tokens, cost and time of a run, without asking a model.

    It takes all settings of a run. Replies that the folder of the run has already are left out.

    Returns:
        The estimate, which prints as a table.

    Raises:
        UsageError: A task, a length or the price is wrong.

    Examples:
        >>> import carrara
        >>> carrara.plan("sync/graph", "openai/gpt-4o", lengths="32k", n=10, price=(2.5, 10, 1.25)).total["requests"]
        30
    """
    return _estimate([config])


def plan_models(**settings: Any) -> Estimate:
    """Estimate the requests, tokens, cost and time of a run, without asking a model.

    It takes all options of `carrara run`. Those that do not change the estimate are checked and have no effect.

    Args:
        settings: The fields of `PlanConfig` and of `TerminalConfig`. `model` and `reader` may name several.
    """
    _, plan_settings = split_settings(settings)
    return _estimate(each_config(PlanConfig, plan_settings))


plan_models.config = (PlanConfig, TerminalConfig)  # type: ignore[attr-defined]


def _estimate(configs: Sequence[PlanConfig]) -> Estimate:
    from carrara.runs.estimate import estimate

    estimates = [estimate(config, config) for config in configs]
    return Estimate(
        [row for run_estimate in estimates for row in run_estimate.lines],
        [note for run_estimate in estimates for note in run_estimate.notes],
    )

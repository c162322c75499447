"""The Python function of `carrara plan`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrara.runs.estimate import EstimateLine, estimate, format_estimate, total
from carrara.runs.plan_config import PlanConfig
from carrara.signature import takes


@dataclass(frozen=True, repr=False)
class Estimate:
    """The predicted requests, tokens, cost and time of a run. It prints as `carrara plan` does.

    Examples:
        >>> import carrara
        >>> estimate = carrara.plan("qa1", "openai/gpt-4o", lengths="4k", n=10, price=(2.5, 10))
        >>> [(line.task, line.length, line.requests) for line in estimate.lines]
        [('babilong/qa1', 4096, 10)]
    """

    lines: Sequence[EstimateLine]
    """The estimate for each task at each length."""
    notes: Sequence[str] = ()
    """Sentences about replies that the run's folder has, and about its budget."""

    @property
    def total(self) -> dict[str, float | None]:
        """Requests, tokens, money and seconds of the whole run. None stands for what is not known."""
        return total(self.lines)

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

        return frame([asdict(line) for line in self.lines])

    def __repr__(self) -> str:
        return "\n".join(format_estimate(self.lines, self.notes))


@takes(PlanConfig)
def plan(config: PlanConfig) -> Estimate:
    """Estimate the requests, tokens, cost and time of a run, without asking a model.

    It takes all arguments of `carrara.run`. Replies that the folder of the run has already are left out.

    Returns:
        The estimate, which prints as a table.

    Raises:
        UsageError: A task, a length or the price is wrong.

    Examples:
        >>> import carrara
        >>> carrara.plan("sync/graph", "openai/gpt-4o", lengths="32k", n=10, price=(2.5, 10, 1.25)).total["requests"]
        30
    """
    found = estimate(config, config)
    return Estimate(found.lines, found.notes)

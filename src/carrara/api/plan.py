"""Estimates in Python: what a run would take."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrara.api._signature import takes
from carrara.planning.config import PlanConfig
from carrara.planning.estimate import Line, estimate, said, total


@dataclass(frozen=True, repr=False)
class Estimate:
    """What a run would take. It prints as `carrara plan` does."""

    lines: Sequence[Line]

    @property
    def total(self) -> dict[str, float | None]:
        """Requests, tokens, money and seconds of the whole run."""
        return total(self.lines)

    def frame(self) -> Any:
        """Return a pandas data frame with a row for each task at each length."""
        from carrara.util.to_pandas import frame

        return frame([asdict(line) for line in self.lines])

    def __repr__(self) -> str:
        return "\n".join(said(self.lines))


@takes(PlanConfig)
def plan(config: PlanConfig) -> Estimate:
    """Estimate what `carrara.run` would take. No model is asked.

    >>> import carrara
    >>> carrara.plan("sync/graph", "openai/gpt-4o", lengths="32k", n=10, price=(2.5, 10, 1.25)).total["requests"]
    30
    """
    return Estimate(estimate(config))

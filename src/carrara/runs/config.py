"""What a run is: its jobs, who is asked, and how."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from carrara.core.errors import UsageError
from carrara.core.many import check_many
from carrara.core.recipe import Recipe
from carrara.runs.budget import Budget
from carrara.runs.prices import Price
from carrara.servers.model_tokenizer import check_style
from carrara.servers.retry import LIMIT, PATIENCE

if TYPE_CHECKING:
    from inspect_ai.model import Model

BATCHING = ("openai", "anthropic", "google", "grok", "together")
"""Providers whose batch interface Inspect speaks."""
ALL = sys.maxsize
"""Of a job's worlds: as many as are given."""


class Job(NamedTuple):
    """A test at a length."""

    first: Recipe
    worlds: int
    """How many, from the first recipe's on."""


class Shard(NamedTuple):
    """One of several commands that share a run."""

    number: int
    """From 1."""
    of: int

    @staticmethod
    def parse(text: str) -> "Shard":
        """
        >>> Shard.parse("2/4")
        Shard(number=2, of=4)
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise UsageError(f"{text!r} is no shard: give its number and how many there are, such as 2/4")
        return Shard(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True)
class Plan:
    """What is to be asked, of whom, and how."""

    jobs: tuple[Job, ...]
    model: str
    out: Path
    prompts: Path | None = None
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_tokens: int | None = None
    temperature: float | None = 0.0
    connections: int | None = None
    retrieve: str = ""
    """How contexts are shortened before they are sent, if they are."""
    cot: str = ""
    """How the model is to reason: free, none, exactly:N."""
    any_size: bool = False
    """Whether it may send more than `MOST` tokens."""
    within: bool = False
    """Whether lengths hold the answer too."""
    perplexity: bool = False
    """Whether the server is to tell what the prompt's tokens cost the model."""
    limit: float | None = LIMIT
    """Seconds for one request,"""
    patience: float = PATIENCE
    """and for a server that went away to come back."""
    batch: bool | int = False
    """Whether requests go by the provider's batch interface, and how many to a batch at most."""
    budget: Budget | None = None
    """What it may use."""
    price: Price | None = None
    ask: Callable[[int, float | None], bool] | None = None
    """Whether to send so many tokens for about so much money; nobody is asked where there is none."""
    shard: Shard | None = None
    """Which part of it is this command's."""
    anywhere: bool = False
    """Whether it does not matter at which address its model is: parts of a run have servers of their own."""
    own: "Callable[[], Model] | None" = None
    """Makes the model, where its name alone cannot: somebody's function."""

    def __post_init__(self) -> None:
        if self.base_url and self.here:
            raise UsageError(f"{self.model} runs here and has no address: leave `base_url` out")
        if self.perplexity and self.here:
            raise UsageError(
                f"{self.model} does not tell what a prompt costs it: `perplexity` wants a server that does"
            )
        provider = self.model.partition("/")[0]
        if self.batch and provider not in BATCHING:
            raise UsageError(
                f"{provider} has no batch interface that Inspect knows; `batch` is for {', '.join(BATCHING)}"
            )
        if self.shard and self.budget and self.budget.kind != "time":
            raise UsageError(
                f"parts of a run do not know what the others use, and would pass `budget={self.budget}` together: "
                "leave it out, or give a time"
            )
        if self.within and any(job.first.task.startswith("published/") for job in self.jobs):
            raise UsageError("`within` makes prompts shorter, and published ones are as they are: leave it out")
        check_style(self.model, self.jobs[0].first.style)
        check_many(sum(job.worlds for job in self.jobs if job.worlds < ALL), "worlds", self.any_size)

    @property
    def here(self) -> bool:
        """Whether its model runs in this process."""
        return self.model.partition("/")[0] in ("carrara", "function")

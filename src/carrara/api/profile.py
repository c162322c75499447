"""Profiles in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from carrara.api.coerce import File, Length, length_of, whole
from carrara.api.run import beside_loop
from carrara.core.places import place
from carrara.core.result import MIN_BASE_SCORE
from carrara.profiling.adaptive import Card

if TYPE_CHECKING:
    from carrara.models.function import Function


@dataclass(frozen=True, repr=False)
class Profile:
    """A score card: the effective length of a model by capability; it prints as `carrara profile` does."""

    cards: Sequence[Card]

    def frame(self) -> Any:
        """A pandas data frame with a row for each capability."""
        from carrara.results.frame import frame

        return frame([asdict(card) for card in self.cards])

    def __repr__(self) -> str:
        from carrara.profiling.adaptive import said

        return "\n".join(said(self.cards))


def profile(
    model: "str | Function",
    /,
    *,
    out: File,
    capabilities: str = "",
    upto: Length = "128k",
    rule: str = "base:0.85",
    within: float = 2.0,
    budget: int | None = None,
    batch: int = 8,
    tokenizer: str = "",
    base_url: str | None = None,
    model_args: Mapping[str, Any] | None = None,
    max_tokens: int | None = None,
    connections: int | None = None,
    min_base_score: float = MIN_BASE_SCORE,
) -> Profile:
    """Estimate a model's effective length for each of several capabilities, in an ordinary run folder.

    `capabilities` are some of finding, tracking, telling, surveying, reasoning, knowing, copying, or tests; `rule` is
    what counts as held (`base:0.85`, `above:0.85`, `half`); `within` is how narrow the intervals are to be, and
    `budget` the tokens of prompts at most. For an effective length the score at the shortest length has to exceed
    `min_base_score`, by its 95 % interval. Stopped at any moment, the same call goes on.
    """
    from carrara.profiling.adaptive import profiled

    own = None
    if not isinstance(model, str):
        from carrara.models.function import model_of, name_of

        own, model = partial(model_of, model), name_of(model)
    name = model
    return Profile(
        beside_loop(
            lambda: profiled(
                name,
                place(out),
                capabilities=capabilities,
                upto=length_of(upto),
                rule=rule,
                within=within,
                budget=budget,
                batch=whole("batch", batch, 1),
                tokenizer=tokenizer,
                base_url=base_url,
                model_args=model_args or {},
                max_tokens=max_tokens,
                connections=connections,
                min_base_score=min_base_score,
                own=own,
            )
        )
    )

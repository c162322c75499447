"""Plans in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrara.api.coerce import File, Length, Lengths, Value, drawn_of, length_of, lengths_of, whole
from carrara.api.results import Results
from carrara.api.run import Tests, selections_of
from carrara.core.keys import Split
from carrara.core.places import place
from carrara.core.types import Style
from carrara.planning.estimate import Line


@dataclass(frozen=True, repr=False)
class Planned:
    """What a run would take; it prints as `carrara plan` does."""

    lines: Sequence[Line]

    @property
    def total(self) -> dict[str, float | None]:
        from carrara.planning.estimate import total

        return total(self.lines)

    def frame(self) -> Any:
        """A pandas data frame with a row for each test at each length."""
        from carrara.results.frame import frame

        return frame([asdict(line) for line in self.lines])

    def __repr__(self) -> str:
        from carrara.planning.estimate import said

        return "\n".join(said(self.lines))


def plan(
    tests: Tests,
    model: str,
    /,
    *,
    lengths: Lengths | None = None,
    n: int | None = None,
    params: Mapping[str, Value] | None = None,
    seed: int = 0,
    split: Split = "test",
    style: Style = "chat",
    tokenizer: str = "",
    prompts: File | None = None,
    published: str = "",
    price: Sequence[float] | None = None,
    like: Results | File | None = None,
    speed: float | None = None,
    window: Length | None = None,
) -> Planned:
    """What `carrara.run` would take, before it does; no model is asked.

    `price` is money for a million tokens: of prompts, of replies and, if there is one, of prompts that are remembered.
    `like` are results of an earlier run of the model, or its folder: how long its replies are, and its pace.

    >>> import carrara
    >>> carrara.plan("sync/graph", "openai/gpt-4o", lengths="32k", n=10, price=(2.5, 10, 1.25)).total["requests"]
    30
    """
    from carrara.logs.replies import read_results
    from carrara.planning.estimate import forecast
    from carrara.runs.jobs import Wanted, jobs
    from carrara.runs.prices import Price

    drawn = drawn_of(seed, split, style, prompts)
    wanted = Wanted(
        tests=selections_of(tests, params),
        lengths=None if lengths is None else lengths_of(lengths),
        n=None if n is None else whole("n", n, 1),
        drawn=drawn,
        tokenizer=tokenizer,
        published=published,
    )
    before = list(like) if isinstance(like, Results) else read_results(place(like)) if like is not None else []
    fits = None if window is None else length_of(window)
    priced = None if price is None else Price(*price)
    return Planned(forecast(jobs(wanted, model), model, priced, before, speed, fits, drawn.pack()))

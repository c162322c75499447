"""Flags that several commands take and Python callers do not need."""

from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import Parameter, Token

from carrara.core.spread import Engine
from carrara.options import text


def _several(_: object, tokens: Sequence[Token]) -> list[str]:
    return list(dict.fromkeys(token.value for token in tokens))


def several(metavar: str, help: str) -> Parameter:
    """Return how an option is taken that may be given several times."""
    return Parameter(converter=_several, n_tokens=1, negative=(), metavar=metavar, show_default=False, help=help)


Selection = Annotated[str, text("TASKS", help="Tasks by name, suite or pattern, separated by commas, or `all`.")]
Json = Annotated[bool, Parameter(show_default=False, name="--json", help="Print JSON instead of a table.")]
Force = Annotated[bool, Parameter(show_default=False, help="Replace a file that this command did not write.")]
Allow = Annotated[
    list[str],
    several("TOKENIZER", "Let ids from others name this tokenizer outside of the package, hf:NAME or server:URL."),
]
Score = Annotated[
    Literal["sound", "paper"],
    Parameter(help="Which score counts, `sound` (ours) or `paper` (the paper's own, where it has one)."),
]
MinBaseScore = Annotated[
    float,
    Parameter(
        metavar="SCORE",
        help="What the score at the shortest length has to exceed for an effective length, by its 95 % interval.",
    ),
]
Workers = Annotated[
    int | None, Parameter(metavar="N", help="Processes that work at the same time. By default one for each core.")
]
WorkerEngine = Annotated[
    Engine,
    Parameter(
        name="--engine",
        help="Where the processes run, on this machine or on a Ray cluster (RAY_ADDRESS, or a Ray on this machine).",
    ),
]
AllowLarge = Annotated[bool, Parameter(show_default=False, help="Do not refuse to make more than a million.")]
N = Annotated[int, Parameter(name="-n", metavar="N", help="Instances for each task and length.")]
Model = Annotated[str, text("MODEL", help="Name of the model, as for `carrara run`.")]

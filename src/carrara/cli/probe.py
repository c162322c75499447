"""carrara probe: measure a recurrent model on long inputs."""

import json
from typing import Annotated, Any

from cyclopts import Parameter

from carrara.cli._flags import MinBaseScore, N, RunSelection, Threads
from carrara.cli._output import table
from carrara.cli.run import carry_out
from carrara.options import Folder, ItemOptions, Lengths, check_whole, merge_options, text
from carrara.results.result import MIN_BASE_SCORE
from carrara.runs.config import RunConfig

MODEL_HELP = "A class, or an object, with init(batch), step(state, tokens) and nbytes(state), as package.module:Model."


def probe(
    model: Annotated[str, text("MODEL", help=MODEL_HELP)],
    /,
    *,
    out: Annotated[Folder, text("DIR", help="Folder of the run. The same command resumes a run that was stopped.")],
    tasks: Annotated[RunSelection, Parameter(show_default=True)] = "qa1",
    lengths: Lengths = "1k,4k,16k",
    n: N = 20,
    items: ItemOptions | None = None,
    segment: Annotated[int | None, Parameter(metavar="N")] = None,
    batch_size: Annotated[int | None, Parameter(metavar="N")] = None,
    threads: Threads = 1,
    min_base_score: MinBaseScore = MIN_BASE_SCORE,
) -> int:
    """Measure a recurrent model on long inputs: the score, the state and the speed of a model of your own.

    Example: carrara probe mine:Memory --tasks qa1,qa2 --lengths 1k,16k,128k -n 20 --out runs/mine

    Args:
        segment: Tokens that the model reads at a time. By default its own `segment`, or 512.
        batch_size: Items that are read at the same time. By default 32.
    """
    from carrara.recurrent import require_torch
    from carrara.runs.replies import read_replies
    from carrara.runs.stream_cost import costs
    from carrara.util.files import whole_file
    from carrara.util.quantities import write_length

    require_torch()
    args: dict[str, Any] = {"threads": threads}
    for name, argument, value in (("segment", "segment", segment), ("batch_size", "copies", batch_size)):
        if value is not None:
            args[argument] = check_whole(name, value, 1)
    _check_model(model)
    config = RunConfig(
        tasks, f"carrara/probe:{model}", lengths=lengths, n=n, out=out, model_args=args, **merge_options(items)
    )
    code = carry_out(config, None, min_base_score)
    found = costs(read_replies(config.out))
    print()
    table(
        ["task", "length", "n", "score", "state", "tokens/s", "memory"],
        [
            [
                one.task,
                write_length(one.length),
                f"{one.n}",
                f"{one.score:.3f}",
                f"{one.state:,} bytes",
                f"{one.speed:,.0f}",
                f"{one.resident >> 20:,} MB",
            ]
            for one in found
        ],
    )
    with whole_file(config.out / "probe.json") as file:
        json.dump([one._asdict() for one in found], file, indent=1)
    return code


def _check_model(model: str) -> None:
    """Check that a model works before anything is made for it."""
    from carrara.runs.streaming import load_model

    load_model(model)

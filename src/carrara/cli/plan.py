"""carrara plan: estimate the requests, tokens, cost and time of a run."""

from dataclasses import asdict
from typing import Annotated

from carrara.cli._flags import MODEL_HELP, Json, RunSelection, each_reader, several
from carrara.cli._output import print_json, show
from carrara.options import merge_options
from carrara.planning.config import EstimateOptions, PlanConfig
from carrara.readers.options import ReaderOptions
from carrara.runs.jobs import RunItems


def plan(
    tasks: RunSelection,
    /,
    *,
    model: Annotated[list[str], several("MODEL", f"{MODEL_HELP} Several are told apart.")],
    items: RunItems | None = None,
    reader: ReaderOptions | None = None,
    options: EstimateOptions | None = None,
    as_json: Json = False,
) -> int:
    """Estimate the requests, tokens, cost and time of a run, without asking a model.

    Example: carrara plan paper:michelangelo --model openai/gpt-4o --price 2.5,10,1.25
    """
    from carrara.planning.estimate import estimate, format_estimate, total, warnings

    given = merge_options(items, options)
    lines = [
        line
        for name in model
        for one in each_reader(reader)
        for line in estimate(PlanConfig(tasks, name, **given, **one))
    ]
    if as_json:
        print_json({"lines": [asdict(line) for line in lines], "total": total(lines), "warnings": warnings(lines)})
        return 0
    for line in format_estimate(lines):
        show(line)
    return 0

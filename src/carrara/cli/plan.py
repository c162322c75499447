"""carrara plan: estimate the requests, tokens, cost and time of a run."""

from dataclasses import asdict
from typing import Annotated

from carrara.cli._flags import (
    MODEL_HELP,
    Allow,
    AskAbove,
    DryRun,
    Json,
    MinBaseScore,
    RunSelection,
    each_reader,
    several,
)
from carrara.cli._output import print_json, show
from carrara.cli.run import read_ask_above
from carrara.options import ServerOptions, merge_options
from carrara.results.result import MIN_BASE_SCORE
from carrara.runs.config import RunConfig, RunOptions
from carrara.runs.jobs import RunItems
from carrara.runs.plan_config import EstimateOptions


def plan(
    tasks: RunSelection,
    /,
    *,
    model: Annotated[list[str], several("MODEL", f"{MODEL_HELP} Several are told apart.")],
    items: RunItems | None = None,
    server: ServerOptions | None = None,
    options: RunOptions | None = None,
    sources: EstimateOptions | None = None,
    ask_above: AskAbove = "100Mtok",
    dry_run: DryRun = False,
    min_base_score: MinBaseScore = MIN_BASE_SCORE,
    allow: Allow | None = None,
    as_json: Json = False,
) -> int:
    """Estimate the requests, tokens, cost and time of a run, without asking a model.

    It takes all options of `carrara run`. Those that do not change the estimate are checked and have no effect.

    Example: carrara plan paper:michelangelo --model openai/gpt-4o --price 2.5,10,1.25
    """
    from carrara.runs.estimate import estimate, format_estimate, total, warnings
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    read_ask_above(ask_above)
    given = merge_options(items, server, options)
    configs = [RunConfig(tasks, name, **{**given, **one}) for name in model for one in each_reader(options)]
    estimates = [estimate(config, sources) for config in configs]
    lines = [line for found in estimates for line in found.lines]
    notes = [note for found in estimates for note in found.notes]
    if as_json:
        said = [*notes, *warnings(lines)]
        print_json({"lines": [asdict(line) for line in lines], "total": total(lines), "warnings": said})
        return 0
    for line in format_estimate(lines, notes):
        show(line)
    return 0

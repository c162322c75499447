"""carrara run: run tasks on a model."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

from carrara.cli._flags import Allow, AskAbove, DryRun, Json, MinBaseScore, RunSelection, each_reader, several
from carrara.cli._output import print_json, show, show_lines
from carrara.cli._stopping import stopped_code
from carrara.options import ServerOptions, merge_options
from carrara.results.result import MIN_BASE_SCORE
from carrara.runs.config import RunConfig, RunOptions
from carrara.runs.jobs import RunItems
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import count, write_length
from carrara.util.quoting import shell_word

if TYPE_CHECKING:
    from carrara.runs.budget import Budget
    from carrara.runs.run import Confirm, Outcome

MODEL_HELP = (
    "Name of an Inspect model (openai/…, vllm/…, openai-api/…), the embedded model carrara/smollm2, a local file "
    "carrara/gguf:PATH, or a reference (carrara/oracle, carrara/chance, carrara/majority, carrara/echo). Several are "
    "run one after the other."
)
FinishedRun = tuple[RunConfig, "Outcome"]
"""A run with its outcome."""
PAGE = "report.html"
"""The report in a run's folder."""
FEW = 6
"""The number of missing cells that are named."""


def run(
    tasks: RunSelection,
    /,
    *,
    model: Annotated[list[str], several("MODEL", MODEL_HELP)],
    items: RunItems | None = None,
    server: ServerOptions | None = None,
    options: RunOptions | None = None,
    ask_above: AskAbove = "100Mtok",
    dry_run: DryRun = False,
    min_base_score: MinBaseScore = MIN_BASE_SCORE,
    allow: Allow | None = None,
    as_json: Json = False,
) -> int:
    """Run tasks on a model. You can stop a run at any time; the same command resumes it.

    Example: carrara run latent_list --model carrara/smollm2 --lengths 0,1k,4k -n 50
    """
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    given = merge_options(items, server, options)
    # Any wrong run is refused before the first one begins.
    configs = [RunConfig(tasks, name, **{**given, **one}) for name in model for one in each_reader(options)]
    if dry_run:
        return _show_dry_run(configs)
    confirmed = _above(read_ask_above(ask_above))
    if options is None or options.out is None:
        for config in configs:
            logger.info(f"the run's folder is {config.out}; give `out={config.out}` to resume it on another day")
    print_all = partial(_print_results, min_base_score=min_base_score, as_json=as_json)
    if len(configs) == 1:
        return _stopped_or(configs[0], print_all, min_base_score, confirmed)
    failed, finished, code = list[str](), list[FinishedRun](), 0
    for config in configs:
        show(" ".join(filter(None, ("carrara:", config.model, config.setting_of_reader))), file=sys.stderr)
        try:
            code = _stopped_or(config, finished.extend, min_base_score, confirmed)
        except (RunError, UsageError) as error:
            failed.append(" ".join(filter(None, (config.model, config.setting_of_reader))))
            logger.warning(str(error))
        if code == stopped_code():
            break
    if finished or as_json:
        print_all(finished)
    if failed and not code:
        raise RunError(f"{', '.join(failed)} failed, of {len(configs)} runs; the same command asks again")
    return code


def _show_dry_run(configs: Sequence[RunConfig]) -> int:
    """Print what runs would send, and what their servers support."""
    from carrara.runs.estimate import estimate, format_estimate
    from carrara.servers.probe import is_probed, probe_server
    from carrara.servers.server_info import server_info_lines

    estimates = [estimate(config) for config in configs]
    for line in format_estimate(
        [line for found in estimates for line in found.lines], [note for found in estimates for note in found.notes]
    ):
        show(line)
    for config in configs:
        if is_probed(config.model, config.base_url, config.model_args):
            show()
            for line in server_info_lines(probe_server(config.model, config.base_url, config.model_args)):
                show(line)
    return 0


def read_ask_above(written: str) -> "Budget":
    """Return the tokens or the money above which a run asks for confirmation."""
    from carrara.runs.budget import read_budget

    above = read_budget(written)
    if above.kind == "time":
        raise UsageError(f"`ask_above={written}` is a time: give tokens or money, such as 100Mtok or 20usd")
    return above


def _above(above: "Budget") -> Callable[[RunConfig], "Confirm | None"]:
    """Return a function that asks the person at the terminal before many tokens are sent to a model."""

    def confirm_for(config: RunConfig) -> "Confirm | None":
        if config.allow_large or not sys.stdin.isatty() or config.model.startswith("carrara/"):
            return None

        def confirm(tokens: int, money: float | None) -> bool:
            much = money if above.kind == "money" else tokens
            if much is None:
                raise UsageError(
                    f"`ask_above={above}` is money, and no price is known: give `price`, or tokens (100Mtok)"
                )
            if much <= above.most:
                return True
            about = f", at a cost of about {money:,.2f}," if money is not None else ""
            print(
                f"carrara: {tokens:,} tokens of prompts{about} will be sent to {config.model}. Continue? [y/N] ",
                end="",
                file=sys.stderr,
                flush=True,
            )
            return sys.stdin.readline().strip().lower() in ("y", "yes")

        return confirm

    return confirm_for


def _stopped_or(
    config: RunConfig,
    hand: Callable[[Sequence[FinishedRun]], None],
    min_base_score: float,
    confirm_for: Callable[[RunConfig], "Confirm | None"],
) -> int:
    try:
        return carry_out(config, hand, min_base_score, confirm_for(config))
    except KeyboardInterrupt:
        print("carrara: stopped; the same command resumes the run", file=sys.stderr)
        sys.stderr.flush()
        if config.in_process:
            os._exit(stopped_code())  # llama.cpp cannot be interrupted, and Python would wait for its reply
        return stopped_code()


def carry_out(
    config: RunConfig,
    hand: Callable[[Sequence[FinishedRun]], None] | None = None,
    min_base_score: float = MIN_BASE_SCORE,
    confirm: "Confirm | None" = None,
) -> int:
    """Run, write the report, and print the table of results or pass the run to `hand`."""
    from carrara.report.page import write_report
    from carrara.report.snippets import SnippetFinder, find_shortcuts
    from carrara.results.summary import Summary
    from carrara.runs.manifest import parts
    from carrara.runs.run import run
    from carrara.util.progress import make_console

    outcome = run(config, make_console(), confirm)
    summary = Summary(
        outcome.folder,
        find_shortcuts(outcome.folder),
        parts(config.out, outcome.folder),
        min_base_score=min_base_score,
    )
    write_report(summary, config.out / PAGE, config.out.resolve().name, SnippetFinder())
    if hand:
        hand([(config, outcome)])
    else:
        _print_results([(config, outcome)], min_base_score)
    _conclude(config, outcome)
    return 0


def _print_results(finished: Sequence[FinishedRun], min_base_score: float, as_json: bool = False) -> None:
    """Print one table of the results of all runs, or their rows as JSON."""
    from carrara.report.snippets import find_shortcuts
    from carrara.report.tables import summary_lines
    from carrara.results.summary import Summary
    from carrara.runs.manifest import parts
    from carrara.tokenizers.gguf import logged_name, split_digest

    own = [result for _, outcome in finished for result in outcome.results]
    folders = {config.out: outcome.folder for config, outcome in finished}
    among = [result for results in folders.values() for result in results]
    models = {split_digest(logged_name(config.model))[0] for config, _ in finished}
    unasked = dict.fromkeys(config.out for config, outcome in finished if outcome.unasked)
    lacking = [part for out in unasked for part in parts(out, own) if part.subject[0] in models]
    summary = Summary(own, find_shortcuts(among), lacking, among, min_base_score)
    if as_json:
        print_json(summary.records())
        return
    show_lines(summary_lines(summary))
    show()
    for out in folders:
        show(f"report: {out / PAGE}\nlogs:   inspect view --log-dir {shell_word(out / 'logs')}")


def _conclude(config: RunConfig, outcome: "Outcome") -> None:
    """Say how many requests were made, and raise if there is no score of some items."""
    from carrara.results import summarize
    from carrara.runs.run import describe_failures

    print(f"carrara: {_requests(outcome)}", file=sys.stderr)
    if outcome.unasked:
        was = "was" if outcome.unasked == 1 else "were"
        logger.warning(
            f"{count(outcome.unasked, 'item')} {was} not asked: `budget={config.budget}` has no room for them; "
            "the same command with more resumes"
        )
    if failures := describe_failures(outcome.results):
        raise RunError(f"{failures}; the same command asks them again")
    if blank := [row for row in summarize(outcome.results, among=outcome.folder) if not row.stat.scored]:
        cells = ", ".join(f"{row.task} at {write_length(row.length)} ({row.stat.unscored})" for row in blank[:FEW])
        raise RunError(
            f"there is no score of {cells}{' and more' if len(blank) > FEW else ''}: nothing was measured there"
        )


def _requests(outcome: "Outcome") -> str:
    """Print the number of requests, and why it differs from the number of items."""
    made, items = outcome.requests, len(outcome.results)
    again = f", {outcome.again:,} of them after one that failed" if outcome.again else ""
    return f"{count(made, 'request')} {'was' if made == 1 else 'were'} made for {count(items, 'item')}{again}"

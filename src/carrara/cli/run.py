"""carrara run: run tasks on a model."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from carrara.cli._flags import Allow, Json, MinBaseScore, RunSelection, each_reader, several
from carrara.cli._output import print_json, print_summary, show
from carrara.cli._stopping import stopped_code
from carrara.options import Flag, ServerOptions, merge_options, settings_of, text
from carrara.readers.options import ReaderOptions
from carrara.result import MIN_BASE_SCORE
from carrara.runs.config import RunConfig, RunOptions
from carrara.runs.jobs import RunItems
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import count, write_length
from carrara.util.quoting import shell_word

if TYPE_CHECKING:
    from carrara.runs.run import Confirm, Outcome

MODEL_HELP = (
    "Name of an Inspect model (openai/…, vllm/…, openai-api/…), the embedded model carrara/smollm2, a local file "
    "carrara/gguf:PATH, or a reference (carrara/oracle, carrara/chance, carrara/majority, carrara/echo). Several are "
    "run one after the other."
)
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
    ask_above: Annotated[str, text("100Mtok|20usd", shows_default=True)] = "100Mtok",
    dry_run: Flag = False,
    min_base_score: MinBaseScore = MIN_BASE_SCORE,
    allow: Allow | None = None,
    as_json: Json = False,
) -> int:
    """Run tasks on a model. You can stop a run at any time; the same command resumes it.

    Example: carrara run latent_list --model carrara/smollm2 --lengths 0,1k,4k -n 50

    Args:
        ask_above: On a terminal, ask before sending more than that to a model that is not carrara/….
        dry_run: Show what the run would send and what its server supports, and send nothing else.
    """
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    given = merge_options(items, server, options)
    # Any wrong run is refused before the first one begins.
    configs = [RunConfig(tasks, name, **{**given, **one}) for name in model for one in each_reader(options)]
    if dry_run:
        return _show_dry_run(configs)
    confirmed = _above(ask_above)
    if options is None or options.out is None:
        for config in configs:
            logger.info(f"the run's folder is {config.out}; give `out={config.out}` to resume it on another day")
    if len(configs) == 1:
        return _stopped_or(configs[0], print_json if as_json else None, min_base_score, confirmed)
    failed, rows = list[str](), list[Any]()
    for config in configs:
        show(" ".join(filter(None, ("carrara:", config.model, config.setting_of_reader))), file=sys.stderr)
        try:
            code = _stopped_or(config, rows.extend if as_json else None, min_base_score, confirmed)
            if code == stopped_code():
                return code
        except (RunError, UsageError) as error:
            failed.append(" ".join(filter(None, (config.model, config.setting_of_reader))))
            logger.warning(str(error))
    if as_json:
        print_json(rows)
    if failed:
        raise RunError(f"{', '.join(failed)} failed, of {len(configs)} runs; the same command asks again")
    return 0


def _show_dry_run(configs: Sequence[RunConfig]) -> int:
    """Print what runs would send, and what their servers support."""
    from carrara.planning.config import PlanConfig
    from carrara.planning.estimate import estimate, format_estimate
    from carrara.servers.probe import is_probed, probe_server
    from carrara.servers.server_info import server_info_lines

    lines = []
    for config in configs:
        given = settings_of(config, RunItems) | settings_of(config, ReaderOptions)
        plan = PlanConfig(config.tasks, config.model, **given, price=config.model_price)
        lines += estimate(plan)
    for line in format_estimate(lines):
        show(line)
    for config in configs:
        if is_probed(config.model, config.base_url, config.model_args):
            show()
            for line in server_info_lines(probe_server(config.model, config.base_url, config.model_args)):
                show(line)
    return 0


def _above(written: str) -> Callable[[RunConfig], "Confirm | None"]:
    """Return a function that asks the person at the terminal before many tokens are sent to a model."""
    from carrara.runs.budget import read_budget

    above = read_budget(written)
    if above.kind == "time":
        raise UsageError(f"`ask_above={written}` is a time: give tokens or money, such as 100Mtok or 20usd")

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
            about = f", about {money:,.2f} of money" if money is not None else ""
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
    hand: Callable[[Any], None] | None,
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
    hand: Callable[[Any], None] | None = None,
    min_base_score: float = MIN_BASE_SCORE,
    confirm: "Confirm | None" = None,
) -> int:
    """Run, write the report, and print the table of results or pass its rows to `hand`."""
    from carrara.cli.report import rows_as_json
    from carrara.logs.report_data import SnippetFinder, find_shortcuts
    from carrara.report.page import write_report
    from carrara.runs.manifest import parts
    from carrara.runs.run import run
    from carrara.stats import Requirements, effective_lengths, summarize
    from carrara.stats.arrangements import arrangement_penalties
    from carrara.stats.horizon import horizon_rows
    from carrara.stats.readers import series_costs
    from carrara.stats.ruler import ruler_rows
    from carrara.tokenizers.gguf import logged_name, split_digest
    from carrara.util.progress import make_console

    outcome = run(config, make_console(), confirm)
    page = config.out / "report.html"
    shortcuts = find_shortcuts(outcome.folder)
    write_report(
        outcome.folder,
        page,
        config.out.resolve().name,
        parts(config.out, outcome.folder),
        shortcuts,
        SnippetFinder(),
        min_base_score=min_base_score,
    )
    rows = summarize(outcome.own, among=outcome.folder)
    effective = effective_lengths(rows, Requirements.of(shortcuts, min_base_score))
    costs = series_costs(outcome.own, among=outcome.folder)
    penalties = arrangement_penalties(outcome.own, among=outcome.folder)
    horizons = horizon_rows(outcome.own, among=outcome.folder)
    lacking = parts(config.out, outcome.own) if outcome.unasked else []
    model, _ = split_digest(logged_name(config.model))
    lacking = [part for part in lacking if part.subject[0] == model]
    if hand:
        hand(rows_as_json(rows, lacking, effective, costs, penalties, horizons))
    else:
        print_summary(rows, lacking, effective, costs, ruler_rows(outcome.own), penalties, horizons)
        show(f"\nreport: {page}\nlogs:   inspect view --log-dir {shell_word(config.out / 'logs')}")
    print(f"carrara: {_requests(outcome)}", file=sys.stderr)
    if outcome.unasked:
        was = "was" if outcome.unasked == 1 else "were"
        logger.warning(
            f"{count(outcome.unasked, 'item')} {was} not asked: `budget={config.budget}` has no room for them; "
            "the same command with more resumes"
        )
    failed = [result for result in outcome.own if result.status == "error"]
    if failed:
        why = (failed[0].error or "no reason given").strip().splitlines()[-1][:300]
        raise RunError(
            f"{len(failed)} of {count(len(outcome.own), 'request')} failed (the first: {why}); "
            "the same command asks them again"
        )
    if blank := [row for row in rows if not row.stat.scored]:
        cells = ", ".join(f"{row.task} at {write_length(row.length)} ({row.stat.unscored})" for row in blank[:FEW])
        raise RunError(
            f"there is no score of {cells}{' and more' if len(blank) > FEW else ''}: nothing was measured there"
        )
    return 0


def _requests(outcome: "Outcome") -> str:
    """Print the number of requests, and why it differs from the number of items."""
    made, items = outcome.requests, len(outcome.own)
    again = f", {outcome.again:,} of them after one that failed" if outcome.again else ""
    return f"{count(made, 'request')} {'was' if made == 1 else 'were'} made for {count(items, 'item')}{again}"

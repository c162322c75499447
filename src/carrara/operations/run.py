"""Runs: run a model or a function, run several models one after the other, and read the results of runs."""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from attrs import evolve, field, fields, frozen
from cyclopts import Group, Parameter

from carrara.items.registry import load
from carrara.operations.printed import Recorded, Text
from carrara.operations.results import Results
from carrara.options import File, Flag, is_flag, text
from carrara.readers.options import split_readers
from carrara.results.result import MIN_BASE_SCORE, check_base_score
from carrara.runs.budget import Budget, read_budget
from carrara.runs.config import PlanConfig, RunConfig
from carrara.signature import takes
from carrara.util.errors import RunError, UsageError
from carrara.util.event_loop import beside_loop
from carrara.util.files import to_path
from carrara.util.log import logger
from carrara.util.quantities import count, write_length
from carrara.util.quoting import shell_word

if TYPE_CHECKING:
    from rich.console import Console

    from carrara.results.summary import Summary
    from carrara.runs.run import Confirm, Outcome

PAGE = "report.html"
"""The report in a run's folder."""
FEW = 6
"""The number of missing cells that are named."""


@takes(RunConfig)
def run(config: RunConfig) -> Results:
    """Run tasks on a model, and write the results into a folder. The same call resumes a run that was stopped.

    The model is the name of an Inspect model, or a function `str -> str`. A function whose parameter is annotated
    `list[dict[str, str]]` gets messages instead of a text. A function may be async, and needs `tokenizer`. An exception
    that it raises becomes a result whose status is `error`.

    Returns:
        The results of this model in the folder, one record for each item.

    Raises:
        UsageError: An argument is wrong, or the folder holds another run.
        RunError: Every request failed. If only some failed, a warning says so, and the same call asks them again.

    Examples:
        >>> import carrara
        >>> r = carrara.run("qa1", "carrara/oracle", lengths="0,1k", n=2, out="runs/qa1")
        >>> [(one.length, one.score) for one in r]
        [(0, 1.0), (0, 1.0), (1024, 1.0), (1024, 1.0)]
    """
    return beside_loop(lambda: _results(config))


def _results(config: RunConfig) -> Results:
    from carrara.runs.run import describe_failures, run

    outcome = run(config, _console() if config.progress else None)
    if outcome.unasked:
        message = f"{outcome.unasked:,} items were not asked: budget={config.budget} has no room for them; more resumes"
        warnings.warn(message, stacklevel=2)
    if outcome.cut:
        warnings.warn(outcome.cut, stacklevel=2)
    if failures := describe_failures(outcome.results):
        message = f"{failures}; the same call asks them again"
        if all(result.status == "error" for result in outcome.results):
            raise RunError(message)
        warnings.warn(message, stacklevel=2)
    return Results(outcome.results, config.out.resolve().name)


def read(*folders: File) -> Results:
    """Return the results in folders: a run, logs of Inspect, or the output of `carrara score --out`.

    If several folders have a reply to the same item, the last folder counts.

    Args:
        folders: One folder or several, on this machine or on object storage.

    Returns:
        The results of all folders.

    Raises:
        UsageError: No folder is given, or one holds no results.

    Examples:
        >>> import carrara
        >>> len(carrara.read("runs/oracle", "runs/majority"))
        80
    """
    from carrara.runs.manifest import parts
    from carrara.runs.replies import read_results, read_runs

    if not folders:
        raise UsageError("name what to read: the folder of a run, or several")
    if len(folders) > 1:
        return Results(read_runs([to_path(folder) for folder in folders]))
    folder = to_path(folders[0])
    results = read_results(folder)
    return Results(results, folder.resolve().name, parts(folder, results))


def _console() -> "Console":
    """Return a console for progress on stderr. In a notebook it prints lines: rich's bar needs ipywidgets there."""
    from carrara.util.progress import make_console

    console = make_console()
    return make_console(lines_only=True) if console.is_jupyter else console


# --- several models, as the command runs them ---


def _ask_above_of(value: Annotated[str | Budget, text("100Mtok|20usd", shows_default=True)]) -> Budget:
    budget = value if isinstance(value, Budget) else read_budget(str(value))
    if budget.kind == "time":
        raise UsageError(f"`ask_above={value}` is a time: give tokens or money, such as 100Mtok or 20usd")
    return budget


def _base_score(_: object, __: object, value: float) -> None:
    check_base_score(value)


@frozen(kw_only=True, slots=False)
class BaseScoreOptions:
    """What an effective length needs."""

    min_base_score: Annotated[float, Parameter(metavar="SCORE")] = field(default=MIN_BASE_SCORE, validator=_base_score)
    """The score that the 95 % interval at the shortest length has to exceed for an effective length."""


@frozen(kw_only=True, slots=False)
class TerminalConfig(BaseScoreOptions):
    """What the commands `run` and `plan` take beside the settings of a run."""

    group = Group("Run", sort_key=40)
    ask_above: Budget = field(default="100Mtok", converter=_ask_above_of)  # type: ignore[assignment]  # it is converted
    """On a terminal, a run asks before it sends more than that to a model that is not carrara/…."""
    dry_run: Flag = field(default=False, validator=is_flag)
    """Show what the run would send and what its server supports, and send nothing else."""

    def confirm_for(self, config: RunConfig) -> "Confirm | None":
        """Return a function that asks the person at the terminal before many tokens are sent to a model."""
        if config.allow_large or not sys.stdin.isatty() or config.model.startswith("carrara/"):
            return None
        above = self.ask_above

        def confirm(tokens: int, money: float | None) -> bool:
            much = money if above.kind == "money" else tokens
            if much is None:
                raise UsageError(
                    f"`ask_above={above}` is money, and no price is known: give `price`, or tokens (100Mtok)"
                )
            if much <= above.most:
                return True
            about = f", at a cost of about {money:,.2f}," if money is not None else ""
            sys.stderr.write(
                f"carrara: {tokens:,} tokens of prompts{about} will be sent to {config.model}. Continue? [y/N] "
            )
            sys.stderr.flush()
            return sys.stdin.readline().strip().lower() in ("y", "yes")

        return confirm


@dataclass(frozen=True, repr=False)
class FinishedRuns(Recorded):
    """Runs with their outcomes. They print as one table."""

    finished: Sequence[tuple[RunConfig, "Outcome"]]
    min_base_score: float = MIN_BASE_SCORE
    code: int = 0
    notes: Sequence[str] = ()
    is_stopped: bool = False
    """Whether Ctrl-C ended the last run."""

    @cached_property
    def summary(self) -> "Summary":
        """The summary of all results."""
        from carrara.papers.cards import cards_of
        from carrara.report.snippets import find_shortcuts
        from carrara.results.summary import Summary
        from carrara.runs.manifest import parts
        from carrara.tokenizers.gguf import logged_name, split_digest

        results = [result for _, outcome in self.finished for result in outcome.results]
        among = [result for folder in self._folders.values() for result in folder]
        models = {split_digest(logged_name(config.model))[0] for config, _ in self.finished}
        unasked = dict.fromkeys(config.out for config, outcome in self.finished if outcome.unasked or outcome.beyond)
        lacking = [part for out in unasked for part in parts(out, results) if part.subject[0] in models]
        cards = cards_of(*self._folders)
        return Summary(results, find_shortcuts(among), lacking, among, self.min_base_score, cards)

    @property
    def _folders(self) -> dict[Path, list[Any]]:
        return {config.out: outcome.folder for config, outcome in self.finished}

    def lines(self) -> Iterator[str]:
        from carrara.report.tables import summary_lines

        if not self.finished:
            return
        yield from summary_lines(self.summary)
        yield ""
        for out in self._folders:
            yield f"report: {out / PAGE}\nlogs:   inspect view --log-dir {shell_word(out / 'logs')}"

    def record(self) -> Any:
        return self.summary.records()


def each_config(config: Callable[..., RunConfig], settings: Mapping[str, Any]) -> list[Any]:
    """Return a configuration for each model and reader, so that any wrong run is refused before one begins."""
    reader = settings.get("reader")
    models = settings["model"] if isinstance(settings["model"], list) else [settings["model"]]
    if reader is None and settings.get("likelihood"):
        return [one for model in models for one in _conditions(config(**{**settings, "model": model}))]
    readers = [{}] if reader is None else [{"reader": name} for name in split_readers(str(reader))]
    return [config(**{**settings, "model": model, **reader}) for model in models for reader in readers]


def _conditions(config: RunConfig) -> list[RunConfig]:
    """Return a configuration with the context, one without it, and one with the evidence where that can decide."""
    decided = tuple(job for job in config.jobs if load(job.first.task).evidence_decides)
    if left_out := sorted({job.first.task for job in config.jobs} - {job.first.task for job in decided}):
        logger.warning(
            f"the evidence of {', '.join(left_out)} does not decide the answer without the rest, and is not run alone"
        )
    evidence = [evolve(config, tasks=decided, reader="evidence")] if decided else []
    return [config, evolve(config, reader="none"), *evidence]


def split_settings(settings: Mapping[str, Any]) -> tuple[TerminalConfig, dict[str, Any]]:
    names = {attribute.name for attribute in fields(TerminalConfig)}
    return (
        TerminalConfig(**{name: value for name, value in settings.items() if name in names}),
        {name: value for name, value in settings.items() if name not in names},
    )


def run_models(**settings: Any) -> FinishedRuns | Text:
    """Run tasks on a model. You can stop a run at any time; the same command resumes it.

    Args:
        settings: The fields of `RunConfig` and of `TerminalConfig`. `model` and `reader` may name several.
    """
    terminal, run_settings = split_settings(settings)
    if terminal.dry_run:
        return _dry_run(each_config(PlanConfig, run_settings))
    configs: list[RunConfig] = each_config(RunConfig, run_settings)
    if "out" not in settings:
        for config in configs:
            logger.info(f"the run's folder is {config.out}; give `out={config.out}` to resume it on another day")
    return run_each(configs, terminal)


run_models.config = (RunConfig, TerminalConfig)  # type: ignore[attr-defined]


def run_each(configs: Sequence[RunConfig], terminal: TerminalConfig) -> FinishedRuns:
    """Run one configuration after the other, and write the report of each into its folder."""
    if len(configs) == 1:
        outcome = _run_and_report(configs[0], terminal)
        notes, is_failed = _notes(configs[0], outcome)
        return FinishedRuns([(configs[0], outcome)], terminal.min_base_score, int(is_failed), notes)
    failed, finished = list[str](), list[tuple[RunConfig, "Outcome"]]()
    is_stopped = False
    for config in configs:
        name = " ".join(filter(None, (config.model, config.setting_of_reader)))
        logger.info(name)
        try:
            outcome = _run_and_report(config, terminal)
        except (RunError, UsageError) as error:
            failed.append(name)
            logger.warning(str(error))
            continue
        except KeyboardInterrupt:
            if config.in_process:
                raise
            is_stopped = True
            break
        finished.append((config, outcome))
        notes, is_failed = _notes(config, outcome)
        failed += [name] if is_failed else []
        for note in notes:
            logger.warning(note)
    message = f"{', '.join(failed)} failed, of {len(configs)} runs; the same command asks again"
    has_failed = bool(failed) and not is_stopped
    return FinishedRuns(finished, terminal.min_base_score, int(has_failed), [message] if has_failed else [], is_stopped)


def _run_and_report(config: RunConfig, terminal: TerminalConfig) -> "Outcome":
    from carrara.papers.cards import cards_of
    from carrara.report.page import write_report
    from carrara.report.snippets import SnippetFinder, find_shortcuts
    from carrara.results.summary import Summary
    from carrara.runs.manifest import parts
    from carrara.runs.run import run
    from carrara.util.progress import make_console

    outcome = run(config, make_console(), terminal.confirm_for(config))
    summary = Summary(
        outcome.folder,
        find_shortcuts(outcome.folder),
        parts(config.out, outcome.folder),
        min_base_score=terminal.min_base_score,
        cards=cards_of(config.out),
    )
    write_report(summary, config.out / PAGE, config.out.resolve().name, SnippetFinder())
    return outcome


def _notes(config: RunConfig, outcome: "Outcome") -> tuple[list[str], bool]:
    """Return how many requests were made, what was not asked, and whether there is no score of some items."""
    from carrara.results import summarize
    from carrara.runs.run import describe_failures

    requests, items = outcome.requests, len(outcome.results)
    again = f", {outcome.again:,} of them after one that failed" if outcome.again else ""
    notes = [
        f"{count(requests, 'request')} {'was' if requests == 1 else 'were'} made for {count(items, 'item')}{again}"
    ]
    if outcome.unasked:
        was = "was" if outcome.unasked == 1 else "were"
        notes.append(
            f"{count(outcome.unasked, 'item')} {was} not asked: `budget={config.budget}` has no room for them; "
            "the same command with more resumes"
        )
    troubles = [outcome.cut] if outcome.cut else []
    if failures := describe_failures(outcome.results):
        troubles.append(f"{failures}; the same command asks them again")
    if troubles:
        return [*notes, *troubles], True
    if blank := [row for row in summarize(outcome.results, among=outcome.folder) if not row.stat.scored]:
        cells = ", ".join(f"{row.task} at {write_length(row.length)} ({row.stat.unscored})" for row in blank[:FEW])
        more = " and more" if len(blank) > FEW else ""
        return [*notes, f"there is no score of {cells}{more}: nothing was measured there"], True
    return notes, False


def _dry_run(configs: Sequence[RunConfig]) -> Text:
    """Return what runs would send, and what their servers support."""
    from carrara.runs.estimate import estimate, format_estimate
    from carrara.servers.probe import is_probed, probe_server
    from carrara.servers.server_info import server_info_lines

    estimates = [estimate(config) for config in configs]
    lines = [
        *format_estimate(
            [line for run_estimate in estimates for line in run_estimate.lines],
            [note for run_estimate in estimates for note in run_estimate.notes],
        )
    ]
    for config in configs:
        if is_probed(config.model, config.base_url, config.model_args):
            lines += ["", *server_info_lines(probe_server(config.model, config.base_url, config.model_args))]
    return Text(lines)

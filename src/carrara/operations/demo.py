"""The first run: the embedded model on short prompts, beside recorded replies of larger models."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import field, frozen
from cyclopts import Parameter

from carrara.operations.report import Report, report
from carrara.operations.run import PAGE
from carrara.options import PYTHON_ONLY, at_least, folder_of, text
from carrara.runs.config import RunConfig
from carrara.signature import takes
from carrara.util.data import lines
from carrara.util.errors import RunError

if TYPE_CHECKING:
    from carrara.results.result import Result
    from carrara.results.summary import Summary

PRESET = "quick"
REPLIES = "recorded"
"""The package's file of recorded replies."""
TASKS, LENGTHS = ("classic/niah", "babilong/qa1"), "0,512"
"""What the embedded model is asked: tasks that it can do in part, at lengths that it reads in a minute."""
INSTANCES = 6
MAX_TOKENS = 64
RELOAD = 5
"""Seconds after which the page reloads while the model runs."""


@frozen(kw_only=True, slots=False)
class DemoConfig:
    """The folder and the size of the first run."""

    out: Annotated[Path, text("DIR", shows_default=True)] = field(default="runs/demo", converter=folder_of)  # type: ignore[assignment]  # it is converted
    """Folder of the run."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=INSTANCES, validator=at_least(1))
    """Instances for each task and length that the embedded model is asked."""
    model: str = field(default="carrara/smollm2", init=False, metadata=PYTHON_ONLY)


@takes(DemoConfig)
def demo(config: DemoConfig) -> Report:
    """Run the embedded model on short prompts, and report it beside recorded replies of two larger models.

    It needs no server and no key. The first time it downloads the model (98 MB), which `carrara run --model
    carrara/smollm2` uses too. The recorded replies come with the package, and are scored here.
    """
    from carrara.runs.run import describe_failures

    add_recorded(config.out)
    _show_rows(config.out, "Recorded replies of two larger models, scored here:")
    _say(f"\nThe page, which reloads while the embedded model runs: {config.out / PAGE}\n")
    try:
        results = [result for task in TASKS for result in _ask(config, task)]
    finally:
        _write_page(config.out)  # it no longer reloads, even if the run was stopped
    finished = report(config.out, force=True)
    assert isinstance(finished, Report)
    failures = describe_failures(results)
    return replace(finished, notes=[f"{failures}; the same command asks them again"]) if failures else finished


def _ask(config: DemoConfig, task: str) -> "list[Result]":
    """Ask the embedded model the items of a task, and show the rows."""
    from carrara.runs.run import run
    from carrara.util.progress import make_console

    settings = RunConfig(
        f"{PRESET}:{task}", config.model, lengths=LENGTHS, n=config.n, max_tokens=MAX_TOKENS, out=config.out
    )
    results = run(settings, make_console()).results
    if task != TASKS[-1]:
        _show_rows(config.out, f"So far, in {task}:", task)
    return results


def add_recorded(folder: Path) -> None:
    """Score the recorded replies, and write them into a folder as logs of their models.

    The file begins with a line for each model: its name, and when, from which file and on which machine its replies
    were recorded. `python -m tools.record` makes it.
    """
    from carrara.runs.rescoring.logs import LogWriter
    from carrara.runs.rescoring.scored import Scorer, ScorerConfig, Trouble

    rows = [json.loads(line) for line in lines(REPLIES)]
    about = {row["model"]: row["recorded"] for row in rows if "recorded" in row}
    scorer = Scorer(ScorerConfig(REPLIES))
    with ThreadPoolExecutor(1) as pool:
        logs = LogWriter(folder, "the package's recorded replies", pool.submit, about)
        with closing(logs):
            for row in rows:
                if "reply" in row:
                    outcome = scorer.row(row)
                    if isinstance(outcome, Trouble):
                        raise RunError(f"a recorded reply cannot be scored: {outcome.message}: make them again")
                    logs.add(outcome)
            logs.end()


def _show_rows(folder: Path, title: str, task: str = "") -> None:
    """Write a page that reloads, and print the rows of a task, or of all."""
    from carrara.report.tables import score_lines

    rows = _write_page(folder, RELOAD).rows
    _say("\n".join([title, *score_lines([row for row in rows if task in ("", row.task)])]))


def _write_page(folder: Path, reload: int = 0) -> "Summary":
    """Write the page of the replies so far."""
    from carrara.report.page import write_report
    from carrara.report.snippets import SnippetFinder, find_shortcuts
    from carrara.results.summary import Summary
    from carrara.runs.replies import read_results

    results = read_results(folder)
    summary = Summary(results, find_shortcuts(results))
    write_report(summary, folder / PAGE, folder.resolve().name, SnippetFinder(), reload=reload)
    return summary


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)

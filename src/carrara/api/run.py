"""Runs in Python: any model, or a function; and what runs came to."""

import asyncio
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from carrara.api._signature import takes
from carrara.api.results import Results
from carrara.options import File
from carrara.runs.config import RunConfig
from carrara.util.errors import RunError, UsageError
from carrara.util.files import to_path

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")


@takes(RunConfig)
def run(config: RunConfig) -> Results:
    """Run tasks on a model, into a folder. You can stop a run at any time; the same call resumes it.

    The model is the name of an Inspect model, or a function of a prompt: `str -> str`, or, as its parameter is
    annotated, `list[dict[str, str]] -> str`, which is sent messages; async or not. Name the tokenizer of a function.
    What it raises becomes a result whose status is `error`.
    """
    return beside_loop(lambda: _results(config))


def _results(config: RunConfig) -> Results:
    from carrara.runs.run import run

    outcome = run(config, _console() if config.progress else None)
    own = Results(outcome.own, config.out.resolve().name)
    if outcome.unasked:
        said = f"{outcome.unasked:,} items were not asked: budget={config.budget} has no room for them; more resumes"
        warnings.warn(said, stacklevel=2)
    if failed := own.where(status="error"):
        why = (failed[0].error or "no reason given").strip().splitlines()[-1]
        said = f"{len(failed)} of {len(own)} requests failed (the first: {why}); the same call asks them again"
        if len(failed) == len(own):
            raise RunError(said)
        warnings.warn(said, stacklevel=2)
    return own


def read(*folders: File) -> Results:
    """Return the results of folders: of a run, of Inspect's logs, or one that `carrara score --out` wrote.

    Where several folders have a reply to one item, the last folder's counts.
    """
    from carrara.logs.replies import read_results, read_runs
    from carrara.runs.manifest import parts

    if not folders:
        raise UsageError("name what to read: the folder of a run, or several")
    if len(folders) > 1:
        return Results(read_runs([to_path(folder) for folder in folders]))
    folder = to_path(folders[0])
    found = read_results(folder)
    return Results(found, folder.resolve().name, parts(folder, found))


def _console() -> "Console":
    """Return a console for progress on stderr. In a notebook it prints lines: rich's bar needs ipywidgets there."""
    from carrara.util.progress import make_console

    shown = make_console()
    return make_console(lines_only=True) if shown.is_jupyter else shown


def beside_loop(work: Callable[[], T]) -> T:
    """Do work in a copy of the context, in a thread of its own where an event loop runs, as in a notebook.

    Inspect sets the active model in the context: a task that is made after the work must not find it there.
    """
    context = copy_context()
    if asyncio._get_running_loop() is None:
        return context.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(context.run, work).result()

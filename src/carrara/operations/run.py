"""Runs in Python: run a model or a function, and read the results of runs."""

import asyncio
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from carrara.operations.results import Results
from carrara.options import File
from carrara.runs.config import RunConfig
from carrara.signature import takes
from carrara.util.errors import RunError, UsageError
from carrara.util.files import to_path

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")


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
    own = Results(outcome.results, config.out.resolve().name)
    if outcome.unasked:
        said = f"{outcome.unasked:,} items were not asked: budget={config.budget} has no room for them; more resumes"
        warnings.warn(said, stacklevel=2)
    if failures := describe_failures(outcome.results):
        said = f"{failures}; the same call asks them again"
        if all(result.status == "error" for result in outcome.results):
            raise RunError(said)
        warnings.warn(said, stacklevel=2)
    return own


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
    found = read_results(folder)
    return Results(found, folder.resolve().name, parts(folder, found))


def _console() -> "Console":
    """Return a console for progress on stderr. In a notebook it prints lines: rich's bar needs ipywidgets there."""
    from carrara.util.progress import make_console

    shown = make_console()
    return make_console(lines_only=True) if shown.is_jupyter else shown


def beside_loop(work: Callable[[], T]) -> T:
    """Run a function in a copy of the context, and in a separate thread if an event loop is running, as in a notebook.

    Inspect sets the active model in the context. A task made after this call must not find that model.
    """
    context = copy_context()
    if asyncio._get_running_loop() is None:
        return context.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(context.run, work).result()

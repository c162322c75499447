"""Calls of Inspect's eval set without its display, its servers and its live log of events."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from logging import getLogger

import rich
import rich.console
from inspect_ai import Task, eval_set
from inspect_ai.log import EvalLog
from inspect_ai.model import Model

from carrara.runs import sharding
from carrara.runs.config import RunConfig
from carrara.servers.inspect_private import PrerequisiteError, plain, platform
from carrara.util.errors import UsageError
from carrara.util.files import to_path

FLUSH = 100
"""Replies between two writings of a log. The cache holds them meanwhile."""
THRESHOLDS = (20_000, 10, 10)
"""The numbers of new objects after which garbage is collected.

Half a million objects of Inspect and of its samples stay until the end. By Python's own numbers, scanning them again
and again takes a fifth of a run's time.
"""


def evaluate(
    config: RunConfig, model: Model, tasks: list[Task], folder: str, known: Mapping[str, object]
) -> tuple[Sequence[EvalLog], int]:
    """Return the logs, and their number unless the evaluation was interrupted. `known` are items with a reply."""
    root = getLogger()
    level = root.level
    thresholds = gc.get_threshold()

    def evaluate_set() -> tuple[bool, list[EvalLog]]:
        return eval_set(
            tasks,
            log_dir=folder,
            model=model,
            log_dir_allow_dirty=True,  # another length, task or model may use the same folder
            retry_attempts=0,
            retry_immediate=False,
            retry_cleanup=False,
            # An error is a result. Its log is continued when the user gives the command again.
            fail_on_error=True,
            continue_on_fail=True,
            max_connections=config.connections or (model.api.max_connections() if config.in_process else None),
            log_realtime=False,
            log_buffer=FLUSH,
            log_level="error",
            display="none",
            score_display=False,
            ctl_server=False,
            acp_server=False,
            max_tokens=config.max_tokens,
            temperature=config.temperature,
            prompt_logprobs=1 if config.perplexity else None,
            batch=config.batch or None,
        )

    try:
        gc.set_threshold(*THRESHOLDS)
        if config.shard:
            return sharding.evaluate(evaluate_set, tasks, to_path(folder), known)
        return evaluate_set()[1], len(tasks)
    except PrerequisiteError as error:
        raise UsageError(plain(error)) from None
    finally:
        gc.set_threshold(*thresholds)
        root.setLevel(level)  # Inspect sets its own, and a program that calls us would keep it


@contextmanager
def notebook_hidden() -> Iterator[None]:
    """Have Inspect and rich treat this process as a program, not as a notebook, until the block ends.

    In a notebook Inspect refuses to start without ipywidgets, which draw its progress bars, and patches asyncio so that
    it can run inside the notebook's event loop. A run of ours shows no bars of Inspect and has a thread with an event
    loop of its own. Inspect configures the console that a process shares; it is restored as it was.
    """
    console = rich.get_console()
    before = platform.running_in_notebook, rich.console._is_jupyter, dict(console.__dict__)
    platform.running_in_notebook = rich.console._is_jupyter = lambda: False
    console.is_jupyter = False
    try:
        yield
    finally:
        platform.running_in_notebook, rich.console._is_jupyter, console.__dict__ = before

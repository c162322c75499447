"""Run code that starts an event loop of its own, also where one is running."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def beside_loop(work: Callable[[], T]) -> T:
    """Run a function in a copy of the context, and in a separate thread if an event loop is running, as in a notebook.

    Inspect sets the active model in the context. A task made after this call must not find that model.
    """
    context = copy_context()
    if asyncio._get_running_loop() is None:
        return context.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(context.run, work).result()

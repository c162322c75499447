"""Inspect in a notebook: a run needs neither ipywidgets nor a patched event loop.

In a notebook Inspect refuses to start without ipywidgets, which draw its progress bars, and patches asyncio so that it
can run inside the notebook's event loop. A run of Carrara shows no bars of Inspect and has a thread with an event loop
of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import rich
import rich.console

from carrara.servers.inspect_private import platform


@contextmanager
def notebook_hidden() -> Iterator[None]:
    """Have Inspect and rich treat this process as a program, not as a notebook, until the block ends.

    Inspect configures the console that a process shares; it is restored as it was.
    """
    console = rich.get_console()
    before = platform.running_in_notebook, rich.console._is_jupyter, dict(console.__dict__)
    platform.running_in_notebook = rich.console._is_jupyter = lambda: False
    console.is_jupyter = False
    try:
        yield
    finally:
        platform.running_in_notebook, rich.console._is_jupyter, console.__dict__ = before

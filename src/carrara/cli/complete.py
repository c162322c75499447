"""Names for shell completion. They are looked up when the user presses TAB, because plugins may add tasks."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext


def complete_task(context: "CompletionContext") -> Iterable[str]:
    """Return the names of tasks."""
    from carrara.items import registry

    return [name.rpartition("/")[2] for name in registry.names()]


def complete_tasks(context: "CompletionContext") -> list[str]:
    """Return candidates for the next name in a list of tasks: tasks and suites that the list does not have yet."""
    return _next(context.incomplete, _selections())


def complete_run(context: "CompletionContext") -> list[str]:
    """Return candidates for the tasks of a run: tasks, suites and presets."""
    from carrara.runs.presets import PRESETS

    return _next(context.incomplete, [*_selections(), *PRESETS])


def complete_figure(context: "CompletionContext") -> Mapping[str, str]:
    """Return the names of figures with their descriptions."""
    from carrara.papers.figures.definitions import definitions

    return {name: definition.description for name, definition in definitions().items()}


def complete_corpus(context: "CompletionContext") -> Iterable[str]:
    """Return the names of corpora."""
    from carrara import corpora

    return [entry.name for entry in corpora.entries()]


def _selections() -> list[str]:
    from carrara.items import registry

    names = registry.names()
    return ["all", *dict.fromkeys(name.partition("/")[0] for name in names), *(n.rpartition("/")[2] for n in names)]


def _next(typed: str, names: Iterable[str]) -> list[str]:
    """Return candidates for the last name of a comma-separated list, without the names that the list already has.

    >>> _next("qa1,q", ["qa1", "qa2"])
    ['qa1,qa2']
    """
    head, comma, _ = typed.rpartition(",")
    before = set(head.split(","))
    return [f"{head}{comma}{name}" for name in names if name not in before]

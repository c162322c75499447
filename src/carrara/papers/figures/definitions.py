"""Definitions of the tables and figures of the papers, read from `papers/figures/PAPER.toml`.

A file has these tables:

- `[names]`: what the paper calls each of our tasks.
- `[sets]`: sets of tasks, by name. `all` is the set of all tasks of the file.
- `[commands]`: commands, by name.
- `[figures.NAME]`: a table or figure, with the keys of `Definition`. `like` names another figure, from which all keys
  are taken that are not given. `tasks` is a list or the name of a set, and `command` may be the name of a command.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from carrara.papers.figures.figure import Figure, Form, Kind, Mark
from carrara.papers.scores import PAPERS
from carrara.results.result import Result
from carrara.util.errors import UsageError, nearest
from carrara.util.quantities import read_length


@dataclass(frozen=True)
class Definition:
    """A figure or a table of a paper, for any models."""

    name: str
    """`babilong-table-2`: the paper, and its name for the figure."""
    description: str
    command: str
    """The command that makes its results. If the figure has no form, the command that prints it."""
    published: bool = False
    """Whether scores of the paper's own models are in the package."""
    differs: str = ""
    """The differences from the paper's figure."""
    form: Form | None = None
    """The form in which it is drawn. None: the command prints it."""
    maker: str = ""
    """The function of the paper's module that makes it. Empty: its values are scores as the paper prints them."""
    title: str = ""
    x: str = "length"
    """The x-axis: the `length`, or the `task`."""
    x_label: str | None = None
    """The label of the x-axis. By default the name of x."""
    y_label: str = "score"
    x_kind: Kind | None = None
    unbounded: bool = False
    """Whether values can be greater than 1."""
    levels: Mapping[str, float] = field(default_factory=dict[str, float])
    notes: Sequence[str] = ()
    tasks: Mapping[str, str] = field(default_factory=dict[str, str])
    """The paper's name of each task that it shows."""
    panels: bool = True
    """Whether each task is a panel of its own."""
    tables: Sequence[str] = ()
    """The paper's tables that scores of its own models are taken from."""
    models: Sequence[str] = ()
    """Parts of the names of the paper's models that are shown. Empty: all of them."""
    all_published: bool = False
    """Whether all of the paper's models are shown if there are no others. Otherwise the best are shown."""
    length: int | None = None
    """The only length that is shown."""
    longest: int | None = None
    """The longest length that is shown."""
    where: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the replies that are shown."""
    only: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Labels of the replies of single tasks."""

    @property
    def paper(self) -> str:
        return self.name.partition("-")[0]

    @property
    def is_drawn(self) -> bool:
        """Whether it is drawn from results. Otherwise a separate command prints it."""
        return self.form is not None

    def shows(self, result: Result) -> bool:
        """Return whether a reply has the length and the labels of the figure."""
        labels = {**self.where, **self.only.get(result.task, {})}
        return (
            (self.length is None or result.length == self.length)
            and (self.longest is None or result.length <= self.longest)
            and all(result.labels.get(name) == value for name, value in labels.items())
        )

    def figure(self, marks: Sequence[Mark], **changes: Any) -> Figure:
        """Return the figure with these values, and with these changes to its definition."""
        assert self.form
        figure = Figure(
            name=self.name,
            title=self.title or self.description,
            form=self.form,
            marks=marks,
            x_label=self.x if self.x_label is None else self.x_label,
            y_label=self.y_label,
            x_kind=self.x_kind or ("lengths" if self.x == "length" else "names"),
            levels=self.levels,
            notes=self.notes,
            maximum=None if self.unbounded else 1.0,
        )
        return replace(figure, **changes)


@cache
def paper_data(paper: str) -> Mapping[str, Any]:
    """Return the file of a paper."""
    return tomllib.loads((files("carrara.papers") / "figures" / f"{paper}.toml").read_text("utf-8"))


@cache
def definitions() -> Mapping[str, Definition]:
    """Return all tables and figures by name."""
    return {
        name: figure_definition
        for paper in PAPERS
        for name, figure_definition in _definitions(paper_data(paper)).items()
    }


def _definitions(data: Mapping[str, Any]) -> dict[str, Definition]:
    names, keys_by_name = data["names"], dict[str, dict[str, Any]]()
    for name, entry in data["figures"].items():
        keys = {**keys_by_name.get(entry.get("like", ""), {}), **entry, "name": name}
        keys.pop("like", None)
        keys["command"] = data["commands"].get(keys["command"], keys["command"])
        tasks = keys.get("tasks", [])
        if isinstance(tasks, str):
            tasks = list(names) if tasks == "all" else data["sets"][tasks]
        keys["tasks"] = {task: names[task] for task in tasks}
        keys |= {key: read_length(str(keys[key])) for key in ("length", "longest") if key in keys}
        keys_by_name[name] = keys
    return {name: Definition(**keys) for name, keys in keys_by_name.items()}


def definition(name: str) -> Definition:
    """Return a figure by its full name, or by paper and number.

    If a table and a figure have one number, return the table.
    """
    known = definitions()
    if not isinstance(name, str):
        raise UsageError(f"{name!r} is not the name of a figure: give a text, such as 'babilong-2'")
    lowered = name.strip().lower()
    paper, _, number = lowered.partition("-")
    for full_name in (lowered, f"{paper}-table-{number}", f"{paper}-figure-{number}"):
        if full_name in known:
            return known[full_name]
    raise UsageError(f"no figure is called {name!r}{nearest(lowered, known)}; `carrara figure --list` names them")

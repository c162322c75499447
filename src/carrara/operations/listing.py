"""List tasks, or explain one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from attrs import field, frozen

from carrara.operations.printed import Recorded
from carrara.options import is_text, text
from carrara.runs.presets import PRESETS
from carrara.signature import takes
from carrara.types import CHANCE_LEVEL, GUESSERS
from carrara.util.table import table

if TYPE_CHECKING:
    from carrara.params import Parameter
    from carrara.verify.shortcuts.findings import ShortcutScore

P = TypeVar("P")

FEW = 3
"""With more different sets of parameters than this, each is one line without explanation."""
DECLARED = "*"
"""The mark of a shortcut that its task declares."""
WIDTH = 110
"""The width of explanations, in columns."""


@frozen(kw_only=True, slots=False)
class ListConfig:
    """The tasks to list."""

    tasks: Annotated[str, text("TASKS")] = field(default="all", validator=is_text, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`."""


@dataclass(frozen=True, repr=False)
class TaskList(Recorded):
    """Tasks with their chance levels, shortcuts and parameters."""

    names: Sequence[str]

    def lines(self) -> Iterator[str]:
        from carrara.items import registry

        yield from _task_lines(self.names)
        yield from _parameter_lines(self.names)
        for name, preset in PRESETS.items():
            if {*registry.select(preset.selection)} & {*self.names}:
                yield f"\n`carrara run {name}`:\n  {preset.about}"

    def record(self) -> list[dict[str, Any]]:
        return [_record(name) for name in self.names]


@takes(ListConfig)
def list_tasks(config: ListConfig) -> TaskList:
    """List tasks, or explain one: chance levels, parameters, presets, and the meaning of each parameter."""
    from carrara.items import registry

    return TaskList(registry.select(config.tasks))


def _record(name: str) -> dict[str, Any]:
    from carrara import params
    from carrara.items import registry
    from carrara.params import parameters_of
    from carrara.verify.chance_levels import chance_level_of
    from carrara.verify.shortcuts.findings import findings_of

    task, findings = registry.load(name), findings_of(name)
    return {
        "name": name,
        "suite": name.split("/")[0],
        "title": task.title,
        "version": task.version,
        "capability": task.capability,
        "parameters": params.defaults(task),
        "explained": {parameter.name: _without_name(parameter) for parameter in parameters_of(task)},
        "chance_level": chance_level_of(name),
        "guesser": task.guesser,
        "shortcuts": [asdict(shortcut) for shortcut in findings.shortcuts] if findings else None,
        "reach": findings.reach if findings else None,
        "backwards": findings.backwards if findings else None,
    }


def _without_name(parameter: "Parameter") -> dict[str, Any]:
    return {name: value for name, value in asdict(parameter).items() if name != "name"}


def _task_lines(names: Sequence[str]) -> Iterator[str]:
    from carrara.items import registry
    from carrara.verify.chance_levels import chance_level_of
    from carrara.verify.shortcuts.findings import findings_of

    findings_by_task = {name: findings_of(name) for name in names}
    yield from table(
        ["task", "measures", "chance", "guesser", "shortcut", "reach", "typography"],
        [
            (
                name,
                registry.load(name).capability,
                f"{chance_level_of(name):.3f}",
                registry.load(name).guesser,
                _score(findings.best) if (findings := findings_by_task[name]) else "-",
                f"{findings.reach:.3f}" if findings else "-",
                _score(findings.typography) if findings and findings.typography else "-",
            )
            for name in names
        ],
    )
    yield ""
    yield from _wrapped(f"chance: {CHANCE_LEVEL}")
    for guesser, meaning in GUESSERS.items():
        if any(registry.load(name).guesser == guesser for name in names):
            yield from _wrapped(f"guesser {guesser}: {meaning}")
    yield from _wrapped("shortcut: what the best heuristic scores at 4k tokens, without understanding the text")
    yield from _wrapped(
        "reach: what the task's own solver scores on a tenth of the 4k tokens, the tenth where it scores most"
    )
    yield from _wrapped(
        "typography: the F1 with which a rule finds facts at 4k tokens by lengths, marks and white space, without "
        "knowing a word; in a sound task it is about that of picking every sentence"
    )
    if declared := {
        name: task_findings.best
        for name, task_findings in findings_by_task.items()
        if task_findings and task_findings.best.declared
    }:
        yield ""
        yield from _wrapped(f"{DECLARED} The task declares this shortcut, and says why it cannot avoid it:")
        for name, best in declared.items():
            yield from _wrapped(f"{name}: “{best.name}” scores {best.score:.3f}. {best.declared}", "  ")
    rules = {
        name: task_findings.typography
        for name, task_findings in findings_by_task.items()
        if task_findings and task_findings.typography
    }
    if reasons := _group_equal({name: rule.declared for name, rule in rules.items() if rule.declared}):
        yield ""
        yield from _wrapped(f"{DECLARED} The task declares that typography finds its facts, and says why:")
        for reason, tasks in reasons.items():
            rule = rules.get(tasks)
            which = f"“{rule.name}” has F1 {rule.score:.3f}, every sentence {rule.chance_level:.3f}. " if rule else ""
            yield from _wrapped(f"{tasks}: {which}{reason}", "  ")


def _score(shortcut: "ShortcutScore") -> str:
    return f"{shortcut.score:.3f}{DECLARED if shortcut.declared else ''}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)


def _parameter_lines(names: Sequence[str]) -> Iterator[str]:
    """Explain the parameters of a few tasks. For many tasks, give only the defaults and how to learn more."""
    from carrara import params
    from carrara.items import registry
    from carrara.params import parameters_of

    defaults_of_tasks = _group_equal({name: tuple(params.defaults(registry.load(name)).items()) for name in names})
    if len(defaults_of_tasks) <= FEW:
        for parameters, tasks in _group_equal({name: parameters_of(registry.load(name)) for name in names}).items():
            yield f"\nparameters of {tasks}:{'' if parameters else ' none'}"
            for parameter in parameters:
                yield f"  {parameter.name}={parameter.default}{f'  ({parameter.values})' if parameter.values else ''}"
                for line in wrap(parameter.meaning, WIDTH):
                    yield f"      {line}"
        return
    for defaults, tasks in defaults_of_tasks.items():
        yield f"\nparameters of {tasks}:\n  {' '.join(f'{name}={value}' for name, value in defaults) or 'none'}"
    yield "\n`carrara tasks NAME` explains the parameters of a task."


def _group_equal(parameters: Mapping[str, P]) -> dict[P, str]:
    """Return ranges of tasks that have the same parameters, named by the first and the last task."""
    names_by_parameters: dict[P, list[str]] = {}
    for name, task_parameters in parameters.items():
        names_by_parameters.setdefault(task_parameters, []).append(name)
    return {
        task_parameters: " … ".join(dict.fromkeys([names[0], names[-1]]))
        for task_parameters, names in names_by_parameters.items()
    }

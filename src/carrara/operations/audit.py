"""Prove that items are right."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from attrs import converters, field, frozen
from cyclopts import Parameter

from carrara.items.item_id import ItemId
from carrara.items.selection import Selection
from carrara.operations.printed import Recorded
from carrara.options import (
    ItemOptions,
    LargeOptions,
    Selections,
    WorkerOptions,
    at_least,
    changed_settings,
    file_of,
    lengths_of,
    selections_of,
)
from carrara.signature import takes
from carrara.util.errors import UsageError
from carrara.util.log import warn_once
from carrara.util.parallel import parallel_map
from carrara.util.progress import show_progress
from carrara.util.quantities import check_count, write_length
from carrara.util.table import table

if TYPE_CHECKING:
    from carrara.tasks.babilong._official_stories import CheckedFile
    from carrara.verify.audit import AuditResult, Breach
    from carrara.verify.shortcuts.search import Shortcut


@frozen(kw_only=True, slots=False)
class AuditConfig(ItemOptions, WorkerOptions, LargeOptions):
    """The items to audit."""

    group = ItemOptions.group
    tasks: list[Selection] = field(converter=selections_of, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`; or what `carrara.load` returned."""
    lengths: tuple[int, ...] = field(default="0,4k", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=200, validator=at_least(1))
    """Instances for each task and length."""

    @cached_property
    def jobs(self) -> list[ItemId]:
        """The first item of each task at each length."""
        return self.item_ids(self.tasks, self.lengths)

    def __attrs_post_init__(self) -> None:
        check_count(len(self.jobs) * self.n, "contexts", self.allow_large)


SHOWN = 20
"""The number of breaches that are printed."""
MANY = 200
"""The number of contexts from which starting other processes pays off."""


@dataclass(frozen=True, repr=False)
class AuditReport(Recorded):
    """The findings of an audit. It prints as `carrara audit` does.

    Examples:
        >>> import carrara
        >>> carrara.audit("latent_list", lengths="0,1k", n=3).breaches
        []
    """

    results: Sequence["AuditResult"]
    """The findings about each task at each length."""

    @property
    def breaches(self) -> list["Breach"]:
        """The broken promises, each with the name of the check, the id of the item, and a sentence."""
        return [breach for result in self.results for breach in result.breaches]

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 1 if something is wrong."""
        return int(bool(self.breaches))

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """Sentences about the first breaches."""
        return _shortened([f"{breach.check}: {breach.id}: {breach.found}" for breach in self.breaches])

    def lines(self) -> Iterator[str]:
        from carrara.verify.audit import CHECKS
        from carrara.verify.passages import ENOUGH, PARTS, SIZE
        from carrara.verify.shortcuts.search import FEW, KINDS

        yield from table(
            ["task", "length", "items", "breaches", "needed", "off", "repeated", "chance", *KINDS, "by"],
            [
                (
                    result.task,
                    "+".join(filter(None, (write_length(result.length), result.arrange))),
                    str(result.items),
                    str(len(result.breaches)),
                    str(result.needed),
                    f"{result.off:.1f}",
                    str(result.repeated),
                    f"{result.chance_level:.3f}",
                    *_best(result.shortcuts),
                )
                for result in self.results
            ],
        )
        yield ""
        for check, meaning in CHECKS.items():
            if check == "arranged" and not any(result.arrange for result in self.results):
                continue
            number = sum(breach.check == check for breach in self.breaches)
            if check in ("chance", "cheap") and not any(result.shortcuts for result in self.results):
                yield f"-       {check:8}  {meaning}: searched for with {FEW} instances or more"
            elif check == "passages" and not any(result.parts for result in self.results):
                size = write_length(PARTS * SIZE)
                yield f"-       {check:8}  {meaning}: measured with {ENOUGH} contexts of {size} tokens or more"
            else:
                breaches = f": {number} breaches" if number else ""
                yield f"{'BREACH' if number else 'ok':6}  {check:8}  {meaning}{breaches}"

    def record(self) -> list[dict[str, Any]]:
        return [asdict(result) for result in self.results]


def audit_items(config: AuditConfig) -> AuditReport:
    """Return the findings of an audit."""
    from carrara.tokenizers.permission import with_permissions
    from carrara.verify.audit import audit as audit_job

    work = with_permissions(partial(audit_job, instances=config.n, pack=config.pack))
    workers = config.workers if len(config.jobs) * config.n >= MANY else 1
    steps = parallel_map(work, config.jobs, workers, config.engine)
    results = list(show_progress(steps, len(config.jobs), "tasks", label="auditing"))
    if not any(result.items for result in results):
        raise UsageError(results[0].left_out[0])
    for sentence in (sentence for result in results for sentence in result.left_out):
        warn_once(sentence)
    return AuditReport(results)


@takes(AuditConfig)
def audit(config: AuditConfig) -> AuditReport:
    """Prove that items are right: their answers, evidence, filler, lengths and bytes, and what shortcuts score.

    The audit solves each item from its text alone, leaves out each piece of evidence, and searches for shortcuts.

    Returns:
        What is wrong, which is nothing if `breaches` is empty; it prints as a table.

    Raises:
        UsageError: A task, a parameter or a length is unknown, or more items would be made than `allow_large` permits.
        PluginError: The code of a task outside of Carrara failed.

    Examples:
        >>> import carrara
        >>> carrara.audit("latent_list", lengths="0,1k", n=3).breaches
        []
    """
    return audit_items(config)


def _best(shortcuts: "Sequence[Shortcut]") -> list[str]:
    """Return the score of the best shortcut of each kind, and the name of the best of all whose score is no F1."""
    from carrara.verify.shortcuts.search import KINDS, MARGIN

    best = max(
        (shortcut for shortcut in shortcuts if shortcut.kind != "typography"),
        key=lambda shortcut: shortcut.score,
        default=None,
    )
    by_kind = {shortcut.kind: shortcut for shortcut in sorted(shortcuts, key=lambda shortcut: shortcut.score)}
    shown = ": ".join(filter(None, (best.name, best.goes_by))) if best else ""
    scores = [f"{by_kind[kind].score:.3f}" if kind in by_kind else "-" for kind in KINDS]
    return [*scores, shown if best and best.score > best.chance_level + MARGIN else ""]


def _shortened(complaints: list[str]) -> list[str]:
    more = len(complaints) - SHOWN
    return [*complaints[:SHOWN], *([f"and {more} more; --json lists them all"] if more > 0 else [])]


@dataclass(frozen=True, repr=False)
class StoryReport(Recorded):
    """Answers to the questions of official bAbI files."""

    files: Sequence["CheckedFile"]

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """Sentences about what is wrong or not understood."""
        return _shortened([complaint for file in self.files for complaint in (*file.not_understood, *file.wrong)])

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 1 if something is wrong."""
        return int(bool(self.notes))

    def lines(self) -> Iterator[str]:
        columns = "file", "task", "questions", "answers agree", "undecided", "not understood", "supports agree"
        yield from table(
            [*columns, "in the same order", "suffice alone"],
            [
                (
                    file.file,
                    f"qa{file.task}",
                    *map(str, (file.questions, file.answers, file.undecided, len(file.not_understood))),
                    *map(str, (file.supports, file.in_order, file.suffice)),
                )
                for file in self.files
            ],
        )

    def record(self) -> list[dict[str, Any]]:
        return [asdict(file) for file in self.files]


def _tasks_of(tasks: Selections) -> list[Selection]:
    return [] if tasks == "" else selections_of(tasks)


@frozen(kw_only=True, slots=False)
class AuditCommandConfig(AuditConfig):
    """The items to audit, or the official files to answer instead."""

    group = AuditConfig.group
    tasks: list[Selection] = field(default="", converter=_tasks_of, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`."""
    babi: Path | None = field(default=None, converter=converters.optional(file_of))
    """Answer the official bAbI files of a folder instead."""

    def __attrs_post_init__(self) -> None:
        if self.babi is None:
            if not self.tasks:
                raise UsageError("name the tasks to audit, such as latent_list or all; or give `babi=DIR`")
            super().__attrs_post_init__()
            return
        names = ["`tasks`"] * bool(self.tasks) + [f"`{name}`" for name in changed_settings(self, AuditConfig)]
        if names:
            raise UsageError(f"`babi` reads files and makes no items: leave {' and '.join(names)} out")


@takes(AuditCommandConfig)
def audit_command(config: AuditCommandConfig) -> AuditReport | StoryReport:
    """Prove that items are right: their answers, evidence, filler, lengths and bytes, and what shortcuts score."""
    if config.babi is None:
        return audit_items(config)
    from carrara.tasks.babilong._official_stories import check
    from carrara.tasks.babilong._story_files import files

    paths = files(config.babi)
    return StoryReport(
        [check(path, task) for task, path in show_progress(paths, len(paths), "files", label="answering")]
    )

"""carrara audit: prove that items are right."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

from attrs import fields

from carrara.cli._flags import Json, Selection, WorkerEngine, Workers
from carrara.cli._output import print_json, show, table
from carrara.options import Folder, file_of, merge_options, text
from carrara.util.errors import UsageError
from carrara.util.log import warn_once
from carrara.util.parallel import parallel_map
from carrara.util.progress import show_progress
from carrara.util.quantities import write_length
from carrara.verify.config import AuditConfig, AuditOptions

if TYPE_CHECKING:
    from carrara.verify.shortcuts.search import Shortcut

SHOWN = 20
"""The number of breaches that are printed."""
MANY = 200
"""The number of contexts from which starting other processes pays off."""


def audit(
    tasks: Selection = "",
    /,
    *,
    items: AuditOptions | None = None,
    babi: Annotated[Folder, text("DIR", help="Answer the official bAbI files of a folder instead.")] = "",
    workers: Workers = None,
    engine: WorkerEngine = "local",
    as_json: Json = False,
) -> int:
    """Prove that items are right: their answers, evidence, filler, lengths and bytes, and what shortcuts score.

    Example: carrara audit latent_list -n 200 --lengths 0,4k
    """
    if babi:
        _refuse_beside_babi(tasks, items, workers, engine)
        return _audit_babi(babi, as_json)
    if not tasks:
        raise UsageError("name the tasks to audit, such as latent_list or all; or give `babi=DIR`")
    from carrara.tokenizers.permission import with_permissions
    from carrara.verify.audit import CHECKS
    from carrara.verify.audit import audit as audited
    from carrara.verify.passages import ENOUGH, PARTS, SIZE
    from carrara.verify.shortcuts.search import FEW, KINDS

    config = AuditConfig(tasks, **merge_options(items))
    work = with_permissions(partial(audited, instances=config.n, pack=config.pack))
    steps = parallel_map(work, config.jobs, workers if len(config.jobs) * config.n >= MANY else 1, engine)
    reports = list(show_progress(steps, len(config.jobs), "tasks", label="auditing"))
    breaches = [breach for report in reports for breach in report.breaches]
    if not any(report.items for report in reports):
        raise UsageError(reports[0].left_out[0])
    if as_json:
        print_json([asdict(report) for report in reports])
        return 1 if breaches else 0
    table(
        ["task", "length", "items", "breaches", "needed", "off", "repeated", "chance", *KINDS, "by"],
        [
            (
                report.task,
                "+".join(filter(None, (write_length(report.length), report.arrange))),
                str(report.items),
                str(len(report.breaches)),
                str(report.needed),
                f"{report.off:.1f}",
                str(report.repeated),
                f"{report.chance_level:.3f}",
                *_best(report.shortcuts),
            )
            for report in reports
        ],
    )
    for what in (what for report in reports for what in report.left_out):
        warn_once(what)
    print()
    for check, meaning in CHECKS.items():
        if check == "arranged" and not any(report.arrange for report in reports):
            continue
        found = sum(breach.check == check for breach in breaches)
        if check in ("chance", "cheap") and not any(report.shortcuts for report in reports):
            print(f"-       {check:8}  {meaning}: searched for with {FEW} instances or more")
        elif check == "passages" and not any(report.parts for report in reports):
            size = write_length(PARTS * SIZE)
            print(f"-       {check:8}  {meaning}: measured with {ENOUGH} contexts of {size} tokens or more")
        else:
            print(f"{'BREACH' if found else 'ok':6}  {check:8}  {meaning}" + (f": {found} breaches" if found else ""))
    _complain([f"{breach.check}: {breach.id}: {breach.found}" for breach in breaches])
    return 1 if breaches else 0


def _best(shortcuts: "Sequence[Shortcut]") -> list[str]:
    """Return the score of the best shortcut of each kind, and the name of the best of all whose score is no F1."""
    from carrara.verify.shortcuts.search import KINDS, MARGIN

    best = max((one for one in shortcuts if one.kind != "typography"), key=lambda one: one.score, default=None)
    by_kind = {one.kind: one for one in sorted(shortcuts, key=lambda one: one.score)}
    shown = ": ".join(filter(None, (best.name, best.goes_by))) if best else ""
    scores = [f"{by_kind[kind].score:.3f}" if kind in by_kind else "-" for kind in KINDS]
    return [*scores, shown if best and best.score > best.chance_level + MARGIN else ""]


def _refuse_beside_babi(tasks: str, items: AuditOptions | None, workers: int | None, engine: str) -> None:
    """Raise `UsageError` for options that name items or change how they are made: official files are read unchanged."""
    given = {"TASKS": bool(tasks), "`workers`": workers is not None, "`engine`": engine != "local"}
    for one in fields(AuditOptions) if items else ():
        given[f"`{one.name}`"] = getattr(items, one.name) != getattr(AuditOptions(), one.name)
    if names := [name for name, is_given in given.items() if is_given]:
        raise UsageError(f"`babi` reads files and makes no items: leave {' and '.join(names)} out")


def _audit_babi(folder: Folder, as_json: bool) -> int:
    from carrara.tasks.babilong._official_stories import check
    from carrara.tasks.babilong._story_files import files

    found = files(file_of(folder))
    checked = [check(path, task) for task, path in show_progress(found, len(found), "files", label="answering")]
    complaints = [complaint for file in checked for complaint in (*file.not_understood, *file.wrong)]
    if as_json:
        print_json([asdict(file) for file in checked])
        return 1 if complaints else 0
    table(
        [
            "file",
            "task",
            "questions",
            "answers agree",
            "undecided",
            "not understood",
            "supports agree",
            "in the same order",
            "suffice alone",
        ],
        [
            (
                file.file,
                f"qa{file.task}",
                *map(str, (file.questions, file.answers, file.undecided, len(file.not_understood))),
                *map(str, (file.supports, file.in_order, file.suffice)),
            )
            for file in checked
        ],
    )
    _complain(complaints)
    return 1 if complaints else 0


def _complain(complaints: list[str]) -> None:
    for complaint in complaints[:SHOWN]:
        show(f"carrara: {complaint}", file=sys.stderr)
    if len(complaints) > SHOWN:
        print(f"carrara: and {len(complaints) - SHOWN} more; --json lists them all", file=sys.stderr)

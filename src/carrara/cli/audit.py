"""carrara audit: prove items right, and the official bAbI files."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import print_json, progress, table
from carrara.core.errors import UsageError
from carrara.core.lengths import write_length
from carrara.core.log import warn_once
from carrara.core.many import check_many
from carrara.core.spread import spread
from carrara.tokens import DEFAULT
from carrara.tokens.permission import with_permissions

if TYPE_CHECKING:
    from carrara.proof.shortcuts.search import Shortcut

HELP = "prove items right: answers, needed updates, filler, lengths, bytes; and what shortcuts score"
EXAMPLE = "carrara audit latent_list -n 200 --lengths 0,4k"
SHOWN = 20
MANY = 200
"""Worlds from which it is worth starting other processes."""


def arguments(parser: ArgumentParser) -> None:
    what = "tests by name, suite or pattern, separated by commas; `all`"
    parser.add_argument("selection", nargs="?", metavar="SELECTION", help=what)
    parser.add_argument(
        "--babi", type=options.path, metavar="DIR", help="answer the official bAbI files of a folder instead"
    )
    options.parameters(parser)
    parser.add_argument("-n", type=options.whole(1), default=200, help="worlds for each test and length (default 200)")
    options.lengths(parser, "tokens (default 0,4k)", [0, 4096])
    options.tokenizer(parser, DEFAULT)
    options.workers(parser)
    options.yes(parser)
    options.as_json(parser)


def main(args: Namespace) -> int:
    if args.babi:
        return _babi(args)
    if not args.selection:
        raise UsageError("name the tests to audit, such as latent_list or all; or give --babi DIR")
    from carrara.proof.audit import CHECKS, audit
    from carrara.proof.shortcuts.search import FEW, KINDS

    asked = options.asked(args, args.tokenizer or DEFAULT)
    jobs = [replace(recipe, length=length) for recipe in asked.recipes for length in args.lengths]
    check_many(len(jobs) * args.n, "contexts", args.yes)
    work = with_permissions(partial(audit, worlds=args.n, pack=asked.pack))
    audited = spread(work, jobs, args.workers if len(jobs) * args.n >= MANY else 1, args.engine)
    reports = list(progress(audited, len(jobs), "auditing"))
    breaches = [breach for report in reports for breach in report.breaches]
    if not any(report.items for report in reports):
        raise UsageError(reports[0].left_out[0])
    if args.json:
        print_json([asdict(report) for report in reports])
        return 1 if breaches else 0
    table(
        ["test", "length", "items", "breaches", "needed", "off", "repeated", "chance", *KINDS, "by"],
        [
            (
                report.task,
                write_length(report.length),
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
        found = sum(breach.check == check for breach in breaches)
        if check in ("chance", "cheap") and not any(report.shortcuts for report in reports):
            print(f"-       {check:7}  {meaning}: searched for in {FEW} worlds and more")
        else:
            print(f"{'BREACH' if found else 'ok':6}  {check:7}  {meaning}" + (f": {found} breaches" if found else ""))
    _complain([f"{breach.check}: {breach.id}: {breach.found}" for breach in breaches])
    return 1 if breaches else 0


def _best(shortcuts: "Sequence[Shortcut]") -> list[str]:
    """The score of the best shortcut of each kind, and what the best of all does."""
    from carrara.proof.shortcuts.search import KINDS, MARGIN

    best = max(shortcuts, key=lambda one: one.score, default=None)
    by_kind = {one.kind: one for one in shortcuts}
    scores = [f"{by_kind[kind].score:.3f}" if kind in by_kind else "-" for kind in KINDS]
    return [*scores, best.name if best and best.score > best.chance_level + MARGIN else ""]


def _babi(args: Namespace) -> int:
    from carrara.tasks.babilong._official_stories import check
    from carrara.tasks.babilong._story_files import files

    if given := _given(args):
        raise UsageError(f"--babi answers files as they are, and makes no items: leave {' and '.join(given)} out")
    found = files(args.babi)
    checked = [check(path, task) for task, path in progress(found, len(found), "answering")]
    complaints = [complaint for file in checked for complaint in (*file.not_understood, *file.wrong)]
    if args.json:
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


def _given(args: Namespace) -> list[str]:
    """What was given that says which items to audit."""
    parser = ArgumentParser()
    arguments(parser)
    names = {"selection": "SELECTION", "params": "-p", "n": "-n"}
    own = {name: value for name, value in vars(args).items() if name not in ("babi", "json", "main")}
    return [names.get(name, f"--{name}") for name, value in own.items() if value != parser.get_default(name)]


def _complain(complaints: list[str]) -> None:
    for complaint in complaints[:SHOWN]:
        print(f"carrara: {complaint}", file=sys.stderr)
    if len(complaints) > SHOWN:
        print(f"carrara: and {len(complaints) - SHOWN} more; --json lists them all", file=sys.stderr)

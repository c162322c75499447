"""carrara guard: has a server broken since it was trusted."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, print_json, show
from carrara.guard.sequential import CODES

if TYPE_CHECKING:
    from carrara.guard.schedule import Course

HELP = "find items that a server answers reliably, and ask them again: has it broken since?"
EXAMPLE = "carrara guard check guard.json --base-url http://127.0.0.1:8000/v1"


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    make = actions.add_parser("make", help="a guard, of what a reference server answers reliably")
    make.add_argument(
        "capabilities",
        nargs="?",
        default="",
        metavar="CAPABILITIES",
        help="as for `carrara profile`: some of the seven, or tests (default: all seven)",
    )
    make.add_argument("--out", type=options.path, required=True, metavar="FILE", help="the guard, e.g. guard.json")
    options.force(make)
    options.lengths(make, "tokens of the prompts (default 8k,32k,128k)", [8 << 10, 32 << 10, 128 << 10])
    make.add_argument(
        "-n", type=options.whole(1), default=5, help="items of each capability at each length, at most (default 5)"
    )
    make.add_argument("--times", type=options.whole(2), default=3, help="that each has to be right (default 3)")
    make.add_argument(
        "--work", type=options.path, metavar="DIR", help="its runs: the same command goes on (default: FILE.runs)"
    )
    options.tokenizer(make, "the model's own, where it is known")
    make.add_argument("--max-tokens", type=options.whole(1), help="tokens of a reply (default: the server's own)")
    _server(make, required=True)
    make.set_defaults(action=_make)

    check = actions.add_parser(
        "check",
        help="ask a guard's items again: ends with 0 fine, 1 broken, 3 cannot tell, 4 could not check",
        epilog=_exit_codes(),
        formatter_class=RawDescriptionHelpFormatter,
    )
    check.add_argument("guard", type=options.path, metavar="FILE")
    check.add_argument("--most", type=options.whole(1), metavar="N", help="prompts (default: each item six times)")
    check.add_argument("--out", type=options.path, metavar="DIR", help="keep its runs here (default: nowhere)")
    _server(check, required=False)
    options.allow(check)
    options.as_json(check)
    check.set_defaults(action=_check)


def _exit_codes() -> str:
    codes = dict(CODES.values()) | {2: "the command cannot be carried out: see the message"}
    return "\n".join(["exit codes:", *(f"  {code}  {meaning}" for code, meaning in sorted(codes.items()))])


def _server(parser: ArgumentParser, required: bool) -> None:
    parser.add_argument(
        "--model",
        required=required,
        metavar="M",
        help="as for `carrara run`" + ("" if required else " (default: the one that it was made with)"),
    )
    parser.add_argument("--base-url", metavar="URL", help="where the model is served")
    parser.add_argument(
        "-M", dest="model_args", action="append", default=[], metavar="NAME=VALUE", help="as for `carrara run`"
    )
    parser.add_argument("--connections", type=options.whole(1), help="requests at once (default: Inspect's own)")


def main(args: Namespace) -> int:
    action: Callable[[Namespace], int] = args.action
    return action(args)


def _make(args: Namespace) -> int:
    from carrara.guard.checks import made
    from carrara.guard.guard_file import is_guard, write
    from carrara.guard.sample_size import OFTEN, fine_share

    check_replaceable(args.out, args.force, is_guard)  # before requests are paid for
    guard = made(
        args.model,
        args.work or args.out.with_name(args.out.name + ".runs"),
        capabilities=args.capabilities,
        lengths=args.lengths,
        wanted=args.n,
        times=args.times,
        tokenizer=args.tokenizer or "",
        base_url=args.base_url,
        model_args=options.model_args(args.model_args),
        max_tokens=args.max_tokens,
        connections=args.connections,
        tell=_tell,
    )
    write(guard, args.out)
    share = fine_share(guard)
    print(
        f"{args.out}: {len(guard.items)} items of {', '.join(guard.strata)}; their rate of right replies is taken for "
        f"{guard.rate:.1%}; of an unbroken server, about {share:.0%} of checks end as fine"
        + ("" if share >= OFTEN else ": ask more items (`-n`), or more capabilities or lengths")
    )
    return 0


def _check(args: Namespace) -> int:
    from carrara.guard.checks import checked, record, said
    from carrara.guard.guard_file import read

    guard = read(args.guard)
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        found = checked(
            guard,
            args.out or Path(aside),
            model=args.model or guard.model,
            base_url=args.base_url,
            model_args=options.model_args(args.model_args),
            connections=args.connections,
            most=args.most,
            tell=_tell_course,
        )
    if args.json:
        print_json(record(found))
    else:
        for line in said(found):
            show(line)
    return found.code


def _tell(what: str) -> None:
    print(f"carrara: {what}", file=sys.stderr, flush=True)


def _tell_course(course: "Course") -> None:
    over = len(course.tests.of) - len(course.tests.open)
    failed = f", {course.failed} requests failed" if course.failed else ""
    _tell(
        f"{course.prompts} prompts, {course.right} of them right{failed}; "
        f"{over} of {len(course.tests.of)} tests are over"
    )

"""carrara audit: prove items right."""

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, replace

from carrara.commands import _options as options
from carrara.commands._output import print_json, progress, table
from carrara.lengths import write_length
from carrara.tokens import DEFAULT

HELP = "prove items right: answers, needed updates, filler, lengths, bytes; and what shortcuts score"
EXAMPLE = "carrara audit latent_list -n 200 --lengths 0,4k"
SHOWN = 20


def arguments(parser: ArgumentParser) -> None:
    options.selection(parser)
    parser.add_argument("-n", type=options.whole(1), default=200, help="worlds for each test and length (default 200)")
    parser.add_argument("--lengths", type=options.lengths, default=[0, 4096], help="tokens (default 0,4k)")
    options.tokenizer(parser, DEFAULT)
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.audit import CHECKS, audit

    asked = options.asked(args, args.tokenizer or DEFAULT)
    jobs = [replace(recipe, length=length) for recipe in asked.recipes for length in args.lengths]
    reports = [audit(job, args.n, asked.pack) for job in progress(jobs, len(jobs), "auditing")]
    breaches = [breach for report in reports for breach in report.breaches]
    if args.json:
        print_json([asdict(report) for report in reports])
        return 1 if breaches else 0
    shortcuts = list(reports[0].shortcuts)
    table(
        ["test", "length", "items", "breaches", "needed", "off", "floor", *shortcuts, "repeated"],
        [
            (
                report.task,
                write_length(report.length),
                str(report.items),
                str(len(report.breaches)),
                str(report.needed),
                f"{report.off:.1f}",
                f"{report.floor:.3f}",
                *(f"{report.shortcuts[name]:.3f}" for name in shortcuts),
                str(report.repeated),
            )
            for report in reports
        ],
    )
    print()
    for check, meaning in CHECKS.items():
        found = sum(breach.check == check for breach in breaches)
        print(f"{'BREACH' if found else 'ok':6}  {check:7}  {meaning}" + (f": {found} breaches" if found else ""))
    for breach in breaches[:SHOWN]:
        print(f"carrara: {breach.check}: {breach.id}: {breach.found}", file=sys.stderr)
    if len(breaches) > SHOWN:
        print(f"carrara: and {len(breaches) - SHOWN} more; --json lists them all", file=sys.stderr)
    return 1 if breaches else 0

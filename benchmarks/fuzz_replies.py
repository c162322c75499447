"""Every reader of replies, under a million replies that no model gives: no exception, and no time lost.

    python -m benchmarks.fuzz_replies [--replies 1000000] [--seed 0]
    python -m benchmarks.fuzz_replies --case sync/graph:17           # one of them again

Each reply is graded as a model's would be, by the sound reader and the published ones. Besides raising nothing, a grade
has to hold what it promises: a score from 0 to 1, a status that there is, 0 for what was not read, the same when it is
graded again. Replies are drawn by `tests/helpers/fuzz.py`.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence

from tests.helpers.fuzz import Case
from tests.helpers.fuzz_grading import Found, line, try_all, try_one

from carrara.items import registry
from carrara.util.parallel import parallel_map

PARTS = 8
"""Pieces of work for each test, so that the cores end together."""
TOLD = 20


def main(words: Sequence[str]) -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", default="all", help="as `carrara run` takes them")
    parser.add_argument("--case", default="", metavar="TEST:NUMBER", help="show one of the replies, and its grade")
    args = parser.parse_args(words)
    if args.case:
        return show(Case(args.case.rpartition(":")[0], args.seed, int(args.case.rpartition(":")[2])))
    tasks = registry.select(args.tasks)
    each = -(-args.replies // len(tasks))
    share = -(-each // PARTS)
    jobs = [(task, args.seed, range(at, min(each, at + share))) for task in tasks for at in range(0, each, share)]
    start = time.perf_counter()
    by_suite: dict[str, Found] = {}
    total = Found()
    for (task, _, _), found in zip(jobs, parallel_map(try_all, jobs), strict=True):
        by_suite.setdefault(task.split("/")[0], Found()).add(found)
    for suite, found in by_suite.items():
        total.add(found)
        print(line(suite, found))
    print(line("all", total))
    print(f"{len(tasks)} tests, seed {args.seed}, in {time.perf_counter() - start:,.0f} s")
    for failure in total.failures[:TOLD]:
        print(f"FAILURE {failure}")
    if total.failures[TOLD:]:
        print(f"and {len(total.failures) - TOLD} more")
    return int(bool(total.failures))


def show(case: Case) -> int:
    reply, found = case.reply, Found()
    shown = reply if len(reply) < 2000 else f"{reply[:1000]} … {reply[-1000:]}"
    print(case.asked.item.id)
    print(f"{len(reply):,} characters: {shown!a}")
    try_one(case, reply, found)
    print(line(case.task, found), *found.failures, sep="\n")
    return int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

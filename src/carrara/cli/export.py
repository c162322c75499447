"""carrara export: items as other programs want them."""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import progress, show
from carrara.core.errors import LengthError, UsageError
from carrara.core.log import warn_once
from carrara.core.many import check_many
from carrara.core.places import elsewhere
from carrara.tokens import DEFAULT

if TYPE_CHECKING:
    from carrara.core.recipe import Recipe
    from carrara.export.shards import Row
    from carrara.prompt.items import Item

HELP = "write items for other programs: a data set of the hub, batch requests, tasks of a harness, loads for servers"
EXAMPLE = "carrara export datasets latent_list,qa1 --lengths 4k,32k -n 50 --tokenizer o200k --out data/mine"

FORMATS = {
    "datasets": "Parquet files with a card, Croissant and eval.yaml, as the hub has them",
    "batch": "requests for OpenAI's batch interface and vLLM's run-batch; `carrara score` reads their results",
    "lm-eval": "tasks for lm-evaluation-harness (--include_path DIR --tasks carrara), scored as they are here",
    "serving": "prompts of exact lengths for `vllm bench serve` and `sglang.bench_serving`",
}


def arguments(parser: ArgumentParser) -> None:
    said = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=said)
    options.selection(parser)
    options.lengths(parser, "tokens of the prompts, e.g. 0,4k,1M", [0])
    parser.add_argument("-n", type=options.whole(1), default=20, help="worlds for each test and length (default 20)")
    parser.add_argument("--out", type=options.anywhere, required=True, metavar="DIR", help="the folder to write to")
    parser.add_argument("--model", default="", metavar="NAME", help="whom requests are for, as its server calls it")
    parser.add_argument(
        "--max-tokens",
        type=options.whole(1),
        metavar="N",
        help="the longest reply (default: the server's; for loads, as long as the answer)",
    )
    options.tokenizer(parser, DEFAULT)
    options.workers(parser)
    options.yes(parser)


def main(args: Namespace) -> int:
    from carrara.export.about import check_folder

    if args.format == "lm-eval" and elsewhere(args.out):
        raise UsageError(f"lm-eval reads a folder of its own machine: give one in place of {args.out}")
    check_folder(args.out)
    asked = options.asked(args, args.tokenizer or DEFAULT)
    jobs = [replace(recipe, length=length) for recipe in asked.recipes for length in args.lengths]
    check_many(len(jobs) * args.n, "contexts", args.yes)
    if args.format == "batch" and not args.model:
        raise UsageError("--model is lacking: a request says whom it is for, as its server calls it")
    if args.format != "batch" and args.model:
        raise UsageError(f"--model is for batch requests: {args.format} names none")
    if args.format == "lm-eval":
        return _tasks(args, jobs)
    return _data(args, asked, jobs) if args.format == "datasets" else _requests(args, asked, jobs)


def _tasks(args: Namespace, jobs: "list[Recipe]") -> int:
    from carrara.export import harness
    from carrara.export.about import CARD
    from carrara.prompt.items import left_out

    tasks = []
    for job in jobs:
        try:
            tasks.append(harness.asked(job, args.n, args.prompts, args.max_tokens))
        except LengthError as reason:
            if len(jobs) == 1:
                raise
            warn_once(left_out(job, reason))
    if not tasks:
        raise UsageError("none of these tests has a world of these lengths: ask for greater ones")
    if len({one.name for one in tasks}) < len(tasks):
        raise UsageError("two of these tests have one name: export them into two folders")
    files = harness.write(args.out, tasks, args.prompts)
    (args.out / CARD).write_text(_about(args), "utf-8")
    show(f"{args.out}: {len(files) - 1} tasks; lm_eval run --include_path {args.out} --tasks carrara --model …")
    return 0


def _requests(args: Namespace, asked: options.Asked, jobs: "list[Recipe]") -> int:
    from contextlib import ExitStack

    from carrara.core.files import whole_file
    from carrara.export.about import CARD
    from carrara.export.requests import Asked, rows
    from carrara.prompt.bulk import bulk

    forms = rows(args.format, Asked(args.model, args.max_tokens))
    written = 0
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(args.out / name)) for name in forms]
        lines = partial(_lines, rows=list(forms.values()))
        shares = bulk(jobs, args.n, asked.pack, lines, warn_once, args.workers, args.engine)
        for texts in progress((one for share in shares for one in share), len(jobs) * args.n, "exporting"):
            for file, text in zip(files, texts, strict=True):
                file.write(text)
            written += 1
    (args.out / CARD).write_text(_about(args), "utf-8")
    for name in forms:
        show(f"{args.out / name}: {written} items")
    return 0


def _lines(item: "Item", rows: "list[Row]") -> list[str]:
    """A line for each file."""
    from carrara.prompt.render import line

    return [line(item, row) for row in rows]


def _data(args: Namespace, asked: options.Asked, jobs: "list[Recipe]") -> int:
    from carrara.export import hub
    from carrara.export.shards import write_all

    names = [(hub.split_of(job), job.length) for job in jobs]
    if len(set(names)) < len(names):
        raise UsageError("two of these tests have one name, and a split has but one: export them into two folders")
    talking = [hub.talks(job, asked.pack) for job in jobs]
    hub.check_other(args.out, set(map(hub.config_of, jobs, talking)))
    written = []
    for conversations in (False, True):
        own = [job for job, talks in zip(jobs, talking, strict=True) if talks == conversations]
        if not own:
            continue

        def path(first: "Recipe", number: int, of: int, talks: bool = conversations) -> Path:
            return hub.path_of(args.out, first, talks, number, of)

        table = hub.table(conversations)
        number, made = write_all(own, args.n, asked.pack, table, path, warn_once, args.workers, args.engine)
        by_path = {(hub.config_of(job, conversations), hub.split_of(job)): job for job in own}
        for one in progress(made, number, "exporting"):
            place = one.path.parent.name, one.path.name.rsplit("-", 3)[0]
            written.append((by_path[place], conversations, one))
    found = hub.splits(args.out, written)
    hub.describe(args.out, args.out.resolve().name, _about(args), _own_text(args), found)
    total = sum(one.rows for one in found)
    configs = len({one.config for one in found})
    show(f"{args.out}: {total} questions in {len(found)} splits, of {configs} configurations")
    return 0


def _own_text(args: Namespace) -> bool:
    from carrara.export.about import TEXTS

    return any(name in TEXTS for name in options.given(args.params))


def _about(args: Namespace) -> str:
    from carrara.export.about import about

    name = args.out.resolve().name  # and not where it stands
    given = sys.argv[1:]
    places = [at for at, word in enumerate(given) if word == "--out" or word.startswith("--out=")]
    for at in places:
        given[at : at + (2 if given[at] == "--out" else 1)] = ["--out", name]
    command = shlex.join(given)
    return about(f"carrara {command}", _own_text(args), args.split)

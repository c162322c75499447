"""carrara generate: items to files."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, is_items, progress, show
from carrara.core.errors import UsageError
from carrara.core.files import whole_file
from carrara.core.lengths import write_length
from carrara.core.log import warn_once
from carrara.core.many import check_many
from carrara.core.plural import count
from carrara.tokens import DEFAULT

if TYPE_CHECKING:
    from carrara.core.recipe import Recipe
    from carrara.prompt.items import Item

HELP = "write items to files: recipes, which are small and render to the same bytes anywhere, or whole prompts"
EXAMPLE = "carrara generate latent_list --lengths 0,4k -n 20 --seed 7 --tokenizer gpt2 --out items --render"

LENGTHS, WORLDS = [0], 20
Row = Callable[["Item"], Mapping[str, Any]]


def arguments(parser: ArgumentParser) -> None:
    options.selection(parser, "or a file of recipes, to render them")
    options.lengths(parser, "tokens of the prompts, e.g. 0,4k,1M", LENGTHS)
    parser.add_argument(
        "-n", type=options.whole(1), default=WORLDS, help=f"worlds for each test and length (default {WORLDS})"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--render", action="store_true", help="write whole prompts (items.jsonl), not only recipes")
    kind.add_argument(
        "--finetune",
        action="store_true",
        help="write conversations with their right replies (finetune.jsonl), as fine-tuning services take them",
    )
    parser.add_argument("--out", type=options.anywhere, required=True, metavar="DIR", help="the folder to write to")
    options.force(parser)
    parser.add_argument(
        "--parquet",
        action="store_true",
        help="write Parquet files, each whole; what is there is not made again, so that a stopped command goes on",
    )
    options.tokenizer(parser, DEFAULT)
    options.workers(parser)
    options.yes(parser)


def main(args: Namespace) -> int:
    from carrara.prompt import render

    if args.parquet:
        return _tables(args)
    row: Row = render.finetuning if args.finetune else render.rendered if args.render else render.recipe_row
    line = partial(render.line, row=row)
    name = "finetune.jsonl" if args.finetune else "items.jsonl" if args.render else "recipes.jsonl"
    path = args.out / name
    check_replaceable(path, args.force, is_items)
    if args.selection.endswith(".jsonl"):
        what, total, shares = _from_recipes(Path(args.selection), args, line)
    else:
        what, total, shares = _from_selection(args, line)
    written = 0
    with whole_file(path) as file:
        for text in progress((one for share in shares for one in share), total, "generating"):
            file.write(text)
            written += 1
    show(f"{path}: {count(written, 'item')} {what}")
    return 0


def _tables(args: Namespace) -> int:
    """Parquet files; those that are there already are not made again."""
    from carrara.export.shards import Table, write_all
    from carrara.prompt import render

    if args.finetune or args.selection.endswith(".jsonl"):
        raise UsageError("--parquet is for recipes and whole items of tests that are named: leave it out")
    whole = Table("items", render.tabular, render.RENDERED)
    table = whole if args.render else Table("recipes", render.recipe_row, render.RECIPE)
    asked, jobs = _jobs(args)
    folder: Path = args.out / table.kind

    def path(first: "Recipe", number: int, of: int) -> Path:
        return folder / first.task / write_length(first.length) / f"{number:05}-of-{of:05}.parquet"

    number, written = write_all(jobs, args.n, asked.pack, table, path, warn_once, args.workers, args.engine)
    files = list(progress(written, number, "generating"))
    known = sum(one.known for one in files)
    there = f", {known} of them there already" if known else ""
    show(f"{folder}: {sum(one.rows for one in files)} items in {len(files)} files{there}")
    return 0


def _jobs(args: Namespace) -> "tuple[options.Asked, list[Recipe]]":
    asked = options.asked(args, args.tokenizer or DEFAULT)
    jobs = [replace(recipe, length=length) for recipe in asked.recipes for length in args.lengths]
    check_many(len(jobs) * args.n, "contexts", args.yes)
    return asked, jobs


Source = tuple[str, int, Iterator[Sequence[str]]]
"""What the items are, how many there are about, and a line for each, some at a time."""


def _from_selection(args: Namespace, line: "Callable[[Item], str]") -> Source:
    from carrara.prompt.bulk import bulk

    asked, jobs = _jobs(args)
    lines = bulk(jobs, args.n, asked.pack, line, warn_once, args.workers, args.engine)
    lengths = ", ".join(map(write_length, args.lengths))
    return f"at {lengths} tokens by {jobs[0].tokenizer}", len(jobs) * args.n, lines


def _from_recipes(path: Path, args: Namespace, line: "Callable[[Item], str]") -> Source:
    """The items of a file of recipes, each checked against the hash that its recipe has."""
    from carrara.core.files import DATA, content
    from carrara.prompt.bulk import Named, again
    from carrara.prompt.wording import read_pack

    options.refuse_beside_ids(args, lengths=LENGTHS, n=WORLDS)
    try:
        rows = [json.loads(line) for line in content(path, DATA).decode().splitlines() if line.strip()]
        recipes = [Named(str(row["id"]), row.get("sha256")) for row in rows]
        if not recipes:
            raise ValueError("it has no line")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a file of recipes, as `carrara generate` writes it ({error})") from None
    pack = read_pack(args.prompts) if args.prompts else None
    return f"of {path}", len(recipes), again(recipes, pack, line, args.workers, args.engine)

"""carrara generate: items to files."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import progress
from carrara.core.errors import RunError, UsageError
from carrara.core.files import whole_file
from carrara.core.lengths import write_length
from carrara.core.many import check_many
from carrara.core.talk import tell_once
from carrara.tokens import DEFAULT

if TYPE_CHECKING:
    from carrara.prompt.items import Item

HELP = "write items to files: recipes, which are small and render to the same bytes anywhere, or whole prompts"
EXAMPLE = "carrara generate latent_list --lengths 0,4k -n 20 --seed 7 --tokenizer gpt2 --out items --render"

LENGTHS, WORLDS = [0], 20


def arguments(parser: ArgumentParser) -> None:
    options.selection(parser, "or a file of recipes, to render them")
    parser.add_argument("--lengths", type=options.lengths, default=LENGTHS, help="tokens of the prompts, e.g. 0,4k,1M")
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
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write to")
    options.tokenizer(parser, DEFAULT)
    options.yes(parser)


def main(args: Namespace) -> int:
    from carrara.prompt.render import finetuning, recipe_row, rendered

    if args.selection.endswith(".jsonl"):
        what, total, items = _from_recipes(Path(args.selection), args)
    else:
        what, total, items = _from_selection(args)
    if args.finetune:
        items = _trainable(items)
    name, row = ("items.jsonl", rendered) if args.render else ("recipes.jsonl", recipe_row)
    if args.finetune:
        name, row = "finetune.jsonl", finetuning
    path = args.out / name
    written = 0
    with whole_file(path) as file:
        for item in progress(items, total, "generating"):
            file.write(json.dumps(row(item), ensure_ascii=False) + "\n")
            written += 1
    print(f"{path}: {written} items {what}")
    return 0


def _trainable(items: Iterator["Item"]) -> Iterator["Item"]:
    for item in items:
        if item.recipe.split == "test":
            raise UsageError(
                f"{item.id} is a test item, and a model that was trained on it can no longer be tested on it: "
                f"give --split train"
            )
        yield item


Source = tuple[str, int, Iterator["Item"]]
"""What the items are, how many there are about, and the items."""


def _from_selection(args: Namespace) -> Source:
    from carrara.prompt.items import contexts_of_all

    asked = options.asked(args, args.tokenizer or DEFAULT)
    jobs = [replace(recipe, length=length) for recipe in asked.recipes for length in args.lengths]
    check_many(len(jobs) * args.n, "contexts", args.yes)
    items = (item for context in contexts_of_all(jobs, args.n, asked.pack, tell_once) for item in context.items)
    lengths = ", ".join(map(write_length, args.lengths))
    return f"at {lengths} tokens by {jobs[0].tokenizer}", len(jobs) * args.n, items


def _from_recipes(path: Path, args: Namespace) -> Source:
    """The items of a file of recipes, each checked against the hash that its recipe has."""
    from carrara.core.files import DATA, content
    from carrara.prompt.items import rebuild
    from carrara.prompt.wording import read_pack

    options.refuse_beside_ids(args, lengths=LENGTHS, n=WORLDS)
    try:
        rows = [json.loads(line) for line in content(path, DATA).decode().splitlines() if line.strip()]
        recipes = [(str(row["id"]), row.get("sha256")) for row in rows]
        if not recipes:
            raise ValueError("it has no line")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a file of recipes, as `carrara generate` writes it ({error})") from None
    pack = read_pack(args.prompts) if args.prompts else None

    def items() -> Iterator["Item"]:
        for id, sha256 in recipes:
            item = rebuild(id, pack)
            if sha256 and item.survey.sha256 != sha256:
                raise RunError(f"{id} renders to other bytes than its recipe says: it was made by another release")
            yield item

    return f"of {path}", len(recipes), items()

"""carrara generate: items to files."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from carrara.commands import _options as options
from carrara.commands._output import progress, whole_file
from carrara.lengths import write_length

HELP = "write items to files: recipes, which are small and render to the same bytes anywhere, or whole prompts"
EXAMPLE = "carrara generate latent_list --lengths 0,4k -n 20 --seed 7 --tokenizer gpt2 --out items --render"


def arguments(parser: ArgumentParser) -> None:
    options.selection(parser)
    parser.add_argument("--lengths", type=options.lengths, default=[0], help="tokens of the prompts, e.g. 0,4k,1M")
    parser.add_argument("-n", type=options.whole(1), default=20, help="worlds for each test and length (default 20)")
    parser.add_argument("--render", action="store_true", help="write whole prompts (items.jsonl), not only recipes")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write to")
    options.tokenizer(parser, options.YARDSTICK)


def main(args: Namespace) -> int:
    from carrara.items import contexts
    from carrara.render import recipe_row, rendered

    asked = options.asked(args, args.tokenizer or options.YARDSTICK)
    name, row = ("items.jsonl", rendered) if args.render else ("recipes.jsonl", recipe_row)
    path = args.out / name
    written = 0
    jobs = [replace(recipe, length=length) for recipe in asked.recipes for length in args.lengths]
    made = (context for first in jobs for context in contexts(first, args.n, asked.pack))
    with whole_file(path) as file:
        for context in progress(made, len(jobs) * args.n, "generating"):
            for item in context.items:
                file.write(json.dumps(row(item), ensure_ascii=False) + "\n")
                written += 1
    lengths = ", ".join(map(write_length, args.lengths))
    print(f"{path}: {written} items at {lengths} tokens by {jobs[0].tokenizer}")
    return 0

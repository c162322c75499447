"""carrara stats: what a data set is like, beside what its paper says."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import print_json, progress, table
from carrara.core.lengths import write_length
from carrara.core.log import warn_once

if TYPE_CHECKING:
    from carrara.core.recipe import Recipe

HELP = "describe items before any model sees them: updates, answers, tokens by tokenizer; beside the paper's figures"
EXAMPLE = "carrara stats babilong -n 1000"

TOKENIZERS = "gpt2,cl100k,o200k,mistral-v7,words,characters"
RENDERED = 5
"""Worlds that are rendered to be counted: contexts of one length hardly differ."""


SHOWN = 8
"""Answers of a test that are listed."""


def arguments(parser: ArgumentParser) -> None:
    options.selection(parser)
    parser.add_argument("-n", type=options.whole(1), default=1000, help="worlds for each test (default 1000)")
    options.lengths(parser, "count contexts of these lengths by several tokenizers", [])
    parser.add_argument(
        "--tokenizers", default=TOKENIZERS, metavar="T,T", help=f"which; the first gives the lengths ({TOKENIZERS})"
    )
    options.yes(parser)
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara import tokens
    from carrara.core.errors import UsageError
    from carrara.core.many import check_many
    from carrara.results.analysis.dataset import CHARACTERS, WORDS, shape
    from carrara.results.published.figures import BABILONG_FACTS, BABILONG_LABELS, BABILONG_LENGTHS, BABILONG_TOKENS
    from carrara.results.sanitize import short

    names = [name.strip() for name in args.tokenizers.split(",")]
    if names[0] in (WORDS, CHARACTERS):
        raise UsageError(f"--tokenizers {args.tokenizers} cannot begin with {names[0]}: the first gives the lengths")
    for name in names:
        if name not in (WORDS, CHARACTERS):
            tokens.get(name)
    asked = options.asked(args, names[0])
    check_many(len(asked.recipes) * args.n, "worlds", args.yes)
    shapes = [shape(recipe, args.n) for recipe in progress(asked.recipes, len(asked.recipes), "drawing worlds")]
    jobs = [(length, [replace(recipe, length=length) for recipe in asked.recipes]) for length in args.lengths]
    counted = {
        length: _mean(_sizes(recipes, min(args.n, RENDERED), names))
        for length, recipes in progress(jobs, len(jobs), "counting contexts")
    }
    if args.json:
        print_json({"tests": [asdict(found) for found in shapes], "tokens": counted})
        return 0
    rows = []
    for found in shapes:
        paper = BABILONG_FACTS.get(found.test)
        u, s = found.updates, found.support
        rows.append(
            (
                found.test,
                f"{u.least}-{u.greatest}",
                f"{u.mean:.2f}",
                f"{s.least}-{s.greatest}",
                f"{s.mean:.2f}",
                paper.facts if paper else "",
                paper.relevant if paper else "",
            )
        )
    table(["test", "updates", "mean", "relevant", "mean", "paper: facts", "relevant"], rows)
    print()
    table(
        ["test", "answers", "paper, labels not named"],
        [
            (
                found.test,
                "  ".join(f"{short(answer, 40)} {share:.1%}" for answer, share in found.answers[:SHOWN])
                + (f"  and {len(found.answers) - SHOWN} more" if len(found.answers) > SHOWN else ""),
                "  ".join(f"{share}%" for share in sorted(BABILONG_LABELS.get(found.test, ()), reverse=True)),
            )
            for found in shapes
        ],
    )
    if drawn := [(found.test, what, values) for found in shapes for what, values in found.drawn]:
        print()
        table(
            ["test", "drawn", "share, of an even draw"],
            [
                (test, what, "  ".join(f"{value} {share:.1%} ({even:.1%})" for value, share, even in values))
                for test, what, values in drawn
            ],
        )
    if counted:
        print(f"\ncontexts alone, of prompts with so many tokens by {names[0]}, mean of the tests")
        table(
            ["", *map(write_length, counted)],
            [(name, *(f"{by[name]:.0f}" for by in counted.values())) for name in names],
        )
        if any(found.test in BABILONG_FACTS for found in shapes):
            print("\nthe paper's, which leaves 300 of 1,000 k tokens to the prompt")
            table(
                ["", *BABILONG_LENGTHS],
                [(name, *map(str, numbers)) for name, numbers in BABILONG_TOKENS.items()],
            )
    return 0


def _sizes(recipes: "Sequence[Recipe]", worlds: int, names: Sequence[str]) -> list[dict[str, float]]:
    """What contexts of one length count; a test that has none is left out, unless it is the only one."""
    from carrara.core.errors import LengthError
    from carrara.prompt.items import left_out
    from carrara.results.analysis.dataset import sizes

    found = []
    for recipe in recipes:
        try:
            found.append(sizes(recipe, worlds, names))
        except LengthError as reason:
            if len(recipes) == 1:
                raise
            warn_once(left_out(recipe, reason))
    return found


def _mean(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(one[name] for one in found) / len(found) for name in found[0]}

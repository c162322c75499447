"""carrara write: a bank of pieces that a model writes."""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._stopping import stopped_code
from carrara.cli._talk import say
from carrara.core.errors import RunError, UsageError
from carrara.core.many import check_many

if TYPE_CHECKING:
    from carrara.models.writing import Missing, Order

DRAFTS, MAX_TOKENS = 4, 512

HELP = "have a model write the pieces that MRCR's conversations are made of; stopped, the same command goes on"
EXAMPLE = "carrara write --model openai/gpt-4o --formats poem,riddle --topics penguins,bees -n 4 --out bank.jsonl"

_ALL = ["all"]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model", required=True, metavar="M", help="any Inspect model name that chats, or carrara/smollm2"
    )
    for part, otherwise in (("formats", "all"), ("topics", "all"), ("styles", "none"), ("moods", "none")):
        parser.add_argument(
            f"--{part}",
            type=_names,
            metavar="NAME,NAME",
            help=f"any words, or `all` for those of the built-in writer (default {otherwise})",
        )
    parser.add_argument("-n", type=options.whole(1), default=DRAFTS, help=f"drafts for each key (default {DRAFTS})")
    parser.add_argument(
        "--out", type=options.path, required=True, metavar="FILE", help="the bank, a .jsonl file; added to"
    )
    parser.add_argument("--base-url", metavar="URL", help="where the model is served")
    parser.add_argument(
        "-M",
        "--model-arg",
        dest="model_args",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument for the model's provider, as Inspect takes it",
    )
    parser.add_argument(
        "--max-tokens",
        type=options.whole(16),
        default=MAX_TOKENS,
        help=f"tokens of a reply, thinking among them (default {MAX_TOKENS})",
    )
    parser.add_argument(
        "--temperature", type=options.temperature, default=1.0, help="default 1; `none` leaves it to the server"
    )
    parser.add_argument("--connections", type=options.whole(1), help="requests at a time (default: found out)")
    options.yes(parser)


def _names(text: str) -> list[str]:
    names = [" ".join(name.split()) for name in text.split(",")]
    if not all(names):
        raise ArgumentTypeError(f"{text!r} has an empty name: write names with a comma between them")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise ArgumentTypeError(f"{text!r} has {twice[0]!r} twice")
    return names


def main(args: Namespace) -> int:
    from carrara.core.console import console
    from carrara.models.writing import write

    order = ordered(args)
    try:
        written = write(order, console())
    except KeyboardInterrupt:
        print("\ncarrara: stopped; the same command goes on where this one was", file=sys.stderr)
        sys.stderr.flush()
        if order.embedded:
            os._exit(stopped_code())  # llama.cpp cannot be interrupted, and Python would wait for its reply
        return stopped_code()
    print(f"{order.out}: {written.pieces:,} pieces for {len(order.keys):,} keys, {written.new:,} of them new")
    if written.missing:
        for line in _told(written.missing):
            say(line)
        raise RunError(
            f"{len(written.missing):,} pieces are missing, as told above; the same command asks for them again"
        )
    return 0


def ordered(args: Namespace) -> "Order":
    """The order that the arguments come to."""
    from carrara.models.writing import Order
    from carrara.text.writings import FORMATS, Key, moods, styles, topics

    if args.moods and not args.styles:
        raise UsageError("--moods needs --styles: a key has a mood beside a style (`-p depth=4` asks for both)")
    parts = [
        list(built_in) if names == _ALL else names or otherwise
        for names, built_in, otherwise in (
            (args.formats, FORMATS, FORMATS),
            (args.topics, topics(), topics()),
            (args.styles, styles(), [""]),
            (args.moods, moods(), [""]),
        )
    ]
    keys = tuple(Key(*key) for key in product(*parts))
    check_many(len(keys) * args.n, "drafts", args.yes)
    return Order(
        keys=keys,
        drafts=args.n,
        model=args.model,
        out=args.out,
        base_url=args.base_url,
        model_args=options.model_args(args.model_args),
        max_tokens=args.max_tokens,
        temperature=args.temperature,
        connections=args.connections,
    )


def _told(missing: "list[Missing]") -> list[str]:
    """What is missing, a line for each key and reason."""
    return [
        f"{count} of the pieces for {key.one}: {why}" if count > 1 else f"{key.one}: {why}"
        for (key, why), count in Counter(missing).items()
    ]

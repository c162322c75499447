"""carrara profile: the effective length of a model by capability, at the least cost."""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import print_json, show
from carrara.core.errors import UsageError
from carrara.core.lengths import read_length
from carrara.runs.budget import read_budget

if TYPE_CHECKING:
    from carrara.profiling.adaptive import Card

HELP = "estimate a model's effective length for each capability, with as few tokens as possible"
EXAMPLE = "carrara profile --model carrara/smollm2 --upto 4k --out runs/profile"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "capabilities",
        nargs="?",
        default="",
        metavar="CAPABILITIES",
        help="of finding, tracking, telling, surveying, reasoning, knowing, copying; or tests (default: all seven)",
    )
    parser.add_argument("--model", required=True, metavar="M", help="as for `carrara run`")
    parser.add_argument(
        "--out", type=options.anywhere, required=True, metavar="DIR", help="the run's folder: the same command goes on"
    )
    parser.add_argument(
        "--upto",
        type=read_length,
        default=128 << 10,
        metavar="LENGTH",
        help="the longest context that is asked (default 128k)",
    )
    parser.add_argument(
        "--rule",
        default="base:0.85",
        help="what counts as held: base:0.85, of its own score without filler (default); above:0.85, a score; half",
    )
    parser.add_argument(
        "--within", type=float, default=2.0, metavar="FACTOR", help="how narrow the intervals are to be (default 2)"
    )
    parser.add_argument("--budget", type=_tokens, metavar="5Mtok", help="tokens of prompts, at most")
    parser.add_argument("--batch", type=options.whole(1), default=8, help="worlds that are asked at once (default 8)")
    options.tokenizer(parser, "the model's own, where it is known")
    parser.add_argument("--base-url", metavar="URL", help="where the model is served")
    parser.add_argument(
        "-M", dest="model_args", action="append", default=[], metavar="NAME=VALUE", help="as for `carrara run`"
    )
    parser.add_argument("--max-tokens", type=options.whole(1), help="tokens of a reply (default: the server's own)")
    parser.add_argument("--connections", type=options.whole(1), help="requests at once (default: Inspect's own)")
    options.min_base_score(parser)
    options.as_json(parser)


def _tokens(text: str) -> int:
    try:
        found = read_budget(text)
    except UsageError:
        found = None
    if not found or found.kind != "tokens":
        raise ArgumentTypeError(f"{text!r} is no budget of a profile: give tokens of prompts, such as 5Mtok or 800ktok")
    return int(found.most)


def main(args: Namespace) -> int:
    from carrara.profiling.adaptive import profiled, record, said

    cards = profiled(
        args.model,
        args.out,
        capabilities=args.capabilities,
        upto=args.upto,
        rule=args.rule,
        within=args.within,
        budget=args.budget,
        batch=args.batch,
        tokenizer=args.tokenizer or "",
        base_url=args.base_url,
        model_args=options.model_args(args.model_args),
        max_tokens=args.max_tokens,
        connections=args.connections,
        min_base_score=args.min_base_score,
        tell=_tell,
    )
    if args.json:
        print_json([record(card) for card in cards])
        return 0
    for line in said(cards):
        show(line)
    return 0


def _tell(cards: "list[Card]") -> None:
    done = sum(card.settled for card in cards)
    prompts, tokens = (sum(getattr(card, name) for card in cards) for name in ("prompts", "tokens"))
    print(
        f"carrara: {prompts:,} prompts, {tokens:,} tokens; {done} of {len(cards)} settled", file=sys.stderr, flush=True
    )

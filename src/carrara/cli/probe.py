"""carrara probe: one's own model, streamed."""

import json
from argparse import ArgumentParser, Namespace

from carrara.cli import _options as options

HELP = "stream tests through a model of one's own: three methods, and what it keeps at which length"
EXAMPLE = "carrara probe mine:Memory --tests qa1,qa2 --lengths 1k,16k,128k -n 20 --out runs/mine"
WORLDS = 20


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODULE:MODEL",
        help="a class, or an object, with init(batch), step(state, tokens) and nbytes(state)",
    )
    parser.add_argument("--tests", default="qa1", metavar="SELECTION", help="tests by name, with commas (default qa1)")
    options.lengths(parser, "tokens of the prompts (default 1k,4k,16k)")
    parser.add_argument("-n", type=options.whole(1), default=WORLDS, help=f"worlds for each (default {WORLDS})")
    parser.add_argument("--out", type=options.path, required=True, metavar="DIR", help="the run's folder")
    parser.add_argument(
        "--segment", type=options.whole(1), help="tokens at a time (default: the model's `segment`, or 512)"
    )
    parser.add_argument("--together", type=options.whole(1), metavar="N", help="items side by side (default 32)")
    parser.add_argument("--threads", type=options.whole(1), default=1, help="of the processor (default 1)")
    options.tokenizer(parser, "gpt2; the model reads tokens of its own")
    options.min_base_score(parser)
    options.parameters(parser)


def main(args: Namespace) -> int:
    from carrara.cli._output import table
    from carrara.cli.run import carried_out
    from carrara.core.files import whole_file
    from carrara.core.lengths import read_lengths, write_length
    from carrara.logs.replies import read_replies
    from carrara.logs.stream_cost import costs
    from carrara.models.streaming import own
    from carrara.prompt.asked import Selection
    from carrara.recurrent import needed
    from carrara.runs.config import Plan
    from carrara.runs.jobs import Wanted, jobs

    needed()
    own(args.model)  # what is wrong with it is said before anything is made
    name = f"carrara/probe:{args.model}"
    wanted = Wanted(
        tests=[Selection(args.tests, options.given(args.params))],
        lengths=args.lengths or read_lengths("1k,4k,16k"),
        n=args.n,
        drawn=options.drawn(args),
        tokenizer=args.tokenizer or "",
    )
    given = {"segment": args.segment, "copies": args.together, "threads": args.threads}
    plan = Plan(
        jobs=jobs(wanted, name),
        model=name,
        out=args.out,
        prompts=args.prompts,
        model_args={argument: value for argument, value in given.items() if value},
    )
    code = carried_out(plan, None, args.min_base_score)
    found = costs(read_replies(args.out))
    print()
    table(
        ["test", "length", "n", "score", "state", "tokens/s", "memory"],
        [
            [
                one.test,
                write_length(one.length),
                f"{one.n}",
                f"{one.score:.3f}",
                f"{one.state:,} bytes",
                f"{one.speed:,.0f}",
                f"{one.resident >> 20:,} MB",
            ]
            for one in found
        ],
    )
    with whole_file(args.out / "probe.json") as file:
        json.dump([one._asdict() for one in found], file, indent=1)
    return code

"""carrara run: ask a model."""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.core.errors import RunError, UsageError
from carrara.core.lengths import write_length
from carrara.engine.presets import PRESETS, WORLDS

if TYPE_CHECKING:
    from carrara.engine.jobs import Wanted
    from carrara.engine.plan import Plan
    from carrara.engine.run import Outcome

HELP = "run tests on a model; stopped at any moment, the same command goes on where it was"
EXAMPLE = "carrara run latent_list --model carrara/smollm2 --lengths 0,1k,4k -n 50 --out runs/first"


def items(parser: ArgumentParser) -> None:
    """Which items a run asks: what a plan takes too."""
    presets = f"{', '.join(PRESETS)} (`carrara tasks` says what each is)"
    options.selection(parser, f"or a preset, or PRESET:SELECTION for a part of one: {presets}")
    parser.add_argument("--lengths", type=options.lengths, help="tokens of the prompts, e.g. 0,4k,1M (default 0)")
    parser.add_argument("-n", type=options.whole(1), help=f"worlds for each test and length (default {WORLDS})")
    options.tokenizer(parser, "the model's own, where it is known")
    parser.add_argument(
        "--published",
        metavar="SUITE:DIR",
        help="run published items as they are, from their files: babilong:DIR, mrcr:DIR, minerva:DIR",
    )


def arguments(parser: ArgumentParser) -> None:
    items(parser)
    parser.add_argument(
        "--model",
        required=True,
        metavar="M",
        help="any Inspect model name (openai/…, vllm/…, openai-api/…), the embedded model carrara/smollm2, "
        "or a reference: carrara/oracle, carrara/chance, carrara/majority, carrara/echo",
    )
    parser.add_argument("--out", type=_folder, required=True, metavar="DIR", help="the run's folder")
    parser.add_argument("--base-url", metavar="URL", help="where the model is served")
    parser.add_argument(
        "-M",
        dest="model_args",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument for the model's provider, as Inspect takes it",
    )
    parser.add_argument(
        "--max-tokens",
        type=options.whole(1),
        help="tokens of a reply (default: the server's own; base models and carrara/smollm2 get what the answer needs)",
    )
    parser.add_argument(
        "--temperature", type=options.temperature, default=0.0, help="default 0; `none` leaves it to the server"
    )
    retrieving = parser.add_argument_group("retrieval, in front of any model")
    retrieving.add_argument(
        "--retrieve", metavar="sentences|chunks:N", help="send only the parts of a context that its question finds"
    )
    retrieving.add_argument("--top-k", type=options.whole(1), help="how many parts (default 5)")
    retrieving.add_argument("--order", help="of the parts: score, the best first (default), or position")
    retrieving.add_argument("--by", help="minilm (embeddings, offline; default), bm25, or openai:MODEL@URL")
    parser.add_argument(
        "--cot",
        metavar="free|none|exactly:N",
        default="free",
        help="chain of thought: free (default); none, by putting the answer's first words into the model's mouth where "
        "its server can go on with a message; exactly:N tokens of it, cut or pushed on",
    )
    options.as_json(parser)
    parser.add_argument(
        "--within",
        action="store_true",
        help="lengths hold the answer too: prompts are shorter by --max-tokens, or else by what plain answers take",
    )
    parser.add_argument("--connections", type=options.whole(1), help="requests at a time (default: found out)")
    parser.add_argument(
        "--perplexity",
        action="store_true",
        help="have the server tell what each prompt costs the model, in nats a token (vLLM; not with every server)",
    )
    parser.add_argument(
        "--request-timeout",
        type=options.duration,
        default=1800.0,
        metavar="TIME",
        help="for one request, e.g. 90s, 10min, 2h (default 30min); it is made three times at most",
    )
    parser.add_argument(
        "--yes", action="store_true", help="go on with more than 1,000,000,000 tokens for a model that is not carrara/…"
    )


def _folder(text: str) -> Path:
    if not text.strip():
        raise ArgumentTypeError(f"{text!r} is no folder: give the run's own, which need not be there yet")
    return Path(text)


def main(args: Namespace) -> int:
    plan = planned(args)
    try:
        return carried_out(plan, args.json)
    except KeyboardInterrupt:
        print("carrara: stopped; the same command goes on where this one was", file=sys.stderr)
        sys.stderr.flush()
        if plan.here:
            os._exit(130)  # llama.cpp cannot be interrupted, and Python would wait for its reply
        return 130


def planned(args: Namespace) -> "Plan":
    """The plan that the arguments ask for; everything that can be seen to be wrong is refused here."""
    from carrara.engine.jobs import jobs
    from carrara.engine.plan import Plan

    model_args = options.model_args(args.model_args)
    return Plan(
        jobs=jobs(wanted(args), args.model, model_args.get("gguf", "") if args.model == "carrara/smollm2" else ""),
        model=args.model,
        out=args.out,
        prompts=args.prompts,
        base_url=args.base_url,
        model_args=model_args,
        max_tokens=args.max_tokens,
        temperature=args.temperature,
        connections=args.connections,
        retrieve=_retrieval(args),
        cot=args.cot,
        any_size=args.yes,
        within=args.within,
        perplexity=args.perplexity,
        limit=args.request_timeout,
    )


def wanted(args: Namespace) -> "Wanted":
    """The items that the arguments name."""
    from carrara.engine.jobs import Wanted
    from carrara.prompt.asked import Selection

    return Wanted(
        tests=[Selection(args.selection, options.given(args.params))],
        lengths=args.lengths,
        n=args.n,
        drawn=options.drawn(args),
        tokenizer=args.tokenizer or "",
        published=args.published or "",
    )


def _retrieval(args: Namespace) -> str:
    if args.retrieve is None:
        if given := [name for name in ("top_k", "order", "by") if getattr(args, name) is not None]:
            raise UsageError(f"--{given[0].replace('_', '-')} says how to retrieve: give --retrieve sentences too")
        return ""
    from carrara.retrieval import Retrieval

    return str(Retrieval.parse(args.retrieve, by=args.by, top=args.top_k, order=args.order))


def carried_out(plan: "Plan", as_json: bool) -> int:
    """Run a plan, print what it came to, write its report."""
    from rich.console import Console

    from carrara.cli._output import print_json, print_summary
    from carrara.cli.report import rows_as_json
    from carrara.engine.planned import parts
    from carrara.engine.run import run
    from carrara.engine.shortcuts import known
    from carrara.engine.surroundings import Looker
    from carrara.results.analysis.summary import summarize
    from carrara.results.report import write_report

    outcome = run(plan, Console(stderr=True))
    page = plan.out / "report.html"
    write_report(
        outcome.folder, page, plan.out.resolve().name, parts(plan.out, outcome.folder), known(outcome.folder), Looker()
    )
    rows = summarize(outcome.own, among=outcome.folder)
    if as_json:
        print_json(rows_as_json(rows, []))
    else:
        print_summary(rows)
        print(f"\nreport: {page}\nlogs:   inspect view --log-dir {plan.out / 'logs'}", flush=True)
    print(f"carrara: {_requests(outcome)}", file=sys.stderr)
    failed = [result for result in outcome.own if result.status == "error"]
    if failed:
        why = (failed[0].error or "no reason given").strip().splitlines()[-1][:300]
        raise RunError(
            f"{len(failed)} of {len(outcome.own)} requests failed (the first: {why}); the same command asks them again"
        )
    if blank := [row for row in rows if not row.stat.scored]:
        cells = ", ".join(f"{row.task} at {write_length(row.length)} ({row.stat.unscored})" for row in blank[:FEW])
        raise RunError(
            f"there is no score of {cells}{' and more' if len(blank) > FEW else ''}: nothing was measured there"
        )
    return 0


FEW = 6
"""Cells without a score that are named."""


def _requests(outcome: "Outcome") -> str:
    """How many requests were made, and why more or fewer than there are items."""
    made, items = outcome.requests, len(outcome.own)
    again = f", {outcome.again:,} of them after one that failed" if outcome.again else ""
    return f"{made:,} requests were made for {items:,} items{again}"

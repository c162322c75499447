"""carrara run: ask a model."""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrara.cli import _options as options
from carrara.cli._output import print_json, show
from carrara.cli._stopping import stopped_code
from carrara.cli._talk import in_flags
from carrara.core.errors import RunError, UsageError
from carrara.core.lengths import write_length
from carrara.core.plural import count
from carrara.runs.budget import Budget, read_budget
from carrara.runs.presets import PRESETS, WORLDS

if TYPE_CHECKING:
    from argparse import _ArgumentGroup

    from carrara.runs.config import Plan, Shard
    from carrara.runs.jobs import Wanted
    from carrara.runs.prices import Price
    from carrara.runs.run import Outcome

HELP = "run tests on a model; stopped at any moment, the same command goes on where it was"
EXAMPLE = "carrara run latent_list --model carrara/smollm2 --lengths 0,1k,4k -n 50 --out runs/first"


def items(parser: ArgumentParser) -> None:
    """Which items a run asks: what a plan takes too."""
    presets = f"{', '.join(PRESETS)} (`carrara tasks` says what each is)"
    options.selection(parser, f"or a preset, or PRESET:SELECTION for a part of one: {presets}")
    options.lengths(parser, "tokens of the prompts, e.g. 0,4k,1M (default 0)")
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
        action="append",
        required=True,
        metavar="M",
        help="any Inspect model name (openai/…, vllm/…, openai-api/…), the embedded model carrara/smollm2, "
        "a local file carrara/gguf:PATH, "
        "or a reference: carrara/oracle, carrara/chance, carrara/majority, carrara/echo; several are run one by one",
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
    options.min_base_score(parser)
    options.as_json(parser)
    parser.add_argument(
        "--within",
        action="store_true",
        help="lengths hold the answer too: prompts are shorter by --max-tokens, or else by what plain answers take",
    )
    parser.add_argument(
        "--batch",
        nargs="?",
        type=options.whole(1),
        const=True,
        default=False,
        metavar="N",
        help="send requests by the provider's batch interface, N at a time at most: cheaper, and up to a day later "
        "(openai, anthropic, google, grok, together)",
    )
    parser.add_argument(
        "--shard",
        type=_shard,
        metavar="I/N",
        help="ask the I-th of N parts: several machines, one folder; a part that died is given again",
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
    spending = parser.add_argument_group("what it may use")
    spending.add_argument(
        "--budget",
        type=_budget,
        metavar="5Mtok|20usd|30min",
        help="send nothing that would pass it: of tokens and money all that the folder has of a model counts; "
        "the same command with more goes on",
    )
    prices(spending)
    spending.add_argument(
        "--ask-above",
        type=_above,
        default=read_budget("100Mtok"),
        metavar="100Mtok|20usd",
        help="on a terminal, ask before more than that is sent to a model that is not carrara/… (default 100Mtok)",
    )
    spending.add_argument(
        "--yes",
        action="store_true",
        help="do not ask; and go on with more than 1,000,000,000 tokens for a model that is not carrara/…",
    )


def prices(parser: "ArgumentParser | _ArgumentGroup") -> None:
    parser.add_argument(
        "--price",
        metavar="IN,OUT[,CACHED]",
        help="money for a million tokens of prompts, of replies, of prompts that are remembered",
    )
    parser.add_argument(
        "--prices",
        type=options.path,
        metavar="FILE.toml",
        help="the same by model: a table of input, output and cached for each",
    )


def price_of(args: Namespace) -> "dict[str, Price]":
    """The price of each model, where one is given."""
    from carrara.runs.prices import read_price, read_prices

    if args.price and args.prices:
        raise UsageError("--price and --prices say the same: give one of them")
    if args.prices:
        return read_prices(args.prices, args.model)
    return dict.fromkeys(args.model, read_price(args.price)) if args.price else {}


def _budget(text: str) -> Budget:
    try:
        return read_budget(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def _shard(text: str) -> "Shard":
    from carrara.runs.config import Shard

    try:
        return Shard.parse(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def _above(text: str) -> Budget:
    found = _budget(text)
    if found.kind == "time":
        raise ArgumentTypeError(f"{text!r} is a time: give tokens or money, such as 100Mtok or 20usd")
    return found


def _folder(text: str) -> Path:
    if not text.strip():
        raise ArgumentTypeError(f"{text!r} is no folder: give the run's own, which need not be there yet")
    return options.anywhere(text)


def main(args: Namespace) -> int:
    models = list(dict.fromkeys(args.model))
    plans = [planned(args, model) for model in models]  # what can be seen to be wrong is refused before any is begun
    if len(plans) == 1:
        return _stopped_or(plans[0], print_json if args.json else None, args.min_base_score)
    failed, rows = [], list[Any]()
    for plan in plans:
        show(f"carrara: {plan.model}", file=sys.stderr)
        try:
            code = _stopped_or(plan, rows.extend if args.json else None, args.min_base_score)
            if code == stopped_code():
                return code
        except (RunError, UsageError) as error:
            failed.append(plan.model)
            show(f"carrara: {in_flags(str(error))}", file=sys.stderr)
    if args.json:
        print_json(rows)
    if failed:
        raise RunError(f"{', '.join(failed)} failed, of {len(plans)} models; the same command asks again")
    return 0


def _stopped_or(plan: "Plan", hand: Callable[[Any], None] | None, min_base_score: float) -> int:
    try:
        return carried_out(plan, hand, min_base_score)
    except KeyboardInterrupt:
        print("carrara: stopped; the same command goes on where this one was", file=sys.stderr)
        sys.stderr.flush()
        if plan.here:
            os._exit(stopped_code())  # llama.cpp cannot be interrupted, and Python would wait for its reply
        return stopped_code()


def planned(args: Namespace, model: str) -> "Plan":
    """The plan that the arguments ask for; everything that can be seen to be wrong is refused here."""
    from carrara.runs.config import Plan
    from carrara.runs.jobs import jobs

    model_args = options.model_args(args.model_args)
    return Plan(
        jobs=jobs(wanted(args), model),
        model=model,
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
        batch=args.batch,
        budget=args.budget,
        price=price_of(args).get(model),
        shard=args.shard,
        ask=None if args.yes or not sys.stdin.isatty() or model.startswith("carrara/") else _asked(args, model),
    )


def _asked(args: Namespace, model: str) -> "Callable[[int, float | None], bool]":
    """Ask whoever sits at the terminal before much is sent."""
    above: Budget = args.ask_above

    def ask(tokens: int, money: float | None) -> bool:
        much = money if above.kind == "money" else tokens
        if much is None:
            raise UsageError(f"--ask-above {above} is money, and no price is known: give --price, or tokens (100Mtok)")
        if much <= above.most:
            return True
        about = f", about {money:,.2f} of money" if money is not None else ""
        print(f"carrara: {tokens:,} tokens of prompts{about} are to be sent to {model}. Go on? [y/N] ", end="",
              file=sys.stderr, flush=True)  # fmt: skip
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return ask


def wanted(args: Namespace) -> "Wanted":
    """The items that the arguments name."""
    from carrara.prompt.asked import Selection
    from carrara.runs.jobs import Wanted

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
    from carrara.readers.retrieval import Retrieval

    return str(Retrieval.parse(args.retrieve, by=args.by, top=args.top_k, order=args.order))


def carried_out(plan: "Plan", hand: Callable[[Any], None] | None, min_base_score: float) -> int:
    """Run a plan, print its table or pass its rows to `hand`, and write its report."""
    from carrara.cli._output import print_summary
    from carrara.cli.report import rows_as_json
    from carrara.core.console import console
    from carrara.logs.shortcuts import known
    from carrara.logs.snippets import Looker
    from carrara.results.analysis import Requirements, effective_lengths, summarize
    from carrara.results.report import write_report
    from carrara.runs.manifest import parts
    from carrara.runs.run import run
    from carrara.tokens.gguf_model import logged_name, shown

    outcome = run(plan, console())
    page = plan.out / "report.html"
    shortcuts = known(outcome.folder)
    write_report(
        outcome.folder,
        page,
        plan.out.resolve().name,
        parts(plan.out, outcome.folder),
        shortcuts,
        Looker(),
        min_base_score=min_base_score,
    )
    rows = summarize(outcome.own, among=outcome.folder)
    effective = effective_lengths(rows, Requirements.of(shortcuts, min_base_score))
    lacking = parts(plan.out, outcome.own) if outcome.unasked else []
    model, _ = shown(logged_name(plan.model))
    lacking = [part for part in lacking if part.subject[0] == model]
    if hand:
        hand(rows_as_json(rows, lacking, effective))
    else:
        print_summary(rows, lacking, effective)
        show(f"\nreport: {page}\nlogs:   inspect view --log-dir {plan.out / 'logs'}")
    print(f"carrara: {_requests(outcome)}", file=sys.stderr)
    if outcome.unasked:
        was = "was" if outcome.unasked == 1 else "were"
        print(
            f"carrara: {count(outcome.unasked, 'item')} {was} not asked: --budget {plan.budget} has no room for them; "
            "the same command with more goes on",
            file=sys.stderr,
        )
    failed = [result for result in outcome.own if result.status == "error"]
    if failed:
        why = (failed[0].error or "no reason given").strip().splitlines()[-1][:300]
        raise RunError(
            f"{len(failed)} of {count(len(outcome.own), 'request')} failed (the first: {why}); "
            "the same command asks them again"
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
    return f"{count(made, 'request')} {'was' if made == 1 else 'were'} made for {count(items, 'item')}{again}"

"""Runs in Python: any model, or a function; and what runs came to."""

import asyncio
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from carrara.api.coerce import File, Lengths, Value, drawn_of, lengths_of, parameters_of, whole
from carrara.api.results import Results
from carrara.api.tasks import Loaded
from carrara.core.errors import RunError, UsageError
from carrara.core.keys import Split
from carrara.core.many import check_many
from carrara.core.places import place
from carrara.core.talk import tell_once
from carrara.core.types import Style
from carrara.prompt.asked import Selection, recipes
from carrara.tokens import DEFAULT

if TYPE_CHECKING:
    from rich.console import Console

    from carrara.models.function import Function
    from carrara.proof.audit import Breach
    from carrara.runs.config import Plan

T = TypeVar("T")
Tests = str | Loaded | Sequence[str | Loaded]
"""Tests by selection, or loaded with their parameters; for a run, presets too."""


def run(
    tests: Tests,
    model: "str | Function",
    /,
    *,
    out: File,
    lengths: Lengths | None = None,
    n: int | None = None,
    params: Mapping[str, Value] | None = None,
    seed: int = 0,
    split: Split = "test",
    style: Style = "chat",
    tokenizer: str = "",
    prompts: File | None = None,
    published: str = "",
    retrieve: str = "",
    cot: str = "free",
    within: bool = False,
    perplexity: bool = False,
    base_url: str | None = None,
    model_args: Mapping[str, Any] | None = None,
    max_tokens: int | None = None,
    temperature: float | None = 0.0,
    connections: int | None = None,
    request_timeout: float = 1800.0,
    batch: bool | int = False,
    budget: str = "",
    price: Sequence[float] | None = None,
    shard: str = "",
    any_size: bool = False,
    progress: bool = False,
) -> Results:
    """Run tests on a model, into a folder; stopped at any moment, the same call goes on where it was.

    The model is the name of any Inspect model (`vllm/Qwen/Qwen3-8B`), or a function: `str -> str`, or, as its parameter
    is annotated, `list[dict[str, str]] -> str`, which is sent messages; async or not. A function's tokenizer has to be
    named. What it raises becomes a result whose status is `error`.

    The other arguments are those of `carrara run`: `lengths`, `n` worlds at each, `params` for tests that are given by
    name, and so on. `budget` is what it may use (`5Mtok`, `20usd` by a `price`, `30min`): what it has no room for is
    not asked, and a warning says so. `shard="2/4"` asks the second of four parts. With `progress`, stderr shows how it
    goes.
    """
    from carrara.runs.budget import read_budget
    from carrara.runs.config import Plan, Shard
    from carrara.runs.jobs import Wanted, jobs
    from carrara.runs.prices import Price
    from carrara.servers.redact import refuse_secret

    args = dict(model_args or {})
    for name, value in args.items():
        refuse_secret(name, value, "`model_args`")
    own = None
    if not isinstance(model, str):
        if not callable(model):
            raise UsageError(f"{model!r} is no model: give its name, such as 'openai/gpt-4o', or a function")
        from carrara.models.function import model_of, name_of

        own, model = partial(model_of, model), name_of(model)
    drawn = drawn_of(seed, split, style, prompts)
    wanted = Wanted(
        tests=selections_of(tests, params),
        lengths=None if lengths is None else lengths_of(lengths),
        n=None if n is None else whole("n", n, 1),
        drawn=drawn,
        tokenizer=tokenizer,
        published=published,
    )
    plan = Plan(
        jobs=jobs(wanted, model),
        model=model,
        out=place(out),
        prompts=drawn.prompts,
        base_url=base_url,
        model_args=args,
        max_tokens=max_tokens,
        temperature=temperature,
        connections=connections,
        retrieve=_retrieval(retrieve),
        cot=cot,
        any_size=any_size,
        within=within,
        perplexity=perplexity,
        limit=request_timeout,
        batch=batch,
        budget=read_budget(budget) if budget else None,
        price=None if price is None else Price(*price),
        shard=Shard.parse(shard) if shard else None,
        own=own,
    )
    return beside_loop(partial(_results, plan, progress))


def read(*folders: File) -> Results:
    """The results of a run's folder, of a folder of Inspect's logs, or of one that `carrara score --out` wrote.

    Of several, each reply counts once: the last folder's, where more than one has it.
    """
    from carrara.logs.load_runs import gathered
    from carrara.logs.replies import read_results
    from carrara.runs.manifest import parts

    if not folders:
        raise UsageError("say what to read: the folder of a run, or several")
    if len(folders) > 1:
        return Results(gathered([place(folder) for folder in folders]))
    folder = place(folders[0])
    found = read_results(folder)
    return Results(found, folder.resolve().name, parts(folder, found))


def audit(
    tests: Tests,
    /,
    *,
    lengths: Lengths = "0,4k",
    n: int = 200,
    params: Mapping[str, Value] | None = None,
    seed: int = 0,
    split: Split = "test",
    style: Style = "chat",
    tokenizer: str = DEFAULT,
    prompts: File | None = None,
    any_size: bool = False,
) -> "list[Breach]":
    """What is wrong with the items of tests, by all that `carrara audit` proves; nothing, as it should be.

    >>> import carrara
    >>> carrara.audit("latent_list", lengths="0,1k", n=3)
    []
    """
    from carrara.proof.audit import audit as audited

    drawn = drawn_of(seed, split, style, prompts)
    pack = drawn.pack()
    firsts = [
        replace(recipe, length=length)
        for selection in selections_of(tests, params)
        for recipe in recipes(selection, drawn, pack, tokenizer)
        for length in lengths_of(lengths)
    ]
    check_many(len(firsts) * whole("n", n, 1), "contexts", any_size)
    found = [audited(first, n, pack) for first in firsts]
    for what in (what for one in found for what in one.left_out):
        tell_once(what)
    return [breach for one in found for breach in one.breaches]


def selections_of(tests: Tests, params: Mapping[str, Value] | None) -> list[Selection]:
    given = parameters_of(params or {})
    several = [tests] if isinstance(tests, str | Loaded) else tests
    if not isinstance(several, Iterable) or not all(isinstance(one, str | Loaded) for one in several):
        raise UsageError(
            f"{tests!r} does not name tests: give a text, what `carrara.load` returned, or a list of these"
        )
    return [
        Selection(one, given) if isinstance(one, str) else Selection(one.name, {**one.params, **given})
        for one in several
    ]


def _retrieval(written: str) -> str:
    if not written:
        return ""
    from carrara.readers.retrieval import Retrieval

    return str(Retrieval.parse(written))


def _results(plan: "Plan", progress: bool) -> Results:
    from carrara.runs import run as engine

    outcome = engine.run(plan, _console() if progress else None)
    own = Results(outcome.own, plan.out.resolve().name)
    if outcome.unasked:
        said = f"{outcome.unasked:,} items were not asked: budget={plan.budget} has no room for them; more goes on"
        warnings.warn(said, stacklevel=2)
    if failed := own.where(status="error"):
        why = (failed[0].error or "no reason given").strip().splitlines()[-1]
        said = f"{len(failed)} of {len(own)} requests failed (the first: {why}); the same call asks them again"
        if len(failed) == len(own):
            raise RunError(said)
        warnings.warn(said, stacklevel=2)
    return own


def _console() -> "Console":
    """A console for progress on stderr. In a notebook it prints lines: rich's bar needs ipywidgets there."""
    from carrara.core.console import console

    shown = console()
    return console(lines_only=True) if shown.is_jupyter else shown


def beside_loop(work: Callable[[], T]) -> T:
    """Do work in a copy of the context, in a thread of its own where an event loop runs, as in a notebook.

    Inspect sets the active model in the context: a task that is made after the work must not find it there.
    """
    context = copy_context()
    if asyncio._get_running_loop() is None:
        return context.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(context.run, work).result()

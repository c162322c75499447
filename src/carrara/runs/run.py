"""Running: every test at every length, by one model, into one folder; stopped at any moment, it goes on.

A run is an Inspect eval set. Its logs are the store; beside them a cache (reply_cache.py) keeps each reply from the
moment it arrives, so that a kill loses none of those that the logs do not have yet (docs/running.md says what is left
to chance).
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from logging import getLogger
from threading import Lock
from typing import Any

from attrs import evolve
from inspect_ai import Task, eval_set, task_with
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model, ModelOutput
from rich.console import Console

from carrara.core.errors import LengthError, RunError, UsageError
from carrara.core.log import logger, warn_once
from carrara.core.paths import storage_errors, to_path
from carrara.core.quantities import count
from carrara.core.result import Result, Subject
from carrara.core.types import Message
from carrara.logs.replies import LOGS, Reply, read_replies, read_results
from carrara.logs.settings import SERVER, address, file_of, settings_of
from carrara.prompt.items import left_out
from carrara.prompt.wording import read_pack
from carrara.readers.prompts import prompt_of, quickly
from carrara.results.analysis.series import changed_models
from carrara.runs import answer_reserve, manifest, progress, sharding
from carrara.runs.budget import Meter, measured
from carrara.runs.by_reference import ReferencedAPI
from carrara.runs.config import RunConfig
from carrara.runs.corpus_reuse import repeats
from carrara.runs.folder import CACHE, at_work, beside, check_disk, make_folder, plain_path, set_aside, tidy
from carrara.runs.inspect_tasks import made_for, maker
from carrara.runs.job import ALL, Job
from carrara.runs.notebook import notebook_hidden
from carrara.runs.prompt_check import check_unchanged
from carrara.runs.reply_cache import ReplyCache
from carrara.servers import prefill
from carrara.servers.inspect_errors import plain
from carrara.servers.inspect_private import PrerequisiteError
from carrara.servers.probe import IN_PROCESS, check_server
from carrara.servers.reasoning_mode import ASKED, PREFILLED, Thinking
from carrara.servers.retry import TALLY
from carrara.servers.server_info import ServerInfo
from carrara.tokens.gguf_model import shown as shown_model

MOST = 10**9
"""Tokens beyond which a model that is not one of ours is asked nothing unless it is said that so many are meant."""
Confirm = Callable[[int, float | None], bool]
"""Whether to send so many tokens for about so much money, where that is known."""

LONG = 512
"""Tokens of an answer from which it is worth saying that a limit cuts it."""
FLUSH = 100
"""Replies between two writings of a log; the cache has them meanwhile."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    own: list[Result]
    """Of this config: its items, asked of its model in its way."""
    folder: list[Result]
    """Of everything that its folder holds."""
    requests: int
    """That were made for items by this command."""
    again: int
    """Those among them that were made because another one had failed."""
    unasked: int = 0
    """Items for which the budget had no room."""


_ONE = Lock()
"""Inspect runs one evaluation at a time in a process; of two threads the second waits."""
_RUNNING: ContextVar[bool] = ContextVar("running", default=False)
"""Whether this code was called by a run: a model's function."""


@contextmanager
def _running() -> Iterator[None]:
    token = _RUNNING.set(True)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def run(config: RunConfig, console: Console | None = None, confirm: Confirm | None = None) -> Outcome:
    """Start a run, or resume it.

    Args:
        config: Its settings.
        console: Where progress is shown, if anywhere.
        confirm: Asked whether to send so many tokens for about so much money; nobody is asked where there is none.
    """
    if _RUNNING.get():
        raise UsageError("a model's function cannot start a run: it would wait for the run that it is called by")
    config = evolve(config, tasks=config.jobs)  # tasks are resolved once
    make_folder(config.out)
    check_disk(config.out)
    with storage_errors(config.out):
        if config.shard or manifest.shared(config.out):
            config = evolve(config, anywhere=True)
    blocks = sharding.blocks(config.jobs, config.shard) if config.shard else {}
    if blocks:
        config = evolve(config, tasks=tuple(_part(job, *block.own) for job, block in blocks.items()))
    with _ONE, _running(), notebook_hidden(), at_work(config.out, config.shard):
        model = config.make_model()
        replies = read_replies(config.out, set_aside) if (config.out / LOGS).is_dir() else []
        config, server = _reasoning(config, model, replies)
        subject = _subject(config, model)
        known = {
            reply.result.id: reply
            for reply in replies
            if reply.result.subject == subject and reply.result.status != "error"
        }
        if not known:  # what can be foreseen is refused before minutes of preparation
            _check_size(config, sum(job.first.length * job.worlds for job in config.jobs if job.worlds < ALL), "about ")
        going_on: dict[str, Any] = {}
        _prepare(config, model, known, going_on)
        able = _tasks(config, model, console)
        config, tasks = evolve(config, tasks=tuple(able)), list(able.values())
        samples = {str(sample.id): sample for task in tasks for sample in task.dataset}
        if not config.retrieval:  # what was found may come from a server that is asked for it
            check_unchanged(known, samples)
        left = {id: int((sample.metadata or {})["tokens"]) for id, sample in samples.items() if id not in known}
        size = sum(left.values())
        _check_size(config, size)
        counts = _metered(config, subject, replies, samples, left, confirm)
        cut = _cut(samples.values(), config.max_tokens or model.api.max_tokens())
        if left and server is None:
            server = _probe(config, _continues(config), [samples[id] for id in left])
        crowded = _crowded(config, model, server, [samples[id] for id in left]) if server else ""
        for what in (*filter(None, (cut, crowded)), *repeats(job.first for job in config.jobs)):
            logger.warning(what)
        if server and _continues(config):
            going_on |= prefill.must(config.model, config.cot, server.prefill)
        manifest.add(config.out, manifest.entries(subject, samples.values(), blocks), config.shard)
        there = len(samples) - len(left)
        about = f"{there:,} of {len(samples):,} replies are there already; " if there else ""
        about += f"{count(len(left), 'prompt')}, {size:,} tokens by {config.jobs[0].first.tokenizer}"
        about += f" before retrieval ({config.retrieval})" if config.retrieval else ""
        about += f", about {counts.expected:,.2f} of money" if counts.expected else ""
        before, again = TALLY.requests, TALLY.again
        shown = progress.progress(len(samples), left, f"{about}, to {config.model}", console)
        with measured(counts), plain_path(config.out / LOGS) as folder, shown:
            logs, wanted = _evaluate(config, model, tasks, folder, known)
        if len(logs) < wanted:  # Inspect ends like this when it is interrupted
            raise KeyboardInterrupt
        tidy(config.out / LOGS, logs)
        results = read_results(config.out)
        own = [result for result in results if result.subject == subject and result.id in samples]
        for what in changed_models(own):
            logger.warning(what)
        if len(own) + counts.unasked < len(samples):
            told = [log.error.message for log in logs if log.error and log.error.message.strip()]
            why = told[0].strip().splitlines()[-1][:300] if told else "is its disk full?"
            lost = len(samples) - len(own) - counts.unasked
            raise RunError(f"{lost} of {len(samples)} replies are in no log of {config.out}: {why}")
        return Outcome(own, results, TALLY.requests - before, TALLY.again - again, counts.unasked)


def _part(job: Job, first: int, end: int) -> Job:
    return Job(replace(job.first, index=first), end - first)


def _metered(
    config: RunConfig,
    subject: Subject,
    replies: Sequence[Reply],
    samples: Mapping[str, Sample],
    left: Mapping[str, int],
    confirm: Confirm | None,
) -> Meter:
    """What counts as the run goes; refused where nothing could be asked, or where it is not wanted."""
    counts = Meter(config.budget, config.model_price, frozenset(samples.keys() - left.keys()))
    counts.earlier(reply.result for reply in replies if reply.result.model == subject[0])
    if not left:
        return counts
    metas = [samples[id].metadata or {} for id in left]
    if config.budget:
        least = min(counts.takes(meta["tokens"], meta["budget"]) for meta in metas)
        if counts.used + least > config.budget.most:
            used, takes = map(config.budget.written, (counts.used, least))
            raise UsageError(
                f"`budget={config.budget}` has no room for one prompt: {used} is used, and the shortest takes {takes}; "
                "give more"
            )
    tokens, written = sum(left.values()), sum(meta["budget"] for meta in metas)
    counts.expected = config.model_price.of(tokens, 0, written) if config.model_price else None
    if confirm and not confirm(tokens, counts.expected):
        raise UsageError("nothing was sent; give fewer worlds or lengths, or a `budget`")
    return counts


def _probe(config: RunConfig, prefill: bool, left: Sequence[Sample] = ()) -> ServerInfo:
    """Ask a run's server what the run needs to know of it. `left` are the items to ask, as far as they are known."""
    needed = min(
        (answer_reserve.total(sample, Thinking.parse(config.cot), config.max_tokens) for sample in left), default=0
    )
    return check_server(
        config.model,
        config.base_url,
        config.model_args,
        window=not config.retrieval,
        needed=needed,
        prefill=prefill,
        prompt_logprobs=config.perplexity,
    )


def _crowded(config: RunConfig, model: Model, server: ServerInfo, left: Sequence[Sample]) -> str:
    """What to say of prompts that leave their answers no room in the model's window; refused if none does."""
    if not left or config.retrieval:
        return ""
    takes = getattr(model.api, "context", None) if config.in_process else server.context_window
    if takes is None:
        return ""
    found = answer_reserve.crowded(left, takes, Thinking.parse(config.cot), config.max_tokens)
    if not found:
        return ""
    said = answer_reserve.complaint(found, config.model, takes)
    if sum(without for without, _, _ in found.values()) == len(left):
        raise UsageError(said)
    return said


def _cut(samples: Iterable[Sample], limit: int | None) -> str:
    """What to say of answers that are longer than the model may reply, if any are."""
    metas = [sample.metadata or {} for sample in samples]
    longest, test = max((meta["budget"], meta["test"]) for meta in metas)
    if not limit or limit >= longest or longest < LONG:
        return ""
    return f"answers in {test} take up to {longest:,} tokens and are cut at {limit:,}: `max_tokens={longest}` has room"


def _subject(config: RunConfig, model: Model) -> Subject:
    """What the config's results say of how they were asked for."""
    generation = model.config.merge(GenerateConfig(temperature=config.temperature, max_tokens=config.max_tokens))
    inside = "answer" if config.within else ""
    server = "" if config.anywhere else address(model)
    settings = settings_of(server, model.model_args, generation, config.retrieval, config.cot, inside)
    settings |= file_of(str(model))
    return shown_model(str(model))[0], tuple(sorted(settings.items()))


def _evaluate(
    config: RunConfig, model: Model, tasks: list[Task], folder: str, known: Mapping[str, Reply]
) -> tuple[Sequence[EvalLog], int]:
    """The logs, and how many there are unless it was interrupted."""
    root = getLogger()
    level = root.level

    def evaluate() -> tuple[bool, list[EvalLog]]:
        return eval_set(
            tasks,
            log_dir=folder,
            model=model,
            log_dir_allow_dirty=True,  # another length, test or model may join a folder
            retry_attempts=0,
            retry_immediate=False,
            retry_cleanup=False,
            # An error is a row, and makes its log one that is gone on with: when the command is given again.
            fail_on_error=True,
            continue_on_fail=True,
            max_connections=config.connections or (model.api.max_connections() if config.in_process else None),
            log_realtime=False,
            log_buffer=FLUSH,
            log_level="error",
            display="none",
            score_display=False,
            ctl_server=False,
            acp_server=False,
            max_tokens=config.max_tokens,
            temperature=config.temperature,
            prompt_logprobs=1 if config.perplexity else None,
            batch=config.batch or None,
        )

    try:
        if config.shard:
            return sharding.evaluate(evaluate, tasks, to_path(folder), known)
        return evaluate()[1], len(tasks)
    except PrerequisiteError as error:
        raise UsageError(plain(error)) from None
    finally:
        gc.unfreeze()
        root.setLevel(level)  # Inspect sets its own, which a program that runs us would keep


def _tasks(config: RunConfig, model: Model, console: Console | None) -> dict[Job, Task]:
    """The task of each job, made for the model.

    A test that has no world of a length is left out there, unless nothing else is asked for.
    """
    tasks, unfit = dict[Job, Task](), list[LengthError]()
    for job in progress.preparing(config.jobs, console):
        try:
            with made_for(model, config.max_tokens):
                tasks[job] = _task(config, job)
        except PrerequisiteError as error:
            reason = error.__cause__
            if not isinstance(reason, UsageError | RunError):
                raise UsageError(plain(error)) from None
            if not isinstance(reason, LengthError) or len(config.jobs) == 1:
                raise reason from None
            unfit.append(reason)
            warn_once(left_out(job.first, reason))
    if not tasks:
        raise unfit[0]
    return tasks


def _task(config: RunConfig, job: Job) -> Task:
    task = maker(job.first.task)(
        first=str(job.first),
        n=job.worlds,
        prompts=str(config.prompts) if config.prompts else "",
        retrieve=config.retrieval,
        cot=config.cot,
        within=_room(config, job),
        **({"anywhere": True} if config.anywhere else {}),
    )
    return task_with(task, setup=None)  # prompts go by reference: none is held in the state


def _room(config: RunConfig, job: Job) -> int | None:
    """Return how many tokens of a job's length are left to its answers. None: its lengths are those of prompts."""
    if not config.within:
        return None
    pack = read_pack(config.prompts) if config.prompts else None
    return answer_reserve.room(job.first, job.worlds, pack, Thinking.parse(config.cot), config.max_tokens)


def _reasoning(config: RunConfig, model: Model, replies: Sequence[Reply]) -> tuple[RunConfig, ServerInfo | None]:
    """The config with the way of reasoning that its server can have, and the server's facts if it had to be asked.

    The server is probed before anything is prepared, unless replies show how the run began: it may have ended, too.
    """
    before = [reply.result.subject for reply in replies]
    subject = _subject(evolve(config, cot=""), model)
    way = prefill.way(config.cot, config.jobs[0].first.style, subject, before)
    if way is not None and (replies or not _continues(evolve(config, cot=way))):
        return evolve(config, cot=way), None
    server = _probe(config, prefill=True)
    if way is not None:
        prefill.must(config.model, config.cot, server.prefill)
    return evolve(config, cot=way or (ASKED if server.prefill is None else PREFILLED)), server


def _continues(config: RunConfig) -> bool:
    return config.jobs[0].first.style == "chat" and Thinking.parse(config.cot).continues


def _prepare(config: RunConfig, model: Model, known: Mapping[str, Reply], going_on: Mapping[str, Any] | None) -> None:
    """Have a model take prompts by reference, and ask for no reply that the logs have."""

    freeze_once = cache(gc.freeze)

    def render(wanted: Mapping[str, str]) -> Sequence[Message]:
        check_disk(config.out)
        # Half a million objects, of Inspect and of its samples, stay until the end: looking through them again and
        # again took a sixth of a run's time.
        freeze_once()
        return prompt_of(wanted)

    def recall(id: str, sha256: str) -> ModelOutput | None:
        reply = known.get(id)
        # An item may render to another text after an update; then its old reply answers another question.
        return ModelOutput.model_validate(reply.output) if reply and reply.sha256 == sha256 else None

    # A provider knows the address without its query, which may name another deployment.
    scopes = dict(config.model_args) if config.anywhere else {SERVER: address(model), **config.model_args}
    replies = ReplyCache(beside(config.out) / CACHE, {name: str(value) for name, value in scopes.items()})
    loads = config.model.partition("/")[0] in IN_PROCESS
    limit = None if loads or config.batch else config.request_timeout
    model.api = ReferencedAPI(
        model, render, progress, recall, going_on, limit, config.patience, quick=quickly, cache=replies
    )


def _check_size(config: RunConfig, tokens: int, about: str = "") -> None:
    if tokens > MOST and not (config.in_process or config.allow_large):
        before = " before retrieval" if config.retrieval else ""
        raise UsageError(
            f"this run has {about}{tokens:,} tokens of prompts{before} for {config.model}: "
            "give `allow_large=True` to go on with so many"
        )

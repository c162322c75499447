"""Runs: every task at every length, by one model, into one folder. A run can be stopped and resumed at any time.

A run is an Inspect eval set. Its logs are the store. A cache (folder.py) keeps each reply from the moment it arrives,
so that a kill loses no reply that is in no log yet. docs/explanation/reliability.md describes what may still be sent
twice.
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from logging import getLogger
from threading import Event, Lock
from typing import Any

import rich
import rich.console
from attrs import evolve
from inspect_ai import Task, eval_set, task_with
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model
from rich.console import Console

from carrara.constants import FOLLOW_UPS, OPTIONS
from carrara.items.item import left_out
from carrara.items.item_id import ALL, RunJob
from carrara.items.prompt_pack import Pack, read_pack
from carrara.readers.prompts import Reference, is_quick_to_render, prompt_of
from carrara.readers.systems.program import keep_stderr
from carrara.results.result import Result, Subject
from carrara.results.series import changed_models
from carrara.results.shortened import counts_of
from carrara.runs import answer_reserve, manifest, progress, sharding, window
from carrara.runs.budget import Meter, metering
from carrara.runs.by_reference import ReferencedAPI
from carrara.runs.checks import changed_files, check_size, check_unchanged, crowded, known_window, total_of, warnings
from carrara.runs.config import RunConfig
from carrara.runs.folder import (
    CACHE,
    MarkedItems,
    ReplyCache,
    at_work,
    check_disk,
    local_folder,
    make_folder,
    plain_path,
    set_aside,
    tidy,
)
from carrara.runs.replies import LOGS, LoggedReply, read_replies, read_results
from carrara.runs.settings import SERVER, address, file_of, settings_of
from carrara.runs.tasks import estimate, make_task
from carrara.runs.window import Window
from carrara.servers.inspect_private import PrerequisiteError, plain, platform
from carrara.servers.likelihood import answer_by_likelihood, check_likelihood
from carrara.servers.probe import IN_PROCESS, check_server
from carrara.servers.reasoning_mode import ASKED, PREFILLED, Thinking, reasoning_way, require_prefill
from carrara.servers.retry import TALLY
from carrara.servers.server_info import ServerInfo
from carrara.tokenizers.gguf import split_digest
from carrara.types import Message
from carrara.util.errors import LengthError, RunError, UsageError
from carrara.util.files import storage_errors, to_path
from carrara.util.log import logger, warn_once
from carrara.util.quantities import count

FLUSH = 100
"""Replies between two writings of a log. The cache holds them meanwhile."""
THRESHOLDS = (20_000, 10, 10)
"""The numbers of new objects after which garbage is collected.

Half a million objects of Inspect and of its samples stay until the end. By Python's own numbers, scanning them again
and again takes a fifth of a run's time.
"""


def evaluate(
    config: RunConfig, model: Model, tasks: list[Task], folder: str, known: Mapping[str, object]
) -> tuple[Sequence[EvalLog], int]:
    """Return the logs, and their number unless the evaluation was interrupted. `known` are items with a reply."""
    root = getLogger()
    level = root.level
    thresholds = gc.get_threshold()
    default_connections = model.api.max_connections() if config.in_process else None

    def evaluate_set() -> tuple[bool, list[EvalLog]]:
        return eval_set(
            tasks,
            log_dir=folder,
            model=model,
            log_dir_allow_dirty=True,  # another length, task or model may use the same folder
            retry_attempts=0,
            retry_immediate=False,
            retry_cleanup=False,
            # An error is a result. Its log is continued when the user gives the command again.
            fail_on_error=True,
            continue_on_fail=True,
            max_connections=1 if config.measure_speed else config.connections or default_connections,
            max_samples=1 if config.measure_speed else None,
            max_tasks=1 if config.measure_speed else None,
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
            logprobs=True if config.logprobs else None,
            top_logprobs=config.logprobs,
            batch=config.batch or None,
        )

    try:
        gc.set_threshold(*THRESHOLDS)
        if config.shard:
            return sharding.evaluate(evaluate_set, tasks, to_path(folder), known)
        return evaluate_set()[1], len(tasks)
    except PrerequisiteError as error:
        raise UsageError(plain(error)) from None
    finally:
        gc.set_threshold(*thresholds)
        root.setLevel(level)  # Inspect sets its own, and a program that calls us would keep it


@contextmanager
def notebook_hidden() -> Iterator[None]:
    """Have Inspect and rich treat this process as a program, not as a notebook, until the block ends.

    In a notebook Inspect refuses to start without ipywidgets, which draw its progress bars. It also patches asyncio, to
    run inside the notebook's event loop. A run of Carrara shows no bars of Inspect, and has a thread with an event loop
    of its own. Inspect configures the console that a process shares; it is restored as it was.
    """
    console = rich.get_console()
    before = platform.running_in_notebook, rich.console._is_jupyter, dict(console.__dict__)
    platform.running_in_notebook = rich.console._is_jupyter = lambda: False
    console.is_jupyter = False
    try:
        yield
    finally:
        platform.running_in_notebook, rich.console._is_jupyter, console.__dict__ = before


Confirm = Callable[[int, float | None], bool]
"""A function that asks whether to send a number of tokens at a known or unknown cost."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    results: list[Result]
    """The results of this configuration: its items and its model with its settings."""
    folder: list[Result]
    """All results in the folder."""
    requests: int
    """The number of requests for items in this command."""
    again: int
    """The number of these requests that repeat a failed one."""
    unasked: int = 0
    """The number of items for which the budget had no room."""
    cut: str = ""
    """What is to be said about prompts that the server cut. Empty if it cut none."""
    beyond: int = 0
    """The number of items that were not asked because the server would cut their prompts."""


def describe_failures(results: Sequence[Result]) -> str:
    """Return how many requests failed, and why the first one did. Empty if none did."""
    failed = [result for result in results if result.status == "error"]
    if not failed:
        return ""
    why = (failed[0].error or "no reason given").strip().splitlines()[-1][:500]
    return f"{len(failed)} of {count(len(results), 'request')} failed (the first: {why})"


_ONE = Lock()
"""A lock, because Inspect runs one evaluation at a time in a process. A second thread waits."""
_FORKED = Event()
"""Set in a process that was forked while another thread's run was at work. The run holds locks that nobody frees."""
os.register_at_fork(after_in_child=lambda: _FORKED.set() if _ONE.locked() else None)
_RUNNING: ContextVar[bool] = ContextVar("running", default=False)
"""Whether a run called this code, as it calls a function that serves as a model."""


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
        confirm: Asked whether to send so many tokens for about so much money; nobody is asked where there is none.
    """
    if _RUNNING.get():
        raise UsageError("a model's function cannot start a run: it would wait for the run that it is called by")
    if _FORKED.is_set():
        raise UsageError(
            "this process was forked while a run was at work in it, and cannot run: start it by "
            "multiprocessing.get_context('spawn'), or before the run"
        )
    config, blocks = _in_folder(config)
    with _ONE, _running(), notebook_hidden(), at_work(config.out, config.shard):
        model = config.make_model()
        replies = read_replies(config.out, set_aside, whole=True) if (config.out / LOGS).is_dir() else []
        config, server = _reasoning(config, model, replies)
        subject = _subject(config, model)
        stale = MarkedItems(local_folder(config.out) / CACHE, subject)
        own = [reply for reply in replies if reply.result.subject == subject and reply.result.status != "error"]
        known = {reply.result.id: reply for reply in own if not _was_cut(reply, stale)}
        if not known:  # refuse foreseeable problems before minutes of preparation
            check_size(
                config, sum(job.first.length * job.instances for job in config.jobs if job.instances < ALL), "about "
            )
        extra_body = dict[str, Any]()
        if config.likelihood:
            if not known:
                check_likelihood(config.model, config.base_url, config.model_args, model.api)
            answer_by_likelihood(model.api)
        model.api = _make_provider(config, model, known, extra_body)
        tasks = _tasks(config, model, console, sharding.jobs_in(blocks))
        config = evolve(config, tasks=tuple(tasks))
        samples = {str(sample.id): sample for task in tasks.values() for sample in task.dataset}
        left = [sample for id, sample in samples.items() if id not in known]
        check_unchanged(known, samples)
        check_size(config, sum(estimate(config.context_reader, sample.metadata or {}).sent for sample in left))
        meter = _make_meter(config, subject, replies, samples, left, confirm)
        if left and server is None:
            server = _probe(config, _continues(config), left)
        if config.measure_speed:
            model.api.measure_speed(streams=server is None or server.streams is not False)
            if untimed := sum(reply.result.speed is None for id, reply in known.items() if id in samples):
                logger.warning(
                    f"{count(untimed, 'reply')} in {config.out} have no times, because they were made without "
                    "`measure_speed` or in several requests: give another `out` to measure them"
                )
        for warning in (*changed_files(config, own), *warnings(config, model, server, samples.values(), left)):
            logger.warning(warning)
        if server and _continues(config):
            extra_body |= require_prefill(config.model, config.cot, server.prefill)
        cards = sorted({job.card for job in tasks} - {""})
        size = known_window(config, model, server)
        unfit = crowded(config, samples.values(), size)
        planned = manifest.entries(subject, samples.values(), blocks, cards, size, unfit)
        manifest.add(config.out, planned, config.shard)
        requests_before, repeats_before = TALLY.requests, TALLY.again
        shown = progress.progress(
            len(samples),
            {str(sample.id): _tokens(sample) for sample in left},
            _first_line(config, samples, left, meter, server),
            console,
        )
        cut_before = [reply for reply in own if reply.result.id in samples.keys() - known.keys()]
        for reply in cut_before:
            stale.add(reply.result.id)
        model.api.stale = stale
        window.withdraw(config.out / LOGS, cut_before)
        watched = _make_window(server, known.values(), stale)
        with (
            metering(meter),
            window.watching(watched),
            keep_stderr(local_folder(config.out)),
            plain_path(config.out / LOGS) as folder,
            shown,
        ):
            logs, task_count = evaluate(config, model, list(tasks.values()), folder, known)
        if len(logs) < task_count:  # Inspect ends like this when it is interrupted
            raise KeyboardInterrupt
        tidy(config.out / LOGS, logs)
        results = read_results(config.out)
        results_of_run = [result for result in results if result.subject == subject and result.id in samples]
        for change in changed_models(results_of_run):
            logger.warning(change)
        _check_complete(config, logs, len(samples), len(results_of_run) + meter.unasked + len(watched.beyond))
        return Outcome(
            results_of_run,
            results,
            TALLY.requests - requests_before,
            TALLY.again - repeats_before,
            meter.unasked,
            window.describe_shortened(results_of_run, watched),
            len(watched.beyond),
        )


def _in_folder(config: RunConfig) -> tuple[RunConfig, dict[RunJob, sharding.Block]]:
    """Make the folder of a run. Return its configuration with the items of its shard, and its blocks of instances."""
    config = evolve(config, tasks=config.jobs)  # resolve tasks only once
    make_folder(config.out)
    check_disk(config.out)
    with storage_errors(config.out):
        if config.shard or manifest.is_shared(config.out):
            config = evolve(config, anywhere=True)
    blocks = sharding.blocks(config.jobs, config.shard) if config.shard else {}
    if blocks:
        config = evolve(config, tasks=tuple(sharding.jobs_in(blocks)))
    return config, blocks


def _was_cut(reply: LoggedReply, stale: MarkedItems) -> bool:
    """Return whether the server cut the prompt of a reply. Longer counts of other shards do not refute a mark."""
    return reply.result.status == "shortened" or (reply.result.id in stale and reply.result.status != "overflow")


def _make_window(server: ServerInfo | None, known: Iterable[LoggedReply], stale: MarkedItems) -> Window:
    """Return what is known about the prompts that the server reads, from the replies that the run has."""
    watched = Window(server.software, server.address, stale=stale) if server and server.address else Window(stale=stale)
    for reply in known:
        for prompt in filter(None, counts_of(reply.result, reply.steps)):
            watched.counts.add(prompt)
    return watched


def _tokens(sample: Sample) -> int:
    return int((sample.metadata or {})["tokens"])


def _first_line(
    config: RunConfig, samples: Mapping[str, Sample], left: Sequence[Sample], meter: Meter, server: ServerInfo | None
) -> str:
    """Return the first line of progress: the existing replies, and the requests to come."""
    known_count = len(samples) - len(left)
    window = server.context_window if server else None
    later = sum((sample.metadata or {}).get(FOLLOW_UPS, (0, 0))[0] for sample in left)
    return "".join(
        (
            f"{known_count:,} of {len(samples):,} replies are there already; " if known_count else "",
            f"{count(len(left), 'prompt')}, {sum(map(_tokens, left)):,} tokens by {config.jobs[0].first.tokenizer}",
            f", and {count(later, 'message')} after the replies" if later else "",
            "" if config.context_reader.is_whole else f", read by {config.context_reader}",
            f", at a cost of about {meter.expected:,.2f}" if meter.expected else "",
            f", to {config.model}",
            f", whose server states a window of {window:,} tokens" if window else "",
        )
    )


def _check_complete(config: RunConfig, logs: Sequence[EvalLog], expected: int, present: int) -> None:
    """Raise if replies were not written, so that the command does not end as a success."""
    if present >= expected:
        return
    messages = [log.error.message for log in logs if log.error and log.error.message.strip()]
    why = messages[0].strip().splitlines()[-1][:300] if messages else "is its disk full?"
    raise RunError(f"{expected - present} of {expected} replies are in no log of {config.out}: {why}")


def _make_meter(
    config: RunConfig,
    subject: Subject,
    replies: Sequence[LoggedReply],
    samples: Mapping[str, Sample],
    left: Sequence[Sample],
    confirm: Confirm | None,
) -> Meter:
    """Return the meter of the run's budget. Raise if nothing could be asked within it."""
    known = samples.keys() - {str(sample.id) for sample in left}
    meter = Meter(config.budget, config.model_price, frozenset(known))
    meter.count_earlier(reply.result for reply in replies if reply.result.model == subject[0])
    if not left:
        return meter
    takes = [estimate(config.context_reader, sample.metadata or {})[1:] for sample in left]
    if config.budget:
        least = min(meter.expected_usage(prompt, answer) for prompt, answer in takes)
        if meter.used + least > config.budget.most:
            used, shortest = map(config.budget.written, (meter.used, least))
            raise UsageError(
                f"`budget={config.budget}` has no room for one prompt: {used} is used, and the shortest takes "
                f"{shortest}; give more"
            )
    tokens, written = (sum(column) for column in zip(*takes, strict=True))
    meter.expected = config.model_price.of(tokens, 0, written) if config.model_price else None
    if confirm and not confirm(tokens, meter.expected):
        raise UsageError("nothing was sent; give fewer instances or lengths, or a `budget`")
    return meter


def _probe(config: RunConfig, prefill: bool, left: Sequence[Sample] = ()) -> ServerInfo:
    """Probe a run's server for the facts that the run needs. `left` are the items to ask, as far as they are known."""
    needed = min((total_of(config, sample) for sample in left), default=0)
    return check_server(
        config.model,
        config.base_url,
        config.model_args,
        window=config.context_reader.is_whole,
        needed=needed,
        prefill=prefill,
        logprobs=config.requested_logprobs,
        streams=config.measure_speed,
    )


def _subject(config: RunConfig, model: Model) -> Subject:
    """Return the settings with which the results of a configuration are labelled."""
    generation = model.config.merge(GenerateConfig(temperature=config.temperature, max_tokens=config.max_tokens))
    inside = "answer" if config.holds_answer else ""
    server = "" if config.anywhere else address(model)
    likelihood = OPTIONS if config.likelihood else ""
    settings = settings_of(
        server, model.model_args, generation, config.setting_of_reader, config.cot, inside, likelihood
    )
    settings |= file_of(str(model))
    return split_digest(str(model))[0], tuple(sorted(settings.items()))


def _tasks(
    config: RunConfig, model: Model, console: Console | None, whole_jobs: Mapping[RunJob, RunJob]
) -> dict[RunJob, Task]:
    """Return the Inspect task of each job, made for the model.

    A task without an instance of a length is left out at this length, unless it is the only one.

    Args:
        whole_jobs: The jobs of all shards, by those of this one. All shards reserve the same for an answer.
    """
    tasks, unfit = dict[RunJob, Task](), list[LengthError]()
    pack = read_pack(config.prompts) if config.prompts else None
    for job in progress.preparing(config.jobs, console):
        try:
            task = make_task(
                job.first,
                job.instances,
                model,
                config.max_tokens,
                pack=pack,
                reader=config.context_reader,
                thinking=Thinking.parse(config.cot),
                within=_room(config, whole_jobs.get(job, job), pack),
                anywhere=config.anywhere,
                likelihood=config.likelihood,
            )
        except LengthError as error:
            if len(config.jobs) == 1:
                raise
            unfit.append(error)
            warn_once(left_out(job.first, error))
        else:
            tasks[job] = task_with(task, setup=None)  # prompts go by reference, so the state holds none
    if not tasks:
        raise unfit[0]
    return tasks


def _room(config: RunConfig, job: RunJob, pack: Pack | None) -> int | None:
    """Return the tokens of a job's length that are reserved for the answer.

    None: its lengths do not include the answer.
    """
    if not config.holds_answer:
        return None
    return answer_reserve.room(job.first, job.instances, pack, Thinking.parse(config.cot), config.max_tokens)


def _reasoning(config: RunConfig, model: Model, replies: Sequence[LoggedReply]) -> tuple[RunConfig, ServerInfo | None]:
    """Return the configuration with a reasoning mode that its server supports, and the server's facts if probed.

    The server is probed before anything is prepared, unless replies show how the run began: it may have ended, too.
    """
    before = [reply.result.subject for reply in replies]
    subject = _subject(evolve(config, cot=""), model)
    way = reasoning_way(config.cot, config.jobs[0].first.style, subject, before)
    if way is not None and (replies or not _continues(evolve(config, cot=way))):
        return evolve(config, cot=way), None
    server = _probe(config, prefill=True)
    if way is not None:
        require_prefill(config.model, config.cot, server.prefill)
    return evolve(config, cot=way or (ASKED if server.prefill is None else PREFILLED)), server


def _continues(config: RunConfig) -> bool:
    return config.jobs[0].first.style == "chat" and Thinking.parse(config.cot).continues


def _make_provider(
    config: RunConfig, model: Model, known: Mapping[str, LoggedReply], extra_body: Mapping[str, Any]
) -> ReferencedAPI:
    """Return a provider that takes prompts by reference, and asks for no reply that the logs have.

    Args:
        extra_body: What requests that the server is to continue hold; may be filled in later.
    """

    def render(reference: Reference) -> Sequence[Message]:
        check_disk(config.out)
        return prompt_of(reference)

    def recall(id: str, sha256: str) -> LoggedReply | None:
        reply = known.get(id)
        # An update may render an item to another text. Its old reply then answers another question.
        return reply if reply and reply.sha256 == sha256 else None

    # A provider knows the address without its query, which may select a deployment.
    scopes = dict(config.model_args) if config.anywhere else {SERVER: address(model), **config.model_args}
    replies = ReplyCache(local_folder(config.out) / CACHE, {name: str(value) for name, value in scopes.items()})
    loads = config.model.partition("/")[0] in IN_PROCESS
    limit = None if loads or config.batch else config.request_timeout
    return ReferencedAPI(
        model,
        render,
        progress,
        extra_body,
        limit,
        config.patience,
        quick=is_quick_to_render,
        cache=replies,
        recall=recall,
    )

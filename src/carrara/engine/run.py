"""Running: every test at every length, by one model, into one folder; stopped at any moment, it goes on.

A run is an Inspect eval set. Its logs are the store; beside them Inspect's cache keeps each reply from the moment it
arrives, so that a kill loses none of those that the logs do not have yet (docs/running.md says what is left to chance).
"""

import errno
import fcntl
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import disk_usage
from typing import Any, NamedTuple

from inspect_ai import Task, eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import CachePolicy, GenerateConfig, Model, ModelOutput
from inspect_ai.model._model import init_active_model
from inspect_ai.model._model_config import model_args_for_log

from carrara.engine import by_reference, continuing, preflight, progress
from carrara.engine.continuing import Told
from carrara.engine.reading import LOGS, Damaged, Reply, headers, read_replies, read_results
from carrara.engine.registry import maker
from carrara.engine.repeats import repeats
from carrara.engine.retrieving import prompt_of
from carrara.engine.settings import address, settings_of
from carrara.engine.thinking import ASKED, PREFILLED, Thinking
from carrara.errors import RunError, UsageError, tell
from carrara.recipe import Recipe
from carrara.results import Result, Subject
from carrara.types import Message

ALL = sys.maxsize
"""Of a job's worlds: as many as are given."""
RESERVE = 32 << 20
"""Bytes left on the disk below which no more is asked: what is under way, and the logs, still have to be written."""
MOST = 10**9
"""Tokens beyond which a model that is not one of ours is asked nothing unless it is said that so many are meant."""
LONG = 512
"""Tokens of an answer from which it is worth saying that a limit cuts it."""
FLUSH = 100
"""Replies between two writings of a log; the cache has them meanwhile."""


class Job(NamedTuple):
    """A test at a length."""

    first: Recipe
    worlds: int
    """How many, from the first recipe's on."""


@dataclass(frozen=True)
class Plan:
    """What is to be asked, of whom, and how."""

    jobs: tuple[Job, ...]
    model: str
    out: Path
    prompts: Path | None = None
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_tokens: int | None = None
    temperature: float | None = 0.0
    connections: int | None = None
    retrieve: str = ""
    """How contexts are shortened before they are sent, if they are."""
    cot: str = ""
    """How the model is to reason: free, none, exactly:N."""
    any_size: bool = False
    """Whether it may send more than `MOST` tokens."""

    @property
    def embedded(self) -> bool:
        return self.model.startswith("carrara/")


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    own: list[Result]
    """Of this plan: its items, asked of its model in its way."""
    folder: list[Result]
    """Of everything that its folder holds."""


def run(plan: Plan) -> Outcome:
    """Carry a plan out, or go on with it."""
    _make_folder(plan.out)
    _check_disk(plan.out)
    with _alone(plan.out), _within(plan.out), _full_disk_said(plan.out):
        model = preflight.made(plan.model, plan.base_url, plan.model_args)
        replies = read_replies(plan.out, _set_aside) if (plan.out / LOGS).is_dir() else []
        plan, server = _reasoning(plan, model, replies)
        subject = _subject(plan, model)
        known = {
            reply.result.id: reply
            for reply in replies
            if reply.result.subject == subject and reply.result.status != "error"
        }
        if not known:  # what can be foreseen is refused before minutes of preparation
            _check_size(plan, sum(job.first.length * job.worlds for job in plan.jobs if job.worlds < ALL), "about ")
        going_on = dict(server or {})
        _prepare(plan, model, known, going_on)
        tasks = copy_context().run(_tasks, plan, model)
        samples = [sample for task in tasks for sample in task.dataset]
        tokens = {str(sample.id): int((sample.metadata or {})["tokens"]) for sample in samples}
        left = tokens.keys() - known.keys()
        size = sum(tokens[id] for id in left)
        _check_size(plan, size)
        if cut := _cut(samples, plan.max_tokens or model.api.max_tokens()):
            tell(cut)
        for what in repeats(job.first for job in plan.jobs):
            tell(what)
        if left and not plan.embedded:
            preflight.check(
                plan.model, plan.base_url, plan.model_args, bool(address(model) or "port" in plan.model_args)
            )
        if left and server is None and _continues(plan):
            going_on |= continuing.must(
                plan.model, plan.cot, continuing.told(plan.model, plan.base_url, plan.model_args)
            )
        about = (
            f"{len(left):,} of {len(tokens):,} prompts to ask"
            if len(left) < len(tokens)
            else f"{len(tokens):,} prompts"
        )
        sent = f"{size:,} tokens by {plan.jobs[0].first.tokenizer}"
        sent += f" before retrieval ({plan.retrieve})" if plan.retrieve else ""
        with progress.progress(len(tokens), left, f"{about}, {sent}, to {plan.model}"):
            logs = _evaluate(plan, model, tasks)
        if len(logs) < len(tasks):  # Inspect ends like this when it is interrupted
            raise KeyboardInterrupt
        _tidy(plan.out / LOGS, logs)
        folder = read_results(plan.out)
        own = [result for result in folder if result.subject == subject and result.id in tokens]
        if len(own) < len(tokens):
            told = [log.error.message for log in logs if log.error and log.error.message.strip()]
            why = told[0].strip().splitlines()[-1][:300] if told else "is its disk full?"
            raise RunError(f"{len(tokens) - len(own)} of {len(tokens)} replies are in no log of {plan.out}: {why}")
        return Outcome(own, folder)


def _cut(samples: Sequence[Sample], limit: int | None) -> str:
    """What to say of answers that are longer than the model may reply, if any are."""
    metas = [sample.metadata or {} for sample in samples]
    longest, test = max((meta["budget"], meta["test"]) for meta in metas)
    if not limit or limit >= longest or longest < LONG:
        return ""
    return f"answers in {test} take up to {longest:,} tokens and are cut at {limit:,}: --max-tokens {longest} has room"


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"--out {out} is a file, or within one: give a folder, which need not be there yet") from None


def _subject(plan: Plan, model: Model) -> Subject:
    """What the plan's results say of how they were asked for."""
    config = GenerateConfig(temperature=plan.temperature, max_tokens=plan.max_tokens)
    settings = settings_of(
        address(model), model_args_for_log(model.model_args), model.config.merge(config), plan.retrieve, plan.cot
    )
    return str(model), tuple(sorted(settings.items()))


def _set_aside(damaged: Damaged) -> None:
    """Its replies are in the cache, and Inspect would stumble over it."""
    aside = damaged.path.with_name(damaged.path.name + ".damaged")
    damaged.path.replace(aside)
    tell(f"a log was damaged and is now {aside}; replies that the cache has are kept")


def _evaluate(plan: Plan, model: Model, tasks: list[Any]) -> Sequence[EvalLog]:
    try:
        _, logs = eval_set(
            tasks,
            log_dir=str(plan.out / LOGS),
            model=model,
            log_dir_allow_dirty=True,  # another length, test or model may join a folder
            retry_attempts=0,
            retry_immediate=False,
            retry_cleanup=False,
            # An error is a row, and makes its log one that is gone on with: when the command is given again.
            fail_on_error=True,
            continue_on_fail=True,
            cache=CachePolicy(expiry=None, scopes={name: str(value) for name, value in plan.model_args.items()}),
            timeout=preflight.PATIENCE,
            max_connections=plan.connections or (model.api.max_connections() if plan.embedded else None),
            log_realtime=False,
            log_buffer=FLUSH,
            log_level="error",
            display="none",
            score_display=False,
            ctl_server=False,
            acp_server=False,
            max_tokens=plan.max_tokens,
            temperature=plan.temperature,
        )
    except PrerequisiteError as error:
        raise UsageError(preflight.plain(error)) from None
    return logs


def _tasks(plan: Plan, model: Model) -> list[Task]:
    """Made as Inspect's own command makes them: with the model active that they are for."""
    init_active_model(model, GenerateConfig(max_tokens=plan.max_tokens))
    try:
        return [_task(plan, job) for job in progress.preparing(plan.jobs)]
    except PrerequisiteError as error:
        if isinstance(error.__cause__, UsageError | RunError):
            raise error.__cause__ from None
        raise UsageError(preflight.plain(error)) from None


def _task(plan: Plan, job: Job) -> Task:
    first = job.first
    return maker(first.task)(
        length=first.length,
        n=job.worlds,
        params=first.params,
        seed=first.seed,
        split=first.split,
        style=first.style,
        tokenizer=first.tokenizer,
        prompts=str(plan.prompts) if plan.prompts else "",
        retrieve=plan.retrieve,
        index=first.index,
        cot=plan.cot,
    )


def _reasoning(plan: Plan, model: Model, replies: Sequence[Reply]) -> tuple[Plan, Told | None]:
    """The plan with the way of reasoning that its server can have, and what that wants to be told if it was asked.

    It is asked before anything is prepared, but where replies tell how the run began: it may have ended, too.
    """
    before = [reply.result.subject for reply in replies]
    subject = _subject(replace(plan, cot=""), model)
    way = continuing.way(plan.cot, plan.jobs[0].first.style, subject, before)
    if way is not None and (replies or not _continues(replace(plan, cot=way))):
        return replace(plan, cot=way), None
    server = continuing.told(plan.model, plan.base_url, plan.model_args)
    if way is not None:
        continuing.must(plan.model, plan.cot, server)
    return replace(plan, cot=way or (ASKED if server is None else PREFILLED)), server


def _continues(plan: Plan) -> bool:
    return plan.jobs[0].first.style == "chat" and Thinking.parse(plan.cot).continues


def _prepare(plan: Plan, model: Model, known: Mapping[str, Reply], going_on: Mapping[str, Any] | None) -> None:
    """Have a model wait for its server, take prompts by reference, and ask for no reply that the logs have."""
    model._explicit_base_url = preflight.public(model.explicit_base_url)  # stands in the header of every log
    preflight.patient(model.api)

    def render(wanted: Mapping[str, str]) -> Sequence[Message]:
        _check_disk(plan.out)
        return prompt_of(wanted)

    def recall(id: str, sha256: str) -> ModelOutput | None:
        reply = known.get(id)
        # An item may render to another text after an update; then its old reply answers another question.
        return ModelOutput.model_validate(reply.output) if reply and reply.sha256 == sha256 else None

    by_reference.install(model, render, progress.troubled, recall, going_on)


def _check_disk(out: Path) -> None:
    """Nothing is asked whose reply could not be kept."""
    if disk_usage(out).free < RESERVE:
        raise RunError(f"less than {RESERVE >> 20} MB are left on the disk of {out}: make room")


def _check_size(plan: Plan, tokens: int, about: str = "") -> None:
    if tokens > MOST and not (plan.embedded or plan.any_size):
        before = " before retrieval" if plan.retrieve else ""
        raise UsageError(
            f"this run has {about}{tokens:,} tokens of prompts{before} for {plan.model}: "
            "give --yes to go on with so many"
        )


@contextmanager
def _full_disk_said(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _end_trace()
        raise RunError(
            f"the disk of {out} is full: make room, and the same command goes on where this one was"
        ) from None


def _end_trace() -> None:
    """Inspect would compress its trace file at the end, and fail once more."""
    for handler in logging.getLogger().handlers:
        trace = getattr(handler, "trace_logger", None)
        if isinstance(trace, logging.FileHandler):
            with suppress(OSError):
                trace.close()
            Path(trace.baseFilename).unlink(missing_ok=True)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Two runs in one folder would ask everything twice."""
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(f"another run is at work in {out}: wait for it, or give another --out") from None
        yield


@contextmanager
def _within(out: Path) -> Iterator[None]:
    """Inspect's cache and its own files belong to the run's folder."""
    here = {"INSPECT_CACHE_DIR": str(out.resolve() / "cache"), "XDG_DATA_HOME": str(out.resolve() / "data")}
    before = {name: os.environ.get(name) for name in here}
    os.environ |= here
    logging.raiseExceptions = False  # where Inspect's trace file cannot be written, the run's own files tell
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _tidy(folder: Path, logs: Sequence[EvalLog]) -> None:
    """Remove the logs of stopped runs whose replies the new logs have, so that viewers show each task once."""
    ended = {log.eval.task_id: Path(log.location.removeprefix("file://")).name for log in logs}
    for log in headers(folder):
        path = Path(log.location.removeprefix("file://"))
        if log.status == "started" and ended.get(log.eval.task_id, path.name) != path.name:
            path.unlink(missing_ok=True)

"""Scored lines as Inspect's logs, which `report`, `correlate` and `inspect view` read.

A log holds some hundreds of lines of one model, task and length, and appears only when it is complete. Its name depends
on its lines, so that scoring the same file again replaces the old logs.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any

from carrara.answers.status import GRADED
from carrara.answers.turn_trace import turns_record
from carrara.items.item_id import ItemId
from carrara.results.result import RECORDED, Result
from carrara.util.quantities import write_length

LINES, WEIGHT = 500, 8 << 20
"""The most lines and characters of a log. Inspect holds a log in memory, and longer logs take longer for each line."""
HELD = 48 << 20
"""The most characters of all lines that wait for a full log. Above it, the fullest log is written."""
PENDING = 4
"""The most logs that are written at the same time."""
EXTRA = 1000
"""The least characters that a line counts beside its reply."""

Submit = Callable[..., Future[None]]
"""A function that runs another one, maybe in another process, and returns its future."""


class LogWriter:
    """A writer of scored lines into logs. Lines wait until their log is full.

    Args:
        recorded: When and how the replies of a model were recorded, by its name.
    """

    def __init__(self, folder: Path, source: str, submit: Submit, recorded: Mapping[str, str] | None = None) -> None:
        from carrara.runs.replies import LOGS

        self._logs, self._partial = folder / LOGS, folder / f".scoring-{os.getpid()}"
        self._source, self._submit, self._recorded = source, submit, recorded or {}
        self._unwritten: dict[tuple[str, str, int], list[Result]] = {}
        self._weight: dict[tuple[str, str, int], int] = {}
        self._pending: list[Future[None]] = []
        for directory in (self._logs, self._partial):
            directory.mkdir(parents=True, exist_ok=True)

    def add(self, result: Result) -> None:
        where = result.model, ItemId.parse(result.id).task, result.length
        self._unwritten.setdefault(where, []).append(result)
        weight = EXTRA + len(result.reply) + len(result.gold) + len(result.answer or "")
        self._weight[where] = self._weight.get(where, 0) + weight
        if len(self._unwritten[where]) >= LINES or self._weight[where] >= WEIGHT:
            self._write(where)
        elif sum(self._weight.values()) >= HELD:
            self._write(max(self._weight, key=lambda at: self._weight[at]))

    def end(self) -> None:
        for where in list(self._unwritten):
            self._write(where)
        for written in self._pending:
            written.result()

    def close(self) -> None:
        rmtree(self._partial, ignore_errors=True)

    def _write(self, where: tuple[str, str, int]) -> None:
        lines = self._unwritten.pop(where)
        del self._weight[where]
        recorded = self._recorded.get(where[0], "")
        self._pending.append(self._submit(write_log, self._logs, self._partial, self._source, lines, recorded))
        while len(self._pending) > PENDING:
            self._pending.pop(0).result()


def write_log(logs: Path, partial: Path, source: str, lines: Sequence[Result], recorded: str = "") -> None:
    """Write a log of lines of one model, task and length."""
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalMetric,
        EvalPlan,
        EvalResults,
        EvalScore,
        EvalSpec,
        EvalStats,
        write_eval_log,
    )

    first = ItemId.parse(lines[0].id)
    name = f"{first.task.rpartition('/')[2]}-{write_length(first.length)}"
    mark = _mark(lines)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    scores = [line.score if line.status in GRADED else 0.0 for line in lines]
    log = EvalLog(
        status="success",
        eval=EvalSpec(
            created=now,
            eval_id=mark,
            run_id=mark,
            task_id=mark,
            task=name,
            task_version=first.version,
            dataset=EvalDataset(name=first.task, samples=len(lines), sample_ids=[line.id for line in lines]),
            model=lines[0].model,
            config=EvalConfig(),
            metadata={
                "task": first.task,
                "first": str(first),
                "scored": source,
                **({RECORDED: recorded} if recorded else {}),
            },
        ),
        plan=EvalPlan(),
        results=EvalResults(
            total_samples=len(lines),
            completed_samples=len(lines),
            scores=[
                EvalScore(
                    name="score",
                    scorer="graded",
                    metrics={"mean": EvalMetric(name="mean", value=sum(scores) / len(scores))},
                )
            ],
        ),
        stats=EvalStats(started_at=now, completed_at=now),
        samples=[_sample(line) for line in lines],
    )
    written = partial / f"scored_{name}_{mark}.eval"
    write_eval_log(log, str(written))
    written.replace(logs / written.name)


def _mark(lines: Sequence[Result]) -> str:
    """Return the name of a log, which depends on its lines and model but not on the replies."""
    hashed = blake2b(lines[0].model.encode(), digest_size=11)
    for line in lines:
        hashed.update(f"\n{line.id}".encode())
    return hashed.hexdigest()


def _sample(line: Result) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage
    from inspect_ai.scorer import Score

    item_id = ItemId.parse(line.id)
    prompt = f"{line.ask}\n\n(the prompt is not known here: `carrara show` has it by this id: {line.id})"
    message = ChatMessageAssistant(content=line.reply, model=line.model, source="generate")
    output = ModelOutput(
        model=line.model,
        choices=[
            ChatCompletionChoice(message=message, stop_reason="max_tokens" if line.status == "truncated" else "stop")
        ],
        completion=line.reply,
    )
    output.input_context_tokens = line.input_tokens
    if line.output_tokens is not None:
        sent, received = line.input_tokens or 0, line.output_tokens
        output.usage = ModelUsage(input_tokens=sent, output_tokens=received, total_tokens=sent + received)
    return EvalSample(
        id=line.id,
        epoch=1,
        input=prompt,
        target=line.gold,
        messages=[ChatMessageUser(content=prompt), message],
        output=output,
        scores={
            "graded": Score(
                value={"score": line.score, **line.scores},
                answer=line.answer,
                metadata={
                    "status": line.status,
                    **({"kind": line.error_type, "detail": line.detail} if line.error_type else {}),
                    **turns_record(line.turns),
                },
            )
        },
        metadata={
            "task": item_id.task,
            "part": line.task.partition(":")[2],
            "version": line.version,
            "length": line.length,
            "tokens": line.tokens,
            "tokenizer": line.tokenizer,
            "context_id": line.context_id,
            "instance_id": line.instance_id,
            **({"arrange": line.arrange} if line.arrange else {}),
            "labels": dict(line.labels),
            "category": line.category,
            "chance_level": line.chance_level,
            "ask": line.ask,
        },
    )

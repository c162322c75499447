"""Shards of a run: several commands ask a block of the instances each, and write into one folder.

    carrara run qa1 --model M --out DIR --shard 1/4      and so on, to 4/4, on as many machines as there are

Questions on one context stay together, and so do the contexts of an instance, so that a server gets each prefix once.
For Inspect a shard is a worker of its eval set protocol. A worker first captures the set, then selects the tasks that
are left, and writes no file that all workers share. If a shard was stopped, the same command asks for what is missing.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from inspect_ai import Task
from inspect_ai.log import EvalLog

from carrara.items.item import count_existing
from carrara.items.item_id import RunJob
from carrara.runs.config import Shard
from carrara.runs.log_files import header, logs
from carrara.servers.inspect_private import task_identifier
from carrara.util.errors import UsageError

CAPTURE, SELECTION = "INSPECT_EVAL_SET_CAPTURE", "INSPECT_EVAL_SET_SELECTION"
VERSION = 2
"""The interface of Inspect's selections, reduced to what is needed here."""


class Block(NamedTuple):
    """Ranges of instances, each with its excluded end: those of a shard, and all requested ones."""

    own_range: tuple[int, int]
    whole_range: tuple[int, int]


def blocks(jobs: Sequence[RunJob], shard: Shard) -> dict[RunJob, Block]:
    """Return the shard's block of each job. A block may be empty.

    The sizes of blocks differ by at most one instance. The shard with the larger block changes from job to job.
    """
    blocks_by_job = {}
    for turn, job in enumerate(jobs):
        instances, place = count_existing(job.first, job.instances), (shard.number - 1 + turn) % shard.of
        first, end = (job.first.index + instances * part // shard.of for part in (place, place + 1))
        if first < end:
            blocks_by_job[job] = Block((first, end), (job.first.index, job.first.index + instances))
    if not blocks_by_job:
        raise UsageError(
            f"`shard={shard}` has no instance to ask: there are fewer instances than shards, so take fewer"
        )
    return blocks_by_job


def jobs_in(blocks: Mapping[RunJob, Block]) -> dict[RunJob, RunJob]:
    """Return the jobs of a shard, each with the job of all shards."""
    return {
        job._replace(first=replace(job.first, index=first), instances=end - first): job
        for job, ((first, end), _) in blocks.items()
    }


def evaluate(
    evaluate: Callable[[], tuple[bool, list[EvalLog]]], tasks: Sequence[Task], folder: Path, known: Mapping[str, object]
) -> tuple[list[EvalLog], int]:
    """Return the logs of tasks that lack replies, and the number of these tasks. `known` are items with a reply."""
    with TemporaryDirectory(prefix="carrara-") as aside:
        captured, selected = Path(aside) / "captured.json", Path(aside) / "selected.json"
        with _name_errors(CAPTURE, captured), suppress(SystemExit):  # the way in which a capture ends
            evaluate()
        names = [task["identifier"] for task in json.loads(captured.read_bytes())["tasks"]]
        newest = _newest_logs(folder)
        left = [
            {"identifier": name, "resume": newest.get(name, (None, ""))[0]}
            for name, task in zip(names, tasks, strict=True)
            if newest.get(name, ("", ""))[1] != "success" or any(str(sample.id) not in known for sample in task.dataset)
        ]
        if not left:
            return [], 0
        selected.write_text(json.dumps({"version": VERSION, "eval_set_id": "shards", "tasks": left}))
        with _name_errors(SELECTION, selected):
            return evaluate()[1], len(left)


def _newest_logs(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the newest log of each task with its status, by the task's identifier."""
    newest_logs = dict[str, tuple[str, str]]()
    for path in logs(folder):
        try:
            log = header(path)
        except FileNotFoundError:  # another shard has removed it
            continue
        newest_logs[task_identifier(log, None)] = str(path), log.status
    return newest_logs


@contextmanager
def _name_errors(name: str, path: Path) -> Iterator[None]:
    os.environ[name] = str(path)
    try:
        yield
    finally:
        del os.environ[name]

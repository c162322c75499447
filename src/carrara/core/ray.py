"""Parallel work on a Ray cluster (the extra `ray`).

The environment variable RAY_ADDRESS names the cluster, as for any program that uses Ray. Without it, Ray is started on
this machine.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from logging import LogRecord
from typing import Any, TypeVar

from carrara.core.errors import RunError, UsageError
from carrara.core.log import collect_records, logger

R = TypeVar("R")


class Cluster:
    """An executor that runs functions on any machine of a cluster."""

    def __init__(self, ray: Any) -> None:
        self.cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._task = ray.remote(num_cpus=1, max_retries=3)(_run)
        self._actor = ray.remote(num_cpus=1)(_Actor)

    def submit(self, work: Callable[..., R], /, *args: Any) -> Future[R]:
        return _result_of(self._task.remote(logger.level, work, args))

    def start_worker(self, start: Callable[[], object]) -> "Worker":
        """Start a process that keeps its state from job to job."""
        return Worker(self._actor.remote(start))


@contextmanager
def open_cluster(workers: int) -> Iterator[Cluster]:
    """Connect to the cluster, or start Ray on this machine with so many workers."""
    with _connect(workers) as ray:
        try:
            yield Cluster(ray)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[0]
            raise RunError(f"Ray did not do the work ({reason}): is a machine short of memory?") from None


class _Actor:
    """The process of a worker, on any machine."""

    def __init__(self, start: Callable[[], object]) -> None:
        start()

    def run(self, level: int, work: Callable[..., R], args: Sequence[Any]) -> tuple[R, list[LogRecord]]:
        return _run(level, work, args)


class Worker:
    """An executor that runs functions in one process."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def submit(self, work: Callable[..., R], /, *args: Any) -> Future[R]:
        return _result_of(self._actor.run.remote(logger.level, work, args))


def _run(level: int, work: Callable[..., R], args: Sequence[Any]) -> tuple[R, list[LogRecord]]:
    """Do the work on any machine. Return its result and what it logged."""
    logger.setLevel(level)
    with collect_records() as records:
        return work(*args), records


def _result_of(reference: Any) -> Future[R]:
    """Return a future for the result of `_run`, whose records are logged here."""
    result: Future[R] = Future()

    def receive(done: Future[tuple[R, list[LogRecord]]]) -> None:
        if error := done.exception():
            result.set_exception(error)
            return
        value, records = done.result()
        for record in records:
            logger.handle(record)
        result.set_result(value)

    reference.future().add_done_callback(receive)
    return result


@contextmanager
def _connect(workers: int) -> Iterator[Any]:
    is_local = not os.environ.get("RAY_ADDRESS")
    if is_local:  # Ray reads this when it is imported: other machines cannot reach this one
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        ray = import_module("ray")
    except ImportError:
        raise UsageError("`engine=ray` needs Ray: `pip install 'carrara[ray]'`") from None
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray warns where this is not set
    quiet = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": False}
    local = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(**quiet, **(local if is_local else {}))
    except (ConnectionError, RuntimeError, ValueError) as error:
        place = "on this machine" if is_local else f"at RAY_ADDRESS={os.environ['RAY_ADDRESS']}"
        reason = str(error).strip().partition("\n")[0]
        raise RunError(f"no Ray answers {place} ({reason}): is it running?") from None
    try:
        yield ray
    finally:
        ray.shutdown()

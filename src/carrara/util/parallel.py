"""Parallel work in processes of this machine, or on a Ray cluster (the extra `ray`).

The environment variable RAY_ADDRESS names the cluster, as for any program that uses Ray. Without it, Ray is started on
this machine.
"""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from logging import LogRecord
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

from carrara.util.errors import RunError, UsageError
from carrara.util.log import collect_records, logger, receive_records, send_records

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

T = TypeVar("T")
R = TypeVar("R")

Engine = Literal["local", "ray"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

JOBS_AHEAD = 3
"""Jobs submitted per process: no process waits for work, and few results wait in memory."""

_GC_THRESHOLD = 100_000
"""Allocations between two garbage collections. Contexts are thousands of objects without cycles, and the default of 700
costs a twelfth of the time."""


class Executor(Protocol):
    """Runs functions in other processes, as `concurrent.futures.Executor` does."""

    def submit(self, work: Callable[..., R], /, *args: Any) -> Future[R]: ...


def parallel_map(
    work: Callable[[T], R], jobs: Sequence[T], workers: int | None = None, engine: Engine = "local"
) -> Iterator[R]:
    """Yield the result of each job, in order.

    Args:
        work: A function that can be pickled.
        jobs: One argument for each call.
        workers: The number of processes on this machine. By default one for each core.
        engine: Where to work. With `local`, one job or one worker starts no process.
    """
    workers = workers or count_cores()
    if engine == "ray":
        with open_cluster(workers) as cluster:
            yield from _map(cluster, cluster.cores, work, jobs)
        return
    workers = min(len(jobs), workers)
    if workers < 2:
        yield from map(work, jobs)
        return
    with _open_pools(1, workers) as [pool]:
        yield from _map(pool, workers, work, jobs)


def _map(executor: Executor, processes: int, work: Callable[[T], R], jobs: Sequence[T]) -> Iterator[R]:
    running = deque[Future[R]]()
    for job in jobs:
        running.append(executor.submit(work, job))
        if len(running) > JOBS_AHEAD * processes:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()


@contextmanager
def start_workers(start: Callable[[], object], count: int, engine: Engine = "local") -> Iterator[Sequence[Executor]]:
    """Start worker processes with state of their own. The caller chooses the worker for each job.

    Args:
        start: What each worker does first.
        count: The number of workers on this machine. A Ray cluster has one for each of its cores.
        engine: Where to work.
    """
    if engine == "ray":
        with open_cluster(count) as cluster:
            yield [cluster.start_worker(start) for _ in range(cluster.cores)]
        return
    with _open_pools(count, 1, start) as pools:
        yield pools


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _open_pools(
    count: int, processes: int, start: Callable[[], object] | None = None
) -> Iterator[Sequence[ProcessPoolExecutor]]:
    # Processes are spawned, not forked: tokenizers have threads, which do not survive a fork.
    context = get_context("spawn")
    with receive_records(context) as records:
        pools = [
            ProcessPoolExecutor(processes, context, initializer=_start_process, initargs=(records, logger.level, start))
            for _ in range(count)
        ]
        try:
            yield pools
        except BrokenProcessPool:
            raise RunError("a worker process was killed: is the machine short of memory?") from None
        finally:
            for pool in pools:
                pool.shutdown(cancel_futures=True)


def _start_process(records: "Queue[Any]", level: int, start: Callable[[], object] | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches all processes, and the first one reports it
    gc.set_threshold(_GC_THRESHOLD)
    Thread(target=_end_with_parent, daemon=True).start()
    send_records(records, level)
    if start:
        start()


def _end_with_parent() -> None:
    """End this process when its parent was killed. It would work on for hours otherwise."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


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
    """Connect to the cluster, or start Ray on this machine with a number of workers."""
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

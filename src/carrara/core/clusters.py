"""Work on the machines of a Ray cluster, or on this one's cores by a Ray that is started for it (the extra `ray`).

Whether there is a cluster, RAY_ADDRESS says, as it does to any program that uses Ray.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from logging import LogRecord
from typing import Any, TypeVar

from carrara.core.cores import AHEAD, cores
from carrara.core.errors import RunError, UsageError
from carrara.core.log import collect_records, logger

T = TypeVar("T")
R = TypeVar("R")


def on_ray(work: Callable[[T], R], jobs: Sequence[T], workers: int | None = None) -> Iterator[R]:
    """What comes of each job, in order. `workers` is how many work at once on this machine, if no cluster is named."""
    with _ray(workers) as ray:
        asked = ray.remote(num_cpus=1, max_retries=3)(_done)
        least = AHEAD * _cores(ray)
        under_way = deque[Any]()
        with _troubles(ray):
            for job in jobs:
                under_way.append(asked.remote(logger.level, work, job))
                if len(under_way) > least:
                    yield _heard(ray.get(under_way.popleft()))
            while under_way:
                yield _heard(ray.get(under_way.popleft()))


@contextmanager
def hands_on_ray(start: Callable[[], object], count: int) -> "Iterator[Sequence[_Hand]]":
    """Processes that stay, one for each core of the cluster."""
    with _ray(count) as ray:
        kind = ray.remote(num_cpus=1)(_Process)
        actors = [kind.remote(start) for _ in range(_cores(ray))]
        with _troubles(ray):
            yield [_Hand(actor) for actor in actors]


class _Process:
    """On whichever machine."""

    def __init__(self, start: Callable[[], object]) -> None:
        start()

    def do(self, level: int, work: Callable[..., R], given: Sequence[Any]) -> tuple[R, list[LogRecord]]:
        return _done(level, work, *given)


class _Hand:
    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def submit(self, work: Callable[..., R], /, *given: Any) -> Future[R]:
        asked = self._actor.do.remote(logger.level, work, given).future()
        heard: Future[R] = Future()

        def come(done: Future[tuple[R, list[LogRecord]]]) -> None:
            if error := done.exception():
                heard.set_exception(error)
            else:
                heard.set_result(_heard(done.result()))

        asked.add_done_callback(come)
        return heard


@contextmanager
def _troubles(ray: Any) -> Iterator[None]:
    """What fails in the work is what it would be here; what fails in Ray is a sentence."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise RunError(f"Ray did not do the work ({reason}): is a machine short of memory?") from None


def _cores(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _done(level: int, work: Callable[..., R], *given: Any) -> tuple[R, list[LogRecord]]:
    """On whichever machine: what came of it, and what was logged."""
    logger.setLevel(level)
    with collect_records() as records:
        return work(*given), records


def _heard(came: tuple[R, list[LogRecord]]) -> R:
    found, records = came
    for record in records:
        logger.handle(record)
    return found


@contextmanager
def _ray(workers: int | None) -> Iterator[Any]:
    alone = not os.environ.get("RAY_ADDRESS")
    if alone:  # one that nobody else reaches; it is read when Ray is imported
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        ray = import_module("ray")
    except ImportError:
        raise UsageError("`engine=ray` needs Ray: `pip install 'carrara[ray]'`") from None
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray warns where this is not said
    quiet = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": False}
    here = {"num_cpus": workers or cores(), "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(**quiet, **(here if alone else {}))
    except (ConnectionError, RuntimeError, ValueError) as error:
        place = "on this machine" if alone else f"at RAY_ADDRESS={os.environ['RAY_ADDRESS']}"
        reason = str(error).strip().partition("\n")[0]
        raise RunError(f"no Ray answers {place} ({reason}): is it running?") from None
    try:
        yield ray
    finally:
        ray.shutdown()

"""Work that is spread: over this machine's cores, or over a Ray cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar

from carrara.core.cores import on_all

T = TypeVar("T")
R = TypeVar("R")

Engine = Literal["local", "ray"]


def spread(
    work: Callable[[T], R], jobs: Sequence[T], workers: int | None = None, engine: Engine = "local"
) -> Iterator[R]:
    """What comes of each job, in order."""
    if engine == "ray":
        from carrara.core.clusters import on_ray

        return on_ray(work, jobs, workers)
    return on_all(work, jobs, workers)

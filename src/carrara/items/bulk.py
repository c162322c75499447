"""Items in bulk: any process makes batches of them, and they are returned in order. The process changes no byte."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple, Protocol, TypeVar

from carrara.items.item import Item, context_of, count_existing, left_out, too_long
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack
from carrara.tokenizers.permission import with_permissions
from carrara.util.errors import LengthError, RunError
from carrara.util.parallel import Engine, parallel_map

T = TypeVar("T")

SHARE = 2_000_000
"""The tokens of a batch."""
MOST = 200
"""The instances of a batch: enough to be worth sending, and few enough to fit in memory."""
ALONE = 4_000_000
"""The tokens up to which no other process is started, because that takes longer."""
LEAST_TOKENS = 4000
"""The tokens that an instance counts as at least."""


class HashedId(NamedTuple):
    """The id of an item, and the hash of its prompt."""

    id: str
    sha256: str | None


class Share(NamedTuple):
    """Consecutive instances at one length."""

    first: ItemId
    instances: int


@dataclass(frozen=True)
class Batch:
    """The outcome of a batch: a value for each item, and why some instances have none."""

    rows: Sequence[object]
    unfit: Sequence[LengthError]
    questions: Sequence[int]
    """The number of items on each context, in the order of the rows."""


class HasUnfit(Protocol):
    """A batch that has the errors of instances that cannot be made at this length."""

    @property
    def unfit(self) -> Sequence[LengthError]: ...


M = TypeVar("M", bound=HasUnfit)


def bulk(
    firsts: Sequence[ItemId],
    instances: int,
    pack: Pack | None,
    row: Callable[[Item], T],
    warn: Callable[[str], None],
    workers: int | None = None,
    engine: Engine = "local",
) -> Iterator[Sequence[T]]:
    """Yield the values that `row` returns for items, a batch at a time.

    Instances that cannot be made at a length are left out with a warning, and so is a task without any, unless it is
    the only one.
    """
    jobs = [Share(first, count_existing(first, instances)) for first in firsts]
    parts = [shares_of(job, SHARE, MOST) for job in jobs]
    small = sum(job.instances * max(job.first.length, LEAST_TOKENS) for job in jobs) <= ALONE
    work = with_permissions(partial(make, row=row, pack=pack))
    batches = parallel_map(work, list(chain(*parts)), 1 if small else workers, engine)
    for batch in in_order(jobs, parts, batches, warn):
        yield batch.rows  # type: ignore[misc]  # they are the values that `row` returns


def in_order(
    jobs: Sequence[Share], parts: Sequence[Sequence[object]], batches: Iterator[M], warn: Callable[[str], None]
) -> Iterator[M]:
    """Yield the values of the parts of each job. Warn once for each job of instances without a prompt."""
    jobs_without_items: list[LengthError] = []
    for job, job_parts in zip(jobs, parts, strict=True):
        unfit: list[LengthError] = []
        for _ in job_parts:
            batch = next(batches)
            unfit += batch.unfit
            yield batch
        if unfit:
            try:
                warn(too_long(job.first, job.instances, unfit))
            except LengthError as reason:
                jobs_without_items.append(reason)
                if len(jobs) > 1:
                    warn(left_out(job.first, reason))
    if jobs_without_items and len(jobs_without_items) == len(jobs):
        raise jobs_without_items[0]


def remake(
    hashed_ids: Sequence[HashedId],
    pack: Pack | None,
    row: Callable[[Item], T],
    workers: int | None = None,
    engine: Engine = "local",
) -> Iterator[Sequence[T]]:
    """Yield the values for items that are given by their ids. Each is checked against its hash."""
    size = sum(max(ItemId.parse(hashed.id).length, LEAST_TOKENS) for hashed in hashed_ids)
    batch_size = max(1, min(MOST, SHARE * len(hashed_ids) // size))
    parts = [hashed_ids[begin : begin + batch_size] for begin in range(0, len(hashed_ids), batch_size)]
    work = with_permissions(partial(rebuild_all, row=row, pack=pack))
    return parallel_map(work, parts, 1 if size <= ALONE else workers, engine)


def rebuild_all(hashed_ids: Sequence[HashedId], row: Callable[[Item], T], pack: Pack | None) -> list[T]:
    """Make a batch, in any process. Consecutive questions on one context share it."""
    rows, context = list[T](), None
    for hashed in hashed_ids:
        item_id = ItemId.parse(hashed.id)
        if context is None or context.item_id.context_id != item_id.context_id:
            context = context_of(replace(item_id, question=0), pack)
        item = context.item(item_id.question)
        if hashed.sha256 and item.survey.sha256 != hashed.sha256:
            raise RunError(f"{hashed.id} renders to other bytes than its id says: it was made by another release")
        rows.append(row(item))
    return rows


def shares_of(job: Share, tokens: int, most: int) -> list[Share]:
    """Divide a job into parts of a number of tokens and instances."""
    first, instances = job
    size = max(1, min(most, tokens // max(first.length, LEAST_TOKENS)))
    return [
        Share(replace(first, index=first.index + begin), min(size, instances - begin))
        for begin in range(0, instances, size)
    ]


def make(share: Share, row: Callable[[Item], object], pack: Pack | None) -> Batch:
    """Make a batch, in any process."""
    rows, unfit, questions = list[object](), list[LengthError](), list[int]()
    for index in range(share.first.index, share.first.index + share.instances):
        try:
            context = context_of(replace(share.first, index=index), pack)
        except LengthError as reason:
            unfit.append(reason)
        else:
            rows += [row(item) for item in context.items]
            questions.append(len(context.items))
    return Batch(rows, unfit, questions)

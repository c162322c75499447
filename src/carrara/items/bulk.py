"""Items in bulk: made in shares, by whichever process, and given out in their order. Who made them changes no byte."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple, Protocol, TypeVar

from carrara.item_id import Recipe
from carrara.items.item import Item, context_of, left_out, there, too_long
from carrara.packing.prompt_pack import Pack
from carrara.tokenizers.permission import with_permissions
from carrara.util.errors import LengthError, RunError
from carrara.util.parallel import Engine, parallel_map

T = TypeVar("T")

SHARE = 2_000_000
"""Tokens of a share,"""
MOST = 200
"""and instances: enough to be worth sending, and few enough to be held."""
ALONE = 4_000_000
"""Tokens in all, with an instance's own counted as these:"""
PUZZLE = 4000
"""up to so many no other process is started, which takes longer."""


class Named(NamedTuple):
    """An item by its id, and the hash that its prompt has."""

    id: str
    sha256: str | None


class Share(NamedTuple):
    """Instances in a row, at one length."""

    first: Recipe
    instances: int


@dataclass(frozen=True)
class Made:
    """What came of a share: something for each item, and why some instances have none."""

    rows: Sequence[object]
    unfit: Sequence[LengthError]


class Lacking(Protocol):
    """What was made, and instances that cannot be made so long."""

    @property
    def unfit(self) -> Sequence[LengthError]: ...


M = TypeVar("M", bound=Lacking)


def bulk(
    firsts: Sequence[Recipe],
    instances: int,
    pack: Pack | None,
    row: Callable[[Item], T],
    warn: Callable[[str], None],
    workers: int | None = None,
    engine: Engine = "local",
) -> Iterator[Sequence[T]]:
    """What `row` makes of each item, a share at a time.

    Instances that cannot be made so long are left out and told, and so is a task that has none; but for the only one.
    """
    jobs = [Share(first, there(first, instances)) for first in firsts]
    parts = [shares_of(job, SHARE, MOST) for job in jobs]
    small = sum(job.instances * max(job.first.length, PUZZLE) for job in jobs) <= ALONE
    work = with_permissions(partial(make, row=row, pack=pack))
    made = parallel_map(work, list(chain(*parts)), 1 if small else workers, engine)
    for one in in_order(jobs, parts, made, warn):
        yield one.rows  # type: ignore[misc]  # they are what `row` makes


def in_order(
    jobs: Sequence[Share], parts: Sequence[Sequence[object]], made: Iterator[M], warn: Callable[[str], None]
) -> Iterator[M]:
    """What was made of the parts of each job; what has no prompt is told once a job."""
    without: list[LengthError] = []
    for job, own in zip(jobs, parts, strict=True):
        unfit: list[LengthError] = []
        for _ in own:
            one = next(made)
            unfit += one.unfit
            yield one
        if unfit:
            try:
                warn(too_long(job.first, job.instances, unfit))
            except LengthError as reason:
                without.append(reason)
                if len(jobs) > 1:
                    warn(left_out(job.first, reason))
    if without and len(without) == len(jobs):
        raise without[0]


def again(
    named: Sequence[Named],
    pack: Pack | None,
    row: Callable[[Item], T],
    workers: int | None = None,
    engine: Engine = "local",
) -> Iterator[Sequence[T]]:
    """The same of items that are known by their ids, each checked against its hash, some at a time."""
    size = sum(max(Recipe.parse(one.id).length, PUZZLE) for one in named)
    some = max(1, min(MOST, SHARE * len(named) // size))
    parts = [named[begin : begin + some] for begin in range(0, len(named), some)]
    work = with_permissions(partial(rebuild_all, row=row, pack=pack))
    return parallel_map(work, parts, 1 if size <= ALONE else workers, engine)


def rebuild_all(named: Sequence[Named], row: Callable[[Item], T], pack: Pack | None) -> list[T]:
    """In whichever process. Questions on one context that follow each other share it."""
    rows, context = list[T](), None
    for one in named:
        recipe = Recipe.parse(one.id)
        if context is None or context.recipe.context_id != recipe.context_id:
            context = context_of(replace(recipe, question=0), pack)
        item = context.item(recipe.question)
        if one.sha256 and item.survey.sha256 != one.sha256:
            raise RunError(f"{one.id} renders to other bytes than its recipe says: it was made by another release")
        rows.append(row(item))
    return rows


def shares_of(job: Share, tokens: int, most: int) -> list[Share]:
    """A job in parts of about so many tokens, and of so many instances at most."""
    first, instances = job
    size = max(1, min(most, tokens // max(first.length, PUZZLE)))
    return [
        Share(replace(first, index=first.index + begin), min(size, instances - begin))
        for begin in range(0, instances, size)
    ]


def make(share: Share, row: Callable[[Item], object], pack: Pack | None) -> Made:
    """In whichever process."""
    rows, unfit = list[object](), list[LengthError]()
    for index in range(share.first.index, share.first.index + share.instances):
        try:
            context = context_of(replace(share.first, index=index), pack)
        except LengthError as reason:
            unfit.append(reason)
        else:
            rows += [row(item) for item in context.items]
    return Made(rows, unfit)

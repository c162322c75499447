"""Make a guard: find items that a server answers reliably.

Each round is an ordinary run in its own folder, so that no reply is taken from an earlier round. An interrupted command
resumes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from statistics import fmean

from attrs import evolve

from carrara.guard.config import MakeGuardConfig
from carrara.guard.guard_file import LEAST_RATE, Guard, GuardItem
from carrara.guard.items import BATCH, BATCHES, first_item_ids, is_right, jobs_for, region_of
from carrara.guard.sample_size import (
    FEWEST,
    check_size,
    how_to_get,
    sufficient_if_right,
)
from carrara.items.item import messages_of
from carrara.items.item_id import ItemId, RunJob
from carrara.items.prompt import fingerprint
from carrara.options import ServerOptions, settings_of
from carrara.profiling.capabilities import select
from carrara.results.result import Result
from carrara.runs.config import RunConfig, model_name
from carrara.runs.run import describe_failures, run
from carrara.servers.model_names import check_model, tokenizer_for
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import count, write_length


def make_guard(config: MakeGuardConfig) -> Guard:
    """Ask until enough items were right, and ask those again, until they were asked `config.times` times in all.

    Raises:
        UsageError: The settings are wrong, or too few items were right each time.
        RunError: Every request of a round failed.
    """
    selected = select(config.capabilities)
    model, lengths, n = model_name(config.model), config.lengths, config.n
    check_model(model)
    first = first_item_ids(selected, config.tokenizer or tokenizer_for(model))
    run_config = RunConfig(
        [RunJob(replace(item_id, length=length), BATCH) for item_id in first.values() for length in lengths],
        config.model,
        out=config.folder / "1",
        **settings_of(config, ServerOptions),
    )
    cells = len(first) * len(lengths)
    most = cells * n
    if most < FEWEST:
        raise UsageError(
            f"`n={n}` gives at most {count(most, 'item')} ({count(len(first), 'capability')} at "
            f"{count(len(lengths), 'length')}), and a guard of fewer than {FEWEST} cannot tell that a server is fine: "
            + how_to_get(sufficient_if_right(cells), cells)
        )
    right, rate = _find_reliable(run_config, first, lengths, n, config.times)
    results = {result.id: result for result in run(evolve(run_config, tasks=jobs_for(right))).results}
    chosen = _balance([(results[id], capability) for id, capability in right.items()], n)
    guard = Guard(
        model=model,
        tokenizer=ItemId.parse(chosen[0][0].id).tokenizer,
        tokenizer_given=bool(config.tokenizer),
        rate=round(rate, 4),
        max_tokens=run_config.max_tokens,
        temperature=run_config.temperature,
        items=[
            GuardItem(
                result.id, fingerprint(messages_of(result.id)), capability, region_of(result), result.input_tokens
            )
            for result, capability in chosen
        ],
    )
    check_size(guard)
    return guard


def _find_reliable(
    config: RunConfig, first: Mapping[str, ItemId], lengths: Sequence[int], n: int, times: int
) -> tuple[dict[str, str], float]:
    """Return the items that were right each time, with their capability, and the rate of right replies."""
    right = _find_candidates(config, first, lengths, n)
    repeated = 0
    for time in range(2, times + 1):
        if not right:
            break
        replies = _ask(evolve(config, out=config.out.with_name(str(time)), tasks=jobs_for(right)))
        right_again = {reply.id: is_right(reply) for reply in replies if reply.id in right}
        repeated = len(right_again)
        right = {id: capability for id, capability in right.items() if right_again.get(id)}
        logger.info(f"round {time} of {times}: {len(right)} of {repeated} were right once more")
    if not right:
        raise UsageError(
            f"{config.model} answered nothing reliably at {', '.join(map(write_length, lengths))}: name shorter "
            "lengths, or capabilities that it has"
        )
    rate = (len(right) + 1) / (repeated + 2)
    if rate < LEAST_RATE:
        raise UsageError(
            f"what {config.model} answered right it answered right again in {len(right)} of {repeated} cases: that is "
            "not reliable enough to tell whether it broke; name shorter lengths, or ask more of them (n)"
        )
    return right, rate


def _find_candidates(config: RunConfig, first: Mapping[str, ItemId], lengths: Sequence[int], n: int) -> dict[str, str]:
    """Return the items that were right once, with their capability: up to twice as many as are wanted.

    A cell is a capability at a length.
    """
    cells = {replace(item_id, length=length): name for name, item_id in first.items() for length in lengths}
    open_cells, right = list(cells), dict[ItemId, list[str]]()
    for batch in range(1, BATCHES + 1):
        jobs = tuple(RunJob(cell, batch * BATCH) for cell in open_cells)
        by_cell: dict[ItemId, list[Result]] = {cell: [] for cell in open_cells}
        for reply in _ask(evolve(config, tasks=jobs)):
            by_cell[replace(ItemId.parse(reply.id), index=0, question=0)].append(reply)
        for cell, results in by_cell.items():
            ids = _one_of_each_context(result.id for result in results if is_right(result))
            right[cell] = ids if results and not _is_guessed(results) else []
        logger.info(f"round 1, batch {batch}: {sum(map(len, right.values()))} items were right, of {len(cells)} cells")
        # A cell with less than one right item per batch is not answered reliably, however often it is tried.
        open_cells = [cell for cell in open_cells if batch <= len(right[cell]) < 2 * n]
        if not open_cells:
            break
    return {id: cells[cell] for cell, ids in right.items() for id in ids}


def _one_of_each_context(ids: Iterable[str]) -> list[str]:
    """Return an item of each context, any of its questions: those on one context are wrong together."""
    chosen = dict[str, str]()
    for id in sorted(ids, key=lambda id: sha256(id.encode()).digest()):  # not in the order of the replies
        chosen.setdefault(ItemId.parse(id).context_id, id)
    return sorted(chosen.values())


def _ask(config: RunConfig) -> list[Result]:
    """Return the replies of a run. Failed requests say nothing about the answers, and count for nothing."""
    outcome = run(config)
    results = outcome.results
    if outcome.cut:
        logger.warning(outcome.cut)
    replies = [result for result in results if result.status != "error"]
    if failures := describe_failures(results):
        if not replies:
            raise RunError(f"{failures}; the same command asks them again")
        logger.warning(f"{failures}; they count for nothing")
    return replies


def _is_guessed(results: Sequence[Result]) -> bool:
    """Return whether half of the right replies may be guesses. Guesses stay right when a server breaks."""
    chance_level, share = (
        fmean(result.chance_level for result in results),
        fmean(is_right(result) for result in results),
    )
    return share < 2 * chance_level / (1 + chance_level)


def _balance(right: Sequence[tuple[Result, str]], n: int) -> list[tuple[Result, str]]:
    """Choose n items of each capability at each length, from each region in turn."""
    by_cell = Counter[tuple[int, str]]()
    by_region = Counter[tuple[int, str, str]]()
    remaining, chosen = list(right), list[tuple[Result, str]]()
    while remaining:
        result, capability = best = min(
            remaining, key=lambda pair: by_region[pair[0].length, pair[1], region_of(pair[0])]
        )
        remaining.remove(best)
        if by_cell[result.length, capability] < n:
            by_cell[result.length, capability] += 1
            by_region[result.length, capability, region_of(result)] += 1
            chosen.append(best)
    return sorted(chosen, key=lambda pair: (pair[0].length, pair[1]))

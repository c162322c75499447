"""Compare servers with a first one: ask two the same instances until it is decided whether they answer the same.

Scores decide, or the tokens of the replies (token_tests.py). Both are measured in any case.

The others are compared one after the other. The replies of the first server are asked once and kept for all of them.

Short lengths come first, because they are cheap. A server that differs there is found before a long prompt is sent.

Instances are chosen turn by turn. A turn has one instance of each capability at a length. The items of a guard are
asked one by one, because a guard may have more of one capability than of another. The mean is then that over its items.

Instances are drawn at random, because a task may take the values of a parameter in turn, and the tests need independent
draws. They are the same for every comparison of a seed, so an interrupted comparison resumes.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from carrara.answers.status import UNANSWERED
from carrara.guard._check import PATIENCE, REQUEST_TIMEOUT, SILENT_BATCHES, check_tokenizer, check_unchanged
from carrara.guard.config import CompareServersConfig
from carrara.guard.endpoints import Endpoint, endpoints_of, with_logprobs
from carrara.guard.equivalence import LengthTests, Pair, PairOutcome, fewest_instances, verdict_of
from carrara.guard.guard_file import Guard, TokenCounts, find_changed_counts
from carrara.guard.items import (
    BATCH,
    THROUGHOUT,
    PairedInstance,
    first_item_ids,
    is_right,
    region_of,
    turns_of_guard,
    turns_of_tasks,
)
from carrara.guard.reply_difference import compare_replies
from carrara.guard.sequential import ALL
from carrara.guard.server_comparison import (
    ChangedReply,
    ComparedGroup,
    DifferentToken,
    ServerComparison,
    ServerComparisons,
    UnpairedItem,
)
from carrara.guard.token_tests import Moved, TokenGroup, TokenTests, token_group
from carrara.items.item import questions_of
from carrara.items.item_id import ItemId, RunJob
from carrara.options import ConnectionOptions, settings_of
from carrara.profiling.capabilities import select
from carrara.results.result import Result
from carrara.results.scores import headline
from carrara.runs.config import RunConfig
from carrara.runs.prices import price_of
from carrara.runs.run import run
from carrara.servers.model_names import tokenizer_for
from carrara.util.errors import RunError, UsageError, os_error_text
from carrara.util.files import whole_file
from carrara.util.log import logger, warn_once
from carrara.util.quantities import count, read_lengths, write_length

DEFAULT_LENGTHS = "2k,8k,32k"
FIRST, FINISHED = "a", "comparison.json"
"""The folder of the first server's runs, and the file of a comparison that is decided. Others are in `b`, `c`, …"""
MOST_SMOKE_PROMPTS = 40
"""The prompts to each server with `smoke`, at most."""
GROWTH = 4
"""A batch has at least one instance for so many that were asked: later batches are larger."""

Turn = Sequence[PairedInstance]


@dataclass
class _Comparison:
    """The course of a comparison of two servers."""

    servers: tuple[Endpoint, Endpoint]
    lengths: dict[int, LengthTests] = field(default_factory=dict[int, LengthTests])
    by: Literal["scores", "tokens"] = "scores"
    """What decides."""
    tokens: dict[int, TokenTests] = field(default_factory=dict[int, TokenTests])
    expected: int = 0
    """The number of lengths to ask."""
    results: list[tuple[str, Result, Result]] = field(default_factory=list[tuple[str, Result, Result]])
    """The capability of each item, and its results at both servers."""
    stopped: str = ""
    """Why it could not go on."""
    is_first_away: bool = False
    """Whether it could not go on because of the first server."""

    @property
    def answered(self) -> list[tuple[str, Result, Result]]:
        return [entry for entry in self.results if not _is_unpaired(*entry[1:])]

    @property
    def tests(self) -> Sequence[LengthTests | TokenTests]:
        """The tests that decide, by length."""
        return list(self.tokens.values() if self.by == "tokens" else self.lengths.values())

    @property
    def is_over(self) -> bool:
        """Whether longer prompts would decide nothing, or cannot be sent."""
        if self.stopped or any(tests.verdict == "different" for tests in self.tests):
            return True
        return self.by == "scores" and any(tests.shows_nothing for tests in self.lengths.values())


def compare_servers(config: CompareServersConfig, folder: Path) -> ServerComparisons:
    """Compare each server with the first one.

    Args:
        folder: The folder for the runs. Replies in it are used.

    Raises:
        UsageError: The settings are wrong, or the folder holds something else.
    """
    guard = config.guard
    servers = endpoints_of(config)
    for server in servers:
        price_of(config.price, server.name)  # before a server is asked
    turns = _turns_of_guard(config, guard, servers) if guard else _turns_of_tasks(config, servers[0])
    _check_folder(folder)
    if config.logprobs:
        servers = [with_logprobs(server, config) for server in servers]
    comparisons, away = list[ServerComparison](), ""
    for other in servers[1:]:
        pair = _Comparison((servers[0], other), by=config.decided_by, expected=len(turns), stopped=away)
        if len(servers) > 2 and not config.smoke:
            logger.info(f"{other.letter}: {other}")
        _compare(config, pair, turns, folder)
        away = away or (pair.stopped if pair.is_first_away else "")
        comparisons.append(_summarize(config, pair))
    result = ServerComparisons(comparisons, is_smoke=config.smoke)
    if config.out and all(comparison.verdict in ("equivalent", "different") for comparison in comparisons):
        with whole_file(folder / FINISHED) as file:
            file.write(json.dumps(result.record(), indent=1) + "\n")
    return result


def _compare(
    config: CompareServersConfig, comparison: "_Comparison", turns: Mapping[int, Sequence[Turn]], folder: Path
) -> None:
    """Ask two servers the same instances until it is decided whether their scores are the same."""
    capabilities = list(
        dict.fromkeys(
            instance.capability for length_turns in turns.values() for turn in length_turns for instance in turn
        )
    )
    for length, length_turns in turns.items():
        if comparison.is_over:
            break
        comparison.lengths[length] = LengthTests(config.margin, capabilities, len(turns))
        comparison.tokens[length] = TokenTests(config.margin, len(turns))
        _compare_length(config, folder, length_turns, length, comparison)


def _turns_of_tasks(config: CompareServersConfig, server: Endpoint) -> dict[int, list[list[PairedInstance]]]:
    first = {
        name: replace(item_id, seed=config.seed)
        for name, item_id in first_item_ids(
            select(config.capabilities), config.tokenizer or tokenizer_for(server.name)
        ).items()
    }
    lengths = sorted(config.lengths or read_lengths(DEFAULT_LENGTHS))
    turns = {length: list(turns_of_tasks(first, length, config.n)) for length in lengths}
    _check_enough(config, turns, len(first), "name tasks that have more")
    return turns


def _turns_of_guard(
    config: CompareServersConfig, guard: Guard, servers: Sequence[Endpoint]
) -> dict[int, list[list[PairedInstance]]]:
    for server in servers:
        check_tokenizer(guard, server.name)
    for item in guard.items:
        check_unchanged(item)
    lengths = sorted({item.length for item in guard.items})
    turns = {length: list(turns_of_guard(guard, length, config.n)) for length in lengths}
    _check_enough(config, turns, 1, "make a guard with more (`n`)")
    return turns


def _check_enough(config: CompareServersConfig, turns: Mapping[int, Sequence[Turn]], size: int, remedy: str) -> None:
    """Raise `UsageError` if too few instances exist, or may be asked, to show that servers are the same.

    Args:
        size: The number of instances of a turn.
        remedy: What to do if too few exist.
    """
    if config.smoke:
        if missing := [write_length(length) for length, length_turns in turns.items() if not length_turns]:
            raise UsageError(
                f"`n={config.n}` and the tasks leave no instance of each task at {', '.join(missing)}: give {size} or "
                f"more, or {remedy}"
            )
        room = MOST_SMOKE_PROMPTS // len(turns)
        needed = max(_count_prompts(length_turns[0]) for length_turns in turns.values())
        if needed > room:
            raise UsageError(
                f"`smoke` sends {MOST_SMOKE_PROMPTS} prompts at most, {room} at each length, and one instance of each "
                f"task takes {needed}: give fewer lengths or capabilities"
            )
        return
    needed = fewest_instances(config.margin)
    if config.n // size * size < needed:
        raise UsageError(
            f"`n={config.n}` instances cannot show that servers are the same within {config.margin:g}, even without "
            f"any difference: give {-(-needed // size) * size} or more, or a greater `margin`"
        )
    short_of = {
        length: sum(map(len, length_turns))
        for length, length_turns in turns.items()
        if sum(map(len, length_turns)) < needed
    }
    if short_of:
        have = ", ".join(f"{instances} at {write_length(length)}" for length, instances in short_of.items())
        raise UsageError(
            f"{needed} instances of a length are needed to show that servers are the same within {config.margin:g}, "
            f"even without any difference, and there are {have}: {remedy}, or give a greater `margin`"
        )


def _check_folder(folder: Path) -> None:
    if (folder / FINISHED).exists():
        raise UsageError(f"`out={folder}` holds a comparison that is decided: give a folder of its own")
    if (folder / FIRST).is_dir():
        logger.info(f"the replies in {folder} are used: give another folder if a server has other settings since")
    elif folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"`out={folder}` is not empty, and holds no comparison: give a folder of its own")


def _compare_length(
    config: CompareServersConfig,
    folder: Path,
    turns: Sequence[Turn],
    length: int,
    comparison: _Comparison,
) -> None:
    """Ask both servers the instances of a length until its tests have decided."""
    tests, tokens = comparison.lengths[length], comparison.tokens[length]
    decides = tokens if comparison.by == "tokens" else tests
    remaining, silent = iter(turns), 0
    if config.smoke:
        remaining = _few_turns(turns, comparison.expected)
    while not decides.is_over and not comparison.stopped:
        size = max(BATCH, tests.instances // GROWTH)
        batch = list(islice(remaining, max(1, -(-size // len(turns[0])))))
        if not batch:
            return
        replies = list[dict[ItemId, list[Result]]]()
        try:
            for server in comparison.servers:
                replies.append(_ask(config, server, folder, batch))
        except (RunError, OSError) as error:
            comparison.stopped = str(error) if isinstance(error, RunError) else os_error_text(error)
            comparison.is_first_away = not replies
            return
        before = tests.instances
        for turn in batch:
            pairs = list(_pairs(turn, replies, comparison))
            tests.add(pairs)
            tokens.add([Moved(pair.moved, pair.moved_at_most) for pair in pairs])
        if not config.smoke:
            logger.info(
                f"{write_length(length)}: {count(tests.instances, 'instance')}, {_describe_course(comparison, length)}"
            )
        silent = silent + 1 if tests.instances == before else 0
        if silent == SILENT_BATCHES:
            comparison.stopped = _describe_failures(comparison)


def _few_turns(turns: Sequence[Turn], lengths: int) -> Iterator[Turn]:
    """Yield the turns of a length that its share of the prompts has room for."""
    room = MOST_SMOKE_PROMPTS // lengths
    for turn in turns:
        room -= _count_prompts(turn)
        if room < 0:
            return
        yield turn


def _count_prompts(turn: Turn) -> int:
    return sum(len(instance.items) or len(questions_of(instance.first).questions) for instance in turn)


def _describe_course(comparison: _Comparison, length: int) -> str:
    tests, tokens = comparison.lengths[length], comparison.tokens[length]
    if comparison.by == "tokens":
        moved = [moved.least for turn in tokens.turns for moved in turn]
        return f"{_mean(moved):.3f} of the tokens differ, {tokens.verdict}"
    return f"difference {_mean([pair.difference for pair in tests.by_name[ALL].pairs]):+.3f}, {tests.verdict}"


def _ask(
    config: CompareServersConfig, server: Endpoint, folder: Path, batch: Sequence[Turn]
) -> dict[ItemId, list[Result]]:
    """Return the results of a server, by the first question of each instance."""
    guard = config.guard
    settings = settings_of(config, ConnectionOptions) | {"base_url": server.base_url}
    outcome = run(
        RunConfig(
            [RunJob(instance.first, 1) for turn in batch for instance in turn],
            server.model,
            out=folder / server.letter.lower(),
            max_tokens=config.max_tokens or (guard.max_tokens if guard else None),
            temperature=guard.temperature if guard else config.temperature,
            price=config.price,
            logprobs=config.logprobs if server.returns_logprobs else None,
            request_timeout=REQUEST_TIMEOUT,
            patience=PATIENCE,
            **settings,
        )
    )
    if outcome.cut:
        warn_once(f"{server.letter}: {outcome.cut}")
    results_by_instance = dict[ItemId, list[Result]]()
    for result in outcome.results:
        results_by_instance.setdefault(replace(ItemId.parse(result.id), question=0), []).append(result)
    return results_by_instance


def _pairs(turn: Turn, replies: Sequence[Mapping[ItemId, list[Result]]], comparison: _Comparison) -> Iterator[Pair]:
    """Yield the pairs of a turn, without the items that a server has not answered. Note all results."""
    first_results, second_results = replies
    for instance in turn:
        second = {result.id: result for result in second_results.get(instance.first, ())}
        result_pairs = [
            (result, second[result.id])
            for result in first_results.get(instance.first, ())
            if result.id in second and instance.accepts(ItemId.parse(result.id))
        ]
        comparison.results += ((instance.capability, *results) for results in result_pairs)
        answered = [results for results in result_pairs if not _is_unpaired(*results)]
        if not answered:
            continue
        differences = [compare_replies(*results) for results in answered]
        regions = {region_of(result) for result, _ in answered}
        yield Pair(
            region=regions.pop() if len(regions) == 1 else THROUGHOUT,
            capability=instance.capability,
            first=_mean([headline(result) for result, _ in answered]),
            second=_mean([headline(result) for _, result in answered]),
            chance_level=_mean([result.chance_level for result, _ in answered]),
            moved=_mean([difference.moved for difference in differences]),
            moved_at_most=_mean([difference.moved_at_most for difference in differences]),
        )


def _is_unpaired(first: Result, second: Result) -> bool:
    """Return whether a server has not answered, which says nothing about its scores."""
    return first.status in UNANSWERED or second.status in UNANSWERED


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _unpaired(comparison: _Comparison) -> list[UnpairedItem]:
    return [
        UnpairedItem(result.id, result.length, server.letter, result.error or result.status)
        for _, *results in comparison.results
        for server, result in zip(comparison.servers, results, strict=True)
        if result.status in UNANSWERED
    ]


def _has_gaps(comparison: _Comparison, margin: float) -> bool:
    """Return whether a larger share of a length's items than the margin lacks a reply."""
    items = Counter(first.length for _, first, _ in comparison.results)
    answered = Counter(first.length for _, first, _ in comparison.answered)
    return any(number - answered[length] > margin * number for length, number in items.items())


def _describe_failures(comparison: _Comparison) -> str:
    failures = _unpaired(comparison)
    parts = [
        f"{count(sum(failure.server == server.letter for failure in failures), 'request')} to {server.letter}"
        for server in comparison.servers
        if any(failure.server == server.letter for failure in failures)
    ]
    return f"{' and '.join(parts)} failed" if parts else "no prompt has a reply of both servers"


def _summarize(config: CompareServersConfig, comparison: _Comparison) -> ServerComparison:
    answered, failures = comparison.answered, _unpaired(comparison)
    verdict: PairOutcome = verdict_of(comparison.tests, comparison.expected)
    reason = ""
    if verdict != "different":
        reason = comparison.stopped
        if not reason and _has_gaps(comparison, config.margin):
            reason = f"{_describe_failures(comparison)}, and their scores could differ by more than the margin"
        if not reason and not answered:
            reason = "no prompt has a reply of both servers"
        verdict = "unchecked" if reason else verdict
    counts = find_changed_counts(
        [
            TokenCounts(first.length, first.input_tokens, second.input_tokens)
            for _, first, second in answered
            if first.input_tokens and second.input_tokens
        ]
    )
    return ServerComparison(
        verdict=verdict,
        margin=config.margin,
        letter=comparison.servers[1].letter,
        servers=[str(server) for server in comparison.servers],
        prompts=len(answered),
        tokens=sum(first.tokens for _, first, _ in answered),
        groups=list(_groups(comparison)),
        same=sum(first.reply == second.reply for _, first, second in answered),
        changed=[
            ChangedReply(
                id=first.id,
                length=first.length,
                region=region_of(first),
                capability=capability,
                gold=first.gold,
                scores=(headline(first), headline(second)),
                statuses=(first.status, second.status),
                replies=(first.reply, second.reply),
            )
            for capability, first, second in answered
            if headline(first) != headline(second)
        ],
        failures=failures,
        counts=""
        if counts is None
        else f"{counts.changed} of {count(counts.of, 'prompt')} have another number of tokens at "
        f"{comparison.servers[1].letter}, such as "
        f"{counts.example.second:,} instead of {counts.example.first:,} ({counts.lengths})",
        reason=reason,
        by=comparison.by,
        tokens_by_length=list(_token_groups(comparison)),
        different_tokens=list(_different_tokens(answered)),
        money=_sum_or_none([second.money for _, _, second in comparison.results]),
    )


def _token_groups(comparison: _Comparison) -> Iterator[TokenGroup]:
    for length, tests in comparison.tokens.items():
        replies = [(first, second) for _, first, second in comparison.answered if first.length == length]
        if replies:
            yield token_group(
                length,
                tests,
                [compare_replies(first, second) for first, second in replies],
                [is_right(first) for first, _ in replies],
            )


def _different_tokens(answered: Sequence[tuple[str, Result, Result]]) -> Iterator[DifferentToken]:
    for _, first, second in answered:
        difference = compare_replies(first, second)
        if difference.place is not None:
            yield DifferentToken(first.id, first.length, difference.place, difference.tokens)


def _sum_or_none(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _groups(comparison: _Comparison) -> Iterator[ComparedGroup]:
    for length, tests in comparison.lengths.items():
        for name, group in tests.by_name.items():
            if not (pairs := group.pairs):
                continue
            low, high = group.interval
            yield ComparedGroup(
                length=length,
                where=name,
                verdict="open" if group.verdict == "equivalent" and not group.can_show else group.verdict,
                instances=len(pairs),
                first=_mean([pair.first for pair in pairs]),
                second=_mean([pair.second for pair in pairs]),
                low=low,
                high=high,
                can_show=group.can_show,
            )

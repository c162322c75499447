"""Compare two servers: ask both the same instances until it is decided whether their scores are the same.

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
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from carrara.answers.status import UNANSWERED
from carrara.guard.check import PATIENCE, REQUEST_TIMEOUT, SILENT_BATCHES, check_tokenizer, check_unchanged
from carrara.guard.config import CompareServersConfig
from carrara.guard.equivalence import LengthTests, Pair, PairOutcome, fewest_instances, verdict_of
from carrara.guard.guard_file import Guard, GuardItem, TokenCounts, find_changed_counts
from carrara.guard.items import BATCH, THROUGHOUT, region_of
from carrara.guard.make import first_item_ids
from carrara.guard.sequential import ALL
from carrara.guard.server_comparison import ChangedReply, ComparedGroup, ServerComparison, UnpairedItem
from carrara.items.item import count_existing
from carrara.items.item_id import ItemId, RunJob
from carrara.options import ConnectionOptions, settings_of
from carrara.profiling.capabilities import select
from carrara.results.result import Result
from carrara.results.scores import headline
from carrara.runs.config import RunConfig, model_name
from carrara.runs.run import run
from carrara.servers.model_names import check_model, tokenizer_for
from carrara.servers.probe import check_file_model
from carrara.servers.secrets import public
from carrara.util.errors import RunError, UsageError, os_error_text
from carrara.util.files import whole_file
from carrara.util.log import logger
from carrara.util.quantities import count, read_lengths, write_length

if TYPE_CHECKING:
    from carrara.servers.function_model import Function


INSTANCES = 1 << 20
"""The number of instances of a task from which are drawn. A task from files has fewer."""


@dataclass(frozen=True)
class PairedInstance:
    """An instance to ask at both servers."""

    first: ItemId
    """The item id of its first question."""
    capability: str
    items: tuple[GuardItem, ...] = ()
    """The items of a guard on this instance. Empty: all questions count."""

    def accepts(self, item_id: ItemId) -> bool:
        """Return whether an item is one of those that count."""
        if replace(item_id, question=0) != self.first:
            return False
        return not self.items or any(str(item_id) == item.id for item in self.items)


def turns_of_tasks(first: Mapping[str, ItemId], length: int, most: int) -> Iterator[list[PairedInstance]]:
    """Yield the turns of a length: the next instance of each capability, while all of them have one.

    Args:
        first: The first item id of each capability, by its name.
        length: The length.
        most: The most instances.
    """
    drawn = {name: _draw(replace(item_id, length=length)) for name, item_id in first.items()}
    for _ in range(most // len(first)):
        turn = [PairedInstance(item_id, name) for name, several in drawn.items() for item_id in islice(several, 1)]
        if len(turn) < len(first):  # the mean over the tasks needs all of them
            return
        yield turn


def _draw(first: ItemId) -> Iterator[ItemId]:
    """Yield the instances of a task in random order, none twice."""
    among, seen, draws = count_existing(first, INSTANCES), set[int](), 0
    while len(seen) < among:
        name = f"{replace(first, index=0, length=0).instance_id} {draws}"
        index = int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % among
        draws += 1
        if index not in seen:
            seen.add(index)
            yield replace(first, index=index)


def turns_of_guard(guard: Guard, length: int, most: int) -> Iterator[list[PairedInstance]]:
    """Yield the turns of a length of a guard: one instance each, in random order."""
    instances: dict[tuple[ItemId, str], list[GuardItem]] = {}
    for item in sorted(guard.items, key=lambda item: item.sha256):
        if item.length == length:
            instances.setdefault((replace(item.item_id, question=0), item.capability), []).append(item)
    for (first, capability), items in islice(instances.items(), most):
        yield [PairedInstance(first, capability, tuple(items))]


def jobs_of(instances: Sequence[PairedInstance]) -> tuple[RunJob, ...]:
    """Return the jobs that ask these instances."""
    return tuple(RunJob(one.first, 1) for one in instances)


SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class Endpoint:
    """A server to compare.

    Args:
        letter: `A` or `B`.
        model: The name of the model, or a function.
        base_url: The address. None: the provider's own.
    """

    letter: str
    model: "str | Function"
    base_url: str | None

    @property
    def name(self) -> str:
        """The name of the model."""
        return model_name(self.model)

    def __str__(self) -> str:
        address = public(self.base_url)
        return f"{self.name} at {address}" if address else self.name


def is_address(given: "str | Function") -> bool:
    """Return whether a user names a server by its address alone."""
    return isinstance(given, str) and given.startswith(SCHEMES)


def endpoint_of(letter: str, given: "str | Function", model: str | None, base_url: str | None) -> Endpoint:
    """Return the server that a user names by an address, a model, or MODEL@ADDRESS.

    Args:
        letter: `A` or `B`.
        given: What the user gave.
        model: The model at an address that is given alone.
        base_url: The address of a model that is given alone.

    Raises:
        UsageError: There is no such model, or an address comes without one.

    >>> str(endpoint_of("A", "openai-api/local/m@http://127.0.0.1:8000/v1", None, None))
    'openai-api/local/m at http://127.0.0.1:8000/v1'
    >>> str(endpoint_of("B", "http://127.0.0.1:8001/v1", "vllm/m", None))
    'vllm/m at http://127.0.0.1:8001/v1'
    """
    if not isinstance(given, str):
        return _checked(Endpoint(letter, given, None))
    if is_address(given):
        if not model:
            raise UsageError(f"{public(given)} names no model: give `model`, or write MODEL@{public(given)}")
        return _checked(Endpoint(letter, model, given))
    for scheme in SCHEMES:
        name, found, rest = given.partition(f"@{scheme}")
        if found:
            return _checked(Endpoint(letter, name, scheme + rest))
    in_process = given.partition("/")[0] == "carrara"
    return _checked(Endpoint(letter, given, None if in_process else base_url))


def _checked(endpoint: Endpoint) -> Endpoint:
    check_model(endpoint.name)
    return endpoint


DEFAULT_LENGTHS = "2k,8k,32k"
FIRST, SECOND, FINISHED = "a", "b", "comparison.json"
"""The folders of the two servers' runs, and the file of a comparison that is decided."""
GROWTH = 4
"""A batch has at least one instance for so many that were asked: later batches are larger."""

Turn = Sequence[PairedInstance]


@dataclass
class _Comparison:
    """The course of a comparison."""

    lengths: dict[int, LengthTests] = field(default_factory=dict[int, LengthTests])
    expected: int = 0
    """The number of lengths to ask."""
    results: list[tuple[str, Result, Result]] = field(default_factory=list[tuple[str, Result, Result]])
    """The capability of each item, and its results at both servers."""
    stopped: str = ""
    """Why it could not go on."""

    @property
    def answered(self) -> list[tuple[str, Result, Result]]:
        return [one for one in self.results if not _is_unpaired(*one[1:])]

    @property
    def is_over(self) -> bool:
        """Whether longer prompts would decide nothing, or cannot be sent."""
        return bool(self.stopped) or any(
            one.verdict == "different" or one.shows_nothing for one in self.lengths.values()
        )


def compare_servers(config: CompareServersConfig, folder: Path) -> ServerComparison:
    """Ask two servers the same instances until it is decided whether their scores are the same.

    Args:
        config: The settings.
        folder: The folder for the runs. Replies in it are used.

    Raises:
        UsageError: The settings are wrong, or the folder holds something else.
    """
    guard = config.guard
    servers = _endpoints(config)
    turns = _turns_of_guard(config, guard, servers) if guard else _turns_of_tasks(config, servers[0])
    _check_folder(folder)
    found = _Comparison(expected=len(turns))
    capabilities = list(dict.fromkeys(one.capability for own in turns.values() for turn in own for one in turn))
    for length, several in turns.items():
        found.lengths[length] = tests = LengthTests(config.margin, capabilities, len(turns))
        _compare_length(config, servers, folder, several, tests, found)
        if found.is_over:
            break
    result = _summarize(config, servers, found)
    if result.verdict in ("equivalent", "different") and config.out:
        with whole_file(folder / FINISHED) as file:
            file.write(json.dumps(result.to_dict(), indent=1) + "\n")
    return result


def _endpoints(config: CompareServersConfig) -> tuple[Endpoint, Endpoint]:
    """Return the two servers. An option that neither of them needs is refused."""
    given = config.a, config.b
    if config.model and not any(map(is_address, given)):
        raise UsageError("`model` is the model at an address that is given alone, and none is: leave it out")
    model = config.model or (config.guard.model if config.guard else None)
    if config.guard and not config.model:
        for address in filter(is_address, given):
            check_file_model(config.guard.model, str(address), config.model_args, "the guard")
    servers = endpoint_of("A", config.a, model, config.base_url), endpoint_of("B", config.b, model, config.base_url)
    if config.base_url and not any(server.base_url == config.base_url for server in servers):
        raise UsageError("`base_url` is the address of a model that is given without one, and none is: leave it out")
    return servers


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
        config: The settings.
        turns: The turns of each length.
        size: The number of instances of a turn.
        remedy: What to do if too few exist.
    """
    needed = fewest_instances(config.margin)
    if config.n // size * size < needed:
        raise UsageError(
            f"`n={config.n}` instances cannot show that servers are the same within {config.margin:g}, even without "
            f"any difference: give {-(-needed // size) * size} or more, or a greater `margin`"
        )
    few = {length: sum(map(len, own)) for length, own in turns.items() if sum(map(len, own)) < needed}
    if few:
        have = ", ".join(f"{instances} at {write_length(length)}" for length, instances in few.items())
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
    servers: Sequence[Endpoint],
    folder: Path,
    turns: Sequence[Turn],
    tests: LengthTests,
    found: _Comparison,
) -> None:
    """Ask both servers the instances of a length until its tests have decided."""
    left, silent = iter(turns), 0
    while not tests.is_over and not found.stopped:
        size = max(BATCH, tests.instances // GROWTH)
        batch = list(islice(left, max(1, -(-size // len(turns[0])))))
        if not batch:
            return
        try:
            one, other = (_ask(config, server, folder, batch) for server in servers)
        except RunError as error:
            found.stopped = str(error)
            return
        except OSError as error:
            found.stopped = os_error_text(error)
            return
        before = tests.instances
        for turn in batch:
            tests.add(list(_pairs(turn, one, other, found)))
        group = tests.by_name[ALL]
        logger.info(
            f"{write_length(batch[0][0].first.length)}: {count(tests.instances, 'instance')}, difference "
            f"{_mean([pair.difference for pair in group.pairs]):+.3f}, {tests.verdict}"
        )
        silent = silent + 1 if tests.instances == before else 0
        if silent == SILENT_BATCHES:
            found.stopped = _describe_failures(found)


def _ask(
    config: CompareServersConfig, server: Endpoint, folder: Path, batch: Sequence[Turn]
) -> dict[ItemId, list[Result]]:
    """Return the results of a server, by the first question of each instance."""
    guard = config.guard
    settings = settings_of(config, ConnectionOptions) | {"base_url": server.base_url}
    outcome = run(
        RunConfig(
            jobs_of([instance for turn in batch for instance in turn]),
            server.model,
            out=folder / {"A": FIRST, "B": SECOND}[server.letter],
            max_tokens=config.max_tokens or (guard.max_tokens if guard else None),
            temperature=guard.temperature if guard else config.temperature,
            request_timeout=REQUEST_TIMEOUT,
            patience=PATIENCE,
            **settings,
        )
    )
    found = dict[ItemId, list[Result]]()
    for result in outcome.results:
        found.setdefault(replace(ItemId.parse(result.id), question=0), []).append(result)
    return found


def _pairs(
    turn: Turn, one: Mapping[ItemId, list[Result]], other: Mapping[ItemId, list[Result]], found: _Comparison
) -> Iterator[Pair]:
    """Yield the pairs of a turn, without the items that a server has not answered. Note all results."""
    for instance in turn:
        second = {result.id: result for result in other.get(instance.first, ())}
        both = [
            (result, second[result.id])
            for result in one.get(instance.first, ())
            if result.id in second and instance.accepts(ItemId.parse(result.id))
        ]
        found.results += ((instance.capability, *results) for results in both)
        answered = [results for results in both if not _is_unpaired(*results)]
        if not answered:
            continue
        regions = {region_of(result) for result, _ in answered}
        yield Pair(
            region=regions.pop() if len(regions) == 1 else THROUGHOUT,
            capability=instance.capability,
            first=_mean([headline(result) for result, _ in answered]),
            second=_mean([headline(result) for _, result in answered]),
            chance_level=_mean([result.chance_level for result, _ in answered]),
        )


def _is_unpaired(one: Result, other: Result) -> bool:
    """Return whether a server has not answered, which says nothing about its scores."""
    return one.status in UNANSWERED or other.status in UNANSWERED


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _unpaired(found: _Comparison) -> list[UnpairedItem]:
    return [
        UnpairedItem(result.id, result.length, letter, result.error or result.status)
        for _, *results in found.results
        for letter, result in zip("AB", results, strict=True)
        if result.status in UNANSWERED
    ]


def _has_gaps(found: _Comparison, margin: float) -> bool:
    """Return whether a larger share of a length's items than the margin lacks a reply."""
    items = Counter(one.length for _, one, _ in found.results)
    answered = Counter(one.length for _, one, _ in found.answered)
    return any(number - answered[length] > margin * number for length, number in items.items())


def _describe_failures(found: _Comparison) -> str:
    failures = _unpaired(found)
    parts = [
        f"{count(sum(one.server == letter for one in failures), 'request')} to {letter}"
        for letter in "AB"
        if any(one.server == letter for one in failures)
    ]
    return f"{' and '.join(parts)} failed"


def _summarize(config: CompareServersConfig, servers: Sequence[Endpoint], found: _Comparison) -> ServerComparison:
    answered, failures = found.answered, _unpaired(found)
    verdict: PairOutcome = verdict_of(list(found.lengths.values()), found.expected)
    reason = ""
    if verdict != "different":
        reason = found.stopped
        if not reason and _has_gaps(found, config.margin):
            reason = f"{_describe_failures(found)}, and their scores could differ by more than the margin"
        verdict = "unchecked" if reason else verdict
    counts = find_changed_counts(
        [
            TokenCounts(one.length, one.input_tokens, other.input_tokens)
            for _, one, other in answered
            if one.input_tokens and other.input_tokens
        ]
    )
    return ServerComparison(
        verdict=verdict,
        margin=config.margin,
        servers=[str(server) for server in servers],
        prompts=len(answered),
        tokens=sum(one.tokens for _, one, _ in answered),
        groups=list(_groups(found)),
        same=sum(one.reply == other.reply for _, one, other in answered),
        changed=[
            ChangedReply(
                id=one.id,
                length=one.length,
                region=region_of(one),
                capability=capability,
                gold=one.gold,
                scores=(headline(one), headline(other)),
                statuses=(one.status, other.status),
                replies=(one.reply, other.reply),
            )
            for capability, one, other in answered
            if headline(one) != headline(other)
        ],
        failures=failures,
        counts=""
        if counts is None
        else f"{counts.changed} of {count(counts.of, 'prompt')} have another number of tokens at B, such as "
        f"{counts.example.second:,} instead of {counts.example.first:,} ({counts.lengths})",
        reason=reason,
    )


def _groups(found: _Comparison) -> Iterator[ComparedGroup]:
    for length, tests in found.lengths.items():
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

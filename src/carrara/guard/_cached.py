"""Check a server's replies after a cache hit: a prompt that it has read must be answered as the first time.

Servers keep the KV cache of prompts for later ones that begin alike. Of two kinds of hits, each item tests one in turn:

- `again`: the prompt, and the prompt once more, so that the whole of it is in the cache;
- `shared`: a prompt with another end, and then the item's prompt, so that all but its end is in the cache.

Several servers can be asked for a reply without the cache (`request_fields`). Then each item also has two of those: the
reply to compare with, and a control. The difference of an item is how far the reply after the hit is from the reply
without it, less how far the control is. The distance of two replies is the total variation of their tokens'
distributions, as far as the listed tokens show it (a lower bound), or 0 or 1 where the server gives no
log-probabilities. A cached prefix changes the order in which a GPU
adds, so honest distributions move a little: only a mean difference above the margin is a fault.

The answers after hits are judged as those of any check: by sequential tests against the guard's rate.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from secrets import token_hex
from statistics import fmean
from typing import Any, Literal

import anyio
from inspect_ai.model import GenerateConfig, Model, ModelOutput

from carrara.constants import MOST_ALTERNATIVES, REPLY_TOKENS, REQUEST, LogprobsOf
from carrara.guard._check import (
    PATIENCE,
    REQUEST_TIMEOUT,
    SILENT_BATCHES,
    CheckResult,
    Fault,
    check_config,
    check_unchanged,
    find_other_counts,
    summarize,
)
from carrara.guard.config import CheckGuardConfig
from carrara.guard.equivalence import ALPHA_DIFFERENT, ALPHA_EQUIVALENT, BettingTest
from carrara.guard.guard_file import GuardItem
from carrara.guard.items import BATCH, is_right
from carrara.guard.reply_difference import ReplyDifference, compare_replies
from carrara.guard.sequential import Outcome, Schedule
from carrara.items.grading import grade
from carrara.items.item import item_of
from carrara.items.prompt import fingerprint
from carrara.readers.prompts import Reference, is_quick_to_render, prompt_of
from carrara.results.result import ReplyToken, Result
from carrara.runs.by_reference import PromptReference, ReferencedAPI
from carrara.servers.model_names import check_style
from carrara.servers.probe import is_probed, probe
from carrara.servers.providers import make_model
from carrara.servers.response import ending
from carrara.servers.retry import attempts
from carrara.types import Message
from carrara.util.errors import RunError, UsageError, describe_exception
from carrara.util.log import logger
from carrara.util.quantities import count, write_length
from carrara.util.table import table

Kind = Literal["again", "shared"]
KINDS: Mapping[Kind, str] = {"again": "the same prompt again", "shared": "all but the end shared"}
"""The kinds of cache hits, and their names."""
MARGIN, MARGIN_OF_WORDS = 0.05, 0.2
"""The mean difference that is no fault yet: of distributions, and of the share of replies that changed. Words change at
near-ties too, which honest servers decide otherwise after a hit."""
HIT = 0.25
"""The share of a prompt's tokens from which on a reply counts as one after a hit. Templates may always be cached."""
FEWEST_TOLD = 8
"""The number of replies of a kind without a hit from which on its hits are said to be missing."""
END, OTHER_END = 200, "\n\nReply with the word OK."
"""The characters at a prompt's end that are not shared, and what stands in their place."""
WARM_UP_TOKENS = 16
"""The most tokens of a reply that only fills the cache."""


def request_fields(software: str, salt: str, from_cache: bool) -> dict[str, Any]:
    """Return the fields of a request that determine what it finds in the cache. Empty if none are known.

    vLLM and SGLang share the cache among requests with the same salt. llama.cpp reuses what it read last, or nothing.

    >>> request_fields("vLLM 0.21.0", "a1", True), request_fields("llama.cpp", "a1", False)
    ({'cache_salt': 'a1'}, {'cache_prompt': False})
    """
    if software.startswith(("vLLM", "SGLang")):
        return {"cache_salt": salt}
    return {"cache_prompt": from_cache} if software.startswith("llama.cpp") else {}


def with_other_end(messages: Sequence[Message]) -> list[Message]:
    """Return a prompt that shares all but its end: the last characters are replaced, half of a short message."""
    *before, last = messages
    kept = last.content[: -min(END, len(last.content) // 2) or None]
    return [*before, Message(last.role, kept + OTHER_END)]


@dataclass(frozen=True)
class Exchange:
    """The replies to an item."""

    item: GuardItem
    kind: Kind
    warm: Result
    """The reply after the hit."""
    cold: Result | None = None
    """The reply without it, if the server can give one."""
    control: Result | None = None
    """Another reply without it."""

    @property
    def is_cold(self) -> bool:
        """Whether no reply without the hit comes from the cache, as far as the server tells."""
        return not any(_cached_share(result) >= HIT for result in (self.cold, self.control) if result)

    @property
    def moved(self) -> ReplyDifference | None:
        """How the reply after the hit differs from the one without it."""
        return compare_replies(self.cold, self.warm) if self.cold and self.is_cold else None

    @property
    def moved_without(self) -> float:
        """How far the control is from the reply without the hit."""
        return compare_replies(self.cold, self.control).moved if self.cold and self.control else 0.0


def _cached_share(result: Result) -> float:
    return (result.cached_tokens or 0) / (result.input_tokens or result.tokens or 1)


class CacheTests:
    """The tests of the differences: whether those of a kind are above the margin, and whether all are below it."""

    def __init__(self, margin: float) -> None:
        self.above = {kind: BettingTest(margin, above=True) for kind in KINDS}
        self.below = BettingTest(margin, above=False)

    def add(self, kind: Kind, difference: float) -> None:
        """Count the difference of an item."""
        for test in (self.above[kind], self.below):
            test.add(difference)
            test.look()

    @property
    def faulty(self) -> list[Kind]:
        """The kinds whose mean difference is above the margin."""
        return [kind for kind, test in self.above.items() if test.evidence >= len(KINDS) / ALPHA_DIFFERENT]

    @property
    def is_fine(self) -> bool:
        """Whether the mean difference is shown to be below the margin."""
        return self.below.evidence >= 1 / ALPHA_EQUIVALENT


@dataclass(frozen=True)
class CacheCell:
    """The replies to the items of a length after one kind of cache hit."""

    length: int
    kind: Kind
    asked: int
    right: int
    """Right replies after the hit."""
    compared: int
    """Replies that were compared with one without the hit."""
    cold_right: int
    """Right replies without the hit, of those that were compared."""
    same: int
    """Replies that are the same as without the hit."""
    moved: float | None
    """The mean total variation between them. Without log-probabilities the share of changed replies."""
    moved_without: float | None
    """The same of two replies without a hit."""
    cached: float | None
    """The mean share of the prompt that was in the cache. None: the server does not tell."""


@dataclass(frozen=True, repr=False)
class CachedCheckResult(CheckResult):
    """The result of checking the replies after cache hits.

    Examples:
        >>> from carrara.guard._cached import CachedCheckResult
        >>> CachedCheckResult("fine", prompts=84, tokens=86016, rate=0.99, faults=(), cells=(), wrong=())
        fine: after cache hits as it was when the guard was made (right in 99%) · 84 prompts, 86,016 tokens
    """

    hits: Sequence[CacheCell] = ()
    """The replies by length and kind of hit."""
    has_logprobs: bool = False
    """Whether the server returned log-probabilities, so that distributions were compared."""
    can_isolate: bool = False
    """Whether the server could be asked without its cache."""
    notes: Sequence[str] = ()
    """What the check could not test."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        first, *others = super().lines()
        yield first.replace("fine: as it was", "fine: after cache hits as it was")
        yield from others
        if self.hits:
            yield from self._table_of_hits()
        yield from self.notes

    def _table_of_hits(self) -> Iterator[str]:
        moved = "moved" if self.has_logprobs else "changed"
        columns = ["after a cache hit", "", "right", "without it", "same", moved, "control", "cached"]
        rows = [
            [
                *(write_length(cell.length), KINDS[cell.kind], f"{cell.right} of {cell.asked}"),
                *(f"{part} of {cell.compared}" if cell.compared else "" for part in (cell.cold_right, cell.same)),
                *("" if share is None else f"{share:.3f}" for share in (cell.moved, cell.moved_without)),
                "not told" if cell.cached is None else f"{cell.cached:.0%}",
            ]
            for cell in self.hits
        ]
        return table(columns, rows)


def check_cached(config: CheckGuardConfig) -> CachedCheckResult:
    """Ask the items of a guard after cache hits, until the replies decide whether the cache is broken.

    Raises:
        UsageError: The guard does not suit the model, or the model has no server.
    """
    model = check_config(config)
    if not isinstance(model, str) or not is_probed(model, config.base_url, config.model_args):
        raise UsageError("`cached` is about the cache of a server: name a model that is served, and its `base_url`")
    for item in config.guard.items:
        if item_of(item.id).prompt.template.follow_ups:
            raise UsageError(
                f"{item.id} goes on after the reply, which `cached` does not send: make a guard without it"
            )
    check = CachedCheck(config, model)
    try:
        anyio.run(check.probe)
        anyio.run(check.ask_all)
    except RunError as error:
        check.stopped = str(error)
    return check.result()


class CachedCheck:
    """The course of a check: what was asked, and what it shows so far."""

    def __init__(self, config: CheckGuardConfig, model: str) -> None:
        self.config, self.guard, self.name = config, config.guard, model
        check_style(model, config.guard.items[0].item_id.style)
        self.schedule = Schedule(config.guard, config.most)
        self.tests = CacheTests(MARGIN)
        self.exchanges = list[Exchange]()
        self.replies = list[tuple[GuardItem, Result]]()
        self.stopped = ""
        self.software, self.has_logprobs, self.can_isolate = "", False, False
        self._kinds = dict[str, Kind]()
        self._turns = Counter[int]()
        self._salt = token_hex(16)  # of this check alone, so that an earlier one left nothing in the cache

    async def probe(self) -> None:
        """Find out what the server returns, and whether it can be asked without its cache."""
        logprobs: tuple[LogprobsOf, ...] = ("reply",)
        info = await probe(self.name, self.config.base_url, self.config.model_args, window=True, logprobs=logprobs)
        self.software, self.has_logprobs = info.software, bool(info.reply_logprobs)
        self.can_isolate = bool(request_fields(self.software, "", False))
        self.tests = CacheTests(MARGIN if self.has_logprobs else MARGIN_OF_WORDS)

    async def ask_all(self) -> None:
        """Ask items until the tests decide."""
        model = make_model(self.name, self.config.base_url, self.config.model_args)
        model.api = ReferencedAPI(model, _render, limit=REQUEST_TIMEOUT, patience=PATIENCE, quick=is_quick_to_render)
        at_once, failed_in_row = self.config.connections or 1, 0
        while batch := self.schedule.next_batch(at_once, beyond_fine=self.can_isolate and not self.tests.is_fine):
            for item in batch:
                check_unchanged(item)
            before = len(self.exchanges)
            async with anyio.create_task_group() as tasks:
                for item in batch:
                    tasks.start_soon(self._ask, model, item, self._next_kind(item), f"{self._salt}{len(self.replies)}")
            if len(self.replies) // BATCH > (len(self.replies) - len(batch)) // BATCH:
                logger.info(str(self.schedule))
            failed_in_row = 0 if len(self.exchanges) > before else failed_in_row + len(batch)
            is_over = failed_in_row >= SILENT_BATCHES * BATCH or self.tests.faulty or find_other_counts(self.replies)
            if is_over or len(self._kinds_without_hits()) == len(KINDS):
                break

    def _next_kind(self, item: GuardItem) -> Kind:
        """Return the kind of hit to test with an item: the other one when it comes again, and else in turn."""
        self._turns[item.length] += 1
        in_turn: Kind = "again" if self._turns[item.length] % 2 else "shared"
        before = self._kinds.get(item.id)
        self._kinds[item.id] = in_turn if before is None else "shared" if before == "again" else "again"
        return self._kinds[item.id]

    async def _ask(self, model: Model, item: GuardItem, kind: Kind, salt: str) -> None:
        """Ask an item with a kind of hit. A request that fails says nothing about the answers."""
        ask = partial(self._request, model, item.id)
        cold = control = None
        try:
            if kind == "again":
                cold = await ask(f"{salt}a", from_cache=False)
            elif self.can_isolate:
                cold = await ask(f"{salt}b", from_cache=False)
            if kind == "shared":
                await ask(f"{salt}a", from_cache=False, other_end=True)
            warm = await ask(f"{salt}a", from_cache=True)
            if self.can_isolate:
                control = await ask(f"{salt}c", from_cache=False)
        except Exception as error:
            why = getattr(getattr(error, "trouble", None), "words", "") or describe_exception(error)
            self.replies.append((item, _result(item.id, self.name, None, why)))
            self.schedule.fail(item)
            return
        exchange = Exchange(item, kind, warm, cold, control)
        self.exchanges.append(exchange)
        self.replies.append((item, warm))
        self.schedule.add(item, is_right(warm))
        if exchange.moved:
            self.tests.add(kind, exchange.moved.moved - exchange.moved_without)

    async def _request(self, model: Model, id: str, salt: str, from_cache: bool, other_end: bool = False) -> Result:
        """Send the prompt of an item, or one with another end."""
        request = OTHER_END if other_end else ""
        messages = _render({"id": id, REQUEST: request})
        reference = PromptReference(id, fingerprint(messages), "", request=request)
        item = item_of(id)
        is_base = item.item_id.style == "base"
        most = WARM_UP_TOKENS if other_end else self.guard.max_tokens or (item.question.budget if is_base else None)
        with attempts():
            output = await model.generate(
                [reference.message()],
                config=GenerateConfig(
                    max_tokens=most,
                    temperature=self.guard.temperature,
                    stop_seqs=list(item.prompt.template.stop) or None if is_base else None,
                    logprobs=True if self.has_logprobs else None,
                    top_logprobs=MOST_ALTERNATIVES if self.has_logprobs else None,
                    extra_body=request_fields(self.software, salt, from_cache) or None,
                ),
            )
        return _result(id, self.name, output)

    @property
    def _tells_cached(self) -> bool:
        """Whether the server tells cached tokens. Several do so only if there are some."""
        return any(exchange.warm.cached_tokens is not None for exchange in self.exchanges)

    def _kinds_without_hits(self) -> list[Kind]:
        """Return the kinds of hits that did not occur, by the cached tokens that the server tells."""
        asked = Counter(exchange.kind for exchange in self.exchanges)
        hits = Counter(exchange.kind for exchange in self.exchanges if _cached_share(exchange.warm) >= HIT)
        return [kind for kind in KINDS if self._tells_cached and asked[kind] >= FEWEST_TOLD and not hits[kind]]

    def result(self) -> CachedCheckResult:
        """Return the result so far."""
        result = summarize(self.guard, self.schedule, self.replies, self.stopped)
        faults = [self._fault(kind) for kind in self.tests.faulty]
        without_hits = self._kinds_without_hits()
        verdict: Outcome = "broken" if faults else result.verdict
        if verdict == "fine" and (without_hits or (self.can_isolate and not self.tests.is_fine)):
            verdict = "open"
        known = {field.name: getattr(result, field.name) for field in fields(CheckResult)}
        return CachedCheckResult(
            **known | {"verdict": verdict, "faults": [*faults, *result.faults]},
            hits=self._cells(),
            has_logprobs=self.has_logprobs,
            can_isolate=self.can_isolate,
            notes=list(self._notes(without_hits)) if self.exchanges else [],
        )

    def _fault(self, kind: Kind) -> Fault:
        compared = [exchange for exchange in self.exchanges if exchange.kind == kind and exchange.moved]
        moved = fmean(exchange.moved.moved for exchange in compared if exchange.moved)
        without = fmean(exchange.moved_without for exchange in compared)
        figure = "the mean total variation" if self.has_logprobs else "the share of changed replies"
        return Fault(
            KINDS[kind],
            f"{figure} from the reply without the cache is {moved:.3f}, and {without:.3f} between two without it",
        )

    def _notes(self, without_hits: Sequence[Kind]) -> Iterator[str]:
        """Yield what the check could not test."""
        if without_hits:
            kinds = " and ".join(f"({KINDS[kind]})" for kind in without_hits)
            yield f"No cache hit was seen {kinds}: turn the server's prefix cache on, or check longer prompts."
        if not self._tells_cached:
            yield (
                "The server does not tell cached tokens, so it is not known whether its cache was hit "
                "(vLLM: --enable-prompt-tokens-details, SGLang: --enable-cache-report)."
            )
        if not self.can_isolate:
            yield (
                "The server is none that can be asked without its cache (vLLM, SGLang, llama.cpp): where all but the "
                "end is shared, its answers alone were judged."
            )
        cold = [exchange.cold for exchange in self.exchanges if exchange.cold]
        is_broken = bool(self.tests.faulty) or self.schedule.verdict == "broken"
        if is_broken and 2 * sum(map(is_right, cold)) < len(cold):
            yield "Most replies without a hit are wrong too, so that the fault is not the cache's alone."
        if warm := sum(not exchange.is_cold for exchange in self.exchanges):
            asked = count(len(self.exchanges), "prompt")
            yield f"For {warm} of {asked} the reply without a hit came from the cache too, and was not compared."
        if not self.has_logprobs:
            yield "The server gives no log-probabilities, so replies were compared by their words."

    def _cells(self) -> list[CacheCell]:
        order = list(KINDS)
        places = sorted(
            {(exchange.item.length, exchange.kind) for exchange in self.exchanges},
            key=lambda place: (place[0], order.index(place[1])),
        )
        return [self._cell(length, kind) for length, kind in places]

    def _cell(self, length: int, kind: Kind) -> CacheCell:
        cell = [one for one in self.exchanges if one.item.length == length and one.kind == kind]
        pairs = [(exchange, moved) for exchange in cell if (moved := exchange.moved)]
        controls = [exchange.moved_without for exchange, _ in pairs if exchange.control]
        return CacheCell(
            length=length,
            kind=kind,
            asked=len(cell),
            right=sum(is_right(exchange.warm) for exchange in cell),
            compared=len(pairs),
            cold_right=sum(is_right(exchange.cold) for exchange, _ in pairs if exchange.cold),
            same=sum(moved.is_same for _, moved in pairs),
            moved=fmean(moved.moved for _, moved in pairs) if pairs else None,
            moved_without=fmean(controls) if controls else None,
            cached=fmean(_cached_share(exchange.warm) for exchange in cell) if self._tells_cached else None,
        )


def _render(reference: Reference) -> Sequence[Message]:
    messages = prompt_of({"id": reference["id"]})
    return with_other_end(messages) if reference.get(REQUEST) else messages


def _result(id: str, model: str, output: ModelOutput | None, error: str | None = None) -> Result:
    """Return the graded result of a reply, or of a request that failed."""
    item = item_of(id)
    item_id, ended = item.item_id, ending(output) if output else "error"
    reply = output.completion if output else ""
    graded = grade(item.task, item.question, reply, "ok" if ended == "answered" else ended)
    usage = output.usage if output else None
    cached = usage.input_tokens_cache_read if usage else None
    tokens = ((output.metadata if output else None) or {}).get(REPLY_TOKENS) or ()
    return Result(
        id=id,
        task=item_id.task,
        version=item_id.version,
        model=model,
        length=item_id.length,
        tokens=item.prompt.tokens,
        tokenizer=item_id.tokenizer,
        context_id=item_id.context_id,
        instance_id=item_id.instance_id,
        status=graded.status,
        score=graded.score,
        chance_level=item.question.chance_level,
        gold=item.gold,
        answer=graded.answer,
        reply=reply,
        input_tokens=usage.input_tokens + (cached or 0) if usage else None,
        cached_tokens=cached,
        reply_tokens=tuple(ReplyToken(*token) for token in tokens),
        error=error,
    )

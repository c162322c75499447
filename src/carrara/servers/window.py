"""The real window of a server: the largest prompt that it reads whole, for each endpoint.

A server may read less of a prompt than was sent, and say nothing: it drops the beginning, the middle or the end. Its
count of the prompt's tokens then stops growing. Prompts of growing length find where, and codes at their beginning, in
their middle and at their end show what is lost.

    expected count = constant + rate × tokens of the text    learned from short prompts
    counted less                                             the prompt was cut
    no counts                                                it was cut if its reply lacks codes, unlike short replies

The first endpoint is searched. Each other one is asked at the edges that were found, and searched where it differs.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, NamedTuple

import anyio

from carrara import tokenizers
from carrara.servers.probe import check_server
from carrara.servers.providers import make_model
from carrara.servers.response import tells_overflow
from carrara.servers.retry import Kind
from carrara.servers.server_info import ServerInfo, completes
from carrara.servers.short_question import ShortQuestion, TroubledError
from carrara.servers.window_prompt import CHAT, COMPLETIONS, REPLY, Answered, Asker, MissingEndpointError, coded_text
from carrara.servers.window_report import EndpointWindow, Lost, Outcome, WindowReport
from carrara.tokenizers.base import Tokenizer, count_chat
from carrara.types import Message
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import count

UPTO = 131_072
"""The longest prompt, where the server states no window."""
MOST_PROMPTS = 12
"""The most prompts for each endpoint."""
MOST_LENGTHS = 6
"""The most tokens for each endpoint, in longest prompts."""
SHORT = (96, 384)
"""Tokens of the prompts from which the server's counts are learned."""
_FIRST_LONG, _GROWTH = 2048, 4
_BELOW, _ABOVE = 12, 48
"""Tokens below and above a supposed limit at which it is tested."""
_NEAR = 1.02
"""How near another edge is tried, where an endpoint differs from the first one."""
_CLOSE = 0.015
"""How near the edges are at last, in proportion to the window."""
_CODE_TOKENS = 6
"""Tokens by which the counts of two prompts differ because of other codes."""
STEP = 64
"""The length `max` is a multiple of so many tokens, so that it is the same when it is measured again."""
_GONE: Collection[Kind] = ("unreachable", "busy", "down", "hanging")
"""Failures after which no other endpoint is asked."""
_RATES = (0.2, 5.0)
"""Tokens that a server can count for one of ours."""


class Trial(NamedTuple):
    """A prompt that was sent."""

    text_tokens: int
    max_tokens: int
    counted: int | None
    """The server's count of its tokens."""
    repeated: tuple[bool, bool, bool]
    """Which codes the reply has: those at the beginning, in the middle and at the end."""
    refusal: str = ""


def endpoint_name(endpoint: tuple[str, bool]) -> str:
    name, is_streamed = endpoint
    return f"{name}, streamed" if is_streamed else name


def _length(trial: Trial) -> int:
    return trial.text_tokens


@dataclass
class Counts:
    """How many tokens a server counts for a text of ours: a constant, and a rate. Both are learned."""

    points: list[tuple[int, int]] = field(default_factory=list)
    """Prompts that were read whole: (our tokens, the server's)."""
    is_known: bool = False
    """Whether the server counts, and counts more for more text. If not, our own tokens stand for its."""

    @property
    def rate(self) -> float:
        (short, first), (long, last) = min(self.points), max(self.points)
        return (last - first) / (long - short) if self.is_known and long > short else 1.0

    @property
    def constant(self) -> float:
        text, count = min(self.points)
        return count - self.rate * text if self.is_known else 0.0

    def expected(self, text_tokens: int) -> float:
        return self.constant + self.rate * text_tokens

    def text_tokens(self, count: float) -> int:
        """Return our tokens of a text for which the server counts so many."""
        return int((count - self.constant) / self.rate)

    def tolerance(self, text_tokens: int) -> float:
        """Return by how much a count may differ from the expected one, though the prompt was read whole."""
        (short, _), (long, _) = min(self.points), max(self.points)
        return _CODE_TOKENS + 2 + _CODE_TOKENS * max(0.0, (text_tokens - short) / max(1, long - short) - 1)

    def take_rate(self, other: "Counts", text_tokens: int) -> None:
        """Take the rate of another endpoint, which was learned from texts up to so many tokens."""
        text, count = min(self.points)
        if self.is_known and other.is_known and text < text_tokens:
            self.points = [(text, count), (text_tokens, round(count + other.rate * (text_tokens - text)))]

    def learn(self, trials: Collection[Trial]) -> None:
        """Learn from short prompts. Counts that do not grow with the text are none."""
        points = [(trial.text_tokens, trial.counted) for trial in trials if trial.counted is not None]
        self.points = points or [(trial.text_tokens, trial.text_tokens) for trial in trials]
        (short, first), (long, last) = min(self.points), max(self.points)
        slope = (last - first) / max(1, long - short)
        self.is_known = len(points) == len(trials) and _RATES[0] <= slope <= _RATES[1]


@dataclass
class Search:
    """The search for the window of one endpoint."""

    asker: Asker
    endpoint: tuple[str, bool]
    tokenizer: Tokenizer
    upto: int
    stated: int | None
    rng: Random
    counts: Counts = field(default_factory=Counts)
    lacks_counts: bool = False
    """Whether this endpoint's replies have no counts, although those of another one have."""
    answers_short: bool = False
    """Whether the replies to short prompts had all codes."""
    trials: list[Trial] = field(default_factory=list)
    whole: Trial | None = None
    """The longest prompt that was read whole."""
    cut: Trial | None = None
    """The shortest one that was not."""
    tested: set[tuple[str, float]] = field(default_factory=set)
    """Supposed limits that were tested, and on which side."""
    reply_taken: bool | None = None
    same_as: "Search | None" = None
    """The search of the endpoint that has the same edges."""
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return endpoint_name(self.endpoint)

    @property
    def tokens(self) -> int:
        return sum(trial.text_tokens for trial in self.trials)

    @property
    def has_counts(self) -> bool:
        return self.counts.is_known and not self.lacks_counts

    async def run(self) -> EndpointWindow:
        """Search for the window."""
        if why := await self.learn():
            return self.result(why)
        await self.grow()
        await self.narrow()
        await self.test_reply()
        return self.result()

    async def check(self, known: "Search") -> EndpointWindow:
        """Ask at the edges that another endpoint has. Search where this one differs."""
        assert known.whole is not None
        is_sibling = known.endpoint[0] == self.endpoint[0]
        if is_sibling:
            self.counts = replace(known.counts, points=[*known.counts.points])
            self.answers_short = known.answers_short
        elif why := await self.learn():
            return self.result(why)
        else:
            self.counts.take_rate(known.counts, known.whole.text_tokens)
        first = known.same_as or known
        assert first.whole is not None
        low = first.counts.expected(first.whole.text_tokens) - (0 if first.has_counts else 2 * _BELOW)
        high = first.edges[1] + (_CODE_TOKENS + 2 if first.has_counts else 2 * _BELOW) if first.cut else None
        agrees = await self.try_length(low)
        if self.lacks_counts and not self.answers_short:
            return self.result("replies have no token counts, and do not repeat the codes of short prompts")
        if agrees and high is not None:
            agrees = not await self.try_length(high)
        if agrees:
            self.same_as, self.reply_taken = first, first.reply_taken
            return self.result()
        if is_sibling and (why := await self.learn()):
            return self.result(why)
        await self.try_length(low / _NEAR if self.cut else (high or low) * _NEAR)  # the other edge may be near
        await self.grow()
        await self.narrow()
        await self.test_reply()
        return self.result()

    async def send(self, text_tokens: int, max_tokens: int = REPLY) -> Trial:
        """Send a prompt of so many of our tokens."""
        prompt = coded_text(text_tokens, self.tokenizer, self.rng, completes=self.endpoint[0] != CHAT)
        self.trials.append(Trial(prompt.tokens, max_tokens, None, (False, False, False)))  # it costs even if it fails
        answer = await self.asker.ask(*self.endpoint, prompt.text, max_tokens)
        if isinstance(answer, Answered):
            trial = self.trials[-1]._replace(counted=answer.tokens, repeated=prompt.repeated(answer.reply))
        else:
            trial = self.trials[-1]._replace(refusal=answer.words)
        self.trials[-1] = trial
        return trial

    async def try_length(self, count: float) -> bool:
        """Send a prompt of so many of the server's tokens. Return whether it was read whole."""
        trial = await self.send(self.counts.text_tokens(count))
        if not trial.refusal and trial.counted is None:
            self.lacks_counts = True
        is_whole = self.is_whole(trial)
        if not is_whole:
            self.cut = min(self.cut or trial, trial, key=_length)
        else:
            self.whole = max(self.whole or trial, trial, key=_length)
            if self.has_counts and trial.counted is not None:
                self.counts.points.append((trial.text_tokens, trial.counted))
        return is_whole

    def is_whole(self, trial: Trial) -> bool:
        """Return whether a prompt was read whole, by its count. Without one, by the codes in the reply."""
        if trial.refusal:
            return False
        if self.has_counts and trial.counted is not None:
            expected = self.counts.expected(trial.text_tokens)
            return trial.counted >= expected - self.counts.tolerance(trial.text_tokens)
        return all(trial.repeated)

    def can_send(self, count: float, leave: int = 0) -> bool:
        """Return whether the limits of an endpoint have room for a prompt, and for some more like it."""
        text_tokens = self.counts.text_tokens(count) * (1 + leave)
        return len(self.trials) + leave < MOST_PROMPTS and self.tokens + text_tokens <= most_tokens(self.upto)

    async def learn(self) -> str:
        """Send short prompts. Return why nothing can be measured, or nothing."""
        first = last = await self.send(SHORT[0])
        if not first.refusal and first.counted is not None:  # what it left in a cache may not be counted again
            second = last = await self.send(SHORT[0])
            if second.counted is not None and first.counted - second.counted > _CODE_TOKENS:
                self.notes.append("token counts leave out what the server has in its cache")
        if not last.refusal:
            last = await self.send(SHORT[1])
        if last.refusal:
            return f"a prompt of {last.text_tokens} tokens is refused: {last.refusal}"
        shorts = self.trials[-2:]
        self.counts = Counts()
        self.counts.learn(shorts)
        self.answers_short = all(all(trial.repeated) for trial in shorts)
        if not self.counts.is_known and not self.answers_short:
            why = "replies have no token counts" if last.counted is None else "token counts do not grow with the prompt"
            return f"{why}, and do not repeat the codes of a prompt of {last.text_tokens} tokens"
        self.whole = max(self.whole or last, last, key=_length)
        return ""

    async def grow(self) -> None:
        """Send longer and longer prompts until one is not read whole."""
        for target in self.growing():
            if self.cut or not self.can_send(target):
                return
            await self.try_length(target)

    def growing(self) -> Iterator[float]:
        """Yield growing lengths: those on both sides of the stated window, or many, up to the longest one."""
        assert self.whole is not None
        if self.stated and self.stated <= self.upto:
            yield self.stated - self._below(self.stated)
            yield self.stated + _above(self.stated)
        lengths = (_FIRST_LONG * _GROWTH**power for power in range(16))
        for length in (*(length + _above(length) for length in lengths), self.upto):
            if self.counts.expected(self.whole.text_tokens) + _BELOW < length <= self.upto:
                yield length

    async def narrow(self) -> None:
        """Bring the edges together: around supposed limits, then by halves. Leave a prompt for the reply's room."""
        while self.whole and self.cut and not self.is_close and self.can_send(target := self.next_target(), leave=1):
            await self.try_length(target)

    @property
    def edges(self) -> tuple[float, float]:
        """The lengths of the longest prompt that was read whole and of the shortest one that was not."""
        assert self.whole is not None
        assert self.cut is not None
        return self.counts.expected(self.whole.text_tokens), self.counts.expected(self.cut.text_tokens)

    @property
    def is_close(self) -> bool:
        low, high = self.edges
        return high - low <= max(_BELOW + _ABOVE + 8, _CLOSE * high)

    def next_target(self) -> float:
        low, high = self.edges
        for limit in self.supposed_limits():
            below, above = limit - self._below(limit), limit + _above(limit)
            if low + _BELOW < below < high and self._is_untested("below", limit):
                return below
            if below - _BELOW <= low and low + _BELOW < above < high - _BELOW and self._is_untested("above", limit):
                return above
        return math.sqrt(low * high) if high > 2 * low else (low + high) / 2

    def _is_untested(self, side: str, limit: float) -> bool:
        """Return whether a supposed limit was not tested from a side, and note that it is now."""
        is_untested = (side, limit) not in self.tested
        self.tested.add((side, limit))
        return is_untested

    def _below(self, limit: float) -> float:
        return max(_BELOW, self.counts.tolerance(self.counts.text_tokens(limit)))

    def supposed_limits(self) -> list[int]:
        """Return lengths that may be the limit, the most probable first.

        The room of the reply may be taken from one. Round numbers come first: a count to which half of a window was cut
        is none.
        """
        named = [limit for named in self.named_limits() for limit in (named, named - REPLY)]
        powers = [1 << power for power in range(9, 21)] if self.counts.is_known else []
        return list(dict.fromkeys([*(limit for limit in named if limit % 64 == 0), *powers, *named]))

    def named_limits(self) -> Iterator[int]:
        """Yield the limits in the server's errors, counts of prompts that it cut, and list of models.

        Ollama cuts to half of a window and two tokens.
        """
        for trial in reversed(self.trials):
            expected = self.counts.expected(trial.text_tokens)
            near = self.counts.tolerance(trial.text_tokens)
            for number in re.findall(r"\d[\d,]{2,11}", trial.refusal):
                size = int(number.replace(",", ""))
                if min(abs(size - expected), abs(size - expected - trial.max_tokens)) > near:  # not the prompt itself
                    yield size
            if trial.counted is not None and self.has_counts and not self.is_whole(trial):
                reply = trial.max_tokens if self.reply_taken else 0
                yield from (trial.counted + reply, 2 * trial.counted - 4)
        if self.stated:
            yield self.stated

    async def test_reply(self) -> None:
        """Find out whether room for a longer reply makes the longest prompt too long."""
        if not self.whole or not self.cut or not self.can_send(self.edges[0]):
            return
        low, high = self.edges
        trial = await self.send(self.whole.text_tokens - _ABOVE, REPLY + round(high - low) + 256 + _ABOVE)
        if not trial.refusal:
            self.reply_taken = not self.is_whole(trial)
        elif tells_overflow(trial.refusal, None):
            self.reply_taken = True

    def lost(self) -> Lost:
        """Return which end is lost, by the codes in replies to prompts that were cut, the longest first."""
        if self.same_as:
            return self.same_as.lost()
        if not self.answers_short or not self.whole or not all(self.whole.repeated):
            return ""
        is_cut = (trial for trial in self.trials if not trial.refusal and trial.max_tokens == REPLY)
        for trial in sorted((trial for trial in is_cut if not self.is_whole(trial)), key=_length, reverse=True):
            match trial.repeated:
                case (False, _, True):
                    return "beginning"
                case (True, False, True):
                    return "middle"
                case (True, _, False) | (False, False, False):  # without its end the question is gone too
                    return "end"
        return ""

    def result(self, failure: str = "") -> EndpointWindow:
        """Return what was found out.

        Args:
            failure: Why nothing more can be.
        """
        outcome: Outcome = "unlimited" if self.cut is None else "refused" if self.cut.refusal else "cut"
        found = EndpointWindow(
            self.name,
            "unknown" if failure else outcome,
            evidence="counts" if self.has_counts else "codes" if self.whole else "",
            constant=round(self.counts.constant) if self.counts.is_known else None,
            reply_taken=self.reply_taken,
            notes=(*self.notes, *([failure] if failure else self._doubts())),
            prompts=len(self.trials),
            tokens=self.tokens,
        )
        if self.whole:
            largest = self.whole.counted if self.has_counts else None
            found = replace(found, largest=largest or self.whole.text_tokens, largest_text=self.whole.text_tokens)
        if not self.whole or not self.cut or failure:
            return found
        cut = [trial for trial in sorted(self.trials, key=_length) if not self.is_whole(trial) and trial.counted]
        return replace(
            found,
            smallest_cut=round(self.edges[1]),
            limit=self._limit() if self.has_counts else None,
            kept=cut[-1].counted if cut and self.has_counts else None,
            lost=self.lost() if outcome == "cut" else "",
            words=self.cut.refusal,
        )

    def _limit(self) -> int | None:
        """Return the limit that the server names between the edges, or that is between them with the reply's room."""
        low, high = self.edges
        room, near = REPLY if self.reply_taken else 0, _CODE_TOKENS + 2
        return next((limit for limit in self.named_limits() if low - near <= limit - room < high + near), None)

    def _doubts(self) -> Iterator[str]:
        """Yield what token counts do not explain."""
        if not self.has_counts:
            return
        if not self.answers_short:
            if self.cut and not self.cut.refusal:
                yield "replies do not repeat the codes of short prompts, so nothing shows what is lost"
            return
        end = self.edges[1] - REPLY - 2 * _ABOVE if self.cut and self.whole else math.inf  # a reply may be cut there
        whole = [t for t in sorted(self.trials, key=_length) if self.is_whole(t) and (t.counted or 0) < end]
        lacking = [trial for trial in whole if not all(trial.repeated)]
        if lacking and lacking[-1] is whole[-1]:
            yield (
                f"prompts of {lacking[0].counted:,} tokens and more are counted whole, but replies lack some of their "
                "codes: the server counts what it does not read, or the model does not find them"
            )


def _above(limit: float) -> float:
    return max(_ABOVE, limit / 100)


def most_tokens(upto: int) -> int:
    """Return the most tokens that are sent to an endpoint."""
    return 2 * SHORT[0] + SHORT[1] + round(MOST_LENGTHS * (upto + _above(upto)))


async def find_windows(
    asker: Asker, endpoints: Sequence[tuple[str, bool]], tokenizer: Tokenizer, upto: int, stated: int | None
) -> list[EndpointWindow]:
    """Return the windows of endpoints. The first one is searched, and the others are compared."""
    rng, known = Random(), None
    windows = list[EndpointWindow]()
    for number, endpoint in enumerate(endpoints):
        search = Search(asker, endpoint, tokenizer, upto, stated, rng)
        try:
            windows.append(await (search.check(known) if known else search.run()))
        except MissingEndpointError:
            windows.append(EndpointWindow(search.name, "missing", prompts=len(search.trials), tokens=search.tokens))
            continue
        except (TroubledError, RunError) as error:
            windows.append(search.result(str(error)))
            if isinstance(error, RunError) or error.trouble.kind in _GONE:
                why = f"not asked, because {error}"
                others = map(endpoint_name, endpoints[number + 1 :])
                return [*windows, *(EndpointWindow(other, "unknown", notes=(why,)) for other in others)]
        if windows[-1].is_measured and (known is None or endpoint[0] != CHAT):
            known = search  # a template, or none, is also that of the streamed replies
    return windows


def measure_windows(
    model: str, base_url: str | None, model_args: Mapping[str, Any], info: ServerInfo, upto: int | None = None
) -> WindowReport:
    """Measure the windows of a server's endpoints. The most that it can cost is logged before.

    Args:
        info: What a probe found out about the server.
        upto: The longest prompt, in the server's tokens. By default the window that it states, or 131,072.

    Raises:
        UsageError: The model cannot answer because of its name, address, key or arguments.
        RunError: The server cannot be reached.
    """
    upto = upto or info.context_window or UPTO
    tokenizer = tokenizers.get(tokenizers.for_model(model) or tokenizers.DEFAULT)
    return WindowReport(tokenizer.name, upto, _measure(model, base_url, model_args, info, tokenizer, upto))


def largest_prompt(model: str, base_url: str | None, model_args: Mapping[str, Any], tokenizer_name: str) -> int:
    """Return the tokens of the largest prompt that a model's server reads whole, by one tokenizer, and report it.

    It is measured at the endpoint that runs use.

    Raises:
        UsageError: It cannot be measured.
    """
    info = check_server(model, base_url, model_args, window=True)
    tokenizer = tokenizers.get(tokenizer_name)
    endpoint = (COMPLETIONS if completes(model) else CHAT, False)
    upto = info.context_window or UPTO
    [window] = _measure(model, base_url, model_args, info, tokenizer, upto, endpoint)
    if window.largest_text is None or window.outcome in ("unknown", "missing"):
        why = "; ".join(window.notes) or "it did not answer"
        raise UsageError(
            f"the largest prompt of {info.address or model} cannot be measured ({why}): give lengths as numbers"
        )
    around = 0 if completes(model) else count_chat(tokenizer, [Message("user", "a")]) - tokenizer.count("a")
    length = (window.largest_text + around) // STEP * STEP
    found = "no limit was found" if window.outcome == "unlimited" else f"longer ones are {window.outcome}"
    logger.info(
        f"the largest prompt that {info.address or model} reads whole has {length:,} tokens ({found}; measured by "
        f"{window.prompts} prompts of {window.tokens:,} tokens): give this length in place of max to resume"
    )
    return length


def _measure(
    model: str,
    base_url: str | None,
    model_args: Mapping[str, Any],
    info: ServerInfo,
    tokenizer: Tokenizer,
    upto: int,
    *only: tuple[str, bool],
) -> tuple[EndpointWindow, ...]:
    """Measure all endpoints, or only some."""

    async def measure() -> list[EndpointWindow]:
        api = make_model(model, base_url, model_args).api
        try:
            question = ShortQuestion(api, model)
            await question.ask_first()  # some providers have no client before the first request
            asker = Asker(question)
            endpoints = only or asker.endpoints
            number = len(endpoints)
            logger.info(
                f"at most {number * MOST_PROMPTS} prompts and {number * most_tokens(upto):,} tokens are sent to "
                f"{info.address or model}, to measure {count(number, 'endpoint')} up to {upto:,} tokens"
            )
            return await find_windows(asker, endpoints, tokenizer, upto, info.context_window)
        finally:
            await api.aclose()

    return tuple(anyio.run(measure))

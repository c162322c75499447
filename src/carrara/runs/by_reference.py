"""Prompts by reference: Inspect holds an item's id, hash and an excerpt. The text exists only while it is sent.

    state, log, cache        "…excerpt…" + {"carrara": {"id": "michelangelo/latent_list@1/…", "sha256": "ab…"}}
    `ReferencedAPI`          renders the reference just before the request
    the provider             the whole messages

`ReferencedAPI` is a provider of Inspect (`ModelAPI`) that holds the real one. A model's `api` is replaced by it, and
Inspect's retries, limits, logs and names work as before.

The text could reach a log in four ways, and `ReferencedAPI` closes all four: the raw request that providers return
(`ModelCall`), the model event that they attach it to while the request is under way, error messages that quote the
request, and the bodies of errors (redact.py). `make inspect-ends` tests this on both ends of the range of Inspect's
releases.

Every request passes here. So `ReferencedAPI` also counts requests, limits the time of each, decides what a failed one
means, and whether it is made again (servers/retry.py).
"""

import math
import random
import time
from collections.abc import AsyncIterator, Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

import anyio
from inspect_ai.event import ModelEvent
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCall,
    ModelOutput,
    RetryDecision,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from tenacity import RetryCallState
from tenacity.wait import wait_base

from carrara import tokenizers
from carrara.constants import CONTEXT, EXCERPT, KEY, OPTIONS, PARTS, REQUEST, REQUESTS, SPEED
from carrara.items.prompt import fingerprint
from carrara.readers.context import Part
from carrara.readers.prompts import Reference
from carrara.runs import calls
from carrara.runs.replies import LoggedReply
from carrara.servers import retry
from carrara.servers.chat_messages import declare_tools, from_inspect, to_inspect
from carrara.servers.inspect_private import track_active_model_event
from carrara.servers.providers import close_with_loop, prepare_client, secrets_of
from carrara.servers.redact import MOST_WRITTEN, clip, sanitize_output, stub
from carrara.servers.response import average_logprobs, ending, keep_reply_tokens, tells_overflow, validate_responses
from carrara.servers.retry import GarbledReplyError, ReplyTimeoutError, RetryTrouble, status_of, trouble_of
from carrara.servers.speed import Stopwatch, set_streaming, timing
from carrara.types import Message
from carrara.util.quantities import duration
from carrara.util.transport import BULK_LIMIT, LIMIT, refusal

if TYPE_CHECKING:
    from carrara.runs.folder import ReplyCache

Render = Callable[[Reference], Sequence[Message]]
"""A function from the fields of a reference to its messages, which are the same bytes every time."""

Retried = Callable[[Exception], bool | RetryDecision]
"""A provider's own decision whether an error is temporary."""

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")

FIRST_WAIT, LONGEST_WAIT = 2.0, 60.0
"""Seconds before a request is made again: 2, 4, 8 … 60, or what the server asks for, and no longer than the patience
lasts. Inspect's own waits grow to half an hour, long after an outage is over."""


class PromptMismatchError(Exception):
    """Raised when an item renders to other bytes than those its reference was made from."""

    def __init__(self, id: str) -> None:
        super().__init__(
            f"Item {id} renders to another text than this run began with; was Carrara updated? Start the run in a new "
            f"directory."
        )


class Watcher(Protocol):
    """An observer of requests."""

    def on_request(self, id: str) -> None: ...

    def on_end(self, id: str) -> None:
        """Report that a request ended, with or without a reply."""

    def on_trouble(self, trouble: RetryTrouble, again: bool) -> None:
        """Report that a request failed. It may be made again."""


@dataclass(frozen=True)
class PromptReference:
    """The reference that stands for a prompt wherever Inspect keeps one."""

    id: str
    sha256: str
    excerpt: str
    context: Sequence[Part] | None = None
    """The parts that stand in place of the item's context. None: the context is sent whole."""
    parts: Sequence[Part] | None = None
    """The parts of a message that is not the item's prompt."""
    request: str = ""
    """The text that is appended to the prompt."""

    def fields(self) -> dict[str, Any]:
        """Return the fields from which the messages are rendered, with their hash."""
        # Compaction replaces the content of a message. The excerpt shows whether the reference still holds.
        excerpt = self.excerpt if self.parts is not None else None
        named = ((CONTEXT, self.context), (PARTS, self.parts), (EXCERPT, excerpt), (REQUEST, self.request or None))
        return {"id": self.id, "sha256": self.sha256} | {name: value for name, value in named if value is not None}

    def message(self) -> ChatMessageUser:
        return ChatMessageUser(content=self.excerpt, metadata={KEY: self.fields()})


class _Wait(wait_base):
    """The seconds to wait before a request is made again.

    They grow with each attempt, and are at least what the server asks for. Waiting ends with the patience.
    """

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        trouble = getattr(error, "trouble", None)
        requested = trouble.after if isinstance(trouble, RetryTrouble) else 0.0
        backoff = min(FIRST_WAIT * 2 ** min(retry_state.attempt_number - 1, 30), LONGEST_WAIT)
        wait: float = max(backoff + random.uniform(0, FIRST_WAIT), requested)
        return min(wait, getattr(error, "patience_left", math.inf))


def settle(error: Exception, api: ModelAPI, retried: Retried, secrets: frozenset[str]) -> ModelOutput | RetryTrouble:
    """Return an error as an overflow, or as a classified failure, without any of the prompt.

    An overflow is a result like any other.
    """
    # It stays the same object: code that renews keys recognizes a refused key by the error's type.
    error.args = tuple(clip(arg if isinstance(arg, str) else repr(arg), secrets) for arg in error.args)
    for name in ("message", "body", "details"):
        if isinstance(getattr(error, name, None), str | dict | list):
            setattr(error, name, clip(getattr(error, name), secrets))
    # Read from the shortened text, because a quoted prompt may mention context lengths too.
    words = "\n".join([str(error), *(str(getattr(error, name, "")) for name in ("code", "message", "body"))])
    status = status_of(error)
    if not isinstance(error, GarbledReplyError | ReplyTimeoutError) and tells_overflow(words, status):
        return ModelOutput.from_content(api.model_name, "", stop_reason="model_length", error=str(error))
    trouble = trouble_of(error, retried, secrets)
    if status is not None or trouble.kind != "final" or refusal(error, ""):
        # The frames below hold the request; they would only show how the HTTP client works.
        error.with_traceback(None)
        error.__cause__ = error.__context__ = None
    return trouble


@dataclass(frozen=True)
class _Reply:
    """The outcome of one request."""

    output: ModelOutput | Exception
    call: ModelCall | None
    was_sent: bool
    characters: int = 0
    """The characters of the prompt."""
    stopwatch: Stopwatch | None = None
    """The times of the request, if they are measured."""


class ReferencedAPI(ModelAPI):
    """A provider that receives references and sends prompts.

        model.api = ReferencedAPI(model, render)

    It renders each prompt just before its request. Messages without a reference pass as they are. Whatever else Inspect
    asks of a provider, its name, limits and connections, the provider itself answers.

    Args:
        watcher: Is notified of every request.
        going_on: Options that the server needs to continue a message of the model's own. More may be added later.
        limit: Seconds that one request may take.
        patience: Seconds to wait for a server to come back.
        quick: Whether a reference is rendered faster than a thread is called.
        recall: Looks up the reply that the logs have to an item, by its id and the hash of its prompt.
    """

    def __new__(cls, model: Model, *args: Any, **options: Any) -> "ReferencedAPI":
        return super().__new__(_class_for(type(model.api)))

    def __init__(
        self,
        model: Model,
        render: Render,
        watcher: Watcher | None = None,
        going_on: Mapping[str, Any] | None = None,
        limit: float | None = retry.LIMIT,
        patience: float = retry.PATIENCE,
        quick: Callable[[Reference], bool] = lambda reference: False,
        cache: "ReplyCache | None" = None,
        recall: Callable[[str, str], LoggedReply | None] = lambda id, sha256: None,
    ) -> None:
        # Not called for `ModelAPI`: the wrapped provider owns name, address and keys, and may renew them.
        self.provider = model.api
        self.qualified_model_name = model.api.qualified_model_name
        self._model = str(model)
        self._render, self._watcher, self._going_on = render, watcher, going_on
        self._limit, self._patience, self._quick, self._cache = limit, patience, quick, cache
        self.recall = recall
        self.stale: Container[str] = ()
        """The items whose replies in the cache do not count: the server cut their prompts."""
        self._is_timed = False
        self._secrets = secrets_of(model.api)
        if type(model.api).count_text_tokens is ModelAPI.count_text_tokens:
            model.api.count_text_tokens = _count_tokens  # type: ignore[method-assign]
        self._closing: AsyncIterator[None] | None = None
        validate_responses(model.api)

    def measure_speed(self, streams: bool) -> None:
        """Take the times of all requests from now on.

        Args:
            streams: Whether replies are requested as streams.
        """
        self._is_timed = True
        set_streaming(self.provider, streams)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the provider, such as its name and how Inspect has registered it."""
        if name == "provider":  # while a copy is made
            raise AttributeError(name)
        return getattr(self.provider, name)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        references = [m.metadata[KEY] for m in input if m.metadata and KEY in m.metadata]
        item_calls = calls.current()
        is_bulky = config.prompt_logprobs or config.logprobs or config.batch or OPTIONS in (config.extra_body or {})
        prepare_client(self.provider, BULK_LIMIT if is_bulky else LIMIT)
        if self._closing is None:
            self._closing = close_with_loop(self.provider)
            await anext(self._closing)
        if not references and item_calls is None:
            return await self.provider.generate(input, tools, tool_choice, config)
        reference = references[0] if references else {"id": item_calls.id if item_calls else ""}
        if item_calls:
            item_calls.check_limit()
        # Two items may have equal prompts, such as those in which the context is hidden.
        context = item_calls.context.context_id if item_calls else ""
        name = self._cache.name(self._model, input, tools, tool_choice, config, context) if self._cache else ""
        name = item_calls.occurrence(name) if item_calls else name
        id = item_calls.id if item_calls else reference["id"]
        if self._cache and id not in self.stale and (cached := self._cache.get(name)):
            cached_output = sanitize_output(cached, self._secrets, MOST_WRITTEN)
            if item_calls:
                item_calls.add(name, input, cached_output)
            # Inspect reads the time of a reply from the call.
            return cached_output, ModelCall(
                request={KEY: clip(dict(reference), ())}, response=None, time=cached_output.time
            )
        if item_calls:
            item_calls.check_request(input)
        if self._going_on and input[-1].role == "assistant":  # a reply that the model continues
            config = config.model_copy(update={"extra_body": {**(config.extra_body or {}), **self._going_on}})
        began, attempts = time.monotonic(), retry.current()
        reply = await self._send(id, input, tools, tool_choice, config, attempts)
        output, call = self._settle(reply, attempts), reply.call
        output = sanitize_output(keep_reply_tokens(average_logprobs(output)), self._secrets, reply.characters)
        output.metadata = {**(output.metadata or {}), REQUESTS: attempts.count_answer()}
        if reply.stopwatch and ending(output) != "overflow" and (speed := reply.stopwatch.speed(output)):
            output.metadata[SPEED] = asdict(speed)
        took = call.time if call is not None and call.time is not None else time.monotonic() - began
        timed = output.model_copy(update={"time": took})
        if self._cache:
            self._cache.put(name, timed)
        if item_calls:
            item_calls.add(name, input, timed)
        return (output, stub(call, KEY, reference, self._secrets)) if call is not None else output

    async def _send(
        self,
        id: str,
        input: Sequence[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
        attempts: retry.Attempts,
    ) -> _Reply:
        result: ModelOutput | Exception | tuple[ModelOutput | Exception, ModelCall]
        characters, was_sent, stopwatch = 0, False, None
        try:
            # Not stored in a variable of this frame: the traceback of an error would keep it alive.
            rendered = [await self._render_all(input)]
            characters = sum(len(from_inspect(message).content) for message in rendered[0])
            if not tools and self.provider.tools_required():
                tools = [*declare_tools(rendered[0])]
            attempts.count_request()
            was_sent = True
            if self._watcher:
                self._watcher.on_request(id)
            # Providers attach the raw request to the active model event. Here there is none.
            with (
                timing(self._is_timed) as stopwatch,
                track_active_model_event(cast(ModelEvent, None)),
                anyio.move_on_after(self._limit) as clock,
            ):
                result = await self.provider.generate(rendered.pop(), tools, tool_choice, config)
            if clock.cancelled_caught:
                result = ReplyTimeoutError(self._limit or 0.0)
        except Exception as error:
            result = error
        finally:
            if was_sent and self._watcher:
                self._watcher.on_end(id)
        output, call = result if isinstance(result, tuple) else (result, None)
        return _Reply(output, call, was_sent, characters, stopwatch)

    async def _render_all(self, input: Sequence[ChatMessage]) -> list[ChatMessage]:
        rendered: list[ChatMessage] = []
        for message in input:
            reference = (message.metadata or {}).get(KEY)
            if reference and (PARTS not in reference or message.text == reference[EXCERPT]):
                rendered += await call_in_thread(self._quick(reference), self._messages, message, reference)
            else:
                rendered.append(message)
        return rendered

    def _messages(self, message: ChatMessage, reference: Reference) -> list[ChatMessage]:
        if getattr(self.provider, "streams", False):  # it opens the item itself, and stores none of it
            return [ChatMessageUser(content="", metadata={KEY: reference})]
        messages = self._render(reference)
        if fingerprint(messages) != reference["sha256"]:
            raise PromptMismatchError(reference["id"])
        if PARTS in reference:
            return [message.model_copy(update={"content": messages[0].content})]
        # A reference model reads the item's id from the metadata of a message, which other providers ignore.
        return to_inspect(messages, lambda number: {"metadata": {KEY: reference}})

    def _settle(self, reply: _Reply, attempts: retry.Attempts) -> ModelOutput:
        """Return the output of a request; raise its error, with the decision whether to make the request again."""
        if isinstance(reply.output, ModelOutput):
            return reply.output
        error, trouble = reply.output, None
        if reply.was_sent:
            settled = settle(error, self.provider, self.provider.should_retry, self._secrets)
            if isinstance(settled, ModelOutput):
                return settled
            trouble = settled
        again, left = False, 0.0
        if trouble:
            again = attempts.should_repeat(trouble, self._patience)
            left = attempts.patience_left(self._patience)
            if trouble.after > left:
                trouble = replace(trouble, words=f"{trouble.words}, and asks to wait for {duration(trouble.after)}")
        error.trouble, error.again, error.patience_left = trouble, again, left  # type: ignore[attr-defined]
        if self._watcher and trouble:
            self._watcher.on_trouble(trouble, again)
        raise error

    def should_retry(self, ex: Exception) -> bool | RetryDecision:
        """Return whether to make the request again.

        The decision was made when the attempt failed; for other errors, the provider decides.
        """
        if not hasattr(ex, "again"):
            return self.provider.should_retry(ex)
        if not ex.again:
            return RetryDecision.no()
        trouble: RetryTrouble = ex.trouble  # type: ignore[attr-defined]
        decision = RetryDecision.rate_limit if trouble.kind == "busy" else RetryDecision.transient
        return decision(trouble.after or None)

    def retry_wait(self) -> wait_base:
        return _Wait()


def _delegate(name: str) -> Callable[..., Any]:
    def method(self: ReferencedAPI, *args: Any, **options: Any) -> Any:
        return getattr(self.provider, name)(*args, **options)

    method.__name__ = name
    return method


# The provider answers everything else that Inspect asks, in this and in later releases.
for _name, _value in vars(ModelAPI).items():
    if callable(_value) and not _name.startswith("_") and _name not in vars(ReferencedAPI):
        setattr(ReferencedAPI, _name, _delegate(_name))


@cache
def _class_for(provider: type[ModelAPI]) -> type[ReferencedAPI]:
    """Return a class with the provider's name, because Inspect has one pool of connections for each name and key."""
    return type(provider.__name__, (ReferencedAPI,), {})


def provider_of(model: Model) -> ModelAPI:
    """Return a model's own provider."""
    return model.api.provider if isinstance(model.api, ReferencedAPI) else model.api


async def call_in_thread(
    at_once: bool, work: Callable[_Params, _Result], *args: _Params.args, **options: _Params.kwargs
) -> _Result:
    """Run a function in a thread, so that replies arrive and time limits run meanwhile. Run short work at once."""
    if at_once:
        return work(*args, **options)
    return await anyio.to_thread.run_sync(lambda: work(*args, **options))


async def _count_tokens(text: str) -> int:
    """Count the tokens of a text. Inspect's own count, which its mock model asks for, fetches a vocabulary first."""
    return tokenizers.get(tokenizers.DEFAULT).count(text)

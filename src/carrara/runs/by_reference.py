"""Prompts by reference: Inspect holds an item's id, sha256 and an excerpt; the text exists only while it is sent.

    state, log, cache        "…excerpt…" + {"carrara": {"id": "michelangelo/latent_list@1/…", "sha256": "ab…"}}
    the provider             the whole messages

Inspect has no extension point between its log and its providers, so `model.api.generate` is replaced on the instance.
Within the replacement the text can leave by four doors, and all four are watched: the raw request that providers record
(`ModelCall`), the model event that they attach it to while the request is under way, error messages that quote
the request, and the bodies of errors (clipping.py). A contract test holds this to both ends of the range of
inspect-ai's releases (`make inspect-ends`).

Every request passes here, so here they are counted, each with a limit of time, and it is settled what a failed one
means (troubles.py) and whether it is made again (retry.py).
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import anyio
from inspect_ai._util.http import status_code_of
from inspect_ai.event import ModelEvent
from inspect_ai.log._samples import track_active_model_event
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCall,
    ModelOutput,
)
from inspect_ai.model._model import RetryDecision
from inspect_ai.tool import ToolChoice, ToolInfo
from tenacity import RetryCallState
from tenacity.wait import wait_base

from carrara import tokens
from carrara.core.metadata import KEY, REQUEST, REQUESTS, RETRIEVE
from carrara.core.transport import BULK_LIMIT, LIMIT, refused
from carrara.core.types import Message
from carrara.prompt.item_cache import beside
from carrara.prompt.prompt import fingerprint
from carrara.servers import retry
from carrara.servers.api_errors import GarbledReplyError, ReplyTimeoutError, Trouble, trouble_of
from carrara.servers.perplexity import reduced
from carrara.servers.providers import prepare_client, secrets_of
from carrara.servers.redact import clip, kept, stub
from carrara.servers.response_validation import watch
from carrara.servers.stop_reason import tells_overflow

Render = Callable[[Mapping[str, str]], Sequence[Message]]
"""From what a reference holds to its messages, the same bytes every time."""

Recall = Callable[[str, str], ModelOutput | None]
"""From an item's id and sha256 to the reply that is known already, if one is."""

Outcome = ModelOutput | Exception

Retried = Callable[[Exception], bool | RetryDecision]
"""A provider's own word on whether an error may pass."""

MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}

FIRST_WAIT, LONGEST_WAIT, LONGEST_ASKED = 2.0, 60.0, 3600.0
"""Seconds before a request is made again: 2, 4, 8 … 60, for Inspect's own waits grow to half an hour, long after an
outage is over; and as many as the server asks for, up to an hour."""


class PromptMismatchError(Exception):
    """Raised when an item renders to other bytes than its reference was made of."""

    def __init__(self, id: str) -> None:
        super().__init__(
            f"Item {id} renders to another text than this run began with; was Carrara updated? Start the run in a new "
            f"directory."
        )


class Cache(Protocol):
    """Replies by name (reply_cache.py)."""

    def name(
        self,
        model: str,
        input: Sequence[ChatMessage],
        tools: Sequence[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> str: ...

    def get(self, name: str) -> ModelOutput | None: ...

    def put(self, name: str, output: ModelOutput) -> None: ...


class Watcher(Protocol):
    """Who hears of requests."""

    def sent(self, id: str) -> None: ...

    def ended(self, id: str) -> None:
        """With a reply or without."""

    def troubled(self, trouble: Trouble, again: bool) -> None:
        """A request failed, and is made again or not."""


@dataclass(frozen=True)
class Reference:
    """What stands for a prompt wherever Inspect keeps one."""

    id: str
    sha256: str
    excerpt: str
    retrieve: str = ""
    """How the context is shortened before it is sent."""
    request: str = ""
    """What is put behind the prompt."""

    def message(self) -> ChatMessageUser:
        wanted = {"id": self.id, "sha256": self.sha256}
        wanted |= {name: value for name, value in ((RETRIEVE, self.retrieve), (REQUEST, self.request)) if value}
        return ChatMessageUser(content=self.excerpt, metadata={KEY: wanted})


class _Wait(wait_base):
    """Grows from attempt to attempt, and is no shorter than the server asks for."""

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        trouble = getattr(error, "trouble", None)
        asked = trouble.after if isinstance(trouble, Trouble) else 0.0
        grown = min(FIRST_WAIT * 2 ** min(retry_state.attempt_number - 1, 30), LONGEST_WAIT)
        wait: float = max(grown + random.uniform(0, FIRST_WAIT), min(asked, LONGEST_ASKED))
        return wait


def settle(error: Exception, api: ModelAPI, retried: Retried, secrets: frozenset[str]) -> ModelOutput | Trouble:
    """An error as an overflow, which is a row like any other, or what it means, with nothing of the prompt in it."""
    # It stays the same object: whoever renews keys knows a refused one by its type.
    error.args = tuple(clip(arg if isinstance(arg, str) else repr(arg), secrets) for arg in error.args)
    for name in ("message", "body", "details"):
        if isinstance(getattr(error, name, None), str | dict | list):
            setattr(error, name, clip(getattr(error, name), secrets))
    # Read from the shortened words: a quoted prompt may speak of context lengths too.
    words = "\n".join([str(error), *(str(getattr(error, name, "")) for name in ("code", "message", "body"))])
    status = status_code_of(error)
    if not isinstance(error, GarbledReplyError | ReplyTimeoutError) and tells_overflow(words, status):
        return ModelOutput.from_content(api.model_name, "", stop_reason="model_length", error=str(error))
    trouble = trouble_of(error, retried, secrets)
    if status is not None or trouble.kind != "final" or refused(error, ""):
        # The frames below hold the request, and what they would tell is how the HTTP client works.
        error.with_traceback(None)
        error.__cause__ = error.__context__ = None
    return trouble


def install(
    model: Model,
    render: Render,
    watcher: Watcher | None = None,
    recall: Recall | None = None,
    going_on: Mapping[str, Any] | None = None,
    limit: float | None = retry.LIMIT,
    patience: float = retry.PATIENCE,
    quick: Callable[[Mapping[str, str]], bool] = lambda wanted: False,
    cache: Cache | None = None,
) -> None:
    """Teach a model to send what a reference refers to. Messages without a reference pass as they are.

    `watcher` hears of every request. What `recall` knows is not sent. `going_on` is what the server has to be told to
    go on with a message of the model's own. `limit` is in seconds, for one request, and `patience` for a server to come
    back. What is `quick` to render is not rendered in a thread. A reply that the `cache` has is not asked for again.
    """
    api = model.api
    if getattr(api.generate, "by_reference", False):
        return
    original, retried = api.generate, api.should_retry
    secrets = secrets_of(api)

    def expand(wanted: dict[str, str]) -> list[ChatMessage]:
        if getattr(api, "streams", False):  # it opens the item itself, and holds none of it
            return [MESSAGES["user"](content="", metadata={KEY: wanted})]
        messages = render(wanted)
        if fingerprint(messages) != wanted["sha256"]:
            raise PromptMismatchError(wanted["id"])
        # A reference model is told which item it is asked; other providers do not look at a message's metadata.
        return [MESSAGES[role](content=content, metadata={KEY: wanted}) for role, content in messages]

    async def generate(
        input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        place, wanted = next(
            ((n, m.metadata[KEY]) for n, m in enumerate(input) if m.metadata and KEY in m.metadata), (0, None)
        )
        prepare_client(api, BULK_LIMIT if config.prompt_logprobs or config.batch else LIMIT)
        if wanted is None:
            return await original(input, tools, tool_choice, config)
        name = cache.name(str(model), input, tools, tool_choice, config) if cache else ""
        begun = input[place + 1 :]  # of a reply that the model is to go on with
        if begun and going_on:  # which may have been found out since
            config = config.model_copy(update={"extra_body": {**(config.extra_body or {}), **going_on}})
        known = recall(wanted["id"], wanted["sha256"]) if recall else None
        if known is not None:
            return known
        if cache and (found := cache.get(name)):
            # Inspect takes the time of a reply from the call.
            return found, ModelCall(request={KEY: clip(dict(wanted), ())}, response=None, time=found.time)
        letters, began = 0, time.monotonic()
        own, sent = retry.current(), False
        try:
            # In no variable of this frame, which the traceback of an error would keep alive.
            expanded = [[*await beside(quick(wanted), expand, wanted), *begun]]
            letters = sum(len(message.text) for message in expanded[0])
            own.sent()
            sent = True
            if watcher:
                watcher.sent(wanted["id"])
            # Providers attach the raw request to the active model event; here there is none.
            with track_active_model_event(cast(ModelEvent, None)), anyio.move_on_after(limit) as clock:
                result: Outcome | tuple[Outcome, ModelCall] = await original(expanded.pop(), tools, tool_choice, config)
            if clock.cancelled_caught:
                result = ReplyTimeoutError(limit or 0.0)
        except Exception as error:
            result = error
        finally:
            if sent and watcher:
                watcher.ended(wanted["id"])
        output, call = result if isinstance(result, tuple) else (result, None)
        if isinstance(output, Exception):
            failed, settled = output, settle(output, api, retried, secrets) if sent else None
            if not isinstance(settled, ModelOutput):
                again = settled is not None and own.again(settled, patience)
                failed.trouble, failed.again = settled, again  # type: ignore[attr-defined]
                if watcher and settled:
                    watcher.troubled(settled, again)
                raise failed
            output = settled
        output = kept(reduced(output), secrets, letters)
        output.metadata = {**(output.metadata or {}), REQUESTS: own.answered()}
        if cache:
            took = call.time if call is not None and call.time is not None else time.monotonic() - began
            cache.put(name, output.model_copy(update={"time": took}))
        return (output, stub(call, KEY, wanted, secrets)) if call is not None else output

    def should_retry(error: Exception) -> bool | RetryDecision:
        """As was settled when the attempt failed; of anything else the provider's own word."""
        if not hasattr(error, "again"):
            return retried(error)
        if not error.again:
            return RetryDecision.no()
        trouble: Trouble = error.trouble  # type: ignore[attr-defined]
        made = RetryDecision.rate_limit if trouble.limited else RetryDecision.transient
        return made(trouble.after or None)

    generate.by_reference = True  # type: ignore[attr-defined]
    api.generate = generate  # type: ignore[method-assign]
    api.should_retry = should_retry  # type: ignore[method-assign, assignment]
    api.retry_wait = _Wait  # type: ignore[method-assign]
    if type(api).count_text_tokens is ModelAPI.count_text_tokens:
        api.count_text_tokens = _counted  # type: ignore[method-assign]
    watch(api)


async def _counted(text: str) -> int:
    """Tokens of a text. Inspect's own count, which its mock model asks for, fetches a vocabulary from the web first."""
    return tokens.get(tokens.DEFAULT).count(text)

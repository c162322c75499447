"""A short question to a model's server: does it answer, and does it continue a reply that the request begins?

A server that cannot answer causes one error message, not a thousand failed items. Later failures are waited out.

The server's token counts decide whether it continues a reply (prefill), not its text. If it closes the message that the
request begins and opens the next one, the request takes more tokens than its text.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from threading import Timer
from typing import Any, NamedTuple

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
)

from carrara.constants import LogprobsOf
from carrara.servers.inspect_private import PrerequisiteError, plain
from carrara.servers.providers import prepare_client, secrets_of
from carrara.servers.redact import believable, clip
from carrara.servers.response import validate_responses
from carrara.servers.retry import RetryTrouble, status_of, trouble_of
from carrara.servers.secrets import public
from carrara.servers.server_info import Prefill
from carrara.servers.speed import set_streaming, timing
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.transport import RedirectError, ReplyTooLargeError, causes, certificate_error, protocol_error

QUESTION = "Reply with the word OK."

SECONDS = 60
"""The time limit of the question. A server that is loading or has a queue may need some of it."""
LATE = 15
"""Seconds after which a message says that the server has not answered yet."""

TRIES = 3
"""The number of attempts for the first question if the reply is garbled: one reply may have been cut off on its way."""

_BEGUN = "one two three"
"""Words of one token each, both at the start of a message and after another word."""
_OPTIONS: tuple[Prefill, ...] = ({}, {"continue_final_message": True, "add_generation_prompt": False})
"""vLLM and SGLang need the second field; llama.cpp and some providers recognize it from the last message."""


class TroubledError(Exception):
    """The server did not answer the question, and may answer others."""

    def __init__(self, trouble: RetryTrouble) -> None:
        super().__init__(trouble.words)
        self.trouble = trouble


class UnknownModelError(UsageError):
    """The server answers that there is no such model, or nothing at this address."""


class ShortAnswer(NamedTuple):
    """A reply to the question, with the raw call if the provider records one."""

    output: ModelOutput
    call: ModelCall | None

    @property
    def input_tokens(self) -> int | None:
        """The server's count of the request's tokens. None if replies have no counts, or counts that cannot be."""
        return self.tokens_of(QUESTION)

    def tokens_of(self, prompt: str) -> int | None:
        """Return the server's count of the tokens of a prompt."""
        usage = self.output.usage
        if usage is None or not believable(usage, len(prompt)):
            return None
        tokens = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        return tokens or None  # a request has tokens


class ShortQuestion:
    """The question, prepared for one provider. No failure is retried or logged.

    Both ways to ask raise `UsageError` or `RunError` if the model certainly cannot answer, and `TroubledError` if it
    may answer later.
    """

    def __init__(self, api: ModelAPI, model: str) -> None:
        self.api, self.model = api, model
        address = getattr(api, "addressed", None) or api.base_url
        self.server = public(address) or model.partition("/")[0]
        self.secrets = secrets_of(api)
        validate_responses(api)
        prepare_client(api)

    async def ask_first(self, logprobs: Collection[LogprobsOf] = ()) -> ShortAnswer:
        """Ask the question of a server that has not answered yet, and that may not be the server of a model at all."""
        words = ""
        for _ in range(TRIES):
            try:
                return await self.ask(logprobs=logprobs)
            except TroubledError as error:
                if error.trouble.kind != "garbled":
                    raise
                words = error.trouble.words
        raise UsageError(
            f"{self.server} does not answer as a model's server: {words}; is the address right? It mostly ends in /v1"
        )

    async def is_streamed(self) -> bool:
        """Ask the question of a server that has answered it, and return whether the reply is streamed.

        A server that ignores or refuses `stream` answers whole requests only.
        """
        if not set_streaming(self.api, True):
            return False
        try:
            with timing() as stopwatch:
                await self.ask()
        except TroubledError as error:
            logger.warning(f"{self.server} does not answer a request for a stream: {error.trouble.words}")
            return False
        finally:
            set_streaming(self.api, False)
        return stopwatch is not None and stopwatch.has_pieces

    async def ask(
        self,
        begun: str = "",
        extra_body: Mapping[str, Any] | None = None,
        logprobs: Collection[LogprobsOf] = (),
    ) -> ShortAnswer:
        """Ask the question.

        Args:
            begun: The beginning of a reply that the model is to continue.
            logprobs: The log-probabilities to request.
        """
        messages: list[ChatMessage] = [ChatMessageUser(content=QUESTION)]
        if begun:
            messages.append(ChatMessageAssistant(content=begun))
        config = GenerateConfig(
            max_tokens=16,
            prompt_logprobs=1 if "prompt" in logprobs else None,
            logprobs=True if "reply" in logprobs else None,
            top_logprobs=1 if "reply" in logprobs else None,
            extra_body=dict(extra_body) if extra_body else None,
        )
        try:
            with self._warn_when_late(), anyio.fail_after(SECONDS):
                answer = await self.api.generate(messages, [], "none", config)
        except TimeoutError:
            raise RunError(
                f"{self.server} did not answer a short question within {SECONDS} seconds: is it still loading?"
            ) from None
        except Exception as error:
            raise self.failure(error) from None
        output, call = answer if isinstance(answer, tuple) else (answer, None)
        if isinstance(output, Exception):
            raise self.failure(output) from None
        return ShortAnswer(output, call)

    @contextmanager
    def _warn_when_late(self) -> Iterator[None]:
        message = f"{self.server} has not answered a short question yet; it has {SECONDS} seconds in all"
        timer = Timer(LATE, logger.warning, [message])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def failure(self, error: Exception) -> Exception:
        """Return the exception to raise for an error of the provider."""
        known = self._certain(error)
        if known is not None:
            return known
        error.args = tuple(clip(str(arg), self.secrets) for arg in error.args)
        if isinstance(body := getattr(error, "body", None), str | dict | list):
            error.body = clip(body, self.secrets)  # type: ignore[attr-defined]  # before its message is cut
        unclipped = trouble_of(error, self.api.should_retry, self.secrets)
        trouble = RetryTrouble(unclipped.kind, clip(unclipped.words, self.secrets), unclipped.after)
        if trouble.kind == "final" and status_of(error) == 429:
            return UsageError(f"{self.server} takes no more requests with this key: {trouble.words}")
        return TroubledError(trouble)

    def _certain(self, error: Exception) -> UsageError | RunError | None:
        """Return the error message if an error proves that the model cannot answer; otherwise None."""
        if isinstance(error, PrerequisiteError | ImportError):
            return UsageError(plain(error))
        if why := certificate_error(error, self.server):
            return RunError(why)
        for cause in causes(error):
            if isinstance(cause, RedirectError):
                return UsageError(str(cause))
            if isinstance(cause, ReplyTooLargeError):
                return UsageError(f"{self.server} does not answer as a model's server: {cause}; is the address right?")
        if protocol_error(error):
            return None
        match status_of(error):
            case 401 | 403:
                key = " or ".join(self.api.api_key_vars) or "it"
                return UsageError(f"{self.server} refuses the API key: check {key}")
            case 404:
                return UnknownModelError(
                    f"{self.server} knows no model {self.api.service_model_name()!r}: check its name and the address"
                )
            case None if "onnect" in type(error).__name__:
                return RunError(f"{self.server} cannot be reached: is the server running, and is the address right?")
        return None


async def find_prefill(question: ShortQuestion, answer: ShortAnswer) -> Prefill | None:
    """Return the fields of a request that make the server continue a reply. None if the server cannot.

    Raises:
        TroubledError: The server failed and may answer later.
    """
    alone = answer.input_tokens
    if alone is None or separates_reasoning(answer):
        return None
    for option in _OPTIONS:
        try:
            if await _continues(question, option, alone):
                return option
        except TroubledError as error:
            if error.trouble.kind != "final":
                raise
            # The server refuses such a message.
    return None


async def _continues(question: ShortQuestion, option: Prefill, alone: int) -> bool:
    """Return whether the beginning of a reply adds as many tokens to a request as its text has, and no more."""
    counts = [alone]
    for begun in (_BEGUN, f"{_BEGUN} {_BEGUN}"):
        answer = await question.ask(begun, option)
        if answer.input_tokens is None or separates_reasoning(answer):
            return False
        counts.append(answer.input_tokens)
    without, with_one, with_two = counts
    return 0 < with_one - without <= with_two - with_one


def separates_reasoning(answer: ShortAnswer) -> bool:
    """Return whether a reply has its reasoning in a separate field or part, which no request can continue."""
    response: Any = (answer.call.response if answer.call else None) or {}
    try:
        message = response["choices"][0]["message"]
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        return any(message.get(name) for name in ("reasoning_content", "reasoning")) or any(
            part.get("type") == "thinking" for part in parts
        )
    except (KeyError, IndexError, TypeError, AttributeError):  # not in OpenAI's format
        return False

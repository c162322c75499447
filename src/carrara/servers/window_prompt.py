"""Prompts that find the end of a server's window: three codes among plain filler, and the requests that ask for them.

    The first code is 48291. The grass is green. … The second code is 70635. … The third code is 19484.

    What are the first, the second and the third code? Reply with the three numbers alone.

The filler is five sentences in turn. Any tokenizer counts each round of them alike, so two short prompts tell how many
tokens a server counts in a longer one.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import anyio
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelAPI

from carrara.servers.redact import clip
from carrara.servers.response import REJECTIONS, tells_overflow
from carrara.servers.retry import LIMIT, RetryTrouble, message_in, status_of
from carrara.servers.short_question import ShortAnswer, ShortQuestion, TroubledError
from carrara.tokenizers.base import Tokenizer

REPLY = 64
"""Tokens that a reply may have: three codes, and some words."""
TRIES = 3
"""How often a prompt is sent that the server could not answer just then."""
LONGEST_WAIT = 30.0
"""The most seconds between two tries."""

CHAT, COMPLETIONS = "chat", "completions"
ENDPOINTS = ((CHAT, False), (CHAT, True), (COMPLETIONS, False), (COMPLETIONS, True))
"""The endpoints of OpenAI's API, and whether the reply is streamed."""
_PATHS = {CHAT: "/chat/completions", COMPLETIONS: "/completions"}

_FILLER = ("The grass is green.", "The sky is blue.", "The sun is yellow.", "Here we go.", "There and back again.")
_ROUND = " ".join(_FILLER)
_QUESTION = "What are the first, the second and the third code? Reply with the three numbers alone."
_CODE = re.compile(r"(?<!\d)\d{5}(?!\d)")
_NO_ENDPOINT = (404, 405, 501)
_NO_ENDPOINT_WORDS = re.compile(r"unexpected endpoint|not (found|implemented|supported)", re.IGNORECASE)


class CodedText(NamedTuple):
    """A prompt, with the codes at its beginning, in its middle and at its end."""

    text: str
    codes: tuple[str, str, str]
    tokens: int

    def repeated(self, reply: str) -> tuple[bool, bool, bool]:
        """Return which of the codes a reply has."""
        first, second, third = (code in _CODE.findall(reply) for code in self.codes)
        return first, second, third


def coded_text(tokens: int, tokenizer: Tokenizer, rng: Random, completes: bool = False) -> CodedText:
    """Return a prompt of at most so many tokens, and at most one sentence shorter, if it has room for the codes.

    Args:
        completes: Whether the prompt is completed, not answered: it ends with the beginning of the reply.
    """
    drawn = rng.sample(range(10_000, 100_000), 3)
    codes = (str(drawn[0]), str(drawn[1]), str(drawn[2]))
    begin = f"The first code is {codes[0]}. "
    middle = f"The second code is {codes[1]}. "
    end = f"The third code is {codes[2]}.\n\n{_QUESTION}" + ("\n\nAnswer: The three codes are" if completes else "")
    one_round, two_rounds, of_begin, of_end = tokenizer.count_many([_ROUND, f"{_ROUND} {_ROUND}", begin, end])
    of_round = two_rounds - one_round  # each but the first has a space before it
    sentences = max(0, (tokens - tokenizer.count(begin + middle + end)) * len(_FILLER) // of_round + 1)
    more_after = round((of_begin - of_end) * len(_FILLER) / of_round)  # so that the second code is in the middle

    def written(sentences: int) -> str:
        before = min(sentences, max(0, (sentences - more_after + 1) // 2))
        return begin + _filler(before) + middle + _filler(sentences - before) + end

    text = written(sentences)
    while (count := tokenizer.count(text)) > tokens and sentences:
        sentences -= 1
        text = written(sentences)
    return CodedText(text, codes, count)


def _filler(sentences: int) -> str:
    rounds, more = divmod(sentences, len(_FILLER))
    return f"{_ROUND} " * rounds + "".join(f"{sentence} " for sentence in _FILLER[:more])


class Answered(NamedTuple):
    """A reply to a prompt."""

    reply: str
    tokens: int | None
    """The server's count of the prompt's tokens."""


class Refused(NamedTuple):
    """An error that the server gives to this prompt, and would give again."""

    words: str


class MissingEndpointError(Exception):
    """The server does not offer an endpoint."""


class Asker:
    """Sends prompts to the endpoints of one provider. Failures are those of `ShortQuestion`.

    A provider whose client is not OpenAI's has one endpoint, its own.
    """

    def __init__(self, question: ShortQuestion) -> None:
        self.question = question
        self.api: ModelAPI = question.api

    @property
    def endpoints(self) -> Sequence[tuple[str, bool]]:
        return ENDPOINTS if self._client is not None else ENDPOINTS[:1]

    @property
    def _client(self) -> Any:
        client: Any = getattr(self.api, "client", None)
        is_openai = all(hasattr(client, name) for name in ("chat", "completions", "models", "post"))
        return client if is_openai else None

    async def ask(self, endpoint: str, streamed: bool, text: str, max_tokens: int) -> Answered | Refused:
        """Send a prompt, again if the server could not answer just then.

        Raises:
            MissingEndpointError: The server has no such endpoint.
            TroubledError: The server did not answer, and may do so later.
        """
        for attempt in range(TRIES):
            try:
                return await self._ask_once(endpoint, streamed, text, max_tokens)
            except TroubledError as error:
                if attempt + 1 == TRIES:
                    raise
                await anyio.sleep(min(max(error.trouble.after, 0.5 * 4**attempt), LONGEST_WAIT))
        raise AssertionError

    async def _ask_once(self, endpoint: str, streamed: bool, text: str, max_tokens: int) -> Answered | Refused:
        try:
            with anyio.fail_after(LIMIT):
                if self._client is None:
                    return await self._generate(text, max_tokens)
                return await self._post(endpoint, streamed, text, max_tokens)
        except TimeoutError:
            raise TroubledError(RetryTrouble("hanging", f"there was no reply within {LIMIT:.0f} seconds")) from None
        except (TroubledError, MissingEndpointError):
            raise
        except Exception as error:
            status = status_of(error)
            if endpoint == COMPLETIONS and status in _NO_ENDPOINT:
                raise MissingEndpointError from None
            failure = self.question.failure(error)
            if isinstance(failure, TroubledError) and _is_refusal(failure.trouble, status):
                return Refused(failure.trouble.words)
            raise failure from None

    async def _generate(self, text: str, max_tokens: int) -> Answered | Refused:
        config = GenerateConfig(max_tokens=max_tokens, temperature=0)
        result = await self.api.generate([ChatMessageUser(content=text)], [], "none", config)
        output, call = result if isinstance(result, tuple) else (result, None)
        if isinstance(output, Exception):
            raise output
        if output.stop_reason == "model_length" and not (output.usage and output.usage.output_tokens):
            return Refused(clip(" ".join(output.completion.split()), self.question.secrets) or "model_length")
        answer = ShortAnswer(output, call)
        return Answered(output.completion, answer.tokens_of(text))

    async def _post(self, endpoint: str, streamed: bool, text: str, max_tokens: int) -> Answered | Refused:
        body: dict[str, Any] = {"model": self.api.service_model_name(), "max_tokens": max_tokens, "temperature": 0}
        body |= {"messages": [{"role": "user", "content": text}]} if endpoint == CHAT else {"prompt": text}
        if streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        parts = [part async for part in self._parts(_PATHS[endpoint], body, streamed)]
        has_choices = any(isinstance(part, Mapping) and isinstance(part.get("choices"), list) for part in parts)
        errors = (message_in(part) for part in parts if isinstance(part, Mapping))
        words = " ".join(next(filter(None, errors), "").split())
        if not has_choices and words:  # an error with the status of a success
            if _NO_ENDPOINT_WORDS.search(words):
                raise MissingEndpointError
            return Refused(clip(f"the server answered 200 ({words})", self.question.secrets))
        if not has_choices:
            raise TroubledError(RetryTrouble("garbled", "the server's reply has no choices"))
        return Answered("".join(map(_text_in, parts)), _count_in(parts, len(text)))

    async def _parts(self, path: str, body: Mapping[str, Any], streamed: bool) -> AsyncIterator[Any]:
        """Yield the JSON values of a response: one, or those of a stream."""
        if not streamed:
            yield await self._client.post(path, body=body, cast_to=object)
            return
        from openai import AsyncStream

        stream = await self._client.post(path, body=body, cast_to=object, stream=True, stream_cls=AsyncStream[object])
        async with stream:
            async for part in stream:
                yield part


def _is_refusal(trouble: RetryTrouble, status: int | None) -> bool:
    """Return whether a failure is about this prompt. llama.cpp had versions that answer 500 to a long one."""
    return (trouble.kind == "final" and (status is None or status in REJECTIONS)) or tells_overflow(
        trouble.words, status
    )


def _text_in(part: Any) -> str:
    """Return the text of a reply, or of a part of a stream: {"choices": [{"delta": {"content": …}}]}."""
    try:
        choice = part["choices"][0]
        said = choice.get("message") or choice.get("delta") or {}
        text = said.get("content") if "text" not in choice else choice["text"]
    except (LookupError, TypeError, AttributeError):
        return ""
    if isinstance(text, list):
        return "".join(str(inner.get("text") or "") for inner in text if isinstance(inner, Mapping))
    return text if isinstance(text, str) else ""


def _count_in(parts: Sequence[Any], letters: int) -> int | None:
    """Return the tokens of the prompt that a reply's usage states, if a prompt of so many characters can have them."""
    for part in reversed(parts):
        usage = part.get("usage") if isinstance(part, Mapping) else None
        count = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
        if type(count) is int and 0 < count <= 4 * letters + 10_000:
            return count
    return None

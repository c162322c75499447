"""Log-likelihoods of given answers: which of several texts a model holds for the most probable end of a prompt.

A model is asked in one of three ways. The prompt is the same text in all of them, and so are the sums.

    echo          /v1/completions with `echo` and `logprobs`: vLLM, SGLang. The server reads the prompt once, and once
                  with each option.
    grammar       llama.cpp, as a server or in this process: a grammar of token ids forces each option, and the
                  log-probabilities are those before the grammar. The prompt is read once, then cached.
    forward pass  `hf/…` in this process. The prompt is read once, and its keys and values serve all options. A model
                  without them, such as Mamba, reads the prompt with each option.

An option is counted from the last token boundary that all options share. That is the end of the prompt, unless a
tokenizer merges the prompt's last characters with the first ones of an option. All options then count from the token
before it, so that their sums are about the same text. lm-evaluation-harness, from which the idea comes
(`TemplateLM._encode_pair`, `LocalCompletionsAPI.parse_logprobs`), counts from the number of the prompt's own tokens.

Numbers of a server are untrusted. A log-probability that is missing, positive or not finite is an error.
"""

import copy
import inspect
import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import anyio
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from carrara.constants import LIKELIHOOD, OPTIONS
from carrara.servers.embedded import ContextOverflowError, EmbeddedAPI, refusal
from carrara.servers.probe import STARTS_SERVER, address_beside, is_probed
from carrara.servers.providers import make_model, prepare_client
from carrara.servers.retry import GarbledReplyError, status_of
from carrara.servers.secrets import public
from carrara.util.errors import UsageError
from carrara.util.log import logger

PROBE = "1, 2, 3, 4,"
PROBE_OPTIONS = (" 5", " 7")
_LISTS = ("tokens", "token_logprobs")
"""The lists of an echoed prompt that are read. `text_offset` is not: its origin differs between servers."""
_FORWARD = Lock()
"""One forward pass at a time: the model's memory is meant for one."""


class OptionScore(NamedTuple):
    """The log-likelihood of one option."""

    logprob: float
    """The sum over its tokens."""
    tokens: int


class Measured(NamedTuple):
    """The log-likelihoods of the options of one prompt."""

    prompt_tokens: int
    scores: Sequence[OptionScore]


Method = Callable[[str, Sequence[str]], Awaitable[Measured]]
"""A way of asking: from a prompt and its options to their log-likelihoods."""


def answer_by_likelihood(api: ModelAPI) -> None:
    """Have a provider reply with the most probable of the options that a request names (`OPTIONS` in `extra_body`).

    The first option is the right one. If another is as probable, the other one is the reply: a tie is not right.
    """
    generate, method = api.generate, list[Method]()

    async def answer(
        input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> Any:
        options: Sequence[str] | None = (config.extra_body or {}).get(OPTIONS)
        if options is None:
            return await generate(input, tools, tool_choice, config)
        if not method:
            method.append(await _method_of(api))
        try:
            measured = await method[0]("\n\n".join(message.text for message in input), options)
        except ContextOverflowError as overflow:
            return ModelOutput.from_content(api.model_name, "", stop_reason="model_length", error=str(overflow))
        return _output(api.model_name, options, measured)

    api.generate = answer  # type: ignore[method-assign]


def _output(model: str, options: Sequence[str], measured: Measured) -> ModelOutput:
    logprobs = [score.logprob for score in measured.scores]
    best = max(range(len(options)), key=lambda number: (logprobs[number], number))
    output = ModelOutput.from_content(model, options[best].strip())
    tokens = [score.tokens for score in measured.scores]
    output.metadata = {LIKELIHOOD: {"logprobs": logprobs, "tokens": tokens}}
    count = measured.prompt_tokens
    output.usage = ModelUsage(input_tokens=count, output_tokens=tokens[best], total_tokens=count + tokens[best])
    return output


def check_likelihood(model: str, base_url: str | None, model_args: Any, api: ModelAPI) -> None:
    """Raise `UsageError` if a model gives no log-probabilities of given texts. A server is asked for a short one.

    Args:
        api: The provider of the run, which is not used: connections belong to the event loop that opened them.
    """
    if _in_process_method(api) is not None:
        return
    if getattr(api, "client", None) is None and model.partition("/")[0] not in STARTS_SERVER:
        raise UsageError(
            f"{model} gives no log-probabilities of given answers, which `likelihood` is made of: use a local model "
            "(carrara/smollm2, carrara/gguf:PATH, hf/…) or a completions server (vllm-completions/…, "
            "openai-api-completions/…)"
        )
    if not is_probed(model, base_url, model_args):
        return  # its provider starts the server with the first request

    async def ask() -> None:
        probed = make_model(model, base_url, model_args).api
        prepare_client(probed)
        try:
            await _method_of(probed)
        finally:
            await probed.aclose()

    try:
        anyio.run(ask)
    except UsageError:
        raise
    except Exception as error:  # the run itself waits for a server that is not there yet
        logger.warning(f"{model} was not asked for log-probabilities before the run: {type(error).__name__}")


def _in_process_method(api: ModelAPI) -> Method | None:
    if isinstance(api, EmbeddedAPI):
        return partial(_by_embedded, api)
    if hasattr(api, "tokenizer") and hasattr(getattr(api, "model", None), "forward"):
        return partial(_by_model, api)
    return None


async def _method_of(api: Any) -> Method:
    """Return the way in which a provider is asked. A server is asked for a short text in each way."""
    if method := _in_process_method(api):
        return method
    if start := getattr(api, "_ensure_server_started", None):  # of vLLM's provider, which otherwise has no client
        await start()
    for method in (partial(_by_echo, api), partial(_by_llama_server, api)):
        try:
            await method(PROBE, PROBE_OPTIONS)
        except (GarbledReplyError, UsageError):
            continue
        except Exception as error:
            status = status_of(error)
            if status is None or status in (401, 403, 408, 429) or status in range(502, 505):
                raise  # it says nothing about what the server can do
        else:
            return method
    raise UsageError(
        f"{public(str(api.client.base_url))} gives no log-probabilities of given answers, which `likelihood` is made "
        "of: serve the model with vLLM, SGLang or a recent llama.cpp, or name it as carrara/gguf:PATH or hf/…"
    )


# --- where options begin, and what a log-probability is ---


def shared_start(sequences: Sequence[Sequence[Any]], most: int) -> int:
    """Return the number of tokens, at most `most`, with which all sequences begin.

    >>> shared_start([["a", "b", "c"], ["a", "b", "d"]], 3), shared_start([["a", "b"], ["a", "b"]], 1)
    (2, 1)
    """
    for place in range(most):
        if len({sequence[place] if place < len(sequence) else None for sequence in sequences}) > 1:
            return place
    return most


def _start(prompt_tokens: Sequence[Any], wholes: Sequence[Sequence[Any]]) -> int:
    """Return where options begin: after the tokens that the prompt alone has, and the prompt with each option."""
    start = shared_start([prompt_tokens, *wholes], len(prompt_tokens))
    if not start:
        raise GarbledReplyError("does not begin with the tokens of the prompt")
    return start


def total(logprobs: Sequence[Any]) -> OptionScore:
    """Return the sum of the log-probabilities of an option's tokens.

    Raises:
        GarbledReplyError: One is missing, positive or not finite.

    >>> total([-0.5, -1.5])
    OptionScore(logprob=-2.0, tokens=2)
    """
    for value in logprobs:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise GarbledReplyError("has no log-probability of a token")
        if not -1e30 < value <= 0:  # llama.cpp writes the least float32 for a probability of 0
            raise GarbledReplyError(f"has {value} for a log-probability")
    if not logprobs:
        raise GarbledReplyError("has no token of an option")
    return OptionScore(math.fsum(logprobs), len(logprobs))


# --- servers that echo the prompt ---


async def _by_echo(api: Any, prompt: str, options: Sequence[str]) -> Measured:
    own, *wholes = [await _echo(api, prompt + option) for option in ("", *options)]
    start = _start(own.tokens, [whole.tokens for whole in wholes])
    return Measured(start, [total(whole.logprobs[start:]) for whole in wholes])


class _Echo(NamedTuple):
    """A text as a server repeats it: its tokens, without the one that follows."""

    tokens: Sequence[str]
    """Some servers leave out the space before a word, so the tokens need not spell the text."""
    logprobs: Sequence[Any]


async def _echo(api: Any, text: str) -> _Echo:
    body = {"prompt": text, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
    reply = await api.client.post("/completions", cast_to=object, body={"model": api.service_model_name(), **body})
    choice = _choice(reply)
    logprobs = choice.get("logprobs")
    tokens, values = (logprobs.get(name) for name in _LISTS) if isinstance(logprobs, dict) else (None, None)
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        raise GarbledReplyError("has no log-probabilities of the prompt")
    repeated = str(choice.get("text"))
    if not repeated.startswith(text) or not all(isinstance(token, str) for token in tokens):
        raise GarbledReplyError("does not repeat the prompt")
    usage = reply.get("usage")
    end = _end(len(tokens), usage.get("prompt_tokens") if isinstance(usage, dict) else None, repeated != text)
    return _Echo(tokens[:end], values[:end])


def _end(listed: int, counted: Any, goes_on: bool) -> int:
    """Return the number of the prompt's tokens among those of a reply, of which at most one follows the prompt.

    Args:
        counted: The server's count. Some servers count a token for the beginning of the text, and do not list it.
        goes_on: Whether the text of the reply goes on after the prompt.

    >>> _end(9, 8, True), _end(9, 9, True), _end(9, 9, False), _end(9, None, False)
    (8, 8, 9, 8)
    """
    if type(counted) is int and 0 < counted < listed - 1:
        raise GarbledReplyError("counts fewer tokens of the prompt than it lists")
    return listed if counted == listed and not goes_on else listed - 1


def _choice(reply: Any) -> dict[str, Any]:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise GarbledReplyError("has no choices")
    return choices[0]


# --- llama.cpp ---

Post = Callable[[dict[str, Any]], Awaitable[Any]]


async def _by_llama_server(api: Any, prompt: str, options: Sequence[str]) -> Measured:
    async def complete(body: dict[str, Any]) -> Any:
        return await api.client.post("/completions", cast_to=object, body={"model": api.service_model_name(), **body})

    async def tokenize(body: dict[str, Any]) -> Any:
        return await api.client.post(address_beside(str(api.client.base_url), "/tokenize"), cast_to=object, body=body)

    return await _by_grammar(complete, tokenize, prompt, options, reads_anew=False)


async def _by_embedded(api: EmbeddedAPI, prompt: str, options: Sequence[str]) -> Measured:
    from carrara.tokenizers.server import Server

    llama = await anyio.to_thread.run_sync(api.idle.get)
    server = Server(llama.listening_address)

    async def complete(body: dict[str, Any]) -> Any:
        reply = await anyio.to_thread.run_sync(llama.handle_completions, body, abandon_on_cancel=True)
        if "error" in reply:
            raise refusal(reply["error"])
        return reply

    async def tokenize(body: dict[str, Any]) -> Any:
        return (await anyio.to_thread.run_sync(server.post, "/tokenize", body))[1]

    try:
        return await _by_grammar(complete, tokenize, prompt, options, reads_anew=True)
    finally:
        api.idle.put(llama)


async def _by_grammar(
    complete: Post, tokenize: Post, prompt: str, options: Sequence[str], reads_anew: bool
) -> Measured:
    """Ask llama.cpp. The prompt is read once before the options, so that each option is computed in equal batches.

    Args:
        reads_anew: Whether the prompt is read without what earlier prompts left in the cache. Their order would
            otherwise change the last digits.
    """
    bodies = ({"content": text, "add_special": True} for text in (prompt, *(prompt + option for option in options)))
    prompt_ids, *wholes = [_ids(await tokenize(body)) for body in bodies]
    start = _start(prompt_ids, wholes)
    read = {"prompt": wholes[0][:start], "temperature": 0, "cache_prompt": True}
    await complete({**read, "max_tokens": 1, "cache_prompt": not reads_anew})
    scores = []
    for whole in wholes:
        forced = whole[start:]
        grammar = "root ::= " + " ".join(f"<[{id}]>" for id in forced)
        reply = await complete({**read, "max_tokens": len(forced), "grammar": grammar, "n_probs": 1, "logprobs": 1})
        content = (_choice(reply).get("logprobs") or {}).get("content") or []
        tokens = [token for token in content if isinstance(token, dict)][: len(forced)]
        if [token.get("id") for token in tokens] != forced:
            raise GarbledReplyError("has not the tokens that the grammar allows: this llama.cpp is too old")
        scores.append(total([token.get("logprob") for token in tokens]))
    return Measured(start, scores)


def _ids(reply: Any) -> list[int]:
    ids = reply.get("tokens") if isinstance(reply, dict) else None
    if not isinstance(ids, list) or not all(type(id) is int for id in ids):
        raise GarbledReplyError("has no tokens of a text")
    return ids


# --- models of Hugging Face ---


async def _by_model(api: Any, prompt: str, options: Sequence[str]) -> Measured:
    return await anyio.to_thread.run_sync(_by_forward_pass, api, prompt, options)


def _by_forward_pass(api: Any, prompt: str, options: Sequence[str]) -> Measured:
    import torch

    def encode(text: str) -> list[int]:
        return [*api.tokenizer(text, **(api.tokenizer_call_args or {}))["input_ids"]]

    def read(ids: Sequence[int], **more: Any) -> Any:
        return api.model(torch.tensor([ids], device=api.model.device), use_cache=True, **more)

    prompt_ids, wholes = encode(prompt), [encode(prompt + option) for option in options]
    start = _start(prompt_ids, wholes)
    keeps = "logits_to_keep" in inspect.signature(api.model.forward).parameters
    with _FORWARD, torch.inference_mode():
        first = read(wholes[0][:start], **({"logits_to_keep": 1} if keeps else {}))
        shared: Any = getattr(first, "past_key_values", None)  # recurrent models such as Mamba have none
        scores = []
        for whole in wholes:
            ids = whole[start:]
            logits = first.logits[0, -1:]
            if len(ids) > 1 and shared is None:
                kept = {"logits_to_keep": len(ids)} if keeps else {}
                logits = read(whole[:-1], **kept).logits[0, -len(ids) :]
            elif len(ids) > 1:
                cache = _branch(shared)
                logits = torch.cat([logits, read(ids[:-1], past_key_values=cache).logits[0]])
                if cache is shared:
                    cache.crop(1 - len(ids))
            chosen = logits.double().log_softmax(-1).gather(-1, torch.tensor(ids, device=logits.device)[:, None])
            scores.append(total(chosen[:, 0].tolist()))
    return Measured(start, scores)


def _branch(cache: Any) -> Any:
    """Return the cache of a prompt for one option: the same, if it can be cropped afterwards, or else a copy."""
    layers = getattr(cache, "layers", None)
    can_be_cropped = layers and all(type(layer).__name__ == "DynamicLayer" for layer in layers)
    return cache if can_be_cropped else copy.deepcopy(cache)

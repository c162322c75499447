"""One probe of a server before a run: one provider in one event loop asks for each fact once.

    GET /models                             names, context window
    "Reply with the word OK."               reachable, token counts, log-probabilities of a prompt
    the same, with the reply's beginning    prefill
    POST /tokenize                          tokenizer

    GET /api/version, /version              version of the software, if nothing else names it

A run asks only for what it needs; `probe_server` asks for everything.

The context window is how many tokens a model takes, prompt and answer together. vLLM and SGLang state it as
`max_model_len` in their list of models, llama.cpp as `n_ctx` (at /props for each of its slots), and others have names
of their own. A server that states no window has none here: the window on a model's card may be another than its
server's.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import urlsplit

import anyio
from inspect_ai.model import ModelAPI

from carrara.constants import NATS, REPLY_TOKENS, LogprobsOf
from carrara.servers.model_names import OURS, PROVIDERS
from carrara.servers.providers import make_model, secrets_of
from carrara.servers.reasoning_mode import takes_prompts_only
from carrara.servers.response import average_logprobs, keep_reply_tokens, tells_overflow
from carrara.servers.retry import Kind, RetryTrouble
from carrara.servers.secrets import mask, public
from carrara.servers.server_info import ServerInfo, completes, shown_names
from carrara.servers.short_question import (
    QUESTION,
    ShortAnswer,
    ShortQuestion,
    TroubledError,
    UnknownModelError,
    find_prefill,
    separates_reasoning,
)
from carrara.servers.template_text import TemplateText, template_text
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger

IN_PROCESS = frozenset({"carrara", "function", "hf", "transformer_lens", "nnterp", "mockllm"})
"""Providers that load a model into this process. A second instance for the probe would take its memory twice."""

STARTS_SERVER: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "vllm": ("vllm", ("VLLM_BASE_URL",)),
    "vllm-completions": ("vllm", ("VLLM_BASE_URL",)),
    "sglang": ("sglang", ("SGLANG_BASE_URL", "INSPECT_EVAL_MODEL_BASE_URL")),
}
"""Providers that start a server if no address is given: the package that they need for it, and the variables that give
an address."""

HARMLESS = frozenset({"mockllm/model", *(f"carrara/{name}" for name in OURS)})
"""Models in this process that run no code and open no file that their names choose."""

_LIST_SECONDS = 10
"""The time limit for the list of models. Servers without one answer at once."""

_WINDOW_NAMES = (
    "max_model_len",
    "n_ctx",
    "context_length",
    "max_context_length",
    "context_window",
    "max_context_window",
)
"""The names that servers give the context window, the most reliable first."""

_OWNERS = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "llamacpp": "llama.cpp",
    "library": "Ollama",
    "organization_owner": "LM Studio",
}
"""Whom the list of models names as the owner of each model, by software."""
_FINGERPRINTS = (
    (r"fp_ollama()", "Ollama"),
    (r"vllm-(\d[\w.+]*)(?:-.*)?", "vLLM"),
    (r"(b[1-9]\d*)-[0-9a-f]{7,}", "llama.cpp"),
    (r"b\d+-unknown()", "llama.cpp"),
)
"""The `system_fingerprint` of replies, by software. Some have the version in it."""
_VERSION_PATHS = {"Ollama": "/api/version", "vLLM": "/version", "SGLang": "/get_server_info"}

_ANSWERED: Collection[Kind] = ("busy", "failing", "garbled", "final")
"""The kinds of failures that a server answers with."""

_MOST_NAMED = 80
"""The most characters of a name that are read."""

_MAX_WINDOW = 1 << 40
"""A greater number is not a window."""


async def probe(
    model: str,
    base_url: str | None,
    model_args: Mapping[str, Any],
    *,
    window: bool = False,
    needed: int = 0,
    prefill: bool = False,
    logprobs: Collection[LogprobsOf] = (),
    streams: bool = False,
    tokenizer: bool = False,
    version: bool = False,
) -> ServerInfo:
    """Ask a model's server the short question, and the requested facts.

    Args:
        window: Whether to ask for the list of models and the context window.
        needed: Tokens that the shortest prompt and its answer take. With it the window comes first, and nothing else
            is asked of a server whose window is smaller.
        prefill: Whether to find out if the server continues a reply.
        logprobs: The log-probabilities to find out about: whether the server returns them.
        streams: Whether to find out if the server streams a reply.
        tokenizer: Whether to find out if the server counts tokens of a text.
        version: Whether to ask for the version of the server's software, if nothing else names it.

    Raises:
        UsageError: The model cannot answer, because of its name, address, key or arguments.
        RunError: The server cannot be reached or does not answer.
    """
    api = make_model(model, base_url, model_args).api
    try:
        question = ShortQuestion(api, model)
        info = ServerInfo(model, question.server)
        if window and needed:
            info = await _with_models(info, api)
            if info.context_window is not None and info.context_window < needed:
                return info
        try:
            answer, returned = await _first_answer(question, logprobs)
            info = replace(
                info,
                reachable=True,
                counts_tokens=answer.input_tokens is not None,
                separate_reasoning=separates_reasoning(answer),
                prompt_logprobs=returned.get("prompt"),
                reply_logprobs=returned.get("reply"),
                software=_software_of_reply(answer) or info.software,
            )
            if prefill:
                info = replace(info, prefill=await find_prefill(question, answer))
            if streams:
                info = replace(info, streams=await question.is_streamed())
        except UnknownModelError as error:
            raise UsageError(await _unknown_model(api, question.server) or str(error)) from None
        except TroubledError as error:
            reachable = bool(info.reachable) or error.trouble.kind in _ANSWERED
            info = replace(info, reachable=reachable, trouble=error.trouble)
        if window and not needed:  # some providers have no client before the first request
            info = await _with_models(info, api)
        if tokenizer:
            info = replace(info, tokenizer=await _tokenizer(api))
        if info.tokenizer and info.reachable and not info.trouble:
            info = replace(info, template=await _template(info, answer.input_tokens))
        if version and info.software in _VERSION_PATHS:
            info = replace(info, software=await _with_version(api, info.software))
        _warn_if_unlisted(info, api.service_model_name())
        return info
    finally:
        await api.aclose()


async def _with_models(info: ServerInfo, api: ModelAPI) -> ServerInfo:
    listed = await _list_models(api)
    secrets = secrets_of(api)  # a server may repeat the key in any text
    return replace(
        info,
        models=tuple(mask(name, secrets) for name in listed.names),
        context_window=listed.window,
        software=info.software or listed.software,
    )


async def _unknown_model(api: ModelAPI, server: str) -> str:
    """Return what is wrong with the address or name of a model that a server does not know. Empty if nothing shows."""
    if names := (await _list_models(api)).names:
        return f"{server} knows no model {api.service_model_name()!r}; it lists {shown_names(names)}"
    if "://" in server and not urlsplit(server).path.strip("/") and (await _list_models(api, "/v1")).names:
        return f"{server} is not the address of an API, which ends in /v1: give {server.rstrip('/')}/v1"
    return ""


class _ModelList(NamedTuple):
    """The response to a request for the list of models."""

    names: tuple[str, ...] = ()
    window: int | None = None
    """The window of the requested model."""
    software: str = ""


async def _list_models(api: ModelAPI, path: str = "") -> _ModelList:
    """Ask a server for its models and the window of the provider's model. Return nothing if the server fails."""
    client: Any = getattr(api, "client", None)
    get = getattr(client, "get", None)
    if get is None or not hasattr(client, "models"):
        return _ModelList()
    listed = _ModelList()
    try:
        with anyio.move_on_after(_LIST_SECONDS):
            answer = await get(f"{path}/models", cast_to=object)
            listed = _ModelList(_names_in(answer), software=software_in_list(answer))
            if stated := window_in_list(answer, api.service_model_name()):
                slots = await get(address_beside(str(client.base_url), "/props"), cast_to=object) if stated[1] else None
                listed = listed._replace(window=window_in_props(slots) or stated[0])
    except Exception:  # the run itself reports problems with a server
        pass
    return listed


def address_beside(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/").removesuffix("/v1") + path, query="", fragment="").geturl()


def _names_in(answer: Any) -> tuple[str, ...]:
    """
    >>> _names_in({"data": [{"id": "qwen3"}, {"id": 7}, "x"]})
    ('qwen3',)
    """
    names = (entry.get("id") for entry in _models_in(answer) if isinstance(entry, dict))
    return tuple(name for name in names if isinstance(name, str))


def window_in_list(answer: Any, name: str) -> tuple[int, bool] | None:
    """Return the window of a model in the list of models, or of the only entry, and whether llama.cpp wrote it.

    >>> window_in_list({"data": [{"id": "qwen3", "max_model_len": 32768}]}, "qwen3")
    (32768, False)
    """
    models = _models_in(answer)
    entries = [entry for entry in models if isinstance(entry, dict) and (entry.get("id") == name or len(models) == 1)]
    for entry in entries:
        meta = entry.get("meta")
        for fields in (entry, meta if isinstance(meta, dict) else {}):
            for kind in (*_WINDOW_NAMES, "n_ctx_train"):
                if _is_count(fields.get(kind)):
                    return int(fields[kind]), fields is meta
    return None


def _models_in(answer: Any) -> Sequence[Any]:
    models = answer.get("data") if isinstance(answer, dict) else answer
    return models if isinstance(models, list) else []


def window_in_props(answer: Any) -> int | None:
    """Return the context window that llama.cpp states for one of its slots, which share its context."""
    settings = answer.get("default_generation_settings") if isinstance(answer, dict) else None
    size = settings.get("n_ctx") if isinstance(settings, dict) else None
    return size if _is_count(size) else None


def software_in_list(answer: Any) -> str:
    """Return the software whose list of models this is, by the owner of the models. Empty if it is not known.

    >>> software_in_list({"data": [{"id": "qwen3", "owned_by": "vllm"}]}), software_in_list({"data": []})
    ('vLLM', '')
    """
    owners = {entry.get("owned_by") for entry in _models_in(answer) if isinstance(entry, dict)}
    return next((_OWNERS[owner] for owner in owners if isinstance(owner, str) and owner in _OWNERS), "")


def software_in(fingerprint: str) -> str:
    """Return the software that wrote a reply, with its version if the reply names it. Empty if it is not known.

    >>> software_in("vllm-0.21.0-tp4-f5b33cdd"), software_in("b6710-74b8fc17f"), software_in("fp_ollama")
    ('vLLM 0.21.0', 'llama.cpp b6710', 'Ollama')
    >>> software_in("fp_44709d6fcb")
    ''
    """
    for pattern, software in _FINGERPRINTS:
        if found := re.fullmatch(pattern, fingerprint[:_MOST_NAMED]):
            return f"{software} {found[1]}".strip()
    return ""


def _software_of_reply(answer: ShortAnswer) -> str:
    response: Any = answer.call.response if answer.call else None
    fingerprint = response.get("system_fingerprint") if isinstance(response, Mapping) else None
    return software_in(fingerprint) if isinstance(fingerprint, str) else ""


async def _with_version(api: ModelAPI, software: str) -> str:
    """Return the name of a software with the version that its server states, if it does."""
    client: Any = getattr(api, "client", None)
    try:
        with anyio.move_on_after(_LIST_SECONDS):
            answer = await client.get(address_beside(str(client.base_url), _VERSION_PATHS[software]), cast_to=object)
            version = answer.get("version") if isinstance(answer, dict) else None
            if isinstance(version, str) and re.fullmatch(r"[\w.+-]{1,40}", version):
                return f"{software} {version}"
    except Exception:  # not every version of the software has it
        pass
    return software


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MAX_WINDOW


async def _first_answer(
    question: ShortQuestion, logprobs: Collection[LogprobsOf]
) -> tuple[ShortAnswer, Mapping[LogprobsOf, bool]]:
    """Return the reply to the question, and which of the requested log-probabilities the server returns.

    A server may refuse a request for log-probabilities. Each kind is then requested alone.
    """
    try:
        answer = await question.ask_first(logprobs)
    except TroubledError as error:
        if not logprobs or error.trouble.kind != "final":
            raise
        if len(logprobs) == 1:
            return await question.ask_first(), dict.fromkeys(logprobs, False)
        answers = {kind: await _first_answer(question, (kind,)) for kind in logprobs}
        return next(iter(answers.values()))[0], {kind: returned[kind] for kind, (_, returned) in answers.items()}
    metadata = keep_reply_tokens(average_logprobs(answer.output)).metadata or {}
    keys: Mapping[LogprobsOf, str] = {"prompt": NATS, "reply": REPLY_TOKENS}
    return answer, {kind: keys[kind] in metadata for kind in logprobs}


async def _tokenizer(api: ModelAPI) -> str:
    from carrara.tokenizers import server as token_server

    address = api.base_url or ""
    if not address or public(address) != address:
        return ""
    name = f"server:{address.rstrip('/').removesuffix('/v1')}"
    with anyio.move_on_after(_LIST_SECONDS):
        try:
            await anyio.to_thread.run_sync(token_server.load, name, address, abandon_on_cancel=True)
        except (UsageError, RunError):
            return ""
        return name
    return ""


async def _template(info: ServerInfo, counted: int | None) -> TemplateText | None:
    """Return what the server puts around the short question, by its own tokenizer."""
    from carrara import tokenizers

    with anyio.move_on_after(_LIST_SECONDS):
        try:
            tokenizer = await anyio.to_thread.run_sync(tokenizers.get, info.tokenizer, abandon_on_cancel=True)
            known = partial(template_text, tokenizer, QUESTION, counted, completes(info.model))
            return await anyio.to_thread.run_sync(known, abandon_on_cancel=True)
        except (UsageError, RunError):
            return None
    return None


def is_probed(model: str, base_url: str | None, model_args: Mapping[str, Any]) -> bool:
    """Return whether a model has a server that is running already, or should be."""
    provider = model.partition("/")[0]
    if provider not in STARTS_SERVER:
        return provider not in IN_PROCESS
    _, variables = STARTS_SERVER[provider]
    return bool(base_url or "port" in model_args or any(map(os.environ.get, variables)))


def check_file_model(model: str, base_url: str | None, model_args: Mapping[str, Any], source: str) -> None:
    """Raise `UsageError` for a model that a file must not name, because the file may come from a stranger.

    Such a model imports a module, opens a file, or starts a server on this machine.

    Args:
        source: What names the model, for the message.
    """
    is_served = model.partition("/")[0] in PROVIDERS and is_probed(model, base_url, model_args)
    if not is_served and model not in HARMLESS:
        raise UsageError(
            f"{source} names the model {model[:200]}, which runs code, opens files or starts a server on this machine: "
            "give it as the model yourself (`model`) if you trust it"
        )


def check_server(
    model: str,
    base_url: str | None,
    model_args: Mapping[str, Any],
    *,
    window: bool = False,
    needed: int = 0,
    prefill: bool = False,
    logprobs: Collection[LogprobsOf] = (),
    streams: bool = False,
) -> ServerInfo:
    """Probe a model's server before it is used, and raise if it certainly cannot answer.

    A server that may answer later is reported, and the caller waits for it. A model in this process, or one whose
    server its provider starts, is asked about prefill alone. The arguments are those of `probe`.
    """
    prefill = prefill and not takes_prompts_only(model)
    if not is_probed(model, base_url, model_args):
        _check_package(model)
        if not prefill:
            return ServerInfo(model)
        window, needed, logprobs = False, 0, ()
    asking = partial(
        probe, model, base_url, model_args, window=window, needed=needed, prefill=prefill, logprobs=logprobs,
        streams=streams,
    )  # fmt: skip
    info = anyio.run(asking)
    if info.trouble:
        _report(info, info.trouble, prefill)
    if info.streams is False:
        logger.warning(
            f"{info.address} does not stream its replies, and the run goes on without their times to the first token "
            "and rates: turn streaming on at the server"
        )
    if info.prompt_logprobs is False:
        raise UsageError(
            f"{info.address} does not tell the log-probabilities of a prompt, which `perplexity` is made of: vLLM "
            "does, and SGLang for completions"
        )
    if info.reply_logprobs is False:
        raise UsageError(
            f"{info.address} returns no log-probabilities of a reply: leave `logprobs` out, or name a server "
            "that does, such as vLLM, SGLang or llama.cpp"
        )
    return info


def _warn_if_unlisted(info: ServerInfo, name: str) -> None:
    """Warn if a server at an address of its own answers for a model that it does not list."""
    is_listed = {name, f"{name}:latest"} & {*info.models}
    if info.models and not is_listed and info.reachable and not info.trouble and "://" in info.address:
        logger.warning(
            f"{info.address} answers for the model {name!r}, which is not in its list ({shown_names(info.models)}): "
            "check that it is the model you mean"
        )


def _check_package(model: str) -> None:
    package, _ = STARTS_SERVER.get(model.partition("/")[0], ("", ()))
    if package and find_spec(package) is None:
        raise UsageError(
            f"{model} needs the package {package} to start a server: install it, or give the address of a server that "
            "runs with `base_url`"
        )


def _report(info: ServerInfo, trouble: RetryTrouble, prefill: bool) -> None:
    """Report the failure of a server. Raise if it leaves a fact unknown that the run depends on."""
    if trouble.kind == "final":
        if not tells_overflow(trouble.words, None):
            logger.warning(f"{info.address} refused a short question, and the run goes on: {trouble.words}")
    elif prefill:
        raise RunError(f"{info.model} did not answer a short question: {trouble.words}")
    elif trouble.kind == "busy":
        logger.warning(f"{info.address} takes no more requests just now and is waited for: {trouble.words}")
    else:
        logger.warning(f"{info.address} is not ready and is waited for: {trouble.words}")


def probe_server(model: str, base_url: str | None = None, model_args: Mapping[str, Any] | None = None) -> ServerInfo:
    """Find out everything about a model's server that Carrara can use.

    Raises:
        UsageError: The model has no server, or cannot answer because of its name, address, key or arguments.
        RunError: The server cannot be reached or does not answer.
    """
    args = model_args or {}
    if not is_probed(model, base_url, args):
        if model.partition("/")[0] in STARTS_SERVER:
            raise UsageError(f"{model} has no server yet: give the address of one that runs with `base_url`")
        raise UsageError(f"{model} runs in this process and has no server: name a model that is served")
    prefill = not completes(model)
    return anyio.run(
        partial(
            probe, model, base_url, args, window=True, prefill=prefill, logprobs=("prompt", "reply"), tokenizer=True,
            version=True,
        )
    )  # fmt: skip

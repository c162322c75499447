"""One small request before a run: an unreachable server or a refused key is one sentence, not a thousand error rows.

Later failures are met with patience: the same outage in the middle of a night's run is waited out.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from threading import Timer
from typing import Any

import anyio
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.http import status_code_of
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelAPI, ModelOutput

from carrara.core.errors import RunError, UsageError
from carrara.core.log import logger
from carrara.core.transport import RedirectError, ReplyTooLargeError, causes, malformed, untrusted
from carrara.servers.api_errors import Trouble, trouble_of
from carrara.servers.inspect_errors import plain
from carrara.servers.providers import made, prepare_client, secrets_of
from carrara.servers.redact import clip, public
from carrara.servers.response_validation import watch
from carrara.servers.stop_reason import tells_overflow

LOCAL = {"vllm": "vllm", "vllm-completions": "vllm", "sglang": "sglang"}
"""Providers that start a server themselves where no address is given, and the package they do it with."""

LOADING = frozenset({"hf", "transformer_lens", "nnterp", "mockllm", "function"})
"""Providers that load a model into this process: a second one only to be greeted would take its memory twice."""

SECONDS = 60
"""For the small request; a server that is loading or has a queue may need some."""
LATE = 15
"""Seconds after which it is told that it is waited for."""

TRIES = 3
"""How often it is made where the reply is garbled: one may have been cut off on its way."""


_QUESTION = ChatMessageUser(content="Reply with the word OK.")


def stands(model: str, served: bool) -> bool:
    """Whether a model is behind a server that is there, or should be, so that it can be asked before the run."""
    provider = model.partition("/")[0]
    return provider not in LOADING and (served or provider not in LOCAL)


def check(model: str, base_url: str | None, args: Mapping[str, Any], served: bool, perplexity: bool = False) -> None:
    """Raise if the model certainly cannot answer. `served` says that somebody has named its server's address."""
    provider = model.partition("/")[0]
    if provider in LOCAL and not served:
        if find_spec(LOCAL[provider]) is None:
            raise UsageError(
                f"{model} needs the package {LOCAL[provider]} to start a server: install it, or give the address of a "
                "server that runs with `base_url`"
            )
        return  # its server is started by the run, once
    if stands(model, served):
        anyio.run(greet, made(model, base_url, args).api, model)
        if perplexity:
            anyio.run(_tells_costs, made(model, base_url, args).api, model)


async def greet(api: ModelAPI, model: str) -> None:
    """Ask for one word. What cannot pass is raised; what may is told, and the run waits for it."""
    where = public(api.base_url) or model.partition("/")[0]
    watch(api)
    prepare_client(api)
    secrets = secrets_of(api)
    trouble: Trouble | None = None
    status: int | None = None
    try:
        for _ in range(TRIES):
            try:
                error = await _greeted(api, where)
            except TimeoutError:
                raise RunError(
                    f"{where} did not answer a short question within {SECONDS} seconds: is it still loading?"
                ) from None
            if error is None:
                return
            known = unusable(error, api, model)
            if isinstance(known, UsageError | RunError):
                raise known from None
            error.args = tuple(clip(str(arg), secrets) for arg in error.args)
            trouble, status = trouble_of(error, api.should_retry, secrets), status_code_of(error)
            if trouble.kind != "garbled":
                break
    finally:
        await api.aclose()
    assert trouble is not None
    words = clip(trouble.words, secrets)
    if trouble.kind == "garbled":
        raise UsageError(
            f"{where} does not answer as a model's server: {words}; is the address right? It mostly ends in /v1"
        )
    match trouble.kind:
        case "final" if status == 429:
            raise UsageError(f"{where} takes no more requests with this key: {words}")
        case "busy":
            logger.warning(f"{where} takes no more requests just now and is waited for: {words}")
        case "down" | "failing":
            logger.warning(f"{where} is not ready and is waited for: {words}")
        case "final" if not tells_overflow(words, None):
            logger.warning(f"{where} refused a short question, and the run goes on: {words}")


async def _tells_costs(api: ModelAPI, model: str) -> None:
    """Raise where a server answers a short question and does not tell what the question cost it."""
    where = public(api.base_url) or model.partition("/")[0]
    prepare_client(api)
    try:
        with anyio.fail_after(SECONDS):
            answer = await api.generate([_QUESTION], [], "none", GenerateConfig(max_tokens=16, prompt_logprobs=1))
    except Exception:  # the run waits for a server in trouble, and says what it is
        return
    finally:
        await api.aclose()
    outcome = answer[0] if isinstance(answer, tuple) else answer
    if isinstance(outcome, ModelOutput) and not any(choice.prompt_logprobs for choice in outcome.choices):
        raise UsageError(
            f"{where} does not tell the log-probabilities of a prompt, which `perplexity` is made of: vLLM does, and "
            "SGLang for completions"
        )


async def _greeted(api: ModelAPI, where: str) -> Exception | None:
    # Straight to the provider: neither retries nor the log are wanted here.
    late = Timer(
        LATE, logger.warning, [f"{where} has not answered a short question yet; it has {SECONDS} seconds in all"]
    )
    late.daemon = True
    late.start()
    try:
        with anyio.fail_after(SECONDS):
            answer = await api.generate([_QUESTION], [], "none", GenerateConfig(max_tokens=16))
    except TimeoutError:
        raise
    except Exception as failure:
        return failure
    finally:
        late.cancel()
    outcome = answer[0] if isinstance(answer, tuple) else answer
    return outcome if isinstance(outcome, Exception) else None


def unusable(error: Exception, api: ModelAPI, model: str) -> Exception:
    """What an error means that says for certain that a model cannot be asked; any other as it is."""
    where = public(api.base_url) or model.partition("/")[0]
    if isinstance(error, PrerequisiteError | ImportError):
        return UsageError(plain(error))
    if why := untrusted(error, where):
        return RunError(why)
    for cause in causes(error):
        if isinstance(cause, RedirectError):
            return UsageError(str(cause))
        if isinstance(cause, ReplyTooLargeError):
            return UsageError(f"{where} does not answer as a model's server: {cause}; is the address right?")
    if malformed(error):
        return error
    match status_code_of(error):
        case 401 | 403:
            return UsageError(f"{where} refuses the API key: check {' or '.join(api.api_key_vars) or 'it'}")
        case 404:
            return UsageError(f"{where} knows no model '{api.model_name}': check its name and the address")
        case None if "onnect" in type(error).__name__:
            return RunError(f"{where} cannot be reached: is the server running, and is the address right?")
    return error

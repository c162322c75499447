"""One small request before a run: an unreachable server or a refused key is one sentence, not a thousand error rows.

Later failures are met with patience: the same outage in the middle of a night's run is waited out.
"""

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import anyio
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.http import status_code_of
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, ModelAPI, get_model
from rich.text import Text
from tenacity import wait_exponential_jitter

from carrara.errors import RunError, UsageError

PATIENCE = 6 * 3600
"""Seconds that one item may wait for a server to come back before it becomes an error row."""

LOCAL = {"vllm": "vllm", "vllm-completions": "vllm", "sglang": "sglang"}
"""Providers that start a server themselves where no address is given, and the package they do it with."""

LOADING = frozenset({"hf", "transformer_lens", "nnterp", "mockllm"})
"""Providers that load a model into this process: a second one only to be greeted would take its memory twice."""

SECONDS = 60
"""For the small request; a server that is loading or has a queue may need some."""


def patient(api: ModelAPI) -> None:
    """Ask again after 2, 4, 8 … 60 seconds: Inspect's own waits grow to half an hour, long after an outage is over."""
    api.retry_wait = lambda: wait_exponential_jitter(initial=2, max=60, jitter=2)  # type: ignore[method-assign]


def made(model: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    """An instance of its own: HTTP connections belong to the event loop that opened them."""
    try:
        return get_model(model, config=GenerateConfig(), base_url=base_url, memoize=False, **args)
    except TypeError as error:
        given = ", ".join(f"{name}={value}" for name, value in args.items()) or "none"
        raise UsageError(f"{model} cannot be made with its arguments ({given}): {plain(error)}; correct -M") from None
    except (PrerequisiteError, ValueError, ImportError) as error:
        raise UsageError(plain(error)) from None


def check(model: str, base_url: str | None, args: Mapping[str, Any], served: bool) -> None:
    """Raise if the model certainly cannot answer. `served` says that somebody has named its server's address."""
    provider = model.partition("/")[0]
    if provider in LOCAL and not served:
        if find_spec(LOCAL[provider]) is None:
            raise UsageError(
                f"{model} needs the package {LOCAL[provider]} to start a server: install it, or give the address of a "
                "server that runs with --base-url"
            )
        return  # its server is started by the run, once
    if provider not in LOADING:
        anyio.run(greet, made(model, base_url, args).api, model)


async def greet(api: ModelAPI, model: str) -> None:
    # Straight to the provider: neither retries nor the log are wanted here.
    where = public(api.base_url) or model.partition("/")[0]
    try:
        with anyio.fail_after(SECONDS):
            answer = await api.generate(
                [ChatMessageUser(content="Reply with the word OK.")], [], "none", GenerateConfig(max_tokens=16)
            )
        outcome = answer[0] if isinstance(answer, tuple) else answer
        error = outcome if isinstance(outcome, Exception) else None
    except TimeoutError:
        raise RunError(
            f"{where} did not answer a short question within {SECONDS} seconds: is it still loading?"
        ) from None
    except Exception as failure:
        error = failure
    finally:
        await api.aclose()
    if error is None:
        return
    told = unusable(error, api, model)
    if isinstance(told, UsageError | RunError):
        raise told from None
    # Anything else, such as a dislike of so few tokens or a rate limit, may pass: the run will tell.


def unusable(error: Exception, api: ModelAPI, model: str) -> Exception:
    """What an error means that says for certain that a model cannot be asked; any other as it is."""
    where = public(api.base_url) or model.partition("/")[0]
    if isinstance(error, PrerequisiteError | ImportError):
        return UsageError(plain(error))
    match status_code_of(error):
        case 401 | 403:
            return UsageError(f"{where} refuses the API key: check {' or '.join(api.api_key_vars) or 'it'}")
        case 404:
            return UsageError(f"{where} knows no model '{api.model_name}': check its name and the address")
        case None if "onnect" in type(error).__name__:
            return RunError(f"{where} cannot be reached: is the server running, and is the address right?")
    return error


def public(url: str | None) -> str | None:
    """An address without a name and password that may stand in it."""
    return url and re.sub(r"//[^/@]*@", "//", url)


def plain(error: Exception) -> str:
    """The text of an error that was written for a terminal, on one line."""
    words = Text.from_markup(str(getattr(error, "message", error))).plain
    return re.sub(r"\s*\n\s*", " ", words).removeprefix("ERROR: ").strip()

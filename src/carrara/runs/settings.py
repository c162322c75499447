"""The settings that make replies of one model separate experiments: server, sampling, limits, the model's arguments.

    {"server": "http://127.0.0.1:8000/v1", "temperature": "1", "max_tokens": "16", "-M context": "32768"}

Only differences from the defaults are named. A log's header and a manifest give the same mapping, so that a manifest
finds its own replies in a folder, and no others.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model

from carrara.constants import COT, LIKELIHOOD, READER
from carrara.results.result import ARGUMENT, RECORDED, SOLVER, WITHIN
from carrara.servers.secrets import hide, public
from carrara.tokenizers.gguf import split_digest

TEMPERATURE = 0.0
"""The defaults of a run. `none` stands for the server's own default."""

NEUTRAL = frozenset(
    {
        "max_retries",
        "timeout",
        "attempt_timeout",
        "stream_idle_timeout",
        "max_connections",
        "adaptive_connections",
        "batch",
        "cache",
        "cache_prompt",
        "fail_on_refusal",
        "prompt_logprobs",
        "logprobs",
        "top_logprobs",
    }
)
"""Settings of the transport, which do not affect replies."""

NEUTRAL_ARGS = frozenset({"client_timeout", "base"})
"""Plain completion, which older logs name `base`. Every item's id names it too."""

SERVER = "server"
"""Also the argument of the solver that names it: Inspect distinguishes logs by it, and not by the base URL."""

FILE = "file"

ANYWHERE = "anywhere"
"""The value in place of an address, if several servers of one model share a run."""


def settings_of(
    server: str,
    args: Mapping[str, Any],
    config: GenerateConfig,
    reader: str = "",
    cot: str = "",
    within: str = "",
    likelihood: str = "",
) -> dict[str, str]:
    named_settings = ((SERVER, server), (READER, reader), (COT, cot), (WITHIN, within), (LIKELIHOOD, likelihood))
    settings = {name: value for name, value in named_settings if value}
    for name, value in sorted(config.model_dump(exclude_none=True).items()):
        if name not in NEUTRAL:
            settings[name] = _write(value)
    if config.temperature is None:
        settings["temperature"] = "none"
    elif config.temperature == TEMPERATURE:
        del settings["temperature"]
    named = {name: value for name, value in sorted(hide(args).items()) if _is_logged(name, value) and value is not None}
    return settings | {ARGUMENT + name: _write(value) for name, value in named.items()}


def _is_logged(name: str, value: object) -> bool:
    """Return whether an argument of a model affects replies and Inspect writes it into a log's header."""
    secret = name == "api_key" or name.startswith("aws_")
    return name not in NEUTRAL_ARGS and not secret and not isinstance(value, Iterator)


def file_of(model: str) -> dict[str, str]:
    """Return the setting that distinguishes two local files of one name: the digest of the content."""
    digest = split_digest(model)[1]
    return {FILE: digest} if digest else {}


def settings_in(log: EvalLog) -> dict[str, str]:
    """Return the settings that a log was made with."""
    server = _argument(log, SERVER) or _plain(log.eval.model_base_url)
    server = "" if server == ANYWHERE else server
    config = log.eval.model_generate_config.merge(log.plan.config)
    reader_settings = (_argument(log, name) for name in (READER, COT, WITHIN, LIKELIHOOD))
    settings = settings_of(server, log.eval.model_args, config, *reader_settings) | file_of(log.eval.model)
    if recorded := (log.eval.metadata or {}).get(RECORDED):
        settings[RECORDED] = str(recorded)
    return {SOLVER: solver, **settings} if (solver := _other_solver(log)) else settings


def _other_solver(log: EvalLog) -> str:
    """Return the name of the solver that was used on one of our tasks in place of Carrara's own."""
    steps = [step.solver.rpartition("/")[2] for step in log.plan.steps]
    if "render_prompt" not in steps or "ask" in steps:
        return ""
    return ", ".join(step for step in steps if step != "render_prompt")


def _argument(log: EvalLog, name: str) -> str:
    return next((str(step.params_passed[name]) for step in log.plan.steps if step.params_passed.get(name)), "")


def address(model: Model) -> str:
    """Return the address of a model's server, if the user gave one by an option or in the environment.

    A provider's own address is its default. The address of a server that the provider starts differs in every run.
    """
    if model.explicit_base_url:
        return _plain(model.explicit_base_url)
    provider = str(model).partition("/")[0].removesuffix("-completions").replace("-", "_").upper()
    for name, value in os.environ.items():
        if name == f"{provider}_BASE_URL" or (
            name.endswith("_BASE_URL")
            and value
            and value.rstrip("/") == (getattr(model.api, "addressed", None) or model.api.base_url or "").rstrip("/")
        ):
            return _plain(value)
    return ""


def _plain(url: str | None) -> str:
    return (public(url) or "").rstrip("/")


def _write(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return json.dumps(value, sort_keys=True, default=str)

"""Items as requests: for batch interfaces, whose results `carrara score` reads, and for load tests of servers."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from carrara.export.config import ExportConfig
from carrara.export.evidence_labels import Row
from carrara.export.lines import write_lines
from carrara.items.item import Item, check_single
from carrara.util.errors import UsageError

ANSWER = 16
"""The least tokens of a reply in a load test."""
_THINKS = re.compile(r"(?:.*/)?(?:o\d|gpt-5)(?!.*chat)")


def _sampling_args(model: str) -> dict[str, Any]:
    """Return the temperature of greedy decoding.

    OpenAI's reasoning models refuse a request with a temperature.

    >>> [_sampling_args(model) for model in ("gpt-4o", "o3-mini", "openai/gpt-5.1", "gpt-5-chat-latest")]
    [{'temperature': 0}, {}, {}, {'temperature': 0}]
    """
    return {} if _THINKS.match(model) else {"temperature": 0}


class RequestSettings(NamedTuple):
    """The settings of requests."""

    model: str = ""
    """The name of the model, which only a batch needs."""
    max_tokens: int | None = None
    """The most tokens of a reply."""


def batch(item: Item, settings: RequestSettings) -> Mapping[str, Any]:
    """Return a line of OpenAI's batch interface, which vLLM's `run-batch` accepts too."""
    check_single(item, "a batch")
    base = item.item_id.style == "base"
    prompt = {"prompt": item.text} if base else {"messages": [message.as_chat() for message in item.messages()]}
    stop = {"stop": list(item.prompt.template.stop)} if base and item.prompt.template.stop else {}
    most = settings.max_tokens or (item.question.budget if base else None)
    limit = "max_tokens" if base else "max_completion_tokens"
    return {
        "custom_id": item.id,
        "method": "POST",
        "url": "/v1/completions" if base else "/v1/chat/completions",
        "body": {
            "model": settings.model,
            **prompt,
            **_sampling_args(settings.model),
            **({limit: most} if most else {}),
            **stop,
        },
    }


def vllm(item: Item, settings: RequestSettings) -> Mapping[str, Any]:
    """Return a line of `vllm bench serve --dataset-name custom`, which applies the model's template."""
    if item.prompt.template.is_conversation:
        raise UsageError(
            f"{item.item_id.task} asks in the middle of a conversation, and a load is of single prompts: leave it out, "
            "or give form=text, if the task has it"
        )
    return {"prompt": item.text, "output_tokens": settings.max_tokens or max(ANSWER, item.question.budget)}


def sglang(item: Item, settings: RequestSettings) -> Mapping[str, Any]:
    """Return a line of `sglang.bench_serving --dataset-name custom`: a prompt, and a text of the answer's length."""
    check_single(item, "a load test")
    return {
        "conversations": [
            {"role": "user", "content": item.text},
            {"role": "assistant", "content": item.gold},
        ]
    }


def write_batch(config: ExportConfig, settings: RequestSettings) -> list[str]:
    """Write requests of OpenAI's batch interface, and return what to print."""
    return _write(config, {"batch.jsonl": partial(batch, settings=settings)})


def write_serving(config: ExportConfig, settings: RequestSettings) -> list[str]:
    """Write the loads of two load generators, and return what to print."""
    forms = {"vllm.jsonl": vllm, "sglang.jsonl": sglang}
    return _write(config, {name: partial(row, settings=settings) for name, row in forms.items()})


def _write(config: ExportConfig, rows: Mapping[str, Row]) -> list[str]:
    lines = write_lines(config, rows)
    config.write_card()
    return lines

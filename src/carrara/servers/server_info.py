"""The facts about a server that are known before a run, and their table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from carrara.servers.retry import RetryTrouble
from carrara.servers.template_text import TemplateText, describe_surplus, describe_template
from carrara.util.table import TableLine, table

Prefill = Mapping[str, Any]
"""The field of a request that makes the server continue its last message. Many servers need none."""

SHOWN = 5
"""The number of model names that the table shows."""
NAME_LENGTH = 80
"""The number of characters of a name that the table shows."""


@dataclass(frozen=True)
class ServerInfo:
    """The facts that a probe found out about a server. A fact that was not requested or answered is None or empty."""

    model: str
    address: str = ""
    """The address without secrets, or the provider's name if it has an address of its own."""
    reachable: bool | None = None
    """Whether the server answers requests, even if it refuses the short question."""
    trouble: RetryTrouble | None = None
    """Why a question has no answer, if the server may answer others."""
    models: tuple[str, ...] = ()
    """The names that the server lists."""
    context_window: int | None = None
    """The tokens that the model takes, prompt and answer together."""
    counts_tokens: bool | None = None
    """Whether replies report the tokens of a request."""
    separate_reasoning: bool | None = None
    """Whether a reply had its reasoning in a separate field."""
    prefill: Prefill | None = None
    """The fields of a request that make the server continue a reply. None if it cannot."""
    prompt_logprobs: bool | None = None
    """Whether the server returns the log-probabilities of a prompt's tokens."""
    reply_logprobs: bool | None = None
    """Whether the server returns the log-probabilities of a reply's tokens."""
    streams: bool | None = None
    """Whether the server sends a reply as a stream if a request asks for it."""
    tokenizer: str = ""
    """The name of a tokenizer that has the server count tokens, if it can: `server:URL`."""
    template: TemplateText | None = None
    """What the server puts around a question, if it counts tokens of a text."""
    software: str = ""
    """The server's software, with its version if it is known, such as `vLLM 0.21.0`. Empty if it is not recognized."""


def completes(model: str) -> bool:
    """Return whether a provider completes plain text, so that any prompt is the beginning of the reply."""
    return model.partition("/")[0].endswith("-completions")


def server_info_lines(info: ServerInfo) -> Iterator[TableLine]:
    """Return the table of these facts, as lines."""
    rows = [
        ("model", info.model, ""),
        ("address", info.address, ""),
        ("reachable", _reachable(info), ""),
        ("software", info.software or "not recognized", ""),
        ("models", shown_names(info.models), ""),
        ("context window", _tokens(info.context_window), "lengths, within"),
        ("token counts", _yes_or_no(info.counts_tokens, "with every reply", "none"), "reports"),
        ("prefill", _prefill(info), "cot=none, cot=exactly:N"),
        ("prompt log-probabilities", _yes_or_no(info.prompt_logprobs, "yes", "no"), "perplexity"),
        ("reply log-probabilities", _yes_or_no(info.reply_logprobs, "yes", "no"), "logprobs, guard compare"),
        ("tokenizer", info.tokenizer or "none at this address", "tokenizer"),
    ]
    if info.template:
        rows.append(("template", describe_template(info.template), ""))
        rows.append(("added tokens", describe_surplus(info.template), "reports"))
    return table(("fact", "server", "used by"), rows)


def _reachable(info: ServerInfo) -> str:
    if info.reachable is None:
        return "unknown"
    if info.reachable and info.trouble:
        return f"yes, but {'busy: ' if info.trouble.kind == 'busy' else ''}{info.trouble.words}"
    if info.reachable:
        return "yes"
    return f"no: {info.trouble.words}" if info.trouble else "no"


def shown_names(names: tuple[str, ...]) -> str:
    """Return the first names of a list of models, as text.

    >>> shown_names(("qwen3", "phi-4")), shown_names(())
    ('qwen3, phi-4', 'none listed')
    """
    shown = ["".join(c if c.isprintable() else " " for c in name[:NAME_LENGTH]) for name in names[:SHOWN]]
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return (", ".join(shown) or "none listed") + more


def _tokens(window: int | None) -> str:
    return "not stated" if window is None else f"up to {window:,} tokens"


def _yes_or_no(fact: bool | None, yes: str, no: str) -> str:
    return "unknown" if fact is None else yes if fact else no


def _prefill(info: ServerInfo) -> str:
    if completes(info.model):
        return "yes, plain text"
    if info.prefill is not None:
        options = ", ".join(f"{name}={str(value).lower()}" for name, value in info.prefill.items())
        return f"yes, with {options}" if options else "yes"
    if info.counts_tokens is False:
        return "no: it is detected by token counts"
    if info.separate_reasoning:
        return "no: reasoning has a field of its own"
    return "unknown" if info.trouble or info.reachable is None else "no"

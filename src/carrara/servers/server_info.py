"""What is known of a server before a run, and how it is shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from carrara.servers.retry import Trouble
from carrara.util.table import Line, table

Prefill = Mapping[str, Any]
"""What a request says so that the server continues its last message; for many servers nothing."""

SHOWN = 5
"""Names of models that the table shows."""
NAME_LENGTH = 80
"""Characters of a name that the table shows."""


@dataclass(frozen=True)
class ServerInfo:
    """What a probe found out about a server. A fact that was not asked for, or not answered, is None or empty."""

    model: str
    address: str = ""
    """Without what may be secret in it, or the provider's name if it has an address of its own."""
    reachable: bool | None = None
    """Whether the server answers requests, if only by refusing the short question."""
    trouble: Trouble | None = None
    """Why a question has no answer, if the server may answer others."""
    models: tuple[str, ...] = ()
    """The names that the server lists."""
    context_window: int | None = None
    """Tokens that the model takes, prompt and answer together."""
    counts_tokens: bool | None = None
    """Whether replies say how many tokens a request took."""
    separate_reasoning: bool | None = None
    """Whether a reply had its reasoning in a field of its own."""
    prefill: Prefill | None = None
    """What a request must say so that the server continues a reply; None if it cannot."""
    prompt_logprobs: bool | None = None
    """Whether the server tells the log-probabilities of a prompt's tokens."""
    tokenizer: str = ""
    """The name of a tokenizer that has the server count, if it can: `server:URL`."""


def completes(model: str) -> bool:
    """Whether a provider completes plain text, so that any prompt is the beginning of the reply."""
    return model.partition("/")[0].endswith("-completions")


def server_info_lines(info: ServerInfo) -> Iterator[Line]:
    """Return the table of what `probe_server` found out, as lines."""
    rows = [
        ("model", info.model, ""),
        ("address", info.address, ""),
        ("reachable", _reachable(info), ""),
        ("models", _names(info.models), ""),
        ("context window", _tokens(info.context_window), "lengths, within"),
        ("token counts", _yes_or_no(info.counts_tokens, "with every reply", "none"), "reports"),
        ("prefill", _prefill(info), "cot=none, cot=exactly:N"),
        ("prompt log-probabilities", _yes_or_no(info.prompt_logprobs, "yes", "no"), "perplexity"),
        ("tokenizer", info.tokenizer or "none at this address", "tokenizer"),
    ]
    return table(("fact", "server", "used by"), rows)


def _reachable(info: ServerInfo) -> str:
    if info.reachable is None:
        return "unknown"
    if info.reachable:
        return f"yes, but {info.trouble.words}" if info.trouble else "yes"
    return f"no: {info.trouble.words}" if info.trouble else "no"


def _names(names: tuple[str, ...]) -> str:
    """
    >>> _names(("qwen3", "phi-4")), _names(())
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
        said = ", ".join(f"{name}={str(value).lower()}" for name, value in info.prefill.items())
        return f"yes, with {said}" if said else "yes"
    if info.counts_tokens is False:
        return "no: it is detected by token counts"
    if info.separate_reasoning:
        return "no: reasoning has a field of its own"
    return "unknown" if info.trouble or info.reachable is None else "no"

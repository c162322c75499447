"""The windows of a server's endpoints, and their table."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from carrara.util.table import table

Outcome = Literal["cut", "refused", "unlimited", "missing", "unknown"]
Lost = Literal["", "beginning", "middle", "end"]
Evidence = Literal["", "counts", "codes"]


@dataclass(frozen=True)
class EndpointWindow:
    """What was found out about an endpoint. Tokens are the server's, where it counts them."""

    endpoint: str
    outcome: Outcome
    """What becomes of longer prompts."""
    largest: int | None = None
    """The tokens of the largest prompt that was read whole."""
    largest_text: int | None = None
    """The tokens of its text, by the tokenizer of the report."""
    smallest_cut: int | None = None
    """The tokens of the smallest prompt that was not read whole."""
    limit: int | None = None
    """The limit between the two that the server's count, error or list of models names."""
    kept: int | None = None
    """The tokens that the server counted in the longest prompt that it cut."""
    lost: Lost = ""
    evidence: Evidence = ""
    """What shows that a prompt was read whole."""
    words: str = ""
    """The words in which the server refuses longer prompts."""
    reply_taken: bool | None = None
    """Whether room for the reply is taken from the window. None: it was not tested."""
    constant: int | None = None
    """Tokens that the server counts beside the text: template, system prompt, first tokens."""
    notes: tuple[str, ...] = ()
    prompts: int = 0
    tokens: int = 0
    """Tokens of all prompts that were sent, by the tokenizer of the report."""

    @property
    def is_measured(self) -> bool:
        return self.outcome != "unknown"


@dataclass(frozen=True)
class WindowReport:
    """The windows of a server's endpoints."""

    tokenizer: str
    upto: int
    """The longest prompt, in the server's tokens."""
    endpoints: tuple[EndpointWindow, ...]

    @property
    def is_measured(self) -> bool:
        return all(window.is_measured for window in self.endpoints)

    def lines(self) -> Iterator[str]:
        """Yield the table of endpoints, and the words and notes below it."""
        columns = ("endpoint", "read whole", "longer prompts", "lost", "shown by", "reply's room", "prompts", "tokens")
        yield from table(columns, map(_row, self.endpoints))
        yield from _once((window.words, window.endpoint) for window in self.endpoints if window.words)
        yield from _once((note, window.endpoint) for window in self.endpoints for note in window.notes)


def _once(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield each text once, after the names of all endpoints that have it, or have it with other numbers."""
    texts, names = dict[str, str](), dict[str, list[str]]()
    for text, name in pairs:
        key = re.sub(r"[\d,]+", "0", text)
        texts.setdefault(key, text)
        names.setdefault(key, []).append(name)
    for key, text in texts.items():
        yield f"{'; '.join(names[key])}: {text}"


def _row(window: EndpointWindow) -> tuple[str, ...]:
    longer = {
        "cut": f"cut to {window.kept:,} tokens" if window.kept else "cut",
        "refused": "refused",
        "unlimited": "no limit found",
        "missing": "no such endpoint",
        "unknown": "not measured",
    }[window.outcome]
    reply = {None: "–", True: "taken from it", False: "not taken"}[window.reply_taken]
    shown_by = {"counts": "token counts", "codes": "codes", "": "–"}[window.evidence]
    numbers = (f"{window.prompts:,}", f"{window.tokens:,}")
    return window.endpoint, _largest(window), longer, window.lost or "–", shown_by, reply, *numbers


def _largest(window: EndpointWindow) -> str:
    if window.largest is None or window.outcome == "missing":
        return "–"
    if window.outcome in ("unlimited", "unknown"):
        return f"{window.largest:,} or more"
    if window.limit is not None:
        return f"{window.largest:,} (limit {window.limit:,})"
    return f"{window.largest:,} (not {window.smallest_cut:,})"

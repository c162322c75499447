"""The setting of reasoning before an answer, and the choice of how to suppress reasoning.

Reasoning is suppressed by a reply that the request begins (prefill), or by asking for the answer only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from carrara.constants import COT
from carrara.results.result import Subject
from carrara.servers.server_info import Prefill
from carrara.util.errors import UsageError
from carrara.verify.reference import REFERENCES

FREE = "free"
NONE = "none"
PREFILLED, ASKED = "none, prefilled", "none, asked"
Way = Literal["free", "prefilled", "asked", "exactly"]


@dataclass(frozen=True)
class Thinking:
    """The setting of a model's reasoning."""

    way: Way = "free"
    length: int = 0
    """Tokens of reasoning, if their number is exact."""

    @staticmethod
    def parse(text: str) -> "Thinking":
        """
        >>> Thinking.parse("exactly:500"), str(Thinking.parse("none, asked")), str(Thinking.parse(""))
        (Thinking(way='exactly', length=500), 'none, asked', '')
        """
        name, _, number = text.partition(":")
        text = re.sub(r",\s*", ", ", text)  # Inspect splits lists at every comma
        if name == "exactly" and number.isascii() and number.isdigit():
            return Thinking("exactly", int(number))
        ways: dict[str, Way] = {"": "free", FREE: "free", PREFILLED: "prefilled", ASKED: "asked"}
        if text not in ways:
            raise UsageError(f"{text!r} is no way to reason: give free, none, or exactly:N with a number of tokens")
        return Thinking(ways[text])

    def __str__(self) -> str:
        """Return the setting as text. Empty if reasoning is free."""
        return {"free": "", "prefilled": PREFILLED, "asked": ASKED, "exactly": f"exactly:{self.length}"}[self.way]

    @property
    def continues(self) -> bool:
        """Whether the server has to support continuing a message."""
        return self.way in ("prefilled", "exactly")


def reasoning_way(cot: str, style: str, subject: Subject, before: Sequence[Subject]) -> str | None:
    """Return the reasoning that results will be labelled with, as far as it is known without asking the server.

    A run resumes with the way in which it began: `before` are the subjects of the replies in its folder.
    """
    if cot != NONE:
        return str(Thinking.parse(cot))
    if style == "base":
        return PREFILLED
    model, settings = subject
    if takes_prompts_only(model):
        return ASKED
    same = {way for way in (PREFILLED, ASKED) if (model, tuple(sorted({*settings, (COT, way)}))) in before}
    return same.pop() if len(same) == 1 else None


def takes_prompts_only(model: str) -> bool:
    """Return whether a model accepts only a whole prompt, without the beginning of its reply."""
    return model.removeprefix("carrara/") in REFERENCES or model.startswith("function/")


def require_prefill(model: str, cot: str, prefill: Prefill | None) -> Prefill:
    """Return the facts of a server. Raise if a run needs prefill and the server does not support it."""
    if prefill is None:
        raise UsageError(
            f"the server of {model} cannot go on with a message, which `cot={cot}` needs, or keeps its reasoning "
            f"apart: use a server that can, such as vLLM or llama.cpp without a reasoning parser, or another `cot`"
        )
    return prefill

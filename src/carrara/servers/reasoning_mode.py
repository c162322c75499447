"""How a model is to reason before it answers, as settings write it."""

import re
from dataclasses import dataclass
from typing import Literal

from carrara.core.errors import UsageError

FREE = "free"
NONE = "none"
PREFILLED, ASKED = "none, prefilled", "none, asked"
Way = Literal["free", "prefilled", "asked", "exactly"]


@dataclass(frozen=True)
class Thinking:
    """How a model is to reason."""

    way: Way = "free"
    length: int = 0
    """Tokens of reasoning, where they are exact."""

    @staticmethod
    def parse(text: str) -> "Thinking":
        """
        >>> Thinking.parse("exactly:500"), str(Thinking.parse("none, asked")), str(Thinking.parse(""))
        (Thinking(way='exactly', length=500), 'none, asked', '')
        """
        name, _, number = text.partition(":")
        text = re.sub(r",\s*", ", ", text)  # Inspect takes a list at every comma
        if name == "exactly" and number.isascii() and number.isdigit():
            return Thinking("exactly", int(number))
        ways: dict[str, Way] = {"": "free", FREE: "free", PREFILLED: "prefilled", ASKED: "asked"}
        if text not in ways:
            raise UsageError(f"{text!r} is no way to reason: give free, none, or exactly:N with a number of tokens")
        return Thinking(ways[text])

    def __str__(self) -> str:
        """As settings have it; nothing where it is free."""
        return {"free": "", "prefilled": PREFILLED, "asked": ASKED, "exactly": f"exactly:{self.length}"}[self.way]

    @property
    def continues(self) -> bool:
        """Whether the server has to be able to go on with a message."""
        return self.way in ("prefilled", "exactly")

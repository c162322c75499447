"""What a question tells of the list that it asks for, by which some layouts of a reply are understood.

>>> Asked(keys=frozenset({"fig", "date"})).key("The partner of Fig is"), Asked(first=True).about("Only in List 2")
('fig', False)
"""

import re
from dataclasses import dataclass

SIDE = re.compile(
    r"(?P<not>\b(?:not|missing|absent|unlike|instead of|rather than|different from|compared (?:to|with))"
    r" (?:in |from |of )?(?:the )?)?\b(?:(?P<first>first list|list (?:1|one|a))|second list|list (?:2|two|b))\b",
    re.IGNORECASE,
)
"""One of two lists that are compared; `not` where it is said that something is not in it."""
_TOKEN = re.compile(r"\w+(?:['’-](?!s\b)\w+)*")
_LONG = 2_000
"""Characters of a text that are looked at."""


@dataclass(frozen=True)
class Asked:
    """What a question tells of the list that it asks for."""

    keys: frozenset[str] = frozenset()
    """The words whose partners are the items."""
    first: bool | None = None
    """Of two lists that are compared, whether it is the first one's words that are asked for."""
    adds_up: bool = False
    """Whether it may be given in rows."""

    def about(self, text: str) -> bool | None:
        """Whether a text is about the list of the two that is asked for; None if it names neither."""
        if self.first is None:
            return None
        named = next((found for found in SIDE.finditer(text[:_LONG]) if not found["not"]), None)
        return named and (named["first"] is not None) == self.first

    def key(self, text: str) -> str | None:
        """The one word of a text whose partner is asked for."""
        named = self.keys.intersection(_TOKEN.findall(text[-_LONG:].casefold())) if self.keys else ()
        return next(iter(named)) if len(named) == 1 else None


NOTHING_ASKED = Asked()

"""What is wrong with lines, told by kind: three thousand ids of another version are one sentence, not three thousand.

carrara: replies.jsonl: 3,000 lines (the first: 17): an id of version 1 of sync/graph, and this is version 2: …
"""

from dataclasses import dataclass
from typing import NamedTuple

KINDS = 40
"""Kinds that are told apart; what an id says is anybody's invention, and so may be what is wrong with it."""
SHOWN = 400
"""Characters of a message that are shown."""


class Trouble(NamedTuple):
    """Why a line cannot be scored."""

    kind: str
    """The same for all lines that are to be told of at once."""
    message: str
    """In the words of this line, which stand for its kind if it is the first."""


@dataclass
class _Kind:
    first: int
    message: str
    lines: int = 0


class Troubles:
    """The kinds of trouble in a file, with the number of their lines and the first of them."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        self.lines = 0

    def add(self, number: int, trouble: Trouble) -> None:
        kind, message = trouble
        if kind not in self._kinds and len(self._kinds) >= KINDS:
            kind, message = "others", f"other trouble, such as this: {message}"
        self._kinds.setdefault(kind, _Kind(number, message)).lines += 1
        self.lines += 1

    def told(self, source: str) -> list[str]:
        """One line for each kind, in the order of the file."""
        return [_told(source, kind) for kind in self._kinds.values()]


def _told(source: str, kind: _Kind) -> str:
    shown = kind.message if len(kind.message) <= SHOWN else f"{kind.message[:SHOWN]} …"
    one_line = "".join(letter if letter.isprintable() else " " for letter in shown)
    if kind.lines == 1:
        return f"{source}:{kind.first}: {one_line}"
    return f"{source}: {kind.lines:,} lines (the first: {kind.first}): {one_line}"

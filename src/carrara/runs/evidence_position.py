"""Where in its context an answer is read from: found while the prompt streams past, and kept as three figures."""

from collections.abc import Collection
from typing import NamedTuple

from carrara.prompt.prompt import Part

DIGITS = 4


class Places(NamedTuple):
    """Shares of the context's characters."""

    first: float
    """Where the first needed update begins,"""
    last: float
    """and the last."""
    needed: int


class Watch:
    """Sees the parts of a prompt pass."""

    def __init__(self, needs: Collection[int]) -> None:
        self._needs = frozenset(needs)
        self._began: dict[int, int] = {}
        self._passed = 0

    def see(self, part: Part) -> None:
        if not part.segment:
            return
        if part.update in self._needs:
            self._began.setdefault(part.update, self._passed)
        self._passed += len(part.text)

    @property
    def places(self) -> Places | None:
        """None where nothing in particular is needed, or where only a part of the context was sent."""
        if not self._needs or len(self._began) < len(self._needs):
            return None
        shares = [round(at / self._passed, DIGITS) for at in self._began.values()]
        return Places(min(shares), max(shares), len(shares))

"""The position of the evidence in a context, found while the prompt streams past, and stored as three numbers."""

from collections.abc import Collection
from typing import NamedTuple

from carrara.items.prompt import PromptPart

DIGITS = 4


class Places(NamedTuple):
    """Shares of the context's characters."""

    first: float
    """The position at which the first piece of evidence begins."""
    last: float
    """The position of the last piece."""
    needed: int


class Watch:
    """An observer of the parts of a prompt as they stream past."""

    def __init__(self, evidence: Collection[int]) -> None:
        self._evidence = frozenset(evidence)
        self._began: dict[int, int] = {}
        self._passed = 0

    def see(self, part: PromptPart) -> None:
        if not part.segment:
            return
        if part.fact in self._evidence:
            self._began.setdefault(part.fact, self._passed)
        self._passed += len(part.text)

    @property
    def places(self) -> Places | None:
        """The positions. None if the question has no evidence, or only a part of the context was sent."""
        if not self._evidence or len(self._began) < len(self._evidence):
            return None
        shares = [round(at / self._passed, DIGITS) for at in self._began.values()]
        return Places(min(shares), max(shares), len(shares))

"""The size that a compaction may leave: a number of tokens, or a share of those before it.

>>> Size.parse("compact", "20%").of(1000), Size.parse("compact", "1k").of(9000)
(200, 1024)
"""

import re
from dataclasses import dataclass

from carrara.util.errors import UsageError
from carrara.util.quantities import read_length

_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True)
class Size:
    """The most that a compaction may leave."""

    share: float = 0
    """The share of the tokens before it. 0: a number of tokens."""
    tokens: int = 0

    @staticmethod
    def parse(reader: str, text: str) -> "Size | None":
        """Return the size that a user wrote. None: the text is empty.

        Raises:
            UsageError: It is no size.
        """
        if not text:
            return None
        if share := _SHARE.fullmatch(text):
            size = Size(share=float(share[1]) / 100)
        elif text.endswith("%"):
            size = Size()
        else:
            size = Size(tokens=read_length(text))
        if not (0 < size.share < 1 or size.tokens):
            raise UsageError(f"the reader {reader}: size={text} leaves nothing to do: give 20%, or tokens such as 1k")
        return size

    def of(self, before: int) -> int:
        """Return the most tokens that may be left of this many."""
        return max(1, int(before * self.share + 1e-9)) if self.share else self.tokens

    def share_of(self, before: int) -> float:
        """Return the most that may be left of this many tokens, as a share of them."""
        return self.share or min(1.0, self.tokens / max(1, before))

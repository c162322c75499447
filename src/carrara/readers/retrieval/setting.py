"""The setting of retrieval, which is written in one line: `chunks:512:gpt2,by=minilm,top=5,order=score`."""

import re
from dataclasses import dataclass
from typing import Literal

from carrara.readers.retrieval.embedders import Address
from carrara.util.errors import UsageError, nearest

Order = Literal["score", "position"]
BM25 = "bm25"
MINILM = "minilm"
ENDPOINT = "openai:"
TOKENIZER = "gpt2"
"""The default tokenizer for windows: that of BABILong."""

_WINDOWS = re.compile(r"chunks:([0-9]{1,9})(?::([^,]+))?")
_WHOLE = re.compile(r"[0-9]{1,9}")
_CUTS = ("sentences", "chunks")
_ORDERS: dict[str, Order] = {"score": "score", "position": "position"}
_NAMES = ("by", "top", "order", "overlap")


@dataclass(frozen=True)
class Retrieval:
    """The settings of retrieval: the parts of a context, and their ranking. `str` gives the line that names them.

    Examples:
        >>> str(Retrieval(size=512, tokenizer="gpt2", by="bm25"))
        'chunks:512:gpt2,by=bm25,top=5,order=score'
    """

    size: int = 0
    """Tokens of a window. 0: parts are sentences."""
    tokenizer: str = ""
    """The tokenizer that counts windows. Empty for sentences."""
    overlap: int = 0
    """Tokens that a window shares with the one before."""
    by: str = MINILM
    """The ranking: `minilm`, `bm25` or `openai:MODEL[@URL]`."""
    top: int = 5
    """The number of parts to retrieve."""
    order: Order = "score"
    """The order of the parts: `score`, the best first as in BABILong, or `position`, as in the context."""

    @staticmethod
    def parse(
        text: str,
        *,
        by: str | None = None,
        top: int | None = None,
        order: str | None = None,
        overlap: int | None = None,
    ) -> "Retrieval":
        """Parse a setting. Arguments given by name override the text.

        Args:
            text: `sentences`, `chunks:512` or `chunks:512:gpt2`, and further settings such as `,by=bm25,top=10`.
            by: The ranking: `minilm`, `bm25` or `openai:MODEL[@URL]`. By default minilm.
            top: The number of parts to retrieve. By default 5.
            order: The order of the parts: `score` or `position`. By default score.
            overlap: Tokens that a window shares with the one before. By default 0.

        Returns:
            The setting.

        Raises:
            UsageError: The text or an argument is wrong.

        Examples:
            >>> str(Retrieval.parse("sentences"))
            'sentences,by=minilm,top=5,order=score'
            >>> str(Retrieval.parse("chunks:512,by=bm25", top=10, order="position"))
            'chunks:512:gpt2,by=bm25,top=10,order=position'
        """
        head, *rest = text.strip().split(",")
        windows = _WINDOWS.fullmatch(head)
        if not windows and head != "sentences":
            kind = head.partition(":")[0]
            hint = nearest(kind, _CUTS) if kind not in _CUTS else ""
            raise UsageError(
                f"{head!r} is not how a context is cut{hint}: write sentences, chunks:512 or chunks:512:gpt2"
            )
        options: dict[str, str] = {}
        for name, value in (_parse_part(part) for part in rest if part):
            if name in options:
                raise UsageError(f"{name} is given twice, as {options[name]} and as {value}: leave one out")
            options[name] = value
        arguments = {"by": by, "top": top, "order": order, "overlap": overlap}
        options |= {name: str(value) for name, value in arguments.items() if value is not None}
        size = int(windows[1]) if windows else 0
        if windows and not size:
            raise UsageError(f"{head}: a window needs 1 token or more")
        shared = _number("overlap", options.get("overlap", "0"))
        if shared and shared >= size:
            what = f"windows of {size} tokens" if size else "sentences, which have none"
            raise UsageError(f"overlap={shared} is not possible with {what}: give less, or leave it out")
        best = _number("top", options.get("top", "5"))
        if not best:
            raise UsageError("top=0 finds nothing: give 1 or more")
        tokenizer = (windows[2] or TOKENIZER) if windows else ""
        return Retrieval(
            size, tokenizer, shared, _by(options.get("by", MINILM)), best, _order(options.get("order", "score"))
        )

    def __str__(self) -> str:
        head = f"chunks:{self.size}:{self.tokenizer}" if self.size else "sentences"
        overlap = f",overlap={self.overlap}" if self.overlap else ""
        return f"{head}{overlap},by={self.by},top={self.top},order={self.order}"


def _parse_part(part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals or name not in _NAMES:
        raise UsageError(f"retrieval has no setting {name!r}{nearest(name, _NAMES)}; it has {', '.join(_NAMES)}")
    return name, value


def _number(name: str, value: str) -> int:
    if not _WHOLE.fullmatch(value):
        raise UsageError(f"{name}={value} is not a whole number")
    return int(value)


def _by(value: str) -> str:
    if value in (MINILM, BM25):
        return value
    if value.startswith(ENDPOINT) and ";" not in value:
        return Address.parse(value).spec
    raise UsageError(
        f"nothing ranks by {value!r}{nearest(value, (MINILM, BM25))}: write {MINILM}, {BM25} or {ENDPOINT}MODEL@URL"
    )


def _order(value: str) -> Order:
    if value not in _ORDERS:
        raise UsageError(f"order={value} is not an order{nearest(value, _ORDERS)}: write {' or '.join(_ORDERS)}")
    return _ORDERS[value]

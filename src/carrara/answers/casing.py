"""Words that a pattern found whatever their case, and what stands for them."""

import re
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def looked_up(words: Mapping[str, T], said: str) -> T:
    """What stands for one of some words in small letters, as a pattern that ignores case has found it in a reply.

    To such a pattern `ı` is an i, `ſ` an s and the sign of kelvin a k, which `lower` leaves as they are or takes apart.

    >>> looked_up({"kitchen": 1, "office": 2}, "Kitchen"), looked_up({"kitchen": 1, "office": 2}, "offıce")
    (1, 2)
    """
    if (small := said.lower()) in words:
        return words[small]
    return next(meant for word, meant in words.items() if re.fullmatch(re.escape(word), said, re.IGNORECASE))

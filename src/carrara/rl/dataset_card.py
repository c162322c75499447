"""What a data set of items says of itself: the canary, the licence, and whether to train on it."""

from typing import Any

from carrara.export.about import TEXTS, licence, terms
from carrara.params import read_canonical
from carrara.rl.stream import Stream


def describe(info: Any, stream: Stream) -> None:
    """Of a `datasets.DatasetInfo`."""
    own_text = any(name in TEXTS for first in stream.firsts for name in read_canonical(first.params))
    info.description = terms(own_text, stream.firsts[0].split)
    info.license = licence(own_text)

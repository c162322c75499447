"""The description of a data set of items: its canary, its licence, and whether it may be used for training."""

from typing import Any

from carrara.export.about import TEXTS, licence, terms
from carrara.export.stream import Stream
from carrara.params import read_canonical


def describe(info: Any, stream: Stream) -> None:
    """Write the description of a stream into a `datasets.DatasetInfo`."""
    own_text = any(name in TEXTS for first in stream.firsts for name in read_canonical(first.params))
    info.description = terms(own_text, stream.firsts[0].split)
    info.license = licence(own_text)

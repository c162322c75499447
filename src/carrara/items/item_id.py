"""Item ids: ids of items, from which they can be built again to the byte, on any machine.

>>> r = ItemId.parse("michelangelo/latent_list@1;complexity=5/test-0-17.0/4096/chat/gpt2")
>>> r.index, r.length, r.tokenizer
(17, 4096, 'gpt2')
>>> r.instance_id
'michelangelo/latent_list@1;complexity=5/test-0-17'

A task may have subsets that overlap at short lengths: up to 32k, up to 128k, up to 1M (Michelangelo, section 3.2). Each
subset has its own instances and lengths, so that the short contexts can be run first and the others added. If k subsets
share a bucket of lengths, it counts 1/k in each, and the union keeps the shape of a subset.
"""

import re
import sys
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple, get_args

from carrara.rng import SPLITS, Key, Split
from carrara.types import Arrange, Style
from carrara.util.errors import UsageError
from carrara.util.quantities import MAX_LENGTH, read_length, read_lengths, write_length

APART = 1_000_000
"""The distance between the first instances of one subset and of the next."""


@dataclass(frozen=True)
class Subset:
    upto: str
    lengths: str
    number: int

    @property
    def first(self) -> int:
        """The index of its first instance."""
        return self.number * APART

    @property
    def sizes(self) -> list[int]:
        return read_lengths(self.lengths)


SUBSETS = (
    Subset("32k", "4k,8k,12k,16k,24k,32k", 0),
    Subset("128k", "8k,16k,32k,48k,64k,96k,128k", 1),
    Subset("1M", "32k,64k,128k,192k,256k,384k,512k,768k,1M", 2),
)
"""The lengths of a curve. They are closer than doublings; the paper does not give its own."""

_BOUNDS = [read_length(subset.upto) for subset in SUBSETS]


def subset_of(index: int) -> int:
    """Return the number of the subset to which an instance belongs."""
    return index // APART


def bucket_of(length: int) -> int:
    """Return the name of a subset: up to 32k, up to 128k, up to 1M, beyond."""
    return bisect_left(_BOUNDS, length)


_ID = re.compile(
    r"(?P<task>[^/@]+/[^/@]+)@(?P<version>\d+)(?:;(?P<params>[^/]*))?"
    rf"/(?P<split>{'|'.join(SPLITS)})-(?P<seed>\d+)-(?P<index>\d+)\.(?P<question>\d+)"
    rf"/(?P<length>\d+)(?:\+(?P<arrange>{'|'.join(filter(None, get_args(Arrange)))}))?"
    rf"/(?P<style>{'|'.join(get_args(Style))})(?:~(?P<pack>[0-9a-f]+))?/(?P<tokenizer>.+)",
    re.ASCII,
)

_NUMBERS = 1 << 63


@dataclass(frozen=True)
class ItemId:
    task: str
    version: int
    params: str
    split: Split
    seed: int
    index: int
    question: int
    length: int
    style: Style
    pack: str
    """Hash of the prompt pack that replaces the task's own wording. Empty for the task's own."""
    tokenizer: str
    arrange: Arrange = ""
    """How the needed facts stand in the filler. It is written after the length."""

    @staticmethod
    def parse(text: str) -> "ItemId":
        value: object = text  # rows of other programs may have anything in its place
        match = _ID.fullmatch(text) if isinstance(value, str) and len(text) < 2000 and text.isprintable() else None
        if not match:
            raise UsageError(f"{str(text)[:200]!r} is not an item's id; `carrara generate` writes them")
        part = match.groupdict(default="")
        item_id = ItemId(
            task=part["task"],
            version=int(part["version"]),
            params=part["params"],
            split=part["split"],  # type: ignore[arg-type]  # the pattern admits only splits
            seed=int(part["seed"]),
            index=int(part["index"]),
            question=int(part["question"]),
            length=int(part["length"]),
            style=part["style"],  # type: ignore[arg-type]  # the pattern admits only styles
            pack=part["pack"],
            tokenizer=part["tokenizer"],
            arrange=part["arrange"],  # type: ignore[arg-type]  # the pattern admits only arrangements
        )
        if item_id.length > MAX_LENGTH or max(item_id.seed, item_id.index, item_id.question) >= _NUMBERS:
            raise UsageError(
                f"{text[:200]!r} is no item's id: a length is at most {MAX_LENGTH:,}, other numbers below 2**63"
            )
        if str(item_id) != text:
            raise UsageError(f"{text!r} is not how an id is written: the item is {item_id}")
        return item_id

    def __str__(self) -> str:
        return f"{self.instance_id}.{self.question}{self._setting}"

    @property
    def instance_id(self) -> str:
        """An id that is the same at every length, in every arrangement and for every model. Scores are paired by it."""
        params = f";{self.params}" if self.params else ""
        return f"{self.task}@{self.version}{params}/{self.split}-{self.seed}-{self.index}"

    @property
    def context_id(self) -> str:
        """An id that all questions on one context share."""
        return self.instance_id + self._setting

    @property
    def _setting(self) -> str:
        pack = f"~{self.pack}" if self.pack else ""
        arrange = f"+{self.arrange}" if self.arrange else ""
        return f"/{self.length}{arrange}/{self.style}{pack}/{self.tokenizer}"

    def size(self, joint: str = "+") -> str:
        """Return the length with the arrangement, such as `4k` or `4k+block`, for people and file names."""
        return joint.join(filter(None, (write_length(self.length), self.arrange)))

    @property
    def key(self) -> Key:
        return Key(self.task, self.version, self.params, self.split, self.seed, self.index)


ALL = sys.maxsize
"""The number of a job's instances that stands for all there are."""


class RunJob(NamedTuple):
    """A task at a length."""

    first: ItemId
    instances: int
    """The number of instances, from the first item id's on."""
    card: str = ""
    """The model card that it was asked for, such as `openai-mrcr`."""

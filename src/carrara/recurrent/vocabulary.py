"""The vocabulary of a small model: the words of its tasks, the commonest of the filler, and a few hundred buckets.

The words that facts, questions and answers are made of each have a token of their own, whatever else a text says: no
rare word of a book is ever taken for a name. All other words share the buckets, by a hash that is the same everywhere.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from carrara.tokenizers.words import join, split

Ids = npt.NDArray[np.int64]

PAD, END, ANSWER = 0, 1, 2
"""What fills up a batch; what ends an answer; what stands between a question and its answer."""
SPECIAL = 3
UNTOLD = -100
"""A target that is not asked for."""
COMMON = 2000
BUCKETS = 256


class Vocabulary:
    """Words to numbers and back. Words that may be said come first, so that nothing else is ever predicted."""

    def __init__(self, own: Sequence[str], common: Sequence[str], buckets: int = BUCKETS) -> None:
        self.own, self.common, self.buckets = tuple(own), tuple(common), buckets
        self.words = [*own, *common]
        self.ids = {word: SPECIAL + i for i, word in enumerate(self.words)}
        self.said = SPECIAL + len(own)
        """Tokens that answers are made of: all below this one."""

    def __len__(self) -> int:
        return SPECIAL + len(self.words) + self.buckets

    def encode(self, text: str) -> list[int]:
        known = self.ids
        return [known[word] if word in known else self._bucket(word) for word in split(text)]

    def decode(self, ids: Iterable[int]) -> str:
        return join([self.words[i - SPECIAL] for i in ids if SPECIAL <= i < self.said])

    def _bucket(self, word: str) -> int:
        place = int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % self.buckets
        found = self.ids[word] = SPECIAL + len(self.words) + place
        return found


def build_vocabulary(texts: Iterable[str], filler: Iterable[str], common: int = COMMON) -> Vocabulary:
    """The vocabulary of some tasks' own texts, and of their filler."""
    own = sorted({word for text in texts for word in split(text)})
    counts = Counter(word for text in filler for word in split(text))
    for word in own:
        del counts[word]
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return Vocabulary(own, ordered[:common])

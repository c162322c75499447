"""The vocabulary of a small model: the words of its tasks, the most frequent words of the filler, and hash buckets.

Each word of facts, questions and answers has a token of its own, so that no rare word of a book is taken for a name.
All other words share the buckets, by a hash that is the same on every machine.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from carrara.tokenizers.words import join, split

Ids = npt.NDArray[np.int64]

PAD, END, ANSWER = 0, 1, 2
"""The tokens that fill up a batch, end an answer, and stand between a question and its answer."""
SPECIAL = 3
IGNORED = -100
"""A target that does not count."""
COMMON = 2000
BUCKETS = 256


class Vocabulary:
    """Converts words to numbers and back. The words of answers come first, so that nothing else is ever predicted."""

    def __init__(self, task_words: Sequence[str], common: Sequence[str], buckets: int = BUCKETS) -> None:
        self.task_words, self.common, self.buckets = tuple(task_words), tuple(common), buckets
        self.words = [*task_words, *common]
        self.ids = {word: SPECIAL + i for i, word in enumerate(self.words)}
        self.outputs = SPECIAL + len(task_words)
        """The number of tokens that answers consist of: all tokens below it."""

    def __len__(self) -> int:
        return SPECIAL + len(self.words) + self.buckets

    def encode(self, text: str) -> list[int]:
        known = self.ids
        return [known[word] if word in known else self._bucket(word) for word in split(text)]

    def decode(self, ids: Iterable[int]) -> str:
        return join([self.words[i - SPECIAL] for i in ids if SPECIAL <= i < self.outputs])

    def _bucket(self, word: str) -> int:
        place = int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % self.buckets
        number = self.ids[word] = SPECIAL + len(self.words) + place
        return number


def build_vocabulary(texts: Iterable[str], filler: Iterable[str], common: int = COMMON) -> Vocabulary:
    """Return the vocabulary of the tasks' own texts and of their filler."""
    task_words = sorted({word for text in texts for word in split(text)})
    counts = Counter(word for text in filler for word in split(text))
    for word in task_words:
        del counts[word]
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return Vocabulary(task_words, ordered[:common])

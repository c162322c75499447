"""Which embedder is meant by a name."""

from functools import cache

from carrara.retrieval.address import Address
from carrara.retrieval.embedders import Embedder
from carrara.retrieval.endpoint import Endpoint
from carrara.retrieval.minilm import load
from carrara.retrieval.setting import MINILM


@cache
def embedder(by: str) -> Embedder:
    """The embedder of that name, built once."""
    if by == MINILM:
        return load()
    return Endpoint.at(Address.parse(by))

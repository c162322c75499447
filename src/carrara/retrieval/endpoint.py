"""Embeddings from any server that speaks OpenAI's `/v1/embeddings`: OpenAI, vLLM, llama.cpp, Text Embeddings Inference.

    openai:text-embedding-3-small                       OpenAI's own server, with the key in OPENAI_API_KEY
    openai:BAAI/bge-m3@http://127.0.0.1:8000/v1         any other, with the key in EMBEDDINGS_API_KEY if it wants one

OpenAI's key is never sent to another server.
"""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from carrara.errors import RunError, UsageError
from carrara.retrieval.embedders import Vectors, unit

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

_OPENAI = "https://api.openai.com/v1"
_KEY, _OPENAI_KEY = "EMBEDDINGS_API_KEY", "OPENAI_API_KEY"
_SPEC = re.compile(r"openai:([^\s;]+?)(?:@(https?://[^\s;]+))?")
_BATCH = 64
_REQUESTS = 4
"""At a time."""
_RETRIES = 6
"""After 408, 409, 429, 5xx and lost connections: half a minute of patience, or what the server asks for."""
_SECONDS = 120.0
_TOO_MUCH = (400, 413, 422)
"""How servers refuse more texts, or longer ones, than they take."""
_QUOTED = 200


@dataclass(frozen=True)
class Address:
    model: str
    url: str

    @property
    def spec(self) -> str:
        return f"openai:{self.model}" + (f"@{self.url}" if self.url != _OPENAI else "")

    @property
    def key(self) -> str:
        """The name of the variable that holds the key."""
        return _OPENAI_KEY if self.url == _OPENAI else _KEY

    @staticmethod
    def parse(spec: str) -> "Address":
        """
        >>> Address.parse("openai:@cf/baai/bge@http://127.0.0.1:8000/v1/")
        Address(model='@cf/baai/bge', url='http://127.0.0.1:8000/v1')
        """
        found = _SPEC.fullmatch(spec)
        if not found:
            raise UsageError("an embedding server is written openai:MODEL@http://HOST:PORT/v1, or openai:MODEL alone")
        url = (found[2] or _OPENAI).rstrip("/")
        try:
            parts = urlsplit(url)
            sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            sound = False
        if not sound or "@" in url or parts.query or parts.fragment:
            # The address is not repeated here: a password may stand in it.
            raise UsageError(
                f"the address of the embedding model {found[1]} is not like http://HOST:PORT/v1; "
                f"a key goes into the environment, as {_KEY}"
            )
        return Address(found[1], url)


@dataclass(frozen=True)
class Endpoint:
    address: Address
    client: "OpenAI"

    @staticmethod
    def at(address: Address) -> "Endpoint":
        from openai import OpenAI

        key = os.environ.get(address.key)
        if not key and address.url == _OPENAI:
            raise UsageError(f"{address.spec} needs a key: set {address.key}")
        client = OpenAI(api_key=key or "none", base_url=address.url, max_retries=_RETRIES, timeout=_SECONDS)
        return Endpoint(address, client)

    @property
    def name(self) -> str:
        return self.address.spec

    def embed(self, texts: Sequence[str]) -> Vectors:
        batches = [texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH)]
        with ThreadPoolExecutor(_REQUESTS) as pool:
            found = [vectors for vectors in pool.map(self._batch, batches) if len(vectors)]
        if len({vectors.shape[1] for vectors in found}) > 1:
            raise self._garbled()
        return unit(np.concatenate(found)) if found else np.zeros((0, 0), np.float32)

    def _batch(self, texts: Sequence[str]) -> Vectors:
        from openai import APIConnectionError, APIStatusError

        try:
            answer = self.client.embeddings.create(model=self.address.model, input=list(texts))
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], np.float32)
        except APIStatusError as error:
            if error.status_code in _TOO_MUCH and len(texts) > 1:
                half = len(texts) // 2
                return np.concatenate([self._batch(texts[:half]), self._batch(texts[half:])])
            raise self._refusal(error, texts) from None
        except APIConnectionError as error:
            reason = str(error.__cause__ or error)[:_QUOTED]
            raise RunError(f"{self.address.url} does not answer ({reason}): is the server running?") from None
        except (AttributeError, TypeError, ValueError):
            raise self._garbled() from None
        if vectors.shape[:1] != (len(texts),) or vectors.ndim != 2 or not np.linalg.norm(vectors, axis=1).all():
            raise self._garbled()
        return vectors

    def _garbled(self) -> RunError:
        return RunError(
            f"{self.address.url} did not answer with one vector for each text: is it a server for embeddings by "
            f"{self.address.model}?"
        )

    def _refusal(self, error: "APIStatusError", texts: Sequence[str]) -> RunError:
        where, model = self.address.url, self.address.model
        match error.status_code:
            case 401 | 403:  # nothing of what it says: some servers quote the key
                return RunError(f"{where} refuses the API key: check {self.address.key}")
            case 404:
                return RunError(f"{where} knows no embedding model {model}: check its name and the address")
        said = " ".join(error.message.split()).removeprefix(f"Error code: {error.status_code} - ")
        said = said.replace(self.client.api_key, "…")[:_QUOTED]
        size = f"a text of {len(texts[0]):,} characters" if len(texts) == 1 else f"{len(texts)} texts"
        return RunError(f"{where} refused {size} with status {error.status_code}: {said}")

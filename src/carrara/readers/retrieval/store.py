"""A cache of embeddings on disk: each text is embedded once by each embedder.

The same sentences of books occur in many lengths, items and questions, so that after some contexts little is left to
embed. One SQLite file holds the vectors of one embedder. It survives a kill, and several processes can use it.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import numpy as np

from carrara.readers.retrieval.embedders import Embedder, Vectors, Watch
from carrara.util.cache import cache_folder
from carrara.util.errors import RunError

_AT_ONCE = 1 << 16
"""The characters that are embedded between two writes: about a second's work, which is all that a kill can lose."""
_ASKED = 500
_SECONDS = 120.0
_PAGE = 1 << 14
"""The size of a page in bytes. A vector takes 1.5 kB or more, and a page should hold several."""
_F32 = np.dtype("<f4")

_one_at_a_time = Lock()
"""A lock, because an embedder already uses all cores, and a second thread may be waiting for the same texts."""


def embed_texts(embedder: Embedder, texts: Sequence[str], watch: Watch | None = None) -> Vectors:
    """Return the vectors of texts. Only texts that are not in the cache are embedded."""
    keys = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
    by_key = dict(zip(keys, texts, strict=True))
    with _open_store(embedder.name) as store:
        found = _read(store, list(by_key))
        left = [key for key in by_key if key not in found]
        done = 0
        for batch in _batches(left, by_key):
            with _one_at_a_time:
                found |= _add_missing(store, embedder, {key: by_key[key] for key in batch})
            done += len(batch)
            if watch:
                watch(done, len(left))
    return _to_vectors([found[key] for key in keys], embedder.name)


def _to_vectors(rows: Sequence[bytes], embedder: str) -> Vectors:
    """Return rows of the store as vectors. A row of another length, or without numbers, is ignored."""
    if not rows:
        return np.zeros((0, 0), np.float32)
    if len({len(row) for row in rows}) == 1 and rows[0] and len(rows[0]) % _F32.itemsize == 0:
        vectors = np.frombuffer(b"".join(rows), _F32).reshape(len(rows), -1)
        if np.isfinite(vectors).all():
            return vectors
    raise RunError(f"{store_file(embedder)} holds what is no vector of {embedder}: remove it to make all anew")


def _add_missing(store: sqlite3.Connection, embedder: Embedder, texts: dict[bytes, str]) -> dict[bytes, bytes]:
    """Add the vectors of missing texts. Another thread or process may have added them meanwhile."""
    found = _read(store, list(texts))
    new = {key: text for key, text in texts.items() if key not in found}
    if new:
        vectors = embedder.embed(list(new.values())).astype(_F32)
        rows = {key: vector.tobytes() for key, vector in zip(new, vectors, strict=True)}
        for (kept,) in store.execute("SELECT length(vector) FROM vectors LIMIT 1").fetchall():
            if kept != vectors.shape[1] * _F32.itemsize:
                path = store_file(embedder.name)
                raise RunError(f"{embedder.name} once made vectors of another length: remove {path} to make them anew")
        with store:
            store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows.items())
        found |= rows
    return found


def store_file(embedder: str) -> Path:
    plain = re.sub(r"[^\w.-]+", "-", embedder, flags=re.ASCII)[-40:]
    return cache_folder("embeddings") / f"{plain}-{blake2b(embedder.encode(), digest_size=4).hexdigest()}.sqlite"


@contextmanager
def _open_store(embedder: str) -> Iterator[sqlite3.Connection]:
    path = store_file(embedder)
    try:
        with closing(sqlite3.connect(path, timeout=_SECONDS)) as store:
            store.execute(f"PRAGMA page_size = {_PAGE}")
            store.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB NOT NULL)")
            yield store
    except sqlite3.Error as error:
        raise RunError(f"embeddings cannot be kept in {path} ({error}): remove it, or set CARRARA_CACHE") from error


def _read(store: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for i in range(0, len(keys), _ASKED):
        asked = keys[i : i + _ASKED]
        marks = ", ".join("?" * len(asked))
        found.update(store.execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", asked).fetchall())
    return found


def _batches(keys: Sequence[bytes], texts: dict[bytes, str]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for key in sorted(keys, key=lambda key: len(texts[key])):
        if batch and size + len(texts[key]) > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(key)
        size += len(texts[key])
    if batch:
        yield batch

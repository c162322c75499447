"""An OpenAI-compatible server that answers, or goes wrong in any way servers were seen to: the model's name says how.

    openai-api/test/ok               "reply to ITEM"; so does any name that is not known
    openai-api/test/garbled          every reply is JSON that was cut off
    openai-api/test/garbled-once     the first reply to every item, and then it answers; -twice, the first two
    openai-api/test/mended           refuses the first request for every odd item
    openai-api/test/mixed-30         three of ten requests go wrong, each in a way of its own, drawn by seed
    openai-api/test/hang-3           the first three items are never answered
    openai-api/test/each             the n-th item is answered in the n-th way of EACH
    openai-api/test/told             tells the log-probabilities of each prompt, as vLLM does; told-odd, what cannot be
    openai-api/test/window-600       says that it takes 600 tokens, and refuses what is longer
    openai-api/test/unknown          is no model of the server, as any is at an address without /v1
    openai-api/test/continues        counts words as tokens, and continues a reply that the request begins

    openai:vectors@…                 embeddings; vectors-first, all of which belong to the first text; vectors-negative,
                                     to texts before it; vectors-long, of 200,000 numbers

It runs as a process of its own, so that the client can be killed without it. Its journal has a line for every request
that arrived (`asked`) and for every answer that was sent (`answered`, `failed`), on disk at once. An item is known by
its text's hash. The requests of the probe before a run are for no item; `Address.probed` counts them.
"""

import argparse
import gzip
import json
import math
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, TextIO

GREETING = "Reply with the word OK."
Json = Any


class Bad(NamedTuple):
    """An answer that goes wrong on the wire: its bytes as they are, and what becomes of the connection."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}
    how: str = "whole"
    """Or `short`, with fewer bytes than were announced; `reset`, with none; `silent`, with nothing for a long time;
    `raw`, without a status line and headers; `endless`, with the same bytes again and again."""


_USAGE = {"prompt_tokens": 400, "completion_tokens": 5, "total_tokens": 405}


def reply(content: Json = "[1]", **other: Json) -> dict[str, Json]:
    message = {"role": "assistant", "content": content, **other.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": other.pop("finish_reason", "stop")}
    choice |= other.pop("choice", {})
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": _USAGE,
    } | other


def good(body: Json) -> Bad:
    return Bad(200, json.dumps(body).encode(), {"Content-Type": "application/json"})


def refused(status: int, message: str, code: Json = None, **headers: str) -> Bad:
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    return Bad(status, body, {"Content-Type": "application/json", **headers})


def packed(body: bytes) -> Bad:
    return Bad(200, gzip.compress(body, 1), {"Content-Type": "application/json", "Content-Encoding": "gzip"})


@cache
def bomb() -> Bad:
    return packed(b'"' + b" " * (100 << 20) + b'"')


def called(arguments: Json, name: str = "look", id: str = "c1") -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def searching(pattern: str, times: int) -> Json:
    """A reply that calls the tool `find` many times at once."""
    calls = [called(json.dumps({"pattern": pattern}), "find", f"c{n}") for n in range(times)]
    return reply(None, message={"tool_calls": calls})


_CALL = called('{"where": "list"}')
_WHOLE = json.dumps(reply()).encode()
_JSON = {"Content-Type": "application/json"}

_INFINITE = {"token": "y", "logprob": -math.inf, "bytes": None}
ALIASES = "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))])
"""YAML of 400 characters, whose aliases stand for 43 million texts."""

FIXED: dict[str, Bad] = {
    "told-odd": good(reply("x", prompt_logprobs=[None, {"5": {"logprob": 7.0}}])),
    "told-nan": good(reply("x", prompt_logprobs=[None, {"5": {"logprob": math.nan}}])),
    "call": good(reply(None, message={"tool_calls": [_CALL]}, finish_reason="tool_calls")),
    "call-beside": good(reply("[1]", message={"tool_calls": [_CALL]}, finish_reason="tool_calls")),
    "call-unsaid": good(reply("", message={"tool_calls": [_CALL]})),
    "call-nan": good(reply(None, message={"tool_calls": [called('{"a": NaN}')]}, created=math.nan)),
    "calls-1": good(searching("e", 1)),
    "call-odd": good(reply(None, message={"tool_calls": [called('{"start": -7, "tokens": "many"}', "read")]})),
    "call-object": good(reply(None, message={"tool_calls": [called({"where": "list"})]})),
    "call-aliases": good(reply(None, message={"tool_calls": [called(ALIASES, "find")]})),
    "overflow-413": Bad(413, b"<html>Request Entity Too Large</html>", {"Content-Type": "text/html"}),
    "silent": Bad(200, _WHOLE, _JSON, "silent"),
    "page": Bad(200, b"<!DOCTYPE html><html><body>Welcome</body></html>", {"Content-Type": "text/html"}),
    "garbled": Bad(200, _WHOLE[:60], _JSON),
    "short": Bad(200, _WHOLE, _JSON, "short"),
    "reset": Bad(200, b"", {}, "reset"),
    "parts": good(reply([{"type": "text", "text": "[1"}, {"type": "text", "text": "]"}])),
    "thinking-parts": good(
        reply(
            [{"type": "thinking", "thinking": [{"type": "text", "text": "Not [2]."}]}, {"type": "text", "text": "[1]"}]
        )
    ),
    "refusal-part": good(reply([{"type": "refusal", "refusal": "I cannot help with that."}])),
    "image-part": good(reply([{"type": "image_url", "image_url": {}}, {"type": "text", "text": "[1]"}])),
    "logprobs-text": good(reply(choice={"logprobs": "x"})),
    "logprobs-nan": good(
        reply(choice={"logprobs": {"content": [{"token": "x", "logprob": math.nan, "top_logprobs": []}]}})
    ),
    "logprobs-top": good(
        reply(choice={"logprobs": {"content": [{"token": "x", "logprob": -1, "top_logprobs": [_INFINITE]}]}})
    ),
    "details-huge": good(reply(usage={**_USAGE, "completion_tokens_details": {"reasoning_tokens": 10**400}})),
    "details-text": good(
        reply(usage={**_USAGE, "completion_tokens_details": "many", "prompt_tokens_details": {"cached_tokens": "x"}})
    ),
    "error-429": good({"error": {"message": "Too many requests", "code": 429}}),
    "error-said": good({"error": {"message": "The model is tired", "code": "tired"}}),
    "no-model": good(reply(model=None)),
    "number": good(reply(42)),
    "object": good(reply({"answer": [1]})),
    "no-choices": good({"id": "x", "object": "chat.completion", "model": "m"}),
    "empty-choices": good(reply() | {"choices": []}),
    "no-message": good(reply() | {"choices": [{"index": 0, "finish_reason": "stop"}]}),
    "bare-text": Bad(200, b'"hello"', _JSON),
    "usage-text": good(reply(usage="many")),
    "usage-negative": good(reply(usage={"prompt_tokens": -5, "completion_tokens": 5, "total_tokens": 0})),
    "usage-zero": good(reply(usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})),
    "usage-huge": good(reply(usage={"prompt_tokens": 10**12, "completion_tokens": 10**12, "total_tokens": 10**13})),
    "no-usage": good(reply(usage=None)),
    "half": Bad(200, json.dumps(reply("[1] \ud800")).encode(), _JSON),
    "nul": good(reply("[1]\x00\x1b[31m")),
    "markup": good(reply("<script>alert(1)</script>[bold]{{7*7}}</table>")),
    "empty": good(reply("")),
    "null": good(reply(None)),
    "filter": good(reply("", finish_reason="content_filter")),
    "cut": good(reply("[1", finish_reason="length")),
    "500": refused(500, "internal error"),
    "503": refused(503, "Loading model", 503),
    "429": refused(429, "Rate limit reached", "rate_limit_exceeded", **{"Retry-After": "1"}),
    "429-day": refused(429, "Rate limit reached", "rate_limit_exceeded", **{"Retry-After": "86400"}),
    "quota": refused(429, "You exceeded your current quota.", "insufficient_quota"),
    "400": refused(400, "Invalid value for top_p"),
    "401": refused(401, "Incorrect API key provided"),
    "status-line": Bad(200, b"HELLO 200 OK\r\n\r\n", {}, "raw"),
    "packed": packed(_WHOLE),
    "markup-error": refused(400, "[/bold] [red]{x} %s <b>"),
}
"""Answers that are the same whatever is asked."""


def always(answer: Bad) -> Callable[[str, int], Bad]:
    return lambda text, words: answer


WAYS: dict[str, Callable[[str, int], Bad]] = {
    # (what was asked, its words) → what is answered
    **{way: always(answer) for way, answer in FIXED.items()},
    "ok": lambda text, words: good(reply(f"reply to {item_of(text)}")),
    "told": lambda text, words: good(reply(f"reply to {item_of(text)}", prompt_logprobs=costs(words))),
    "calls-1000": lambda text, words: good(searching("e", 1000)),
    "calls-exploding": lambda text, words: good(searching("(a*)*(b*)*(x+x+)+y$", 50)),
    "call-values": lambda text, words: good(
        reply(None, message={"tool_calls": [called('{"a": [' + "{}," * 500_000 + "0]}")]})
    ),
    "nested": lambda text, words: Bad(200, _WHOLE[:-1] + b', "more": ' + b"[" * 9_000 + b"]" * 9_000 + b"}", _JSON),
    "thoughts": lambda text, words: good(reply("<think>" * 50_000)),
    "overflow": lambda text, words: refused(
        400, f"This model's maximum context length is 512 tokens. However, you requested {words} tokens.", 400
    ),
    "many-choices": lambda text, words: good(reply() | {"choices": reply()["choices"] * 4_000}),
    "many-values": lambda text, words: Bad(200, _WHOLE[:-1] + b', "more": [' + b"{}," * 10_000_000 + b"0]}", _JSON),
    "long": lambda text, words: good(reply("x" * 31_000_000 + " FINAL ANSWER: [1]")),
    "continues": lambda text, words: good(
        reply(
            f"reply to {item_of(text)}",
            usage={"prompt_tokens": words, "completion_tokens": 5, "total_tokens": words + 5},
        )
    ),
    "swap": lambda text, words: good(reply(model=f"model-{'ab'[int(item_of(text), 16) % 2]}")),
    "million": lambda text, words: good(reply("[1] " + "x" * 1_000_000)),
    "quoting": lambda text, words: refused(400, f"cannot read {text}"),
    "long-headers": lambda text, words: Bad(200, _WHOLE, {**_JSON, "X-Long": "x" * 200_000}),
    "bomb": lambda text, words: bomb(),
    "endless": lambda text, words: Bad(200, b" " * (1 << 20), _JSON, "endless"),
}

PASSING = ("page", "garbled", "short", "reset", "number", "no-choices", "no-message", "bare-text", "500", "503", "429")
"""Ways after which an item can still be answered: they are met once, or a few times."""
ENDING = (
    "call", "call-beside", "overflow", "usage-text", "usage-negative", "usage-huge", "half", "nul", "markup", "empty",
    "null", "filter", "cut", "400", "quota", "parts",
)  # fmt: skip
"""Ways that settle an item, with a reply or for good."""


EACH = (
    "ok", "call", "call-beside", "call-unsaid", "call-nan", "call-object", "refusal-part", "image-part",
    "call-values", "call-aliases", "nested", "thoughts", "logprobs-text", "logprobs-nan", "logprobs-top",
    "details-text", "details-huge", "error-429-once", "error-said", "many-choices", "many-values",
    "overflow", "overflow-413", "silent-once", "page", "garbled",
    "garbled-once", "short-once", "reset-once", "elsewhere", "loop", "status-line", "long-headers", "packed", "bomb",
    "endless", "parts", "thinking-parts", "no-model", "number", "object", "no-choices",
    "empty-choices",
    "no-message", "bare-text", "usage-text", "usage-negative", "usage-huge", "no-usage", "half", "nul", "markup",
    "empty", "null", "filter", "cut", "500-once", "503-once", "429-once", "quota", "400", "401", "markup-error", "key",
    "key-error", "million", "silent",
)  # fmt: skip
"""Every way that comes to an end within seconds."""


def costs(words: int) -> Json:
    """What vLLM tells of a prompt: nothing of its first token, and less of each word the more there are."""
    return [None, *({str(n): {"logprob": -4 / (1 + n / 400), "rank": 1, "decoded_token": "x"}} for n in range(words))]


def vectors(model: str, texts: list[str]) -> Bad:
    """A vector for each text, in the ways of an embedding model."""
    size = 200_000 if model == "vectors-long" else 8
    numbers = {"vectors-first": [0] * len(texts), "vectors-negative": range(-len(texts), 0)}
    places = numbers.get(model, range(len(texts)))
    rows = [{"index": place, "embedding": [float(len(text))] * size} for place, text in zip(places, texts, strict=True)]
    return good({"object": "list", "model": model, "data": rows, "usage": {"prompt_tokens": 0, "total_tokens": 0}})


def item_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


class Fact(NamedTuple):
    """One line of the journal."""

    time: float
    what: str
    item: str
    way: str
    size: int
    """Bytes of the request."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, journal: TextIO, latency: tuple[float, float], seed: int, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.journal, self.latency, self.seed = journal, latency, seed
        self.lock = threading.Lock()
        self.rng = random.Random(seed)
        self.attempts: Counter[tuple[str, str]] = Counter()
        self.order: dict[str, int] = {}
        """Of the items, as they arrived."""

    def note(self, what: str, item: str, way: str, size: int) -> None:
        with self.lock:
            self._note(what, item, way, size)

    def _note(self, what: str, item: str, way: str, size: int) -> None:
        self.journal.write(f"{time.monotonic():.6f}\t{what}\t{item}\t{way}\t{size}\n")
        self.journal.flush()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is what this server is for: no traceback."""

    def way(self, model: str, item: str, size: int) -> str:
        """How this request of this item, which has arrived, is answered."""
        with self.lock:  # the journal has items in the order in which they have their places
            self.attempts[model, item] += 1
            way = self._way(model, item, self.attempts[model, item], self.order.setdefault(item, len(self.order)))
            self._note("asked", item, way, size)
            return way

    def _way(self, model: str, item: str, attempt: int, place: int) -> str:
        if model == "each":
            model = EACH[place % len(EACH)]
        name, _, number = model.partition("-")
        if name == "mixed":  # what an item comes to is its own, however often it was asked before
            rng, own = random.Random(f"{self.seed} {item} {attempt}"), random.Random(f"{self.seed} {item}")
            share = int(number) / 100
            if rng.random() < 0.7 * share:
                return rng.choice(PASSING)
            return own.choice(ENDING) if own.random() < 0.3 * share / (1 - 0.7 * share) else "ok"
        if name == "hang":
            return "silent" if place < int(number) else "ok"
        if name == "mended":
            return "400" if attempt == 1 and item[-1] in "13579bdf" else "ok"
        for end, times in (("-once", 1), ("-twice", 2)):
            if model.endswith(end):
                return model.removesuffix(end) if attempt <= times else "ok"
        return model


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def note_probe(self, size: int) -> None:
        """Note the path without its query, which may hold a key: tasks search the journal for keys."""
        self.server.note("probed", "-", self.path.partition("?")[0], size)

    def do_GET(self) -> None:
        self.note_probe(0)
        if self.path == "/models":
            self.send(refused(404, "Not Found"))
            return
        self.send(good({"object": "list", "data": [{"id": f"window-{n}", "max_model_len": n} for n in (600, 2048)]}))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/loop"):
            self.send(self.redirect("/v1/loop"))
            return
        request = json.loads(raw)
        if self.path.endswith("/embeddings"):
            self.server.note("asked", "-", request["model"], len(raw))
            self.send(vectors(request["model"], request["input"]))
            return
        model, text = str(request["model"]), "\n".join(str(m["content"]) for m in request["messages"])
        item = "-" if text.startswith(GREETING) else item_of(text)
        if item == "-":
            self.note_probe(len(raw))
        if model == "unknown" or self.path == "/chat/completions":
            self.send(refused(404, "Not Found"))
            return
        if item == "-" and not model.startswith("probe-"):
            told = {"prompt_logprobs": costs(5)} if model == "told" and request.get("prompt_logprobs") else {}
            self.send(WAYS[model](text, len(text.split())) if model == "continues" else good(reply("OK", **told)))
            return
        way = self.server.way(model.removeprefix("probe-"), item, len(raw))
        with self.server.lock:
            seconds = self.server.rng.uniform(*self.server.latency)
        time.sleep(seconds)
        answer = self.answer(way, text, int(request.get("max_tokens") or 192))
        if self.send(answer):
            what = "answered" if answer.status == 200 and answer.how == "whole" else "failed"
            self.server.note(what, item, way, len(raw))

    def answer(self, way: str, text: str, room: int) -> Bad:
        words = len(text.split())
        if way.startswith("window"):
            way = "ok" if words + room < int(way.partition("-")[2]) else "overflow"
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        match way:
            case "key":
                return good(reply(f"your key is {key} {self.path}"))
            case "key-error":
                return refused(400, f"not with {key} {self.path}", f"{key} {self.path}")
            case "echo":
                return good(reply(f"you sent {self.echoes(key)}"))
            case "echo-error":
                return refused(400, f"not with {self.echoes(key)}", self.echoes(key))
            case "elsewhere" if not self.headers["Host"].startswith("localhost"):  # the same server, by another name
                return self.redirect(f"http://localhost:{self.server.server_address[1]}/v1/chat/completions")
            case "moved":
                return self.redirect(f"{self.path}?moved=yes") if "?" not in self.path else WAYS["ok"](text, words)
            case "loop":
                return self.redirect("/v1/loop")
            case "locked":
                return refused(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
        return WAYS.get(way, WAYS["ok"])(text, words)

    def echoes(self, key: str) -> str:
        """The key in other forms, and the values of all headers."""
        forms = (key, key.upper(), key[::-1], b64encode(f"key={key};".encode()).decode(), key.encode().hex())
        return " ".join([*forms, *self.headers.values()])

    def redirect(self, target: str) -> Bad:
        return Bad(307, b"", {"Location": target})

    def send(self, answer: Bad) -> bool:
        try:
            if answer.how == "raw":
                self.wfile.write(answer.body)
                self.close_connection = True
                return True
            if answer.how == "silent":
                time.sleep(3600)
            if answer.how == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return True
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.how != "endless":
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            while answer.how == "endless":
                self.wfile.write(answer.body)
            self.wfile.write(answer.body[:60] if answer.how == "short" else answer.body)
            self.wfile.flush()
            if answer.how == "short":
                self.close_connection = True
        except OSError:
            self.close_connection = True
            return False
        return True


@dataclass(frozen=True)
class Address:
    base_url: str
    journal: Path

    def facts(self) -> list[Fact]:
        """Everything but the probe."""
        return [fact for fact in self._lines() if fact.what != "probed"]

    def probed(self) -> list[str]:
        """The paths of all requests of probes, in order."""
        return [fact.way for fact in self._lines() if fact.what == "probed"]

    def _lines(self) -> list[Fact]:
        rows = (line.split("\t") for line in self.journal.read_text().splitlines())
        return [Fact(float(seconds), what, item, way, int(size)) for seconds, what, item, way, size in rows]

    def asked(self) -> int:
        """Requests for items that arrived."""
        return sum(fact.what == "asked" and fact.item != "-" for fact in self.facts())


@contextmanager
def serving(
    journal: Path, latency: tuple[float, float] = (0.0, 0.0), seed: int = 0, port: int = 0
) -> Iterator[Address]:
    """A server in a process of its own, ended by its own handle. With `port` it comes back where it was."""
    command = [sys.executable, __file__, str(journal), *map(str, (*latency, seed, port))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Address(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", journal)
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal", type=Path)
    for name, kind in (("low", float), ("high", float), ("seed", int), ("port", int)):
        parser.add_argument(name, type=kind)
    args = parser.parse_args()
    with args.journal.open("a") as journal, Server(journal, (args.low, args.high), args.seed, args.port) as server:
        print(server.server_address[1], flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()

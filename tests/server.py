"""An OpenAI-compatible server for tests: every request's start and finish is on disk the moment it happens.

It runs as a process of its own, so that the client can be killed without it. An item is known by the hash of its text.
The requested model's name says how it behaves:

    ok            answers "reply to ITEM" after a random latency
    flaky         answers 500 twice for every item, then "ok"
    overflow      refuses every prompt as vLLM refuses a prompt that is too long
    bad           refuses every prompt with a 400 that quotes the whole request
    mended        refuses the first request for every odd item with a short 400
    filter        stops every reply as content_filter
    locked        refuses the key, quoting it

The journal has one line a fact, separated by tabs: monotonic seconds, start or finish or gone, item, bytes of the
request, HTTP status.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple, TextIO

GREETING = "Reply with the word OK."
"""The small request before a run; it is for no item, and not in the journal."""


def interruptible() -> None:
    """For a child that is to be interrupted: whoever runs tests in the background may have its signals ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Fact(NamedTuple):
    """One line of the journal."""

    time: float
    what: str
    item: str
    size: int
    status: int


def read_journal(path: Path) -> list[Fact]:
    facts: list[Fact] = []
    for line in path.read_text().splitlines():
        seconds, what, item, size, status = line.split("\t")
        facts.append(Fact(float(seconds), what, item, int(size), int(status)))
    return facts


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, journal: TextIO, latency: tuple[float, float], seed: int, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.journal = journal
        self.lock = threading.Lock()
        self.latency = latency
        self.dice = random.Random(seed)
        self.attempts: Counter[str] = Counter()

    def note(self, what: str, item: str, size: int = 0, status: int = 0) -> None:
        if item == "-":
            return
        with self.lock:
            self.journal.write(f"{time.monotonic():.6f}\t{what}\t{item}\t{size}\t{status}\n")
            self.journal.flush()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is what this server is for: no traceback."""

    def wait(self) -> None:
        with self.lock:
            seconds = self.dice.uniform(*self.latency)
        time.sleep(seconds)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(raw)
        text = "\n".join(str(message["content"]) for message in request.get("messages", []))
        item = "-" if text == GREETING else sha256(text.encode()).hexdigest()[:12]
        self.server.note("start", item, len(raw))
        self.server.wait()
        status, answer = self.answer(str(request.get("model")), item, raw, len(text.split()))
        body = json.dumps(answer).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
        except OSError:
            self.server.note("gone", item, len(raw), status)
            self.close_connection = True
        else:
            self.server.note("finish", item, len(raw), status)

    def answer(self, model: str, item: str, raw: bytes, words: int) -> tuple[int, dict[str, object]]:
        with self.server.lock:
            self.server.attempts[item] += 1
            attempt = self.server.attempts[item]
        match model:
            case "flaky" if attempt <= 2:
                return 500, {
                    "error": {"message": "internal error while reading " + raw.decode(), "type": "server_error"}
                }
            case "overflow":
                text = f"This model's maximum context length is 8192 tokens, but the request has {words} input tokens."
                return 400, {"object": "error", "message": text, "type": "BadRequestError", "code": 400}
            case "mended" if attempt == 1 and item[-1] in "13579bdf":
                return 400, {"error": {"message": "no tokens left today", "type": "invalid_request_error"}}
            case "bad":
                return 400, {"error": {"message": "cannot read " + raw.decode(), "type": "invalid_request_error"}}
            case "locked":
                key = self.headers.get("Authorization", "").removeprefix("Bearer ")
                return 401, {"error": {"message": f"Incorrect API key provided: {key}.", "code": "invalid_api_key"}}
        return 200, {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": f"reply to {item}"},
                    "finish_reason": "content_filter" if model == "filter" else "stop",
                }
            ],
            "usage": {"prompt_tokens": words, "completion_tokens": 5, "total_tokens": words + 5},
        }


@dataclass(frozen=True)
class Address:
    base_url: str
    journal: Path

    def facts(self) -> list[Fact]:
        return read_journal(self.journal)

    @property
    def port(self) -> int:
        return int(self.base_url.split(":")[2].split("/")[0])


@contextmanager
def serving(
    journal: Path, latency: tuple[float, float] = (0.0, 0.0), seed: int = 0, port: int = 0
) -> Iterator[Address]:
    """A server in a process of its own, ended by its own handle. With `port` it comes back where it was."""
    command = [sys.executable, __file__, str(journal), str(latency[0]), str(latency[1]), str(seed), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Address(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", journal)
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal", type=Path)
    parser.add_argument("low", type=float)
    parser.add_argument("high", type=float)
    parser.add_argument("seed", type=int)
    parser.add_argument("port", type=int)
    args = parser.parse_args()
    with args.journal.open("a") as journal, Server(journal, (args.low, args.high), args.seed, args.port) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()

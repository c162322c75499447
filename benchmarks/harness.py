"""The harness itself: what `carrara run` takes beside a bare client, and beside plain Inspect, on the same prompts.

    python -m benchmarks.harness

A local server answers at once. 2,000 prompts of 1k tokens (some 5 kB) and 50 of 800k (some 4 MB) are sent to it by
`carrara run`, by an asynchronous client that has the prompts in memory and keeps nothing, and by an Inspect task whose
dataset has the prompts. The table shows for each client:

- the seconds from the first prompt to the last reply, as time and as time of the processor;
- the seconds of the whole process, the most memory that it had, and the size of its log.

Each client runs `ROUNDS` times, in turn with the others, and its fastest round counts: other programs on the machine
only make a round slower.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from carrara.util.table import table

SIZES = {"2,000 of 1k": ("1k", 2000), "50 of 800k": ("800k", 50)}
AT_ONCE = 10
ROUNDS = 3
SMALL = 2000
"""Bytes of a request that is no prompt: `carrara run` asks a short question before it starts."""

BARE = """
import asyncio, json, resource, sys
import httpx

async def main(url, path):
    rows = [json.loads(line) for line in open(path)]
    gate = asyncio.Semaphore({at_once})
    async with httpx.AsyncClient(timeout=600) as client:
        async def ask(row):
            async with gate:
                body = {{"model": "m", "messages": row["messages"]}}
                (await client.post(url + "/chat/completions", json=body)).raise_for_status()
        await asyncio.gather(*map(ask, rows))

asyncio.run(main(*sys.argv[1:]))
"""
PLAIN = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

url, path, logs = sys.argv[1:]
rows = [json.loads(line) for line in open(path)]
samples = [Sample(id=row["id"], input=row["messages"][0]["content"], target=row["gold"]) for row in rows]
task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
[log] = eval(task, model="openai-api/test/m", model_base_url=url, log_dir=logs, display="none",
             max_connections={at_once}, log_realtime=False)
assert log.status == "success", log.error
"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Server"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        self.server.request = self.server.request or time.monotonic()
        size = left = int(self.headers["Content-Length"])
        if size > SMALL:
            self.server.note()
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        said = {"role": "assistant", "content": "FINAL ANSWER: kitchen"}
        body = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "message": said, "text": said["content"], "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
        }
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        if size > SMALL:
            self.server.note()


class Server(ThreadingHTTPServer):
    """A server that notes when prompts arrive and leave, and how much processor time its client had taken by then."""

    daemon_threads = True
    request_queue_size = 128
    """Connections that may wait. With five, some of ten that come at once are tried again after a second."""
    client: int
    """The client's process."""
    request: float = 0.0
    """When the first request came, of any size."""
    first: tuple[float, float] | None = None
    last: tuple[float, float] = (0.0, 0.0)

    def note(self) -> None:
        self.last = time.monotonic(), _processor_time(self.client)
        self.first = self.first or self.last


def _processor_time(process: int) -> float:
    """Return the seconds that a process has spent on a processor (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving() -> Iterator[tuple[str, Server]]:
    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", server
        finally:
            server.shutdown()
            thread.join()


class Taken(NamedTuple):
    """What a client takes for all prompts."""

    asking: float
    """Seconds from the first prompt to the last reply."""
    processor: float
    """Seconds of the processor meanwhile."""
    whole: float
    memory: float
    log: float
    request: float
    """Seconds from the start of the process to the first request."""
    prompt: float
    """Seconds from the start of the process to the first prompt."""


def taken(command: list[str], logs: Path | None) -> Taken:
    """Run a client and measure it. `{url}` in its command stands for the server's address."""
    with serving() as (url, server):
        began = time.monotonic()
        env = {**os.environ, "TEST_API_KEY": "none"}
        given = [part.replace("{url}", url) for part in command]
        process = subprocess.Popen(given, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.client = process.pid
        _, status, usage = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, command
        assert server.first is not None
        asking, processor = (end - start for start, end in zip(server.first, server.last, strict=True))
        whole = time.monotonic() - began
    size = sum(path.stat().st_size for path in logs.rglob("*.eval")) if logs else 0
    first = server.request - began, server.first[0] - began
    return Taken(asking, processor, whole, usage.ru_maxrss / 1024, size / 1e6, *first)


def clients(length: str, count: int, folder: Path, python: str = sys.executable) -> dict[str, Callable[[], Taken]]:
    """The clients that are compared, with the prompts in a folder. `python` runs them."""
    asked = ["qa1", "--lengths", length, "-n", str(count), "--tokenizer", "gpt2"]
    generate = [python, "-m", "carrara", "generate", *asked, "--render", "--out", str(folder)]
    subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
    items, out, logs = str(folder / "items.jsonl"), folder / "run", folder / "logs"
    run = [python, "-m", "carrara", "run", *asked, "--model", "openai-api/test/m", "--base-url", "{url}"]
    settings = folder / "settings.toml"
    settings.write_text(f"connections = {AT_ONCE}\n", "utf-8")
    run += ["--config", str(settings), "--out", str(out)]
    bare = [python, "-c", BARE.format(at_once=AT_ONCE), "{url}", items]
    plain = [python, "-c", PLAIN.format(at_once=AT_ONCE), "{url}", items, str(logs)]

    def fresh(command: list[str], made: Path) -> Taken:
        shutil.rmtree(made, ignore_errors=True)
        return taken(command, made)

    return {
        "a bare client": lambda: taken(bare, None),
        "carrara run": lambda: fresh(run, out),
        "plain Inspect": lambda: fresh(plain, logs),
    }


def main() -> None:
    rows = []
    for name, (length, count) in SIZES.items():
        with tempfile.TemporaryDirectory() as aside:
            compared = clients(length, count, Path(aside))
            rounds = [{who: measure() for who, measure in compared.items()} for _ in range(ROUNDS)]
        best = {who: Taken(*map(min, zip(*(one[who] for one in rounds), strict=True))) for who in compared}
        for who, found in best.items():
            cells = (
                f"{found.asking:.1f}",
                f"{best['a bare client'].asking / found.asking:.2f}",
                f"{found.asking / best['plain Inspect'].asking:.2f}",
                f"{found.processor:.1f}",
                f"{found.processor / best['plain Inspect'].processor:.2f}",
                f"{found.whole:.1f}",
                f"{found.memory:,.0f}",
                f"{found.log:.2f}",
            )
            rows.append((name, who, *cells))
    head = (
        "prompts",
        "by",
        "s of asking",
        "of the bare rate",
        "of plain Inspect",
        "s of processor",
        "of plain Inspect",
        "s in all",
        "MB of memory",
        "MB of log",
    )
    for text in table(head, rows):
        print(text)


if __name__ == "__main__":
    main()

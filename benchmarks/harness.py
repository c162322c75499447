"""The harness itself: what `carrara run` takes beside a bare client, and beside plain Inspect, on the same prompts.

    python -m benchmarks.harness

A local server answers at once. 2,000 prompts of 1k tokens (some 5 kB) and 50 of 800k (some 4 MB) are sent to it by
`carrara run`, by an asynchronous client that has the prompts in memory and keeps nothing, and by an Inspect task whose
dataset has the prompts. Of each: seconds from the first request to the last reply, and of the whole process; the most
memory that the process had; bytes of log.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from carrara.core.table import table

SIZES = {"2,000 of 1k": ("1k", 2000), "50 of 800k": ("800k", 50)}
AT_ONCE = 10

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
        left = int(self.headers["Content-Length"])
        if left > 2000:  # the question before a run is none of its requests
            self.server.times.append(time.monotonic())
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        said = {"role": "assistant", "content": "FINAL ANSWER: kitchen"}
        body = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
        }
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.server.times.append(time.monotonic())


class Server(ThreadingHTTPServer):
    daemon_threads = True
    times: list[float]


@contextmanager
def serving() -> Iterator[tuple[str, Server]]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.times = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", server
        finally:
            server.shutdown()
            thread.join()


def taken(command: list[str], logs: Path | None) -> dict[str, float]:
    """What a command takes. `{url}` in it is where the server is."""
    with serving() as (url, server):
        began = time.monotonic()
        env = {**os.environ, "TEST_API_KEY": "none"}
        process = subprocess.Popen([part.replace("{url}", url) for part in command], env=env, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, command
        spent = time.monotonic() - began
        asking = server.times[-1] - server.times[0]
    size = sum(path.stat().st_size for path in logs.rglob("*.eval")) if logs else 0
    return {"asking": asking, "whole": spent, "memory": usage.ru_maxrss / 1024, "log": size / 1e6}


def main() -> None:
    rows = []
    for name, (length, count) in SIZES.items():
        with tempfile.TemporaryDirectory() as aside:
            folder = Path(aside)
            asked = ["qa1", "--lengths", length, "-n", str(count), "--tokenizer", "gpt2"]
            made = [sys.executable, "-m", "carrara", "generate", *asked, "--render", "--out", str(folder)]
            subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
            items = str(folder / "items.jsonl")
            run = [
                sys.executable,
                "-m",
                "carrara",
                "run",
                *asked,
                "--model",
                "openai-api/test/m",
                "--base-url",
                "{url}",
            ]
            run += ["--connections", str(AT_ONCE), "--out", str(folder / "run")]
            bare = [sys.executable, "-c", BARE.format(at_once=AT_ONCE), "{url}", items]
            plain = [sys.executable, "-c", PLAIN.format(at_once=AT_ONCE), "{url}", items, str(folder / "logs")]
            found = {
                "a bare client": taken(bare, None),
                "carrara run": taken(run, folder / "run"),
                "plain Inspect": taken(plain, folder / "logs"),
            }
        for who, of in found.items():
            share = found["a bare client"]["asking"] / of["asking"]
            cells = (
                f"{of['asking']:.1f}",
                f"{share:.2f}",
                f"{of['whole']:.1f}",
                f"{of['memory']:,.0f}",
                f"{of['log']:.2f}",
            )
            rows.append((name, who, *cells))
    head = ("prompts", "by", "s of asking", "of the bare rate", "s in all", "MB of memory", "MB of log")
    for text in table(head, rows):
        print(text)


if __name__ == "__main__":
    main()

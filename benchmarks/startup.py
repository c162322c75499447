"""How long commands take to start, beside Python itself and beside what Inspect takes.

    python -m benchmarks.startup

Each time is the least of several runs. CPU seconds are those of the process and its threads; other work on the machine
changes them little. The first request of a run is the first one that a local server gets after the command was started:
the run's probe of the server, and then the item's prompt. Plain Inspect sends the same server one sample by
`inspect_ai.eval`.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from carrara.util.table import table

RUNS = 15
SLOW_RUNS = 5
"""Of what takes longer than a second."""
COMPUTED = """
from carrara.cli import main
from carrara.verify import chance_levels
chance_levels.kept = dict
main.main(["tasks"])
"""
"""The list of tests as it would be if no chance level were kept."""
PLAIN = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

url, logs = sys.argv[1:]
samples = [Sample(input="Where is Mary?", target="kitchen")]
task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
[log] = eval(task, model="openai-api/test/m", model_base_url=url, log_dir=logs, display="none")
assert log.status == "success", log.error
"""
PROMPT = b"FINAL ANSWER"
"""What an item's prompt has and the probe of a server does not."""


class Times(NamedTuple):
    """Seconds since a command was started."""

    wall: float
    cpu: float


class Command:
    """A command that runs, and is timed."""

    def __init__(self, *line: str) -> None:
        self.line = line
        self.began = time.perf_counter()
        environment = {**os.environ, "TEST_API_KEY": "none"}
        self.process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)

    def until_now(self) -> Times:
        user, system = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return Times(time.perf_counter() - self.began, (int(user) + int(system)) / os.sysconf("SC_CLK_TCK"))

    def until_its_end(self) -> Times:
        _, status, used = os.wait4(self.process.pid, 0)
        taken = time.perf_counter() - self.began
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode:
            raise subprocess.CalledProcessError(self.process.returncode, self.line)
        return Times(taken, used.ru_utime + used.ru_stime)


class _Server(ThreadingHTTPServer):
    command: Command
    requests: list[tuple[Times, bytes]]
    """When each came, and its body."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # as http.server has it
        self._answer({"object": "list", "data": [{"id": "m", "object": "model"}]})

    def do_POST(self) -> None:
        message = {"role": "assistant", "content": "FINAL ANSWER: kitchen"}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        about = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
        self._answer({**about, "choices": choices, "usage": usage})

    def _answer(self, body: object) -> None:
        came = self.server.command.until_now()
        asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((came, asked))
        written = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def serving() -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.requests = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()


def fastest(*line: str, runs: int = RUNS) -> Times:
    return _least([Command(*line).until_its_end() for _ in range(runs)])


def _least(times: Iterable[Times]) -> Times:
    return Times(*map(min, zip(*times, strict=True)))


class Run(NamedTuple):
    """When a run came to its first request, to its first prompt, and to its end."""

    request: Times
    prompt: Times
    end: Times


def requested(*line: str) -> Run:
    """Run a command against a local server. `{url}` and `{out}` are filled in."""
    with serving() as server, TemporaryDirectory() as out:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        server.command = Command(*(part.format(url=url, out=out) for part in line))
        end = server.command.until_its_end()
    first, _ = server.requests[0]
    prompt = next((came for came, asked in server.requests if PROMPT in asked), first)
    return Run(first, prompt, end)


def main() -> None:
    python, ours = sys.executable, (sys.executable, "-m", "carrara")
    commands = {
        "python -c pass": fastest(python, "-c", "pass"),
        "import carrara": fastest(python, "-c", "import carrara"),
        "carrara --help": fastest(*ours, "--help"),
        "carrara tasks": fastest(*ours, "tasks"),
        "carrara show qa1": fastest(*ours, "show", "qa1"),
        "completion of a task's name": fastest(*ours, "__complete", "run", "latent_l"),
        "import inspect_ai": fastest(python, "-c", "import inspect_ai", runs=SLOW_RUNS),
        "carrara tasks, chance levels computed": fastest(python, "-c", COMPUTED, runs=3),
    }
    nothing = commands["python -c pass"].wall
    rows = [[name, f"{wall:.3f}", f"{cpu:.3f}", f"{wall / nothing:.1f}"] for name, (wall, cpu) in commands.items()]
    print(*table(["command", "seconds", "CPU seconds", "times Python"], rows), sep="\n")
    model = ("--model", "openai-api/test/m", "--base-url", "{url}", "--tokenizer", "o200k")
    runs = {
        "carrara run qa1, one item": (*ours, "run", "qa1", "-n", "1", *model, "--out", "{out}/run"),
        "plain Inspect, one sample": (python, "-c", PLAIN, "{url}", "{out}"),
    }
    found: dict[str, list[Run]] = {name: [] for name in runs}
    for _ in range(SLOW_RUNS):  # in turn: other work on the machine slows all of them
        for name, line in runs.items():
            found[name].append(requested(*line))
    rows = []
    for name, timed in found.items():
        least = map(_least, zip(*timed, strict=True))
        rows.append([name, *(f"{wall:.3f} ({cpu:.3f} CPU)" for wall, cpu in least)])
    print()
    print(*table(["command", "first request", "first prompt", "end"], rows), sep="\n")


if __name__ == "__main__":
    main()

"""The real window of servers: what `carrara server --window` finds, beside what they do.

    python -m benchmarks.windows                        servers that shorten prompts as real ones do
    python -m benchmarks.windows --gguf model.gguf      and llama.cpp's own server, with a small context
    python -m benchmarks.windows serve --gguf model.gguf --port 8001 --slots 2 --shift    that server alone

The servers of the first part are those of tests/helpers/cutting_server.py. They know what they keep of each prompt: the
column `true` has the largest prompt that they read whole, if its reply may have 64 tokens. llama.cpp's server (from the
package xllamacpp) is a process of its own, once for each setting. Tokens are the server's; those that were sent are
counted by o200k.
"""

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

from tests.helpers.cutting_server import BEHAVIOURS, ENDPOINTS, cutting

from carrara.servers.probe import probe_server
from carrara.servers.window import measure_windows
from carrara.servers.window_prompt import REPLY
from carrara.servers.window_report import WindowReport
from carrara.util.table import table

UPTO = 16_384
CONTEXT = 1024
"""Tokens of the context of llama.cpp's server, which its slots share."""
SETTINGS = {
    "one slot": (1, False),
    "one slot, context shift": (1, True),
    "two slots (-np 2)": (2, False),
    "two slots, context shift": (2, True),
}
"""Slots, and whether the context is shifted."""
COLUMNS = ("server", "endpoint", "true", "found", "limit", "longer prompts", "lost", "shown by", "prompts", "tokens")


def serve(gguf: Path, port: int, slots: int, shift: bool) -> None:
    """Serve a model until the process ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel, params.ctx_shift = CONTEXT, slots, shift
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity, params.ui = -1, False
    server = xllamacpp.Server(params)
    print(f"served at {server.listening_address}", flush=True)
    while True:
        time.sleep(3600)


@contextmanager
def served(gguf: Path, slots: int, shift: bool) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = [sys.executable, "-m", "benchmarks.windows", "serve", "--gguf", str(gguf), "--port", str(port)]
    line += ["--slots", str(slots), *(["--shift"] if shift else [])]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        try:
            wait(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def wait(address: str, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        try:
            with urlopen(f"{address}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"the server of {address} ended with {process.returncode}")


def measured(address: str, upto: int) -> tuple[str, WindowReport]:
    """Return what a server is, and its windows."""
    info = probe_server("openai-api/local/m", address)
    stated = f", states {info.context_window:,}" if info.context_window else ""
    return f"{info.software or 'not recognized'}{stated}", measure_windows(info.model, address, {}, info, upto)


def rows(name: str, report: WindowReport, true: dict[str, int | None]) -> Iterator[tuple[str, ...]]:
    for number, window in enumerate(report.endpoints):
        largest = true.get(window.endpoint)
        yield (
            name if number == 0 else "",
            window.endpoint,
            "" if window.endpoint not in true else f"{largest:,}" if largest else "no limit",
            f"{window.largest:,}" if window.largest else "–",
            f"{window.limit:,}" if window.limit else "–",
            window.outcome if window.kept is None else f"cut to {window.kept:,}",
            window.lost or "–",
            window.evidence,
            f"{window.prompts:,}",
            f"{window.tokens:,}",
        )


def total(report: WindowReport) -> str:
    prompts = sum(window.prompts for window in report.endpoints)
    return f"{prompts} prompts, {sum(window.tokens for window in report.endpoints):,} tokens"


def behaviours() -> Iterator[str]:
    yield f"Servers with a window of 4,096 tokens, up to {UPTO:,}; a reply has up to {REPLY} tokens"
    yield ""
    found = list[tuple[str, ...]]()
    inside = outside = 0
    for name, make in BEHAVIOURS.items():
        server = make()
        with cutting(server) as address:
            _, report = measured(address, UPTO)
        true = {endpoint: server.largest(endpoint, REPLY) for endpoint in ENDPOINTS}
        for window in report.endpoints:
            largest, low, high = true[window.endpoint], window.largest or 0, window.smallest_cut
            is_right = high is None if largest is None else high is not None and low <= largest < high + 8
            inside, outside = inside + is_right, outside + (not is_right)
        found += rows(name, report, true)
    yield from table(COLUMNS, found)
    yield ""
    yield f"the true window is between the edges that were found at {inside} of {inside + outside} endpoints"
    yield "(the others belong to the server that counts what was sent: there, only a note says that codes are lost)"
    yield ""


def llama(gguf: Path) -> Iterator[str]:
    yield f"llama.cpp's server in xllamacpp {version('xllamacpp')}, {gguf.name}, -c {CONTEXT}, up to {UPTO:,} tokens"
    for name, (slots, shift) in SETTINGS.items():
        with served(gguf, slots, shift) as address:
            software, report = measured(address, UPTO)
        yield ""
        yield f"{name}: {software}; {total(report)}"
        yield from report.lines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["measure", "serve"], default="measure")
    parser.add_argument("--gguf", type=Path, help="file of the model for llama.cpp's server")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--shift", action="store_true", help="shift the context where it is full")
    args = parser.parse_args()
    if args.what == "serve":
        serve(args.gguf, args.port, args.slots, args.shift)
    os.environ["LOCAL_API_KEY"] = "none"
    for line in behaviours():
        print(line, flush=True)
    for line in llama(args.gguf.resolve()) if args.gguf else ():
        print(line, flush=True)


if __name__ == "__main__":
    main()

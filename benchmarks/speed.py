"""Check `--measure-speed` against llama.cpp's own times of the same requests.

    python -m benchmarks.speed --gguf model.gguf --folder FOLDER    run, and print both

A process of its own serves the model: llama.cpp's HTTP server, from the package xllamacpp, with one thread. The run
measures at the client. The last event of each reply has llama.cpp's `timings`, which Carrara does not read there.
"""

import argparse
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

from carrara.report.tables import summary_lines
from carrara.results.summary import Summary
from carrara.servers import speed

RECORDED: list[tuple[speed.Stopwatch, dict[str, Any]]] = []
"""The stopwatch of each reply, and llama.cpp's own times."""


class Recording(speed.Stopwatch):
    """A stopwatch that keeps the times in the last event, too."""

    def _events(self, part: bytes) -> Iterator[Any]:
        for event in super()._events(part):
            if isinstance(event, dict) and "timings" in event:
                RECORDED.append((self, event["timings"]))
            yield event


def serve(gguf: Path, port: int) -> None:
    """Serve a model until the process ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = 4096, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity, params.ui = -1, False
    server = xllamacpp.Server(params)
    print(f"served at {server.listening_address}", flush=True)
    while True:
        time.sleep(3600)


@contextmanager
def served(gguf: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = [sys.executable, "-m", "benchmarks.speed", "--gguf", str(gguf), "--serve", str(port)]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None:
                try:
                    with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                        if answer.status == 200:
                            break
                except OSError:
                    time.sleep(0.5)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def compared(results: Any) -> Iterator[str]:
    """Yield both times, by length: medians of the replies, and the medians of their quotients."""
    lengths = {result.speed.first_token_seconds: result.length for result in results}
    by_length: dict[int, list[tuple[float, float, float, float]]] = {}
    for stopwatch, timings in RECORDED:
        times = stopwatch._times
        if times is None or times.first is None or times.first - times.began not in lengths:
            continue  # the short question before the run
        row = (times.first - times.began, timings["prompt_ms"] / 1e3, times.last - times.first)
        by_length.setdefault(lengths[row[0]], []).append((*row, timings["predicted_ms"] / 1e3))
    heads = f"{'length':>6}  {'to first token':>14}  {'prompt_ms':>9}  {'ratio':>6}"
    yield f"{heads}  {'decode':>7}  {'predicted_ms':>12}  {'ratio':>6}"
    for length, rows in sorted(by_length.items()):
        first, prompt, decode, predicted = (median(column) for column in zip(*rows, strict=True))
        ratios = median(row[0] / row[1] for row in rows), median(row[2] / row[3] for row in rows)
        shown = f"{length:>6}  {first:>12.2f} s  {prompt:>7.2f} s  {ratios[0]:>6.3f}"
        yield f"{shown}  {decode:>5.2f} s  {predicted:>10.2f} s  {ratios[1]:>6.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path, required=True, help="file of the model")
    parser.add_argument("--folder", type=Path, default=Path("speed"), help="folder of the run")
    parser.add_argument("--lengths", default="0,512,1k,2k")
    parser.add_argument("-n", type=int, default=3, help="instances at each length")
    parser.add_argument("--serve", type=int, help="serve alone, at this port")
    args = parser.parse_args()
    if args.serve:
        serve(args.gguf, args.serve)
    import os

    import carrara

    os.environ.setdefault("LOCAL_API_KEY", "none")
    speed.Stopwatch = Recording  # type: ignore[misc]
    with served(args.gguf.resolve()) as address:
        results = carrara.run(
            "niah", "openai-api/local/m", base_url=address, tokenizer=f"gguf:{args.gguf.resolve()}",
            lengths=args.lengths, n=args.n, max_tokens=48, measure_speed=True, out=args.folder, progress=True,
        )  # fmt: skip
    print(
        f"llama.cpp's server in xllamacpp {version('xllamacpp')}, {args.gguf.name}, {platform.machine()}, one thread; "
        f"{args.n} items of niah at each length, one machine with other work\n"
    )
    print("\n".join(summary_lines(Summary(results))))
    print("\nAt the client, and llama.cpp's own times of the same requests (medians; ratio: median of the quotients)")
    print("\n".join(compared(results)))


if __name__ == "__main__":
    main()

"""Compare llama.cpp servers that differ in one setting: `carrara guard compare` on a real model.

    python -m benchmarks.guard_servers --gguf model.gguf --folder FOLDER    compare, and print what came out
    python -m benchmarks.guard_servers --gguf model.gguf --folder OTHER --lengths 2k --settings q8_0,rope_10000
    python -m benchmarks.guard_servers serve --gguf model.gguf --port 8001 --setting q4_0    serve alone

Each server is llama.cpp's own HTTP server (from the package xllamacpp) in a process of its own. The first one has a KV
cache of 16 bits. Each other one differs from it in one setting (`SETTINGS`). The servers do not reuse prefixes, because
llama.cpp then computes the rest in other batches, and replies change.

A folder resumes, because its servers get the same ports again. The first server's replies are used for all comparisons.
Other lengths need another folder.
"""

import argparse
import json
import os
import platform
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.request import urlopen

TASKS = "passkey,niah,finding"
LENGTHS, MARGIN, MAX_TOKENS = "0,256", 0.15, 32
CONTEXT = 4096
BASE = "f16"
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    BASE: ("KV cache of 16 bits", {}),
    "batch": ("another batch size: n_ubatch 64 instead of 512", {"n_ubatch": 64}),
    "threads": ("two threads instead of one", {"threads": 2}),
    "q8_0": ("KV cache of 8 bits (q8_0)", {"cache": "GGML_TYPE_Q8_0"}),
    "q4_0": ("KV cache of 4 bits (q4_0)", {"cache": "GGML_TYPE_Q4_0"}),
    "rope_10000": ("a wrong RoPE base: 10,000 instead of the model's 1,000,000", {"rope_freq_base": 10_000.0}),
    "rope_1000": ("a wrong RoPE base: 1,000", {"rope_freq_base": 1_000.0}),
}
"""What differs from the first server, by name: in words, and as settings of llama.cpp."""


def serve(gguf: Path, setting: str, port: int) -> None:
    """Serve a model until the process ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.cache_prompt, params.cache_ram_mib = False, 0
    params.verbosity, params.ui = -1, False
    for name, value in SETTINGS[setting][1].items():
        if name == "threads":
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = value
        elif name == "cache":
            params.cache_type_k = params.cache_type_v = getattr(xllamacpp.ggml_type, value)
        else:
            setattr(params, name, value)
    server = xllamacpp.Server(params)
    print(f"{setting} is served at {server.listening_address}", flush=True)
    while True:
        time.sleep(3600)


@contextmanager
def served(gguf: Path, setting: str, port: int) -> Iterator[str]:
    line = [sys.executable, "-m", "benchmarks.guard_servers", "serve", "--gguf", str(gguf)]
    with subprocess.Popen([*line, "--setting", setting, "--port", str(port)], stdout=subprocess.DEVNULL) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(address, process)
            yield f"{address}/v1"
        finally:
            process.terminate()


def _wait(address: str, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        try:
            with urlopen(f"{address}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"the server of {address} ended with {process.returncode}")


def ports(folder: Path) -> dict[str, int]:
    """Return the port of each server, which stays the same for a folder."""
    path = folder / "ports.json"
    if not path.exists():
        with _free(len(SETTINGS)) as found:
            path.write_text(json.dumps(dict(zip(SETTINGS, found, strict=True))))
    return dict(json.loads(path.read_text()))


@contextmanager
def _free(n: int) -> Iterator[list[int]]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    yield [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()


def compare(gguf: Path, folder: Path, one: str, other: str, setting: str, lengths: str, by: str) -> Iterator[str]:
    """Compare the first server with another one. Yield the command and its output, or what it wrote before."""
    out, kept = folder / setting, folder / f"{setting}.json"
    line: list[object] = ["guard", "compare", one, other, "--capabilities", TASKS, "--model", "openai-api/local/m"]
    line += ["--tokenizer", f"gguf:{gguf}", "--lengths", lengths, "--margin", MARGIN, "--max-tokens", MAX_TOKENS]
    line += ["--by", by] if by != "scores" else []
    words = list(map(str, line))
    if not kept.exists():
        if not out.exists() and (folder / BASE).is_dir():
            shutil.copytree(folder / BASE, out / "a")
        ended = subprocess.run(
            [sys.executable, "-m", "carrara", *words, "--connections", "1", "--out", str(out)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LOCAL_API_KEY": "none"},
            check=False,
        )
        if ended.returncode not in (0, 1, 3):
            raise SystemExit(ended.stdout)
        if not (folder / BASE).is_dir():
            shutil.copytree(out / "a", folder / BASE)
        kept.write_text(json.dumps([ended.returncode, ended.stdout]))
    code, said = json.loads(kept.read_text())
    yield f"$ carrara {shlex.join(words)}".replace(str(gguf), gguf.name)
    yield from said.replace(str(gguf), gguf.name).splitlines()
    yield f"exit code {code}"


def measure(gguf: Path, folder: Path, settings: list[str], lengths: str, by: str) -> Iterator[str]:
    found = ports(folder)
    yield (
        f"llama.cpp's server in xllamacpp {version('xllamacpp')}, {gguf.name}, {platform.machine()}; "
        "one thread a server unless said, temperature 0, flash attention on, no reuse of prefixes"
    )
    with served(gguf, BASE, found[BASE]) as one:
        for setting in settings:
            yield f"\nA: {SETTINGS[BASE][0]}; B: {SETTINGS[setting][0]}"
            with served(gguf, setting, found[setting]) as other:
                yield from compare(gguf, folder, one, other, setting, lengths, by)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["compare", "serve"], default="compare")
    parser.add_argument("--gguf", type=Path, required=True, help="file of the model")
    parser.add_argument("--folder", type=Path, help="folder of the comparisons; the same command resumes")
    parser.add_argument("--setting", choices=SETTINGS, default=BASE, help="what the served model has")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--lengths", default=LENGTHS, help="lengths of the prompts (default: %(default)s)")
    parser.add_argument("--by", choices=["scores", "tokens"], default="scores", help="what decides")
    others = [setting for setting in SETTINGS if setting != BASE]
    parser.add_argument("--settings", default=",".join(others), help="what is compared (default: %(default)s)")
    args = parser.parse_args()
    if args.what == "serve":
        serve(args.gguf, args.setting, args.port)
    if args.folder is None:
        parser.error("--folder is missing")
    args.folder.mkdir(parents=True, exist_ok=True)
    settings = args.settings.split(",")
    if unknown := sorted(set(settings) - set(others)):
        parser.error(f"--settings: {', '.join(unknown)} is none of {', '.join(others)}")
    for line in measure(args.gguf.resolve(), args.folder, settings, args.lengths, args.by):
        print(line, flush=True)


if __name__ == "__main__":
    main()

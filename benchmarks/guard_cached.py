"""Check replies after cache hits: `carrara guard check --cached` on servers that break after a hit, and on honest ones.

    python -m benchmarks.guard_cached                                 simulated checks, and a server of the tests
    python -m benchmarks.guard_cached --only real --gguf model.gguf   llama.cpp with its prefix cache

simulated   The tests alone, with drawn answers and distances: honest servers with noise after a hit, and faults.
served      The whole check, over HTTP, on the server of the tests (tests/helpers/caching_server.py).
real        llama.cpp's own server (from the package xllamacpp), one slot, which reuses the prefix of its last prompt.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, median

import carrara
from benchmarks.guard_servers import _free, _wait
from carrara.guard._cached import KINDS, MARGIN, MARGIN_OF_WORDS, CacheTests, Kind
from carrara.guard.guard_file import Guard, GuardItem
from carrara.guard.items import REGIONS
from carrara.guard.sequential import Schedule
from carrara.util.table import table

TIMES = 200
SERVED_TIMES = 5
RATE = 0.98

# --- simulated ---

Draw = Callable[[random.Random, Kind], tuple[float, float, float]]
"""The probability of a right answer after a hit, and how far its reply and the control are from the cold one."""


def honest(noise: float, ties: float = 0.0, together: float = 0.0) -> Draw:
    """A server whose distributions move by `noise` on average after a hit, and in `ties` of the prompts by half.

    Args:
        together: How far two replies without a hit are from each other on average.
    """

    def draw(rng: random.Random, kind: Kind) -> tuple[float, float, float]:
        moved = 0.5 if rng.random() < ties else min(1.0, rng.expovariate(1 / noise)) if noise else 0.0
        return RATE, moved, min(1.0, rng.expovariate(1 / together)) if together else 0.0

    return draw


def words(flips: float) -> Draw:
    """An honest server without log-probabilities, which changes the words of so many replies after a hit."""
    return lambda rng, kind: (RATE, float(rng.random() < flips), 0.0)


def corrupt(
    share: float, kinds: tuple[Kind, ...] = ("again", "shared"), right: float = 0.1, moved: float = 0.9
) -> Draw:
    def draw(rng: random.Random, kind: Kind) -> tuple[float, float, float]:
        return (right, moved, 0.0) if kind in kinds and rng.random() < share else honest(0.005)(rng, kind)

    return draw


HONEST: dict[str, tuple[Draw, float]] = {
    "nothing moves": (honest(0.0), MARGIN),
    "distributions move by 0.01": (honest(0.01), MARGIN),
    "by 0.03": (honest(0.03), MARGIN),
    "by 0.005, and by 0.5 at near-ties (one reply in 20)": (honest(0.005, 0.05), MARGIN),
    "by 0.05, the margin": (honest(0.05), MARGIN),
    "by 0.1, and as much without a hit": (honest(0.1, together=0.1), MARGIN),
    "no log-probabilities: one reply in 20 changes its words": (words(0.05), MARGIN_OF_WORDS),
    "no log-probabilities: one in 5, the margin": (words(0.2), MARGIN_OF_WORDS),
}
BROKEN: dict[str, tuple[Draw, float]] = {
    "each hit corrupted": (corrupt(1.0), MARGIN),
    "only hits of a prefix corrupted": (corrupt(1.0, ("shared",)), MARGIN),
    "one hit in five corrupted": (corrupt(0.2), MARGIN),
    "one hit of a prefix in five corrupted": (corrupt(0.2, ("shared",)), MARGIN),
    "each hit moves distributions by 0.3, answers stay right": (corrupt(1.0, right=RATE, moved=0.3), MARGIN),
    "no log-probabilities: each hit corrupted": (corrupt(1.0, moved=1.0), MARGIN_OF_WORDS),
    "no log-probabilities: one hit in five corrupted": (corrupt(0.2, moved=1.0), MARGIN_OF_WORDS),
}


def simulated_guard(rng: random.Random) -> Guard:
    """Return a guard of 105 items: seven capabilities at three lengths."""
    items = [
        GuardItem(f"t/t@1/test-0-{n}.0/{length}/chat/gpt2", f"{rng.random()}", f"c{n % 7}", REGIONS[n % 3], None)
        for length in (8 << 10, 32 << 10, 128 << 10)
        for n in range(35)
    ]
    return Guard("m", "gpt2", False, RATE, None, 0.0, items)


def check(rng: random.Random, draw: Draw, margin: float) -> tuple[str, int]:
    """Return the verdict of a check and its prompts, as `carrara guard check --cached` comes to them."""
    schedule, tests = Schedule(simulated_guard(rng)), CacheTests(margin)
    kinds, turns = dict[str, Kind](), Counter[int]()
    while not tests.faulty and (batch := schedule.next_batch(1, beyond_fine=not tests.is_fine)):
        item = batch[0]
        turns[item.length] += 1
        new: Kind = "again" if turns[item.length] % 2 else "shared"
        kind = kinds[item.id] = next(k for k in KINDS if k != kinds[item.id]) if item.id in kinds else new
        right, moved, control = draw(rng, kind)
        schedule.add(item, rng.random() < right)
        tests.add(kind, moved - control)
    if tests.faulty:
        return "broken", schedule.prompts
    is_open = schedule.verdict == "fine" and not tests.is_fine
    return "open" if is_open else schedule.verdict, schedule.prompts


def simulated(times: int) -> Iterator[str]:
    for title, servers in (("honest server", HONEST), ("broken server", BROKEN)):
        rows = []
        for name, (draw, margin) in servers.items():
            ended = [check(random.Random(f"{name} {seed}"), draw, margin) for seed in range(times)]
            verdicts, prompts = Counter(verdict for verdict, _ in ended), [n for _, n in ended]
            shares = [f"{verdicts[verdict] / times:.3f}" for verdict in ("fine", "broken", "open")]
            rows.append([name, *shares, f"{median(prompts):.0f}", f"{fmean(prompts):.0f}", str(max(prompts))])
        yield f"{times} simulated checks each; 105 items, right at a rate of {RATE}; cold replies and control told"
        yield from table([title, "fine", "broken", "cannot tell", "prompts: median", "mean", "most"], rows)
        yield ""


# --- the server of the tests ---

SERVERS: list[tuple[str, str, dict[str, object]]] = [
    ("honest", "fine", {}),
    ("honest, no log-probabilities", "fine", {"logprobs": False}),
    ("honest, cannot be asked without its cache", "fine", {"software": "library"}),
    ("gives another prompt's answer", "other", {}),
    ("has lost the middle of the cached text", "middle", {}),
    ("the same, no log-probabilities", "middle", {"logprobs": False}),
    ("the same, cannot be asked without its cache", "middle", {"software": "library"}),
    ("only where a prefix was cached", "prefix", {}),
    ("the same, cannot be asked without its cache", "prefix", {"software": "library"}),
    ("gives another prompt's answer in one hit of five", "sometimes", {}),
    ("the same, no log-probabilities", "sometimes", {"logprobs": False}),
    ("other words, and right answers", "late", {}),
]


def served(times: int) -> Iterator[str]:
    from tests.helpers.caching_server import Caching, caching, guard_of
    from tests.helpers.reading_server import guard_ids

    os.environ["TEST_API_KEY"] = "none"
    ids = guard_ids("finding,babilong/qa1,minerva/key_value", "512,1k")
    guard = guard_of(ids, 16)
    rows = []
    for name, way, options in SERVERS:
        ended = list[tuple[str, int, int]]()
        for seed in range(times if way != "fine" else max(1, times // 2)):
            behaviour = Caching(ids, way, seed=seed, **options)  # type: ignore[arg-type]
            with caching(behaviour) as url:
                result = carrara.guard.check(guard, base_url=url, cached=True)
            ended.append((result.verdict, result.prompts, len(behaviour.bodies)))
        verdicts = Counter(verdict for verdict, _, _ in ended)
        said = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common())
        prompts = sorted(n for _, n, _ in ended)
        rows.append([name, said, f"{median(prompts):.0f}", f"{prompts[-1]}", f"{median(n for _, _, n in ended):.0f}"])
    yield f"{len(guard.items)} items of 512 and 1,024 tokens, three capabilities; a tenth of the replies has a near-tie"
    yield from table(["server after a hit", "verdicts", "prompts: median", "most", "requests: median"], rows)


# --- llama.cpp ---

CONTEXT, TOKENS = 2048, 16


def serve(gguf: Path, port: int) -> None:
    """Serve a model with llama.cpp's prefix cache until the process ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_prompt, params.cache_ram_mib = True, 0
    params.verbosity, params.ui = -1, False
    server = xllamacpp.Server(params)
    print(f"served at {server.listening_address}", flush=True)
    while True:
        time.sleep(3600)


def real(gguf: Path, folder: Path, capabilities: str, lengths: str) -> Iterator[str]:
    with _free(1) as ports:
        port = ports[0]
    line = [sys.executable, "-m", "benchmarks.guard_cached", "serve", "--gguf", str(gguf), "--port", str(port)]
    os.environ["LOCAL_API_KEY"] = "none"
    path = folder / "guard.json"
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process)
            if not path.exists():
                carrara.guard.make(
                    "openai-api/local/m",
                    capabilities,
                    base_url=f"{url}/v1",
                    tokenizer=f"gguf:{gguf}",
                    lengths=lengths,
                    n=8,
                    times=2,
                    max_tokens=TOKENS,
                    connections=1,
                    out=path,
                )
            result = carrara.guard.check(path, base_url=f"{url}/v1", cached=True)
        finally:
            process.terminate()
    yield (
        f"llama.cpp's server in xllamacpp {version('xllamacpp')}, {gguf.name}, {platform.machine()}; one slot, one "
        "thread, prefix cache on, host cache off"
    )
    yield from result.lines()
    yield f"exit code {result.code}"
    (folder / "result.json").write_text(json.dumps(result.record(), indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["check", "serve"], default="check")
    parser.add_argument("--only", choices=["simulated", "served", "real"])
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--gguf", type=Path, help="file of the model")
    parser.add_argument("--folder", type=Path, help="keep the guard of the real model, and go on with it")
    parser.add_argument("--capabilities", default="passkey")
    parser.add_argument("--lengths", default="128,256")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    if args.what == "serve":
        serve(args.gguf, args.port)
    parts: dict[str, Iterator[str]] = {}
    if args.only in (None, "simulated"):
        parts["simulated"] = simulated(args.times)
    if args.only in (None, "served"):
        parts["served"] = served(SERVED_TIMES)
    with tempfile.TemporaryDirectory() as aside:
        if args.gguf and args.only in (None, "real"):
            folder = args.folder or Path(aside)
            folder.mkdir(parents=True, exist_ok=True)
            parts["real"] = real(args.gguf.resolve(), folder, args.capabilities, args.lengths)
        for lines in parts.values():
            for line in lines:
                print(line, flush=True)


if __name__ == "__main__":
    main()

"""How often a guard is wrong, and whether it finds what breaks servers: simulated, and on a real model that is broken.

    python -m benchmarks.guard            the simulations, and the embedded model (half an hour)
    python -m benchmarks.guard --only simulated
    python -m benchmarks.guard --only compared     simulated comparisons of two servers (ten minutes)
    python -m benchmarks.guard --only check_errors      with shared contexts and outages (five minutes)
    python -m benchmarks.guard --only compare_errors    the same for comparisons (ten minutes)

Simulated: items have rates of their own, most of them high; a guard is made of them as the command makes one (three
rounds), and checked a thousand times on a server that is as it was, or broke. Real: SmolLM2 behind a server of ours,
which gives llama.cpp the tokens that such a fault gives it, or another RoPE base.

Errors: how often checks and comparisons err if several questions share a context, or requests fail.

Compared: `carrara guard compare` on two servers that are the same, differ by the margin exactly, or of which the second
broke. Beside it stands how often a usual interval, looked at after every turn, would have been wrong.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import fmean
from typing import Any

from carrara.guard._check import SILENT_BATCHES
from carrara.guard.equivalence import ALPHA_DIFFERENT, ALPHA_EQUIVALENT, LengthTests, Pair, verdict_of
from carrara.guard.guard_file import Guard, GuardItem, read
from carrara.guard.items import BATCH
from carrara.guard.sequential import ALPHA_ALL, ALPHA_STRATA, BETA_STRATUM, Schedule
from carrara.items.item_id import ItemId
from carrara.results.intervals import wilson
from carrara.util.table import table

TIMES = 1000
LENGTHS = (8 << 10, 32 << 10, 128 << 10)
CAPABILITIES = ("finding", "tracking", "telling", "surveying", "reasoning", "knowing", "copying")
REGIONS = ("the beginning", "the middle", "the end")
QUESTIONS = 4
"""Questions on a context that is shared."""
ASKED = "passkey,niah"
"""What a model of 135 million parameters answers reliably."""
MADE = ("--lengths", "512,1536", "-n", 8, "--max-tokens", 32)

Broken = Callable[[GuardItem, int], float]
"""Of an item that is asked as the n-th: by what its rate is multiplied."""

FAULTS: dict[str, Broken] = {
    "as it was": lambda one, n: 1.0,
    "garbage beyond 32k": lambda one, n: float(one.length <= 32 << 10),
    "the middle dropped at 128k": lambda one, n: float(one.length < 128 << 10 or one.region != "the middle"),
    "a capability lost": lambda one, n: float(one.capability != "telling"),
    "one reply in five wrong": lambda one, n: 0.8,
    "one prompt in 20 crossed": lambda one, n: float(n % 20 != 19),
    "one reply in 20 wrong": lambda one, n: 0.95,
}


class Draws:
    """Uniform draws that decide whether a reply is right.

    Questions on one context share a draw so often: then all are right or none is, if their rates are equal.
    """

    def __init__(self, rng: random.Random, together: float) -> None:
        self.rng, self.together = rng, together
        self.common: dict[tuple[str, int], float] = {}

    def draw(self, context: str, time: int) -> float:
        if not self.together or self.rng.random() >= self.together:
            return self.rng.random()
        if (context, time) not in self.common:
            self.common[context, time] = self.rng.random()
        return self.common[context, time]


def made(
    rng: random.Random, rates: dict[str, float], n: int = 5, times: int = 3, together: float = 0.0, alone: bool = True
) -> Guard:
    """As `carrara guard make` does, of items whose rates it writes down. The questions on a context have one rate.

    Without `alone`, a guard may have several questions on a context.
    """
    kept, again, steady = list[GuardItem](), 0, 0  # of the last round
    draws, rate, questions = Draws(rng, together), 0.0, QUESTIONS if together else 1
    for length in LENGTHS:
        for capability in CAPABILITIES:
            cell, contexts = list[GuardItem](), set[str]()
            for index in range(16 * questions):
                item = f"test-0-{index // questions}.{index % questions}"
                name = f"classic/niah@1;of={capability}/{item}/{length}/chat/gpt2"
                context = ItemId.parse(name).context_id
                if index % questions == 0:
                    # most items are settled one way or the other, one in twenty is not
                    rate = rng.choices((rng.betavariate(400, 1), rng.random(), 0.0), (0.6, 0.05, 0.35))[0]
                rates[name] = rate
                right = draws.draw(context, 1) < rate
                for time in range(2, times + 1):
                    if right:
                        right = draws.draw(context, time) < rate
                        again, steady = again + (time == times), steady + (right and time == times)
                if right and len(cell) < n and not (alone and context in contexts):
                    contexts.add(context)
                    order = sha256(name.encode()).hexdigest()
                    cell.append(GuardItem(name, order, capability, REGIONS[len(cell) % 3], None))
            kept += cell
    return Guard("simulated", "gpt2", False, round((steady + 1) / (again + 2), 4), None, 0.0, kept)


def simulated(times: int) -> Iterator[str]:
    rows = []
    for name, fault in FAULTS.items():
        ended, prompts, tokens = Counter[str](), list[int](), list[int]()
        for seed in range(times):
            rng, rates = random.Random(f"{name} {seed}"), dict[str, float]()
            course, sent = Schedule(made(rng, rates)), 0
            while batch := course.next_batch(8):
                for one in batch:
                    sent += one.length
                    course.add(one, rng.random() < rates[one.id] * fault(one, course.prompts))
            ended[course.verdict] += 1
            prompts.append(course.prompts)
            tokens.append(sent)
        shares = [f"{ended[verdict] / times:.3f}" for verdict in ("fine", "broken", "open")]
        rows.append([name, *shares, f"{fmean(prompts):.0f}", f"{fmean(tokens) / 1e6:.2f}M"])
    yield f"{times} guards made and checked; 8k, 32k, 128k, seven capabilities, three regions, five items of each"
    yield from table(["server", "fine", "broken", "cannot tell", "prompts", "tokens"], rows)


# --- two servers ---

MARGIN, MOST = 0.05, 1000
RIGHT = 0.95
"""The rate at which the first server is right."""

Change = Callable[[int, str, str], tuple[float, float]]
"""Of a length, a region and a capability: how often the score falls from 1 to 0, and how often it rises."""


def both_ways(share: float, loss: float = 0.0) -> Change:
    """So many scores change, as often up as down, and so many fall beside that."""
    return lambda length, region, capability: (share / 2 + loss, share / 2)


def where(broken: Callable[[int, str, str], float]) -> Change:
    return lambda length, region, capability: (broken(length, region, capability), 0.0)


PAIRS: dict[str, Change] = {
    "the same replies": both_ways(0.0),
    "2 % of scores change": both_ways(0.02),
    "5 % change": both_ways(0.05),
    "10 % change": both_ways(0.1),
    "worse by the margin": both_ways(0.0, MARGIN),
    "worse by the margin, 10 % change": both_ways(0.1, MARGIN),
    "worse by the margin at 128k": where(lambda length, region, capability: MARGIN * (length == LENGTHS[-1])),
    "by the margin at 128k, in one task": where(
        lambda length, region, capability: (
            MARGIN * len(CAPABILITIES) * (length == LENGTHS[-1] and capability == "finding")
        )
    ),
    "worse by 0.1": both_ways(0.0, 0.1),
    "worse by 0.2": both_ways(0.0, 0.2),
    "garbage beyond 32k": where(lambda length, region, capability: RIGHT * (length == LENGTHS[-1])),
    "the middle dropped at 128k": where(
        lambda length, region, capability: RIGHT * (length == LENGTHS[-1] and region == "the middle")
    ),
    "a capability lost": where(lambda length, region, capability: RIGHT * (capability == "telling")),
    "garbage": both_ways(0.0, RIGHT),
}
"""How the scores of the second server change: the shares of all instances that fall and that rise."""


def pair_of(rng: random.Random, length: int, capability: str, change: Change) -> Pair:
    region = rng.choice(REGIONS)
    falls, rises = change(length, region, capability)
    drawn = rng.random()
    first = 1.0 if drawn < falls or (drawn >= falls + rises and rng.random() < RIGHT) else 0.0
    second = 0.0 if drawn < falls else 1.0 if drawn < falls + rises else first
    return Pair(region, capability, first, second, 0.0)


def turn_of(rng: random.Random, length: int, change: Change) -> list[Pair]:
    return [pair_of(rng, length, capability, change) for capability in CAPABILITIES]


class Usual:
    """The usual 90 % interval of a mean. Its error rate is for who looks only once."""

    def __init__(self) -> None:
        self.n, self.total, self.squares, self.was_inside = 0, 0.0, 0.0, False

    def add(self, pairs: list[Pair]) -> None:
        for pair in pairs:
            self.n += 1
            self.total += pair.difference
            self.squares += pair.difference**2
        mean = self.total / self.n
        spread = (max(0.0, self.squares - self.n * mean**2) / (self.n - 1) / self.n) ** 0.5
        self.was_inside = self.was_inside or (self.n >= 30 and abs(mean) + 1.645 * spread < MARGIN)


def compared(times: int) -> Iterator[str]:
    rows = []
    for name, change in PAIRS.items():
        ended, prompts, tokens, naive = Counter[str](), list[int](), list[int](), 0
        for seed in range(times):
            rng, lengths, usual = random.Random(f"{name} {seed}"), list[LengthTests](), list[Usual]()
            for length in LENGTHS:
                tests = LengthTests(MARGIN, CAPABILITIES, len(LENGTHS))
                lengths.append(tests)
                usual.append(Usual())
                while not tests.is_over and tests.instances + len(CAPABILITIES) <= MOST:
                    pairs = turn_of(rng, length, change)
                    tests.add(pairs)
                    usual[-1].add(pairs)
                if tests.verdict == "different":
                    break
            ended[verdict_of(lengths, len(LENGTHS))] += 1
            naive += len(usual) == len(LENGTHS) and all(one.was_inside for one in usual)
            prompts.append(sum(one.instances for one in lengths))
            tokens.append(sum(one.instances * length for one, length in zip(lengths, LENGTHS, strict=False)))
        shares = [f"{ended[verdict] / times:.3f}" for verdict in ("equivalent", "different", "open")]
        rows.append([name, *shares, f"{naive / times:.3f}", f"{fmean(prompts):.0f}", f"{fmean(tokens) / 1e6:.2f}M"])
    yield (
        f"{times} comparisons; margin {MARGIN}, at most {MOST} instances a length; 8k, 32k, 128k, seven capabilities, "
        "three regions"
    )
    columns = ["second server", "equivalent", "different", "cannot tell", "usual interval", "prompts to each", "tokens"]
    yield from table(columns, rows)
    yield "usual interval: how often a 90 % interval, looked at after each turn from 30 instances on, was once within"
    yield "the margin at each length. Where the servers differ by the margin, at most 0.05 may be called equivalent."


# --- error rates with shared contexts and outages ---

Outage = Callable[[int, int], bool]
"""Of the n-th request, at a length: whether it fails."""


def randomly(share: float) -> Callable[[random.Random], Outage]:
    return lambda rng: lambda n, length: rng.random() < share


def block(size: int, within: int) -> Callable[[random.Random], Outage]:
    """So many requests in a row, from one of the first ones on."""

    def drawn(rng: random.Random) -> Outage:
        first = rng.randrange(within)
        return lambda n, length: first <= n < first + size

    return drawn


def long_ones(share: float) -> Callable[[random.Random], Outage]:
    return lambda rng: lambda n, length: length > 32 << 10 and rng.random() < share


SETTINGS: dict[str, tuple[float, Callable[[random.Random], Outage]]] = {
    "independent": (0.0, randomly(0.0)),
    "contexts shared, half together": (0.5, randomly(0.0)),
    "contexts shared, all together": (1.0, randomly(0.0)),
    "2 % fail": (0.0, randomly(0.02)),
    "20 % fail": (0.0, randomly(0.2)),
    "12 in a row fail": (0.0, block(12, 100)),
    "40 in a row fail": (0.0, block(40, 100)),
    "half of those beyond 32k fail": (0.0, long_ones(0.5)),
    "shared, half together, 2 % fail": (0.5, randomly(0.02)),
}
"""How often the questions on a context share a draw, and which requests fail."""

ERRORS: dict[str, tuple[str, float | None]] = {
    "as it was": ("broken", ALPHA_ALL + ALPHA_STRATA),
    "garbage beyond 32k": ("fine", BETA_STRATUM),
    "one reply in 20 wrong": ("fine", None),
}
"""Which verdict is an error, and how often it may occur."""

PAIR_ERRORS: dict[str, tuple[str, float]] = {
    "the same replies": ("different", ALPHA_DIFFERENT),
    "worse by the margin": ("different", ALPHA_DIFFERENT),
    "worse by the margin at 128k": ("equivalent", ALPHA_EQUIVALENT),
}


def check(rng: random.Random, fault: Broken, together: float, outage: Outage, alone: bool = True) -> str:
    """The verdict of a check, as `carrara guard check` comes to it."""
    rates = dict[str, float]()
    course, draws = Schedule(made(rng, rates, together=together, alone=alone)), Draws(rng, together)
    requests = silent = 0
    while silent < SILENT_BATCHES and (batch := course.next_batch(BATCH)):
        silent += 1
        for item in batch:
            requests += 1
            if outage(requests, item.length):
                course.fail(item)
                continue
            silent = 0
            drawn = draws.draw(item.item_id.context_id, course.round)
            course.add(item, drawn < rates[item.id] * fault(item, course.prompts))
    return "unchecked" if course.verdict == "open" and course.failed else course.verdict


def instance_of(rng: random.Random, length: int, capability: str, change: Change, together: float) -> Pair:
    """The mean of the questions on a context, which are answered as the first one so often."""
    pairs = [pair_of(rng, length, capability, change)]
    while together and len(pairs) < QUESTIONS:
        pairs.append(pairs[0] if rng.random() < together else pair_of(rng, length, capability, change))
    first, second = (fmean(getattr(pair, side) for pair in pairs) for side in ("first", "second"))
    return Pair(pairs[0].region, capability, first, second, 0.0)


def compare(rng: random.Random, change: Change, together: float, outages: tuple[Outage, Outage]) -> str:
    """The verdict of a comparison, as `carrara guard compare` comes to it. Each server has an outage of its own."""
    lengths, requests, gaps = list[LengthTests](), 0, False
    for length in LENGTHS:
        tests, failed, asked = LengthTests(MARGIN, CAPABILITIES, len(LENGTHS)), 0, 0
        lengths.append(tests)
        while not tests.is_over and asked + len(CAPABILITIES) <= MOST:
            pairs = list[Pair]()
            for capability in CAPABILITIES:
                requests, asked = requests + 1, asked + 1
                pair = instance_of(rng, length, capability, change, together)
                if any(outage(requests, length) for outage in outages):
                    failed += 1
                else:
                    pairs.append(pair)
            tests.add(pairs)
        gaps = gaps or failed > MARGIN * asked
        if tests.verdict == "different":
            return "different"
    return "unchecked" if gaps else verdict_of(lengths, len(LENGTHS))


def error_row(name: str, setting: str, n: int, verdicts: list[str], error: str, stated: float | None) -> list[str]:
    share = verdicts.count(error) / len(verdicts)
    low, high = wilson(share, len(verdicts))
    others = [f"{verdicts.count(one) / len(verdicts):.3f}" for one in ("open", "unchecked")]
    said = "" if stated is None else f"{stated:.3f}"
    return [
        *(name, setting, str(n), str(len(verdicts)), error, said, f"{share:.3f}", f"{low:.3f} to {high:.3f}"),
        *others,
    ]


ERROR_COLUMNS = [
    *("server", "requests", "n", "simulations", "error", "stated", "observed", "95 % interval", "cannot tell"),
    "not checked",
]
SHARED = f"shared: {QUESTIONS} questions a context, which are right or wrong together half of the times or always"


def check_errors(times: int) -> Iterator[str]:
    rows = []
    for name, (error, stated) in ERRORS.items():
        for setting, (together, outage) in SETTINGS.items():
            rngs = [random.Random(f"{name} {setting} {seed}") for seed in range(times)]
            verdicts = [check(rng, FAULTS[name], together, outage(rng)) for rng in rngs]
            rows.append(error_row(name, setting, 105, verdicts, error, stated))
        rngs = [random.Random(f"{name} several {seed}") for seed in range(times)]
        verdicts = [check(rng, FAULTS[name], 1.0, lambda n, length: False, alone=False) for rng in rngs]
        rows.append(error_row(name, "all together, several in a guard", 105, verdicts, error, stated))
    yield f"checks of guards with n items; {SHARED}"
    yield from table(ERROR_COLUMNS, rows)
    why = "because a check asks an\nitem that was wrong no more"
    yield f"stated: the rate that the tests are made for. They have none for one reply in 20 wrong, {why}."
    yield "Guards have one question on each context, but for `several in a guard`."


def compare_errors(times: int) -> Iterator[str]:
    rows = []
    for name, (error, stated) in PAIR_ERRORS.items():
        for setting, (together, outage) in SETTINGS.items():
            rngs = [random.Random(f"{name} {setting} {seed}") for seed in range(times // 5)]
            verdicts = [compare(rng, PAIRS[name], together, (outage(rng), outage(rng))) for rng in rngs]
            rows.append(error_row(name, setting, MOST, verdicts, error, stated))
    yield f"comparisons of servers, with n instances of a length at most; {SHARED}"
    yield from table(ERROR_COLUMNS, rows)


# --- a real model ---

LONG = 4000
"""Characters of a prompt from which on a fault of long contexts shows: between 512 and 1.5k tokens."""
END = 300
"""Characters of a prompt's end, in which its question stands."""


class Llama:
    """SmolLM2 behind its template, as it was or broken in a way."""

    def __init__(self, way: str) -> None:
        self.lock = threading.Lock()
        self.way, self.requests, self.before = way, 0, ""
        self.sound = _loaded(None)
        self.turned = _loaded(2_000.0) if way == ROPE else self.sound

    def answer(self, messages: list[dict[str, str]], room: int) -> tuple[str, int]:
        text = "".join(f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in messages)
        if self.way == TWICE:
            text = f"<|im_start|>user\n{text}<|im_start|>assistant\n<|im_end|>\n"
        prompt = text + "<|im_start|>assistant\n"
        with self.lock:
            self.requests += 1
            long, before, self.before = len(prompt) > LONG, self.before, prompt
            if self.way == MIDDLE and long:
                prompt = prompt[: len(prompt) // 3] + prompt[-len(prompt) // 3 :]
            if self.way == CROSSED and self.requests % 20 == 0 and before:
                prompt = before[:-END] + prompt[-END:]
            request = {"prompt": prompt, "max_tokens": room, "temperature": 0.0, "seed": 0, "cache_prompt": False}
            found = (self.turned if self.way == ROPE and long else self.sound).handle_completions(request)
        return found["choices"][0]["text"], found["usage"]["prompt_tokens"]


SOUND, ROPE, MIDDLE, TWICE, CROSSED = (
    "as it was",
    "another RoPE base for long prompts",
    "the middle third of long prompts dropped",
    "the chat template twice",
    "one prompt in 20 with the beginning of another",
)


CHECKED = (
    (ROPE, False),
    (MIDDLE, False),
    (MIDDLE, True),
    (TWICE, False),
    (TWICE, True),
    (CROSSED, True),
    (SOUND, True),
    (CROSSED, False),
)
"""What is checked, and whether the server tells how many tokens it read: by that some faults are found sooner."""


def _loaded(base: float | None) -> Any:
    import xllamacpp

    from carrara.servers.embedded import smollm2

    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2())
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_ram_mib = 0
    params.verbosity = -1
    params.ui = False
    if base is not None:
        params.rope_freq_base = base
    return xllamacpp.Server(params)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        said, counted = server.llama.answer(request["messages"], request.get("max_tokens") or 64)
        body = json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": "smollm2",
                "choices": [
                    {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"},
                ],
                "usage": {"prompt_tokens": counted, "completion_tokens": 8, "total_tokens": counted + 8}
                if server.counts
                else None,
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def served(way: str, counts: bool) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.llama, server.counts = Llama(way), counts  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def command(*line: object) -> tuple[int, str]:
    key = {**os.environ, "TEST_API_KEY": "none"}
    ended = subprocess.run(
        [sys.executable, "-m", "carrara", "guard", *map(str, line)],
        capture_output=True,
        text=True,
        env=key,
        check=False,
    )
    return ended.returncode, ended.stdout or ended.stderr


def real(folder: Path) -> Iterator[str]:
    path = folder / "guard.json"
    if not path.exists():  # its server has another address each time, so that a run would not go on
        with served(SOUND, True) as url:
            line = ("--model", "openai-api/test/smollm2", "--base-url", url, "--tokenizer", "smollm2")
            code, said = command("make", ASKED, *line, *MADE, "--out", path)
        if code:
            raise SystemExit(said)
    guard = read(path)
    yield f"{len(guard.items)} items of {', '.join(guard.strata)}, right at a rate of {guard.rate:.1%}"
    for way, counts in CHECKED:
        with served(way, counts) as url:
            code, said = command("check", path, "--base-url", url, "--json")
        found = json.loads(said)
        faults = "; ".join(f"{fault['where']}: {fault['what']}" for fault in found["faults"])
        told = "tells its tokens" if counts else "tells no tokens"
        yield f"{way}, {told}: {found['verdict']} ({code}) after {found['prompts']} prompts; {faults or 'no fault'}"


SIMULATIONS = {
    "simulated": simulated,
    "compared": compared,
    "check_errors": check_errors,
    "compare_errors": compare_errors,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[*SIMULATIONS, "real"])
    parser.add_argument("--folder", type=Path, help="keep the guard and its runs, and go on with them")
    parser.add_argument("--times", type=int, default=TIMES)
    args = parser.parse_args()
    for name, simulation in SIMULATIONS.items():
        if args.only in (None, name):
            for line in simulation(args.times):
                print(line, flush=True)
            print()
    if args.only in (None, "real"):
        with tempfile.TemporaryDirectory() as folder:
            for line in real(args.folder or Path(folder)):
                print(line, flush=True)


if __name__ == "__main__":
    main()

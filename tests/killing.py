"""A run killed at random and begun again never asks twice for a reply that it has received.

    python kill_test.py 1 2 3 4 5        # seeds

A reply that arrives in the last moment before SIGKILL can be lost between the socket and the disk: that is what in
flight means here. With 20 connections this moment is mostly 0-3 ms (29 seen), and up to 0.11 s while a run is
starting its first samples, because the event loop is busy with them.
"""

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.server import Fact, serving

KILLS = 5
MOMENT = 0.25
"""Seconds before a kill within which a reply may still be on its way to the disk."""

Command = Callable[[Path, str], Sequence[str]]
"""From a run's directory and a server's address to the command that starts or resumes the run."""


@dataclass(frozen=True)
class Outcome:
    items: int
    requests: int
    lost: list[float]
    """Of every reply that was asked for again after it had been sent: how long before a kill, in seconds."""
    seconds: float
    """What the last, undisturbed run took."""


def kill_and_resume(command: Command, directory: Path, seed: int, latency: tuple[float, float]) -> Outcome:
    dice = random.Random(seed)
    kills: list[float] = []
    with serving(directory / "journal.tsv", latency, seed) as server:
        line = [*command(directory / "run", server.base_url)]
        for _ in range(KILLS):
            seen = len(server.facts())
            with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                early = dice.random() < 0.2  # while it starts, before any request
                while not early and process.poll() is None and len(server.facts()) == seen:
                    time.sleep(0.005)
                time.sleep(dice.uniform(0.2, 1.5))
                process.send_signal(signal.SIGKILL)
                kills.append(time.monotonic())
            time.sleep(latency[1])  # what was in flight ends
        began = time.monotonic()
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - began
        facts = server.facts()
    return Outcome(
        items=len({fact.item for fact in facts if fact.what == "finish"}),
        requests=sum(fact.what == "start" for fact in facts),
        lost=lost(facts, kills),
        seconds=seconds,
    )


def lost(facts: Sequence[Fact], kills: Sequence[float]) -> list[float]:
    asked: dict[str, float] = {}
    sent: dict[str, float] = {}
    gaps: list[float] = []
    for fact in facts:
        if fact.what == "start":
            asked[fact.item] = fact.time
            if fact.item in sent:
                gaps.append(min((kill - sent[fact.item] for kill in kills if kill > sent[fact.item]), default=1e9))
        elif fact.what == "finish" and not any(asked[fact.item] < kill < fact.time for kill in kills):
            sent[fact.item] = fact.time  # to a client that was alive from question to answer
    return gaps


def prototype(run: Path, base_url: str) -> Sequence[str]:
    return [sys.executable, str(Path(__file__).with_name("demo_tasks.py")), str(run), base_url, "--tasks", "4"]


def main() -> None:
    for seed in map(int, sys.argv[1:]):
        directory = Path(tempfile.mkdtemp(prefix="carrara-kill-"))
        outcome = kill_and_resume(prototype, directory, seed, (0.02, 0.6))
        shutil.rmtree(directory)
        moments = ", ".join(f"{gap * 1000:.1f}" for gap in outcome.lost)
        print(
            f"seed {seed}: {outcome.items} replies, {outcome.requests} requests, last run {outcome.seconds:.1f} s, "
            f"asked again [ms before a kill]: {moments or 'none'}",
            flush=True,
        )
        if outcome.items != 200 or any(gap > MOMENT for gap in outcome.lost):
            sys.exit("FAILED")


if __name__ == "__main__":
    main()

"""A run that is killed at random and begun again loses no reply and asks for none twice.

What is in flight at a kill may be asked again: a request that the server has not answered, and a reply that has not yet
made its way from the socket to the disk. That way takes 0 to 30 ms, and was seen to take 0.1 s while a run starts.
"""

import random
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from carrara.runs.replies import read_results
from tests.helpers.process import begun, carrara, in_file
from tests.helpers.server import Address, Fact, serving

KILLS = 5
REPLIES = 200
START = 0.8
"""Seconds that a new process takes before it asks: what is read sooner after a kill was asked by the killed one."""
MOMENT = 0.15
"""How long a reply may be on its way to the disk, as a part of what a start takes on this machine just now."""


def command(out: Path, server: Address, instances: int = REPLIES // 2) -> list[str]:
    asked = ["run", "latent_list", "--lengths", "0,1k", "-n", str(instances), "-p", "complexity=1,5"]
    model = ["--model", "openai-api/test/ok", "--base-url", server.base_url, "--tokenizer", "o200k"]
    return [*asked, *model, "--out", str(out), *in_file(out.with_name("settings"), connections=20)]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.slow
def test_killed_five_times(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    kills: list[float] = []
    start = 0.0
    with serving(tmp_path / "journal.tsv", (0.02, 0.6), seed) as server:
        line = command(tmp_path / "run", server)
        for _ in range(KILLS):
            seen = len(server.facts())
            since = time.monotonic()
            with begun(*line) as process:
                early = rng.random() < 0.2  # while it starts, before any request
                while not early and process.poll() is None and len(server.facts()) == seen:
                    time.sleep(0.005)
                start = max(start, time.monotonic() - since)
                time.sleep(rng.uniform(0.1, 0.8))
                process.send_signal(signal.SIGKILL)
                kills.append(time.monotonic())
            time.sleep(0.7)  # what was in flight ends
        carrara(*line, check=True)
        facts = server.facts()
    results = read_results(tmp_path / "run")
    assert len(results) == len({result.id for result in results}) == REPLIES
    assert all(result.reply == f"reply to {_item(result.reply)}" for result in results)
    assert {_item(result.reply) for result in results} == {fact.item for fact in facts if fact.what == "answered"}
    late = _asked_again(facts, kills)
    assert [gap for gap in late if gap > MOMENT * start] == []
    assert sum(fact.what == "asked" for fact in facts) <= REPLIES + 20 * KILLS


def _item(reply: str) -> str:
    return reply.rpartition(" ")[2]


def _asked_again(facts: Sequence[Fact], kills: Sequence[float]) -> list[float]:
    """Of every reply that was asked for again after it had been sent: how long before a kill it was sent."""
    asked: dict[str, float] = {}
    sent: dict[str, float] = {}
    gaps: list[float] = []
    for fact in facts:
        if fact.what == "asked":
            asked[fact.item] = fact.time
            if fact.item in sent:
                gaps.append(min((kill - sent[fact.item] for kill in kills if kill > sent[fact.item]), default=1e9))
        elif fact.what == "answered" and not any(asked[fact.item] - START < kill < fact.time for kill in kills):
            sent[fact.item] = fact.time  # to a client that was alive from question to answer
    return gaps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "background"), [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)]
)
def test_an_interrupted_run_says_so_and_goes_on(tmp_path: Path, sent: signal.Signals, background: bool) -> None:
    """SIGTERM stops a run as Ctrl-C does, also where Ctrl-C is ignored, as by a script's background jobs."""
    with serving(tmp_path / "journal.tsv", (0.1, 0.3)) as server:
        line = command(tmp_path / "run", server)
        with begun(*line, interruptible=not background) as process:
            while process.poll() is None and len(server.facts()) < 60:
                time.sleep(0.01)
            process.send_signal(sent)
            _, complaint = process.communicate(timeout=30)
        assert process.returncode == 128 + sent
        assert "stopped; the same command resumes" in complaint
        assert "Traceback" not in complaint
        answered = sum(fact.what == "answered" for fact in server.facts())
        there = len(read_results(tmp_path / "run"))
        assert 0 < there <= answered
        assert f"PARTIAL: {there} of {REPLIES} replies" in carrara("report", tmp_path / "run", check=True).stdout
        carrara(*line, check=True)
        finished = [fact.item for fact in server.facts() if fact.what == "answered"]
    assert len(set(finished)) == REPLIES


@pytest.mark.slow
def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv", (0.5, 0.5)) as server:
        line = command(tmp_path / "run", server)
        with begun(*line) as process:
            while process.poll() is None and not server.facts():
                time.sleep(0.01)
            second = carrara(*line)
            process.kill()
    assert second.returncode == 1
    assert "another run is at work" in second.stderr


@pytest.mark.slow
@pytest.mark.parametrize("has_cache", [True, False])
def test_a_folder_is_extended_for_the_new_alone(has_cache: bool, tmp_path: Path, server: Address) -> None:
    """A larger -n is another task to Inspect: what the logs or the cache know is answered from them."""
    for n in (20, 30, 10):
        last = carrara(*command(tmp_path / "run", server, n), check=True)
        if not has_cache:
            shutil.rmtree(tmp_path / "run/cache", ignore_errors=True)  # the last one asks nothing, and keeps nothing
    assert server.asked() == 60
    assert "20 of 20 replies are there already" in last.stderr
    results = read_results(tmp_path / "run")
    assert len(results) == 60
    assert len({result.reply for result in results}) == 60
    assert {(result.score, result.output_tokens) for result in results} == {(0.0, 5)}


@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 100, 5000])
@pytest.mark.sampled(1)
def test_a_damaged_log_is_set_aside(tmp_path: Path, left: int) -> None:
    out = tmp_path / "run"
    with serving(tmp_path / "journal.tsv") as server:
        line = command(out, server, 5)
        carrara(*line, check=True)
        log = sorted((out / "logs").glob("*.eval"))[0]
        log.write_bytes(log.read_bytes()[:left])
        report = carrara("report", out)
        assert report.returncode == 1
        assert "is left out: " in report.stderr
        assert report.stderr.count("\n") == 1
        again = carrara(*line)
        assert again.returncode == 0, again.stderr
        assert f"{log.name}.damaged" in again.stderr
        assert "Traceback" not in again.stderr
        assert server.asked() == 10
    assert len(read_results(out)) == 10

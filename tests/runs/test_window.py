"""Runs on servers that cut prompts: replies to cut prompts are no answers, and the run says so and stops asking."""

import re
import time
from collections import Counter
from pathlib import Path

import pytest

import carrara
from carrara.results.result import Result
from carrara.results.shortened import PromptCount
from carrara.runs.folder import MarkedItems
from carrara.runs.replies import read_results
from carrara.runs.window import Window
from tests.helpers.cutting_server import CuttingServer, cutting, half_ollama, lm_studio, ollama
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import Ended, begun, in_file
from tests.helpers.process import carrara as command

pytestmark = LEFT_OPEN

TASK = ("niah", "-p", "variant=single_2", "--model", "openai-api/test/m", "--tokenizer", "gpt2")


def run(address: str, out: Path, lengths: str, n: int = 5, *more: str, connections: int = 1) -> Ended:
    line = [*TASK, "--base-url", address, "--lengths", lengths, "-n", n, "--out", out, *more]
    return command("run", *line, *in_file(out.parent, connections=connections))


def statuses(results: list[Result]) -> dict[int, Counter[str]]:
    by_length: dict[int, Counter[str]] = {}
    for result in results:
        by_length.setdefault(result.length, Counter())[result.status] += 1
    return by_length


def test_replies_to_cut_prompts_are_no_answers(tmp_path: Path) -> None:
    """After three in a row at one length nothing of this length is sent any more."""
    server, out = ollama(), tmp_path / "run"
    with cutting(server) as address:
        ended = run(address, out, "0,2k,8k")
    assert ended.returncode == 1
    found = statuses(read_results(out))
    assert "shortened" not in found[0] + found[2048]
    assert found[8192] == {"shortened": 3}
    assert sum(not seen.is_whole for seen in server.seen) == 3
    assert "cut a prompt and did not say so: it counted 4,096 tokens where 8,192 were sent" in ended.stderr
    assert "cut 3 prompts and did not say so, such as 4,096 tokens of 8,192" in ended.stderr
    assert "2 prompts of these lengths were not sent" in ended.stderr
    assert "the same command asks again" in ended.stderr
    cut = [result for result in read_results(out) if result.status == "shortened"]
    assert all(result.score == 0 and result.answer is None and not result.scores for result in cut)
    assert "no score: shortened" in ended.stdout or "shortened" in ended.stdout


@pytest.mark.slow
def test_a_larger_window_is_used_by_the_same_command(tmp_path: Path) -> None:
    """What was cut is asked again, and nothing else."""
    server, out = ollama(), tmp_path / "run"
    with cutting(server) as address:
        assert run(address, out, "0,2k,8k").returncode == 1
        server.window = 16384
        server.seen.clear()
        ended = run(address, out, "0,2k,8k")
    assert ended.returncode == 0, ended.stderr
    assert all("shortened" not in found and found.total() == 5 for found in statuses(read_results(out)).values())
    assert sum(seen.tokens > 8000 for seen in server.seen) == 5
    assert not any(1000 < seen.tokens < 8000 for seen in server.seen)


@pytest.mark.slow
def test_replies_that_came_first_are_found_in_the_end(tmp_path: Path) -> None:
    """The longest length is asked alone, before any shorter one shows what to expect: four fifths are no proof."""
    out = tmp_path / "run"
    with cutting(ollama(3400)) as address:
        assert run(address, out, "4k", 2).returncode == 0
        ended = run(address, out, "0,1k,2k,4k", 2)
    assert ended.returncode == 1
    assert statuses(read_results(out))[4096] == {"shortened": 2}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("server", [half_ollama(), lm_studio(keeps="ends"), ollama(bos=2)], ids=["half", "ends", "BOS"])
def test_other_ways_of_cutting_are_found(server: CuttingServer, tmp_path: Path) -> None:
    with cutting(server) as address:
        assert run(address, tmp_path / "run", "0,2k,8k", 3).returncode == 1
    found = statuses(read_results(tmp_path / "run"))
    assert "shortened" not in found[2048]
    assert set(found[8192]) == {"shortened"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "server",
    [
        ollama(keeps="all", system="You are a careful assistant. " * 30),
        ollama(keeps="all", template_times=2),
        ollama(keeps="all", counts="uncached"),
        ollama(keeps="all", counts="details"),
        ollama(keeps="none"),
        ollama(counts="none"),
    ],
    ids=["gateway", "template twice", "without the cache", "cached apart", "refuses", "no counts"],
)
def test_other_servers_cut_nothing(server: CuttingServer, tmp_path: Path) -> None:
    """A server without counts cuts, and cannot be found out by counts."""
    with cutting(server) as address:
        run(address, tmp_path / "run", "0,1k,2k,8k", 3)
    assert not any(result.status == "shortened" for result in read_results(tmp_path / "run"))


@pytest.mark.slow
def test_parallel_requests_stop_too(tmp_path: Path) -> None:
    server = ollama()
    with cutting(server) as address:
        run(address, tmp_path / "run", "0,1k,8k", 30, connections=4)
    assert sum(not seen.is_whole for seen in server.seen) < 15


@pytest.mark.slow
def test_a_kill_serves_no_reply_to_a_cut_prompt_from_the_cache(tmp_path: Path) -> None:
    """No log has the replies, but the cache has. Meanwhile the server got a larger window."""
    server, out = ollama(), tmp_path / "run"
    server.fails = lambda number: time.sleep(0.05) or 0  # type: ignore[func-returns-value]
    line = [*TASK, "--lengths", "0,2k,8k", "-n", 5, "--out", out, *in_file(tmp_path, connections=1)]
    with cutting(server) as address:
        process = begun("run", *line, "--base-url", address)
        while sum(not seen.is_whole for seen in server.seen) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.communicate()
        server.window = 16384
        ended = command("run", *line, "--base-url", address)
    assert ended.returncode == 0, ended.stderr
    long = [result.input_tokens or 0 for result in read_results(out) if result.length == 8192]
    assert len(long) == 5
    assert min(long) > 8000


@pytest.mark.slow
def test_each_shard_asks_its_cut_prompts_again(tmp_path: Path) -> None:
    """Counts of the first shard by the larger window do not refute what the second one has found by the smaller."""
    server, out, shards = ollama(), tmp_path / "run", ("1/2", "2/2")
    with cutting(server) as address:
        assert [run(address, out, "0,2k,8k", 6, "--shard", shard).returncode for shard in shards] == [1, 1]
        server.window = 16384
        server.seen.clear()
        assert [run(address, out, "0,2k,8k", 6, "--shard", shard).returncode for shard in shards] == [0, 0]
    assert sum(seen.tokens > 8000 for seen in server.seen) == 6
    assert statuses(read_results(out))[8192].total() == 6
    assert all(result.input_tokens == 8201 for result in read_results(out) if result.length == 8192)


def test_marks_of_stale_replies_outlive_a_run(tmp_path: Path) -> None:
    subject = "m", (("temperature", "0"),)
    marked = MarkedItems(tmp_path / "cache", subject)
    marked.discard("a")
    for id in ("a", "b"):
        marked.add(id)
    marked.discard("a")
    later = MarkedItems(tmp_path / "cache", subject)
    assert ("a" in later, "b" in later) == (False, True)
    assert "b" not in MarkedItems(tmp_path / "cache", ("n", ()))


def test_items_before_the_first_proof_are_asked_again() -> None:
    """The longest prompt came first, when nothing showed what to expect."""
    window = Window()
    for id, sent, counted in (("a", 8192, 4096), ("b", 1024, 1033), ("c", 2048, 2057), ("d", 8192, 4096)):
        window.add(id, sent, [PromptCount("task", False, sent, counted)])
    assert window.stale == {"a", "d"}


@pytest.mark.slow
def test_other_parameters_may_be_another_language(tmp_path: Path) -> None:
    """Chinese prompts that are exact by an old tokenizer have a third of the tokens by a new one."""
    out = tmp_path / "run"
    with cutting(CuttingServer(keeps="all", tokenizer="qwen3")) as address:
        for lengths, language in (("0,1k,2k", "en"), ("4k,8k", "zh")):
            ended = run(address, out, lengths, 8, "-p", f"language={language}")
            assert ended.returncode == 0, ended.stderr
            assert "did not say so" not in ended.stderr
    assert not any(result.status == "shortened" for result in read_results(out))


def test_from_python_a_warning_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-test")
    with cutting(ollama()) as address, pytest.warns(UserWarning, match="cut 3 prompts and did not say so"):
        results = carrara.run(
            carrara.load("niah", variant="single_2"), "openai-api/test/m", lengths="1k,8k", n=3, base_url=address,
            tokenizer="gpt2", out=tmp_path / "run",
        )  # fmt: skip
    assert [result.status for result in results].count("shortened") == 3


# --- readers ---


@pytest.mark.slow
def test_a_compactor_that_is_cut_has_not_seen_the_fact(tmp_path: Path) -> None:
    """Its window is larger than the server's: the server cuts each part of the text."""
    out = tmp_path / "run"
    with cutting(ollama(2048)) as address:
        ended = run(address, out, "1k,16k", 2, "--reader", "notes:chunk=6k")
    assert "did not say so" in ended.stderr
    long = [result for result in read_results(out) if result.length == 16384]
    assert {result.status for result in long} == {"shortened"}
    fates = {(fact.fate, fact.said) for result in long for fact in result.facts}
    assert ("unseen", "the server cut the prompt") in fates


# --- what reads results ---


@pytest.mark.slow
def test_compare_leaves_cut_prompts_out(tmp_path: Path) -> None:
    server = ollama()
    with cutting(server) as address:
        run(address, tmp_path / "cut", "0,2k,8k", 3)
        server.window = 16384
        run(address, tmp_path / "whole", "0,2k,8k", 3)
    compared = command("compare", tmp_path / "cut", tmp_path / "whole")
    assert "3 shortened" in compared.stdout


@pytest.mark.slow
def test_the_largest_length_is_measured(tmp_path: Path) -> None:
    """It is the same when it is measured again, so that the same command resumes."""
    server, out = ollama(), tmp_path / "run"
    with cutting(server) as address:
        first = run(address, out, "1k,max", 2)
        asked = len(server.seen)
        second = run(address, out, "1k,max", 2)
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    [_, largest] = statuses(read_results(out))
    assert 4000 <= largest <= 4096
    assert f"reads whole has {largest:,} tokens (longer ones are cut; measured by " in first.stderr
    assert all(seen.is_whole for seen in server.seen[asked - 4 : asked])
    assert "4 of 4 replies are there already" in second.stderr


def test_a_server_that_cannot_be_measured_has_no_largest_length(tmp_path: Path) -> None:
    with cutting(ollama(counts="none", answers=lambda text: "I do not know.")) as address:
        ended = run(address, tmp_path / "run", "max", 2)
    assert ended.returncode == 2
    assert "cannot be measured (replies have no token counts" in ended.stderr
    assert "give lengths as numbers" in ended.stderr


@pytest.mark.parametrize("line", [["plan"], ["run", "--dry-run"]])
def test_an_estimate_measures_nothing(line: list[str]) -> None:
    server = ollama()
    with cutting(server) as address:
        ended = command(*line, *TASK, "--base-url", address, "--lengths", "1k, max")
    assert (ended.returncode, server.seen) == (2, [])
    assert "an estimate sends none: give lengths as numbers" in ended.stderr


def test_a_model_without_server_has_no_largest_length(tmp_path: Path) -> None:
    ended = command("run", "qa1", "--model", "carrara/oracle", "--lengths", "max", "--out", tmp_path / "run")
    assert (ended.returncode, "this model has none" in ended.stderr) == (2, True)


def kept_number(text: str) -> str:
    """Answer with the number of the name that is asked for, if the model still sees it."""
    known = dict(re.findall(r"kept for ([\w-]+) is (\d+)", text))
    asked = re.findall(r"kept for ([\w-]+)\?", text)
    return f"FINAL ANSWER: {known.get(asked[-1] if asked else '', '1234567')}"


@pytest.mark.slow
def test_a_profile_ends_where_the_server_cuts(tmp_path: Path) -> None:
    with cutting(ollama(answers=kept_number)) as address:
        line = ["profile", "classic/niah", "--model", "openai-api/test/m", "--base-url", address, "--tokenizer", "gpt2"]
        ended = command(*line, "--upto", "16k", "--out", tmp_path / "run")
    assert ended.returncode == 0, ended.stderr
    assert "≥ 4k" in ended.stdout
    assert "so nothing longer than 4k is measured" in ended.stdout
    assert "cut a prompt and did not say so" in ended.stderr


@pytest.mark.slow
def test_a_server_that_cuts_is_not_called_equivalent(tmp_path: Path) -> None:
    with (
        cutting(ollama(keeps="all", answers=kept_number)) as whole,
        cutting(ollama(answers=kept_number)) as cuts,
    ):
        line = ["guard", "compare", whole, cuts, "--capabilities", "niah", "--model", "openai-api/test/m"]
        line += ["--tokenizer", "gpt2"]
        ended = command(*line, "--lengths", "1k,8k", "--out", tmp_path / "run")
    assert ended.returncode in (3, 4), ended.stdout
    assert "8k" in ended.stdout
    assert "shortened" in ended.stdout + ended.stderr

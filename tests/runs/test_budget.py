"""What a run may use: nothing is sent that would pass it, nothing is lost, and the same command with more goes on."""

import json
import os
from pathlib import Path

import pytest

from carrara.runs.budget import BudgetExhaustedError, Meter, read_budget
from carrara.runs.prices import Price
from carrara.runs.replies import read_results
from carrara.util.errors import UsageError
from tests.helpers.process import carrara, in_file
from tests.helpers.server import serving

LINE = ["run", "qa1", "--model", "openai-api/test/ok", "--tokenizer", "gpt2", "--lengths", "512,1k", "-n", "6"]


@pytest.mark.parametrize("text", ["5M", "5", "tok", "-5tok", "nan", "1e9tok", "0usd"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no budget"):
        read_budget(text)


def test_money_needs_a_price() -> None:
    with pytest.raises(UsageError, match="no price is known"):
        Meter(read_budget("20usd"))


def test_what_is_under_way_is_reserved_for() -> None:
    """Three requests at a time, of which the budget has room for two."""
    meter = Meter(read_budget("25tok"))
    with meter.asking("a", 8, 2), meter.asking("b", 8, 2), pytest.raises(BudgetExhaustedError), meter.asking("c", 8, 2):
        pass
    with meter.asking("c", 8, 2):  # the two had no reply, and cost nothing
        pass


def test_money_is_counted_by_price() -> None:
    meter = Meter(read_budget("1usd"), Price(1.0, 10.0))
    assert meter.expected_usage(500_000, 40_000) == pytest.approx(0.9)
    with pytest.raises(BudgetExhaustedError), meter.asking("a", 700_000, 40_000):
        pass


@pytest.mark.slow
def test_a_run_stops_within_its_budget_and_goes_on_with_more(tmp_path: Path) -> None:
    """The server counts 400 tokens a prompt and 5 a reply: of ours, until it has told."""
    out = tmp_path / "run"
    with serving(tmp_path / "journal.tsv") as server:
        line = [*LINE, "--base-url", server.base_url, "--out", out]
        ended = carrara(*line, "--budget", "3ktok", *in_file(tmp_path, connections=1))
        assert ended.returncode == 0, ended.stderr
        first = server.asked()
        assert 3 <= first <= 7
        assert f"{12 - first} items were not asked: --budget 3ktok" in ended.stderr
        assert f"PARTIAL: {first} of 12 replies" in ended.stdout
        assert len(read_results(out)) == first
        assert "PARTIAL" in carrara("report", out).stdout
        refused = carrara(*line, "--budget", "3ktok")
        assert refused.returncode == 2
        assert "has no room for one prompt" in refused.stderr
        assert server.asked() == first
        ended = carrara(*line, "--budget", "1Mtok", "--price", "1,2", "--json")
        assert ended.returncode == 0, ended.stderr
        assert {row["n"] for row in json.loads(ended.stdout)} == {6}
        assert server.asked() == 12
    assert {one.status for one in read_results(out)} <= {"ok", "unparsed"}


@pytest.mark.slow
def test_a_time_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv", latency=(0.5, 0.5)) as server:
        line = [*LINE, "--base-url", server.base_url, "--out", tmp_path / "run", *in_file(tmp_path, connections=1)]
        ended = carrara(*line, "--budget", "2s")
    assert ended.returncode == 0, ended.stderr
    assert "items were not asked: --budget 2s" in ended.stderr


@pytest.mark.parametrize(("said", "code", "sent"), [("n", 2, 0), ("y", 0, 12)])
@pytest.mark.sampled(1)
def test_at_a_terminal_much_is_asked_about_first(said: str, code: int, sent: int, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with serving(tmp_path / "journal.tsv") as server:
        line = [*LINE, "--base-url", server.base_url, "--out", str(tmp_path / "run"), "--price", "10,10"]
        os.write(ours, f"{said}\n".encode())
        ended = carrara(*line, *in_file(tmp_path, ask_above="5ktok"), stdin=os.ttyname(theirs))
        assert ended.returncode == code, ended.stderr
        assert server.asked() == sent
    os.close(ours)
    os.close(theirs)
    assert "9,216 tokens of prompts, at a cost of about 0.10, will be sent to" in ended.stderr
    assert "Continue? [y/N]" in ended.stderr


def test_models_are_run_one_by_one_and_one_that_fails_stops_no_other(tmp_path: Path) -> None:
    models = ["--model", "carrara/oracle", "--model", "carrara/nobody", "--model", "carrara/chance"]
    line = ["run", "qa1", *models, "--tokenizer", "gpt2", "-n", "2", "--out", tmp_path / "run", "--json"]
    ended = carrara(*line)
    assert ended.returncode == 1
    assert {row["model"] for row in json.loads(ended.stdout)} == {"carrara/oracle", "carrara/chance"}
    assert "carrara/nobody failed" in ended.stderr


@pytest.mark.slow
def test_several_readers_and_models_have_one_table(tmp_path: Path) -> None:
    line = ["run", "qa1", "--model", "carrara/oracle", "--model", "carrara/chance", "--reader", "whole,evidence,none"]
    ended = carrara(*line, "--tokenizer", "gpt2", "-n", "2", "--out", tmp_path / "run", check=True)
    assert ended.stdout.count("answers read") == 1
    table = ended.stdout.partition("\n\n")[0].splitlines()[2:]
    names = [f"carrara/{model}{reader}" for model in ("chance", "oracle") for reader in ("", " (evidence)", " (none)")]
    assert [row.partition("  ")[0] for row in table] == names
    assert ended.stdout.count("report: ") == ended.stdout.count("Cost of readers") == 1
    assert ended.stderr.count("requests were made for 2 items") == 6

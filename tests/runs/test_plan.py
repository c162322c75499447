"""What a run would take, beside what it took: requests and tokens to the last one, where lengths are given."""

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carrara as door
from carrara.cli.main import main
from carrara.operations.results import Results
from carrara.results.intervals import sufficient_n
from carrara.runs.estimate import EstimateLine
from carrara.runs.prices import Price, read_price, read_prices
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import in_file
from tests.helpers.published_sets import graphwalks, jsonl, longbench2
from tests.results.test_leaderboard import reply


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_plan_is_what_is_sent(tmp_path: Path) -> None:
    def silent(prompt: str) -> str:
        return "nothing"

    asked: dict[str, Any] = {"lengths": "1k,2k", "n": 4, "tokenizer": "gpt2"}
    run = door.run("qa1,sync/graph,minerva/count", silent, out=tmp_path / "run", **asked)
    plan = door.plan("qa1,sync/graph,minerva/count", "openai/gpt-4o", **asked)
    assert plan.total["requests"] == len(run)
    for line in plan.rows:
        sent = [one.tokens for one in run if one.task.partition(":")[0] == line.task and one.length == line.length]
        assert line.sent == pytest.approx(sum(sent), rel=0.02)  # of questions on one context the longest has its length


@pytest.mark.parametrize(("asked", "requests"), [({}, [3, 1]), ({"n": 2}, [2, 1])])
def test_rows_of_published_files_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], requests: list[int]
) -> None:
    """A file has three rows of one length, and one that is longer than what is measured of other tasks."""
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path / "cache"))
    rows = [*(longbench2(n) for n in range(3)), longbench2(3, words=60_000)]
    path = jsonl(tmp_path / "data.jsonl", rows)
    plan = door.plan("longbench-v2", "openai/gpt-4o", published=f"longbench2:{path}", **asked)
    assert [(line.length, line.requests) for line in plan.rows] == [*zip((4096, 131072), requests, strict=True)]
    answers = {line.written / line.requests for line in plan.rows}
    assert len(answers) == 1, "an answer does not grow with the text"


def test_puzzles_without_filler_are_looked_at() -> None:
    [line] = door.plan("qa1", "openai/gpt-4o", n=300).rows
    whole = [door.item("babilong/qa1", index=n, tokenizer="o200k").prompt.tokens for n in range(30)]
    assert line.sent / 300 == pytest.approx(sum(whole) / 30, rel=0.15)


def test_questions_on_one_context_are_paid_once() -> None:
    [line] = door.plan("sync/graph", "openai/gpt-4o", lengths="32k", n=10, price=(2.0, 0.0, 0.0)).rows
    assert line.requests == 30
    assert line.repeated / line.sent == pytest.approx(2 / 3, abs=0.01)
    assert line.cost == pytest.approx((line.sent - line.repeated) * 2 / 1e6)


def test_an_earlier_run_tells_how_much_is_written_and_how_fast() -> None:
    base = reply(0, 1.0, 4096, "openai/lab-model", "babilong/qa1")
    like = Results([replace(base, output_tokens=500, seconds=4.0, input_tokens=3500)])
    [line] = door.plan("qa1", "openai/lab-model", lengths="4k", n=10, tokenizer="gpt2", like=like).rows
    assert line.written == 5000
    assert line.seconds == pytest.approx((10 * 4096 + 5000) / 1000)


def test_what_does_not_fit_is_told() -> None:
    plan = door.plan("qa1", "openai/x", lengths="4k,128k", tokenizer="gpt2", window="64k")
    assert "20 prompts are longer than the model's window (babilong/qa1 at 131,072)" in str(plan)


@pytest.fixture
def walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path / "cache"))
    return f"graphwalks:{jsonl(tmp_path / 'rows.jsonl', [graphwalks(n, 'bfs', 60 + n) for n in range(10)])}"


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_published_rows_are_counted_one_by_one(walks: str, tmp_path: Path) -> None:
    """Their number is known, and so is which of them do not fit a window with their answers."""
    asked: dict[str, Any] = {"published": walks, "tokenizer": "o200k"}
    run = door.run("graphwalks-bfs", "carrara/oracle", out=tmp_path / "run", **asked)
    takes = sorted(one.tokens + door.item(one.id).question.budget for one in run)
    window = takes[6]
    plan = door.plan("graphwalks-bfs", "openai/lab-model", out=tmp_path / "none", window=window, **asked)
    [line] = plan.rows
    assert line.requests == len(run) == 10
    assert line.sent == pytest.approx(sum(one.tokens for one in run), rel=1e-3)
    assert line.fits is False
    said = (
        f"takes {window:,} tokens, prompt and answer together, without room for the answers of 3 of 10 prompts at 4k "
        f"(by up to {takes[-1] - window:,} tokens) as o200k counts, which is not known to be its tokenizer"
    )
    assert said in str(plan)
    assert said in plan.record()["warnings"][0]
    known = door.plan("graphwalks-bfs", "openai/gpt-4o", out=tmp_path / "none", window=window, **asked)
    assert "not known" not in str(known)
    assert "3 of 10 prompts at 4k" in str(known)
    [enough] = door.plan("graphwalks-bfs", "openai/lab-model", out=tmp_path / "none", window=takes[-1], **asked).rows
    assert enough.fits
    [short] = door.plan(
        "graphwalks-bfs", "openai/lab-model", out=tmp_path / "none", window=window, max_tokens=1, **asked
    ).rows
    assert short.fits == (max(one.tokens for one in run) < window)


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_how_many_instances_suffice_is_said(tmp_path: Path) -> None:
    """At worst 381. An earlier run whose scores are all wrong or all right takes fewer, and others stay as they are."""
    asked: dict[str, Any] = {"tokenizer": "gpt2", "lengths": "0,1k"}
    worst = door.plan("qa1", "carrara/oracle", out=tmp_path / "none", **asked)
    assert {line.needed for line in worst.rows} == {381}
    assert "an interval of ± .05 takes 381 instances of a task at a length, whatever their scores are" in str(worst)
    door.run("qa1", "carrara/oracle", out=tmp_path / "run", lengths="1k", n=60, tokenizer="gpt2")
    plan = door.plan("qa1", "carrara/oracle", out=tmp_path / "none", like=tmp_path / "run", **asked)
    low = door.read(tmp_path / "run").by("own")._summary(0.7).rows[0].stat.low
    assert [line.needed for line in plan.rows] == [381, sufficient_n(low, 0.05)]
    assert str(plan).splitlines()[0].endswith("n for ± .05")
    assert "whatever their scores" not in str(plan)
    assert plan.record()["lines"][1]["needed"] == sufficient_n(low, 0.05) < 200


PRICES = '["openai/gpt-4o"]\ninput = 2.5\noutput = 10\n["lab/free"]\ninput = 0\noutput = 0\ncached = 0\n'


def test_prices_are_read(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    found = read_prices(tmp_path / "prices.toml", ["openai/gpt-4o", "lab/free"])
    assert found == {"openai/gpt-4o": Price(2.5, 10), "lab/free": Price(0, 0, 0)}
    assert read_price("1,2") == Price(1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "cannot be read"),
        ("", "has no price of m"),
        ("[mm]\ninput = 1\noutput = 1", "did you mean mm"),
        ("[m]\ninput = 1", "gives m no numbers"),
        ("[m]\ninput = 1\noutput = -1", "gives m no numbers"),
    ],
)
def test_prices_that_are_none_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_prices(tmp_path / "prices.toml", ["m"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--price", "1"], "is no price"),
        (["--price", "1,x"], "is no price"),
        (["--speed", "0"], "is not a number of tokens a second"),
        (["--like", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_a_plan_that_cannot_be_is_a_sentence(
    asked: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "qa1", "--model", "openai/x", "--tokenizer", "gpt2", *asked]) == 2
    assert message in capsys.readouterr().err


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("reader", ["notes:chunk=512,size=128", "compact:window=1k,strategy=trim", "search", "none"])
@pytest.mark.sampled(2)
def test_what_a_reader_sends_is_estimated(reader: str, tmp_path: Path) -> None:
    """Notes are read as often as was said, and no reader sends more than was said: notes need not be full."""
    asked: dict[str, Any] = {"lengths": "4k", "n": 4, "reader": reader, "tokenizer": "o200k"}
    [line] = door.plan("qa1", "carrara/oracle", **asked).rows
    made = door.run("qa1", "carrara/oracle", out=tmp_path, **asked)
    calls = sum(one.reading.calls for one in made if one.reading)
    sent = sum(one.input_tokens or 0 for one in made)
    assert line.model == f"carrara/oracle ({made[0].settings['reader']})"
    if reader.startswith("notes"):
        assert line.requests == pytest.approx(calls, rel=0.2)
    assert calls <= 1.2 * line.requests
    assert sent <= 1.2 * line.sent
    [again] = door.plan("qa1", "carrara/oracle", like=tmp_path, **asked).rows
    assert again.requests == pytest.approx(calls, rel=0.1)
    assert again.sent == pytest.approx(sent, rel=0.01)


def test_a_plan_takes_what_a_run_takes() -> None:
    run, plan = (inspect.signature(function).parameters.keys() for function in (door.run, door.plan))
    assert (plan - run, run - plan) == ({"like", "speed", "window"}, set())


def test_one_word_of_a_command_is_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        "qa1 --model openai-api/lab/m --lengths 0,4k -n 5 --tokenizer gpt2 --base-url http://127.0.0.1:1/v1 "
        f"--out {tmp_path} --max-tokens 100 --temperature 0.5 --cot free --budget 8ktok -M a=1 "
        "--allow-large --dry-run"
    )
    rare = {"connections": 3, "min_base_score": 0.5, "request_timeout": "10s", "patience": "1min", "ask_above": "5usd"}
    assert main(["plan", *command.split(), *in_file(tmp_path / "settings", **rare)]) == 0
    out = capsys.readouterr().out
    assert "all                         10       21,6" in out
    assert "the budget of 8ktok has room for about 37 % of this: the run stops there" in out
    assert [path.name for path in tmp_path.iterdir()] == ["settings"]


def test_settings_that_change_what_is_sent_are_honoured() -> None:
    def line(tasks: str = "sync/graph", **more: Any) -> EstimateLine:
        [found] = door.plan(tasks, "openai/gpt-4o", lengths="4k", n=10, **more).rows
        return found

    plain = line()
    assert line(max_tokens=3).written == 3 * plain.requests < plain.written
    assert line(max_tokens=1000).written == plain.written
    assert line(cot="none") == plain
    reasoned = line(cot="exactly:500")
    assert reasoned.requests == 2 * plain.requests
    assert reasoned.written == plain.written + 500 * plain.requests
    assert reasoned.sent == 2 * plain.sent + 500 * plain.requests
    assert reasoned.repeated == plain.repeated + plain.sent + 500 * plain.requests
    assert line(within=True, max_tokens=1000).sent == plain.sent - 1000 * plain.requests
    assert line(max_tokens=1000, window="4k").fits is False
    assert line(max_tokens=1000, window="4k", within=True).fits
    assert sum(line(shard=f"{n}/3").requests for n in (1, 2, 3)) == plain.requests > line(shard="1/3").requests


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({"budget": "20480tok"}, "has room for about 50 % of this"),
        ({"budget": "1usd", "price": (100, 0)}, "has room for about 24 % of this"),
        ({"budget": "10s", "speed": 1000}, "has room for about 24 % of this"),
        ({"budget": "10s"}, "how much the budget of 10s has room for is not known: give `speed`, or `like`"),
    ],
)
def test_a_budget_that_is_too_small_is_told(settings: dict[str, Any], note: str) -> None:
    plan = door.plan("qa1", "openai/gpt-4o", lengths="4k", n=10, **settings)
    assert note in "\n".join(plan.remarks)
    assert note in str(plan)
    assert not door.plan("qa1", "openai/gpt-4o", lengths="4k", n=10, price=(1, 1), budget="100Mtok").remarks


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_replies_that_are_there_are_left_out(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"lengths": "0,1k", "tokenizer": "gpt2", "out": tmp_path}

    def silent(prompt: str) -> str:
        return "nothing"

    door.run("qa1,sync/graph", silent, n=2, within=True, **asked)
    run = door.plan("qa1,sync/graph", silent, n=5, within=True, **asked)
    assert [note.partition(" are in ")[0] for note in run.remarks] == ["16 of 40 replies"]
    assert run.total["requests"] == 24
    made = door.run("qa1,sync/graph", silent, n=5, within=True, **asked)
    whole = door.plan("qa1,sync/graph", silent, n=5, within=True, **{**asked, "out": tmp_path / "other"})
    assert whole.total["requests"] == len(made) == 40
    assert whole.total["sent"] == pytest.approx(sum(one.tokens for one in made), rel=0.05)
    assert door.plan("qa1,sync/graph", silent, n=5, within=True, **asked).total["requests"] == 0
    for other in ({"within": False}, {"within": True, "temperature": 1}, {"within": True, "reader": "none"}):
        assert not door.plan("qa1,sync/graph", silent, n=5, **asked, **other).remarks

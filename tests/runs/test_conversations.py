"""Conversations: the model's own replies stay, every call is counted, and the figures are those of scripted models."""

import json
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.model import ModelOutput
from inspect_ai.solver import generate

import carrara
from carrara.answers import split_replies
from carrara.cli.main import main
from carrara.inspect_tasks import march
from carrara.items.item import item_of
from carrara.items.render import finetuning, render, tabular
from carrara.report.page import render as render_page
from carrara.report.tables import summary_lines
from carrara.results.horizon import HorizonRow, horizon_rows
from carrara.results.result import Result
from carrara.results.summary import Summary
from carrara.runs.reader_model import join_outputs
from carrara.runs.replies import read_replies, read_results
from carrara.util.errors import CarraraError, RunError, UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.march import Marcher, right, says_nothing, slips_at
from tests.helpers.process import begun
from tests.helpers.process import carrara as command
from tests.helpers.server import serving

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]

TURNS = 8
KILLS, LONG = 3, 40


def run(model: Any, out: Path, **more: Any) -> list[Result]:
    params = {"turns": TURNS, **more.pop("params", {})}
    given = {"n": 2, "tokenizer": "o200k", "params": params, **more}
    return list(carrara.run("march", model, out=out, **given))


def figures(results: list[Result]) -> tuple[Any, ...]:
    [row] = horizon_rows(results)
    return row.mean_survived, row.horizon, row.steps_before, row.steps_after, row.led_on, row.corrected


def test_each_turn_is_one_call_with_all_replies_before_it(tmp_path: Path) -> None:
    model = Marcher(right)
    results = run(model, tmp_path)
    assert [result.score for result in results] == [1.0, 1.0]
    assert [result.reading and result.reading.calls for result in results] == [TURNS, TURNS]
    assert len(model.asked) == 2 * TURNS
    for result in results:
        item = item_of(result.id)
        own = [asked for asked in model.asked if asked[0]["content"] == item.text]
        assert sorted(map(len, own)) == [2 * n + 1 for n in range(TURNS)]
        longest = max(own, key=len)
        assert [one["role"] for one in longest] == ["user", *["assistant", "user"] * (TURNS - 1)]
        assert [one["content"] for one in longest[2::2]] == list(item.prompt.template.follow_ups)
        assert [one["content"] for one in longest[1::2]] == split_replies(result.reply)[:-1]
        assert split_replies(result.reply) == [f"FINAL ANSWER: {total}" for total in split_replies(result.gold)]


@pytest.mark.parametrize(
    ("reply", "score", "expected", "kind"),
    [
        (right, 1.0, (8.0, 8, 1.0, None, None, None), ""),
        (slips_at(5), 0.5, (4.0, 4, 0.8, 1.0, 1.0, 0.0), "own slip, then right steps from it"),
        (slips_at(5, back=7), 0.5, (4.0, 4, 0.8, 2 / 3, 1 / 3, 2 / 3), "own slip, corrected later"),
        (lambda turn, step, last: str(last + step + turn), 0.0, (0.0, 0, 0.0, 0.0, 0.0, 0.0), "own slip"),
        (says_nothing, 0.0, (0.0, 0, 0.0, 0.0, 0.0, 0.0), ""),
    ],
)
@pytest.mark.sampled(3)
def test_figures_of_scripted_models(reply: Any, score: float, expected: Any, kind: str, tmp_path: Path) -> None:
    """Eight turns: a slip in the fifth leaves four that are right, and three after it."""
    results = run(Marcher(reply), tmp_path)
    assert [result.score for result in results] == [score, score]
    assert figures(results) == pytest.approx(expected)
    assert {result.error_type for result in results} == {kind}


def test_survival_is_that_of_all_conversations(tmp_path: Path) -> None:
    early, _ = run(Marcher(slips_at(3)), tmp_path / "early")
    _, late = run(Marcher(slips_at(7)), tmp_path / "late")
    [row] = horizon_rows([early, late])
    assert row.survival == [1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0]
    assert (row.mean_survived, row.horizon, row.conversations) == (4.0, 6, 2)
    assert row.steps_before == 8 / 10  # 2 + 6 right ones, and two that are not
    assert row.quarters == [1.0, 0.5, 0.5, 0.0]
    assert row.written_horizon == "6"


def test_a_reply_that_is_not_read_is_a_turn_without_total(tmp_path: Path) -> None:
    [result] = run(Marcher(lambda turn, step, last: "Hm." if turn == 2 else right(turn, step, last)), tmp_path, n=1)
    assert result.score == 1 / TURNS
    assert result.error_type == "no total stated"
    assert split_replies(result.answer or "")[1] == ""
    [row] = horizon_rows([result])
    assert row.steps_after == 1.0  # it goes on from the total that it stated last


def test_a_drift_after_wrong_replies_shows_between_the_histories(tmp_path: Path) -> None:
    """A model that adds rightly unless one of its replies is wrong: the same items, with right and wrong history."""

    class Doubter(Marcher):
        def __call__(self, messages: list[dict[str, str]]) -> str:
            found = int(super().__call__(messages).rpartition(" ")[2])
            stated = [int(one["content"].rpartition(" ")[2]) for one in messages if one["role"] == "assistant"]
            prompts = [messages[: 2 * n + 1] for n in range(len(stated))]
            model = Marcher(right)
            drifts = any(model(p) != f"FINAL ANSWER: {said}" for p, said in zip(prompts, stated, strict=True))
            return str(found + drifts)

    scores = {}
    for history in ("right", "wrong", "slipped"):
        results = run(Doubter(right), tmp_path / history, params={"history": history})
        scores[history] = [result.score for result in results]
        assert all(result.reading is None for result in results)
    assert scores == {"right": [1.0, 1.0], "wrong": [0.0, 0.0], "slipped": [0.0, 0.0]}
    led = run(Marcher(right), tmp_path / "led", params={"history": "slipped"})
    assert {result.error_type for result in led} == {"led on by a wrong total"}
    assert horizon_rows(led) == []


def test_a_cut_reply_ends_a_conversation() -> None:
    item = item_of("carrara/march@2;turns=4/test-0-0.0/0/chat/gpt2")
    outputs = [ModelOutput.from_content("m", text) for text in ("FINAL ANSWER: 5", "FINAL ANSWER: 6")]
    cut = ModelOutput.from_content("m", "Let me think", stop_reason="max_tokens")
    joined = join_outputs([*outputs, cut], item)
    assert joined.completion == "[1] FINAL ANSWER: 5\n[2] FINAL ANSWER: 6\n[3] (truncated)"
    assert joined.stop_reason == "stop"
    assert join_outputs([cut], item) is cut


@pytest.mark.slow
def test_a_killed_run_resumes_in_the_middle_of_a_conversation(tmp_path: Path) -> None:
    """The server takes a tenth of a second for each turn, and knows every request by its hash."""
    with serving(tmp_path / "journal.tsv", (0.1, 0.1)) as server:
        model = ["--model", "openai-api/test/ok", "--base-url", server.base_url, "--tokenizer", "gpt2"]
        line = ["run", "march", "-p", f"turns={LONG}", "-n", "1", *model, "--out", str(tmp_path / "run")]
        for _ in range(KILLS):
            seen = server.asked()
            with begun(*line) as process:
                while process.poll() is None and server.asked() < seen + 5:
                    time.sleep(0.005)
                process.send_signal(signal.SIGKILL)
            time.sleep(0.3)
        command(*line, check=True)
        asked = [fact.item for fact in server.facts() if fact.what == "asked"]
    [result] = read_results(tmp_path / "run")
    assert result.reading
    assert result.reading.calls == LONG == len(split_replies(result.reply))
    assert len(set(asked)) == LONG
    assert LONG <= len(asked) <= LONG + KILLS


def test_the_answer_alone_is_asked_for_in_each_turn(tmp_path: Path) -> None:
    model = Marcher(right)
    [result] = run(model, tmp_path, n=1, cot="none")
    assert result.score == 1.0
    asked = [one["content"] for one in model.asked[-1] if one["role"] == "user"]
    assert all(text.endswith("beginning with `FINAL ANSWER:`.") for text in asked)


def test_a_stopped_run_asks_only_what_is_missing(tmp_path: Path) -> None:
    class Failing(Marcher):
        def __call__(self, messages: list[dict[str, str]]) -> str:
            if len(self.asked) == 5:
                self.asked.append([])
                raise ValueError("the line is dead")
            return super().__call__(messages)

    model = Failing(right)
    with pytest.raises(RunError, match="the line is dead"):
        run(model, tmp_path, n=1)
    [result] = run(model, tmp_path, n=1)
    assert (result.status, result.score) == ("ok", 1.0)
    assert result.reading
    assert result.reading.calls == TURNS
    assert len(model.asked) == TURNS + 1  # and the one that failed


def test_a_budget_is_kept_within_a_conversation(tmp_path: Path) -> None:
    model = Marcher(right)
    run(model, tmp_path / "all", n=1)
    [used] = read_results(tmp_path / "all")
    tokens = (used.input_tokens or 0) + (used.output_tokens or 0)
    model.asked.clear()
    with pytest.warns(UserWarning, match="items were not asked"):
        results = run(model, tmp_path / "run", n=3, budget=f"{2 * tokens}tok")
    assert 1 <= len(results) < 3
    assert sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in results) <= 2 * tokens


@pytest.mark.parametrize("reader", ["whole", "none"])
@pytest.mark.sampled(1)
def test_a_plan_counts_the_turns(reader: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"lengths": "0,2k", "n": 3, "params": {"turns": TURNS}, "tokenizer": "o200k"}
    plan = carrara.plan("march", "carrara/oracle", reader=reader, **given)
    results = carrara.run("march", "carrara/oracle", reader=reader, out=tmp_path, **given)
    assert sum(line.requests for line in plan.rows) == sum(one.reading.calls for one in results if one.reading)
    sent = sum(one.input_tokens or 0 for one in results)
    assert sum(line.sent for line in plan.rows) == pytest.approx(sent, rel=0.25)


def test_what_is_logged_has_no_dictionary(tmp_path: Path) -> None:
    [result] = run(Marcher(right), tmp_path, n=1, lengths="4k")
    [reply] = read_replies(tmp_path)
    assert reply.reading
    assert (reply.reading["calls"], len(reply.reading["steps"])) == (TURNS, TURNS)
    log = "".join(path.read_bytes().decode("latin-1") for path in (tmp_path / "cache").rglob("*.json"))
    entries = item_of(result.id).text.split("\n")
    assert not any(entry in log for entry in entries if ":" in entry[6:7])


@pytest.mark.parametrize(("model", "score"), [("oracle", 1.0), ("chance", 0), ("majority", 0), ("echo", 0)])
@pytest.mark.sampled(2)
def test_reference_models_reply_in_each_turn(model: str, score: float, tmp_path: Path) -> None:
    results = run(f"carrara/{model}", tmp_path, cot="none")
    assert [one.score for one in results] == pytest.approx([score, score], abs=0.13)
    assert [one.reading and one.reading.calls for one in results] == [TURNS, TURNS]
    assert len(split_replies(results[0].reply)) == TURNS


@pytest.mark.parametrize("history", ["own", "slipped"])
@pytest.mark.sampled(1)
def test_the_evidence_alone_is_enough(history: str, tmp_path: Path) -> None:
    params = {"turns": 4, "history": history}
    results = run("carrara/oracle", tmp_path, lengths="2k", reader="evidence", params=params)
    assert [one.score for one in results] == [1.0, 1.0]


@pytest.mark.parametrize("history", ["own", "right"])
def test_a_reader_or_a_model_for_one_question_is_refused(history: str, tmp_path: Path) -> None:
    for reader in ("notes", "retrieval", "search", "compact"):
        with pytest.raises(CarraraError, match="a conversation of several questions"):
            run("carrara/oracle", tmp_path / "out", reader=reader, params={"history": history})
        with pytest.raises(CarraraError, match="a conversation of several questions"):
            carrara.plan("march", "carrara/oracle", reader=reader, n=1, params={"history": history})
    with pytest.raises(UsageError, match="a base model completes one text"):
        carrara.item("march", style="base", history=history)


@pytest.mark.filterwarnings("ignore")  # of Inspect
def test_another_solver_is_refused(tmp_path: Path) -> None:
    task = march(n=1, tokenizer="o200k")
    [log] = eval(task, model="carrara/oracle", solver=generate(), display="none", log_dir=str(tmp_path))
    assert log.status == "error"
    assert log.error
    assert "only Carrara's own solver sends the 19 messages" in log.error.message


def test_exports_have_the_messages_or_refuse_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item = item_of("carrara/march@2;turns=3/train-0-0.0/0/chat/gpt2")
    assert render(item)["follow_ups"] == list(item.prompt.template.follow_ups)
    messages = finetuning(item)["messages"]
    assert [one["content"] for one in messages[1::2]] == split_replies(item.gold)
    assert [one["role"] for one in messages] == ["user", "assistant"] * 3
    with pytest.raises(UsageError, match="goes on with 2 messages after the model's replies, and a table"):
        tabular(item)
    given = item_of("carrara/march@2;history=right;turns=3/train-0-0.0/0/chat/gpt2")
    assert len(tabular(given)["messages"]) == 5
    assert "follow_ups" not in render(given)
    for form, *more in (("batch", "--model", "openai/gpt-4o"), ("lm-eval",)):
        assert main(["export", form, "march", "-n", "1", *more, "--out", str(tmp_path / form)]) == 2
        complaint = capsys.readouterr().err
        assert "conversation" in complaint or "messages after the model's replies" in complaint


def test_tables_have_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = run(Marcher(slips_at(5)), tmp_path)
    lines = list(summary_lines(Summary(results)))
    [line] = [line for line in lines if "4.0" in line]
    assert line.split()[-10:] == ["4.0", "4", "1.000", "1.000", "0.000", "0.000", "0.800", "1.000", "1.000", "0.000"]
    page = render_page(Summary(results), "runs/march")
    assert 'id="horizons"' in page
    other = [replace(result, gold="12", answer="12") for result in results]
    assert horizon_rows(other) == []
    assert 'id="horizons"' not in render_page(Summary(other), "runs/other")
    assert main(["report", str(tmp_path), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["horizons"][0]["survival"] == [1.0] * 4 + [0.0] * 4


def test_a_row_for_each_set_of_labels(tmp_path: Path) -> None:
    results = run(Marcher(right), tmp_path, n=4, params={"turns": (4, 6), "keys": (1,)})
    rows: list[HorizonRow] = horizon_rows(results)
    assert [(row.labels["turns"], row.turns, row.conversations) for row in rows] == [("4", 4, 2), ("6", 6, 2)]

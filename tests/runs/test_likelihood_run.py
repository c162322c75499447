"""A run that compares likelihoods is a run like any other: logs, resuming, reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from carrara import read, run
from carrara.items.item import item_of
from carrara.results.likelihood import likelihood_rows, sliced_rows
from carrara.results.result import Likelihood, Result
from carrara.runs.replies import check_result
from carrara.runs.tasks import continuations
from carrara.util.errors import RunError, UsageError
from tests.helpers.likelihood_server import likelihood_server, reference
from tests.helpers.process import carrara
from tests.helpers.results import reply

MODEL = "openai-api-completions/test/rule"


def line(address: str, out: Path, *more: object) -> list[str]:
    words = ["run", "qa1", "--model", MODEL, "--base-url", address, "--tokenizer", "gpt2", "--likelihood"]
    return [*words, "--lengths", "0,512", "-n", "3", "--out", str(out), *map(str, more)]


def test_three_conditions_are_paired_in_one_folder(tmp_path: Path) -> None:
    with likelihood_server() as (address, requests):
        ended = carrara(*line(address, tmp_path / "run"), check=True)
        before = len(requests)
        carrara(*line(address, tmp_path / "run"), check=True)
        again = [request for _, request in requests[before:] if request.get("echo") and len(request["prompt"]) > 100]
    assert again == []
    assert "Likelihood: how often the right answer is the most probable" in ended.stdout
    results = read(tmp_path / "run")
    assert {result.settings.get("reader", "whole") for result in results} == {"whole", "none", "evidence"}
    assert len(results) == 18
    for result in results:
        likelihood = result.likelihood
        assert likelihood is not None
        assert (likelihood.options[0], likelihood.rivals, result.chance_level) == (result.gold, "closed list", 1 / 6)
        best = max(range(6), key=lambda number: (likelihood.logprobs[number], number))
        assert (result.status, result.reply, result.score) == ("ok", likelihood.options[best], float(best == 0))
        if "reader" not in result.settings:
            item = item_of(result.id)
            texts = continuations(item, likelihood.options)
            expected = [reference(item.text, text) for text in texts]
            assert likelihood.logprobs == pytest.approx(expected)
    assert "How often the right answer is the most probable option" in (tmp_path / "run" / "report.html").read_text()


def test_json_has_the_conditions_once(tmp_path: Path) -> None:
    with likelihood_server() as (address, _):
        carrara(*line(address, tmp_path / "run"), check=True)
    rows = json.loads(carrara("report", tmp_path / "run", "--json", check=True).stdout)
    found = [row for row in rows if "likelihood" in row]
    assert sorted((row["length"], row.get("variant", "")) for row in found) == [(0, ""), (512, "")]
    [record] = found[0]["likelihood"]
    assert [*record["conditions"]] == ["whole", "none", "evidence"]
    assert record["gain"]["instances"] == 3


def test_a_named_reader_is_run_alone(tmp_path: Path) -> None:
    with likelihood_server() as (address, _):
        carrara(*line(address, tmp_path / "run", "--reader", "none"), check=True)
    assert {result.settings["reader"] for result in read(tmp_path / "run")} == {"none"}


def test_a_number_that_is_none_is_an_error_and_no_guess(tmp_path: Path) -> None:
    with likelihood_server() as (address, _):
        settings: Any = {"base_url": address, "tokenizer": "gpt2", "n": 2, "out": tmp_path / "run", "likelihood": True}
        with pytest.raises(RunError, match="has nan for a log-probability"):
            run("qa1", "openai-api-completions/test/nan", **settings)
    results = read(tmp_path / "run")
    assert [(result.status, result.likelihood) for result in results] == [("error", None)] * 2


def test_a_server_that_cannot_is_refused_before_it_is_asked_for_items(tmp_path: Path) -> None:
    with likelihood_server() as (address, requests):
        settings: Any = {"base_url": address, "tokenizer": "gpt2", "n": 2, "out": tmp_path / "run", "likelihood": True}
        with pytest.raises(UsageError, match="serve the model with vLLM"):
            run("qa1", "openai-api-completions/test/silent", **settings)
        assert all(len(request["prompt"]) < 100 for path, request in requests if path.endswith("/completions"))


@pytest.mark.parametrize(
    ("tasks", "more", "words"),
    [
        ("mrcr", {}, "michelangelo/mrcr asks for a long text"),
        ("qa1", {"perplexity": True}, "leave `perplexity`, `logprobs`, `measure_speed`, `batch` and `cot` out"),
        ("qa1", {"cot": "none"}, "leave `perplexity`, `logprobs`, `measure_speed`, `batch` and `cot` out"),
    ],
)
def test_what_cannot_be_compared_is_refused(tasks: str, more: Any, words: str, tmp_path: Path) -> None:
    with likelihood_server() as (address, _), pytest.raises(UsageError, match=words):
        run(tasks, MODEL, base_url=address, tokenizer="gpt2", n=1, out=tmp_path / "run", likelihood=True, **more)


# --- rows ---


def compared(instance: int, right: float, wrong: float, reader: str = "", **more: Any) -> Result:
    settings = {"likelihood": "options", **({"reader": reader} if reader else {})}
    likelihood = Likelihood(("a", "b"), (right, wrong), (1, 1), "closed list")
    return reply(instance, float(right > wrong), settings=settings, likelihood=likelihood, chance_level=0.5, **more)


def test_the_gain_is_paired_by_item_and_clustered_by_instance() -> None:
    whole = [compared(i, -1.0 - i, -3.0, question=q) for i in range(4) for q in range(2)]
    none = [compared(i, -5.0, -3.0, "none", question=q) for i in range(4) for q in range(2)]
    [row] = likelihood_rows([*whole, *none, reply(9)])
    assert (row.conditions["whole"].accuracy, row.conditions["none"].accuracy) == (0.5, 0.0)
    assert (row.conditions["whole"].logprob, row.conditions["none"].logprob) == (-2.5, -5.0)
    assert row.gain is not None
    assert (row.gain.instances, row.gain.mean) == (4, 2.5)
    # Student's 97.5 % point with three degrees of freedom, over the gains 4, 3, 2, 1
    assert row.gain.low == pytest.approx(2.5 - 3.18245 * 1.29099 / 2, abs=1e-4)
    assert row.chance_level == 0.5


def test_a_single_instance_has_no_interval_and_a_single_condition_no_gain() -> None:
    [row] = likelihood_rows([compared(0, -1, -2), compared(0, -4, -2, "none")])
    assert row.gain is not None
    assert (row.gain.mean, row.gain.low) == (3, None)
    [row] = likelihood_rows([compared(0, -1, -2)])
    assert row.gain is None


def test_a_prompt_that_the_server_cut_is_in_no_row() -> None:
    assert likelihood_rows([compared(0, -1, -2, status="shortened")]) == []


def test_slices_are_by_needed_facts_and_distance() -> None:
    near = [compared(i, -1, -2, places=(0.1, 0.2, 2)) for i in range(3)]
    far = [compared(i, -3, -2, places=(0.0, 0.9, 3)) for i in range(3, 6)]
    rows = sliced_rows([*near, *far])
    assert [(row.labels["needed"], row.labels["distance"]) for row in rows] == [("2", "0-20 %"), ("3", "80-100 %")]
    assert [row.conditions["whole"].accuracy for row in rows] == [1, 0]
    assert sliced_rows(near) == []


def test_a_result_of_other_types_is_refused() -> None:
    with pytest.raises(ValueError, match="likelihood"):
        check_result(reply(0, likelihood={"options": ["a"]}))


def test_the_leaderboard_keeps_the_chance_level_of_the_options(tmp_path: Path) -> None:
    with likelihood_server() as (address, _):
        carrara(*line(address, tmp_path / "run", "--reader", "whole"), check=True)
    board = json.loads(carrara("leaderboard", tmp_path / "run", "--json", check=True).stdout)["leaderboard"]
    assert [standing["chance_level"] for standing in board] == [pytest.approx(1 / 6)]


def test_a_task_whose_evidence_does_not_decide_is_not_run_with_it_alone(tmp_path: Path) -> None:
    with likelihood_server() as (address, _):
        words = ["qa1,cwe" if word == "qa1" else word.replace("0,512", "0") for word in line(address, tmp_path / "run")]
        ended = carrara(*words, check=True)
    assert "the evidence of classic/cwe does not decide the answer without the rest" in ended.stderr
    read_by = {(result.task, result.settings.get("reader", "whole")) for result in read(tmp_path / "run")}
    assert read_by == {
        *(("babilong/qa1", reader) for reader in ("whole", "none", "evidence")),
        *(("classic/cwe", reader) for reader in ("whole", "none")),
    }


def test_the_plan_counts_the_replies_that_are_there(tmp_path: Path) -> None:
    with likelihood_server() as (address, _):
        carrara(*line(address, tmp_path / "run", "--reader", "none"), check=True)
        words = ["plan", *line(address, tmp_path / "run")[1:], "--json"]
        planned = json.loads(carrara(*words, check=True).stdout)
    assert sum(part["requests"] for part in planned["lines"]) == 18 - 6

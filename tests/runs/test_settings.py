"""Replies of one model asked in two ways are two experiments: asked apart, kept apart, shown apart."""

import json
import re
from pathlib import Path

import pytest

from carrara.constants import READER
from carrara.results import summarize
from carrara.results.result import Result
from carrara.runs.replies import read_results
from tests.helpers.process import Ended, carrara, in_file
from tests.helpers.server import Address, serving


def run(out: Path, *more: str, model: str = "openai-api/test/ok", n: int = 3, **env: str) -> Ended:
    asked = ["run", "latent_list", "--model", model, "--tokenizer", "o200k", "-n", n, "--out", out, *more]
    return carrara(*asked, env=env)


def rows(out: Path, *more: str, **options: object) -> list[dict[str, object]]:
    ended = run(out, *more, "--json", **options)  # type: ignore[arg-type]
    assert ended.returncode == 0, ended.stderr
    return list(json.loads(ended.stdout))


@pytest.mark.slow
def test_two_servers_of_one_model(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with serving(tmp_path / "one.tsv") as one, serving(tmp_path / "two.tsv") as two:
        first = rows(out, "--base-url", one.base_url)
        second = rows(out, "--base-url", two.base_url, n=2)
        assert (one.asked(), two.asked()) == (3, 2)
        again = rows(out, "--base-url", one.base_url)
        named = rows(out, TEST_BASE_URL=two.base_url + "/", n=2)
        assert (one.asked(), two.asked()) == (3, 2)
    assert [row["n"] for row in (*first, *second, *again, *named)] == [3, 2, 3, 2]
    assert "variant" not in first[0]
    assert second[0]["variant"] == f"server={two.base_url}" == named[0]["variant"]
    assert again[0]["variant"] == f"server={one.base_url}"
    assert len(read_results(out)) == 5


@pytest.mark.slow
def test_limits_and_sampling(tmp_path: Path, server: Address) -> None:
    out = tmp_path / "run"
    ways = {
        (): "temperature=0",
        ("--max-tokens", "16"): "max_tokens=16, temperature=0",
        ("--temperature", "none"): "temperature=none",
        ("-M", "client_timeout=30"): "temperature=0",
    }
    for _ in range(2):
        labels = [rows(out, "--base-url", server.base_url, *way)[0].get("variant", "") for way in ways]
    assert labels == list(ways.values())
    assert server.asked() == 3 * 3  # a timeout makes no other reply
    found = read_results(out)
    assert sorted(row.stat.n for row in summarize(found)) == [3, 3, 3]


@pytest.mark.slow
def test_another_models_errors_are_not_this_ones(tmp_path: Path, server: Address) -> None:
    out = tmp_path / "run"
    assert run(out, "--base-url", server.base_url, model="openai-api/test/quoting").returncode == 1
    ended = run(out, "--base-url", server.base_url)
    assert ended.returncode == 0, ended.stderr
    assert server.asked() == 6
    assert "openai-api/test/quoting" not in ended.stdout
    assert "openai-api/test/quoting" in (out / "report.html").read_text()


def test_ways_are_never_averaged() -> None:
    def result(score: float, settings: dict[str, str]) -> Result:
        id = "s/t@1/test-0-0.0/0/chat/gpt2"
        return Result(id, "s/t", 1, "m", 0, 9, "gpt2", "c", "w", "ok", score, 0.0, settings=settings)

    both = [result(1.0, {}), result(0.0, {"temperature": "1"}), result(0.5, {"-M adapter": "x"})]
    assert {str(row.series): row.stat.mean for row in summarize(both)} == {
        "m (temperature=0)": 1.0,
        "m (temperature=1)": 0.0,
        "m (adapter=x, temperature=0)": 0.5,
    }
    assert [str(row.series) for row in summarize(both[2:])] == ["m (adapter=x)"]
    assert [str(row.series) for row in summarize(both[:1], among=both)] == ["m (temperature=0)"]
    on_two, on_four = result(1.0, {"-M threads": "2", READER: "notes"}), result(1.0, {"-M threads": "4"})
    assert [str(row.series) for row in summarize([on_two])] == ["m (notes)"]
    assert {str(row.series) for row in summarize([on_two, on_four])} == {"m (notes, threads=2)", "m (threads=4)"}


def test_a_server_that_changes_its_model_is_noticed(tmp_path: Path, server: Address) -> None:
    """Results are kept apart by the model that answered, in the table and in the report, and the command says so."""
    ended = run(tmp_path / "run", "--base-url", server.base_url, model="openai-api/test/swap", n=12)
    assert ended.returncode == 0, ended.stderr
    assert re.search(
        r"the server of openai-api/test/swap answered as model-[ab] \(\d+ replies\) and model-[ab] \(\d+ replies\)",
        ended.stderr,
    )
    for name in ("model-a", "model-b"):
        assert re.search(rf"swap \(answered by {name}\) +michelangelo/latent_list", ended.stdout), ended.stdout
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "The server of openai-api/test/swap answered as model-" in page


def test_an_answer_within_the_length_is_a_setting_at_length_0_too(tmp_path: Path, server: Address) -> None:
    """A prompt without filler gives nothing up, and belongs to the same series as those of other lengths."""
    asked = ["--base-url", server.base_url, "--lengths", "0,1k", *in_file(tmp_path / "file", within=True)]
    for sent in (6, 6):
        assert [(row["length"], row["n"]) for row in rows(tmp_path / "run", *asked)] == [(0, 3), (1024, 3)]
        assert server.asked() == sent
    results = read_results(tmp_path / "run")
    assert {result.settings["within"] for result in results} == {"answer"}
    assert len({row.series for row in summarize(results)}) == 1


@pytest.mark.parametrize(("way", "thinks"), [("thinking-parts", True), ("no-model", False)])
@pytest.mark.sampled(1)
def test_replies_in_other_forms_are_read_once(way: str, thinks: bool, tmp_path: Path, server: Address) -> None:
    """Thinking as a part of the content, and no name of a model."""
    ended = run(tmp_path / "run", "--base-url", server.base_url, model=f"openai-api/test/{way}", n=2)
    assert ended.returncode == 0, ended.stderr
    assert server.asked() == 2
    for result in read_results(tmp_path / "run"):
        assert result.reply.strip() == "[1]"
        assert ((result.reasoning or 0) >= 4) == thinks

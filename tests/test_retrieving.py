"""Retrieval in front of a model, through the whole engine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from carrara.engine.retrieving import found, prompt_of
from carrara.errors import UsageError
from carrara.items import make

pytest.importorskip("bm25s", reason="the extra `retrieval` is not installed")

CARRARA = [sys.executable, "-m", "carrara.cli"]
SETTING = "sentences;by=bm25;top=5;order=position"


def run(out: Path, *more: str) -> list[dict[str, object]]:
    asked = ["run", "qa1,qa2", "--lengths", "4k", "-n", "12", "--model", "carrara/oracle", "--tokenizer", "gpt2"]
    ended = subprocess.run(
        [*CARRARA, *asked, "--out", str(out), "--json", *more],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    rows: list[dict[str, object]] = json.loads(ended.stdout)
    return rows


def test_recall_is_a_score_and_order_matters(tmp_path: Path) -> None:
    by_position = run(tmp_path, "--retrieve", "sentences", "--by", "bm25", "--order", "position")
    by_score = run(tmp_path, "--retrieve", "sentences", "--by", "bm25", "--order", "score")
    whole = run(tmp_path)
    for rows in (by_position, by_score, whole):
        assert [row["test"] for row in rows] == ["babilong/qa1", "babilong/qa2"]
    assert [row["mean"] for row in whole] == [1.0, 1.0]
    assert "recall" not in whole[0]["published"]  # type: ignore[operator]
    one, two = by_position
    assert one["published"]["recall"] > 0.8  # type: ignore[index]
    assert two["published"]["recall"] < 0.3  # type: ignore[index]  # where the thing went, its name does not say
    assert two["published"]["recall, share"] >= two["published"]["recall"]  # type: ignore[index]
    assert one["mean"] >= by_score[0]["mean"]  # type: ignore[operator]
    assert by_score[0]["model"] == one["model"] == "carrara/oracle"


def test_the_prompt_keeps_everything_but_the_context() -> None:
    item = make("babilong/qa1", length=8192, tokenizer="gpt2")
    (message,) = prompt_of(item.id, SETTING)
    frame = item.prompt.frame
    assert message.content.startswith(frame.before)
    assert message.content.endswith(frame.after)
    parts = message.content[len(frame.before) : -len(frame.after)].split("\n\n")
    assert len(parts) == 5
    places = [item.text.index(part) for part in parts]
    assert places == sorted(places)
    assert [message] == prompt_of(item.id, SETTING)
    assert prompt_of(item.id) == item.messages()


def test_recall_is_told_of_the_supporting_facts() -> None:
    item = make("babilong/qa2", length=4096, index=2, tokenizer="gpt2")
    facts = [item.text[span.start : span.end] for span in item.survey.spans if span.update in item.question.support]
    for top in (1, 5, 400):
        shown = found(item.id, f"sentences;by=bm25;top={top};order=score")
        assert shown.recall is not None
        assert shown.recall.share == sum(fact in shown.text for fact in facts) / len(facts)
        assert shown.recall.complete == (shown.recall.share == 1)


def test_what_cannot_be_retrieved_is_refused(tmp_path: Path) -> None:
    for wrong, complaint in (
        (["--retrieve", "words"], "write sentences, chunks:512"),
        (["--retrieve", "chunks:0"], "1 token or more"),
        (["--retrieve", "sentences", "--by", "magic"], "nothing ranks by"),
        (["--retrieve", "sentences", "--order", "random"], "not an order"),
        (["--top-k", "3"], "give --retrieve"),
    ):
        ended = subprocess.run(
            [*CARRARA, "run", "qa1", "--model", "carrara/oracle", "--out", str(tmp_path), *wrong],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 2
        assert complaint in ended.stderr
        assert "Traceback" not in ended.stderr
    with pytest.raises(UsageError):
        found(make("babilong/qa1").id, "words")

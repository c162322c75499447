"""Retrieval in front of a model, through the whole engine."""

import json
from importlib.util import find_spec
from pathlib import Path

import anyio
import numpy as np
import pytest

import carrara
from carrara.items.item import item_of, make
from carrara.readers.prompts import prompt_of
from carrara.readers.retrieval import EmbedderUnavailableError, FoundParts
from carrara.readers.retrieval import reader as contexts
from carrara.readers.retrieval.reader import join_passages, retrieve_parts
from tests.helpers import process
from tests.helpers.inspect_warnings import LEFT_OPEN

pytest.importorskip("bm25s", reason="the extra `retrieval` is not installed")

SETTING = "sentences,by=bm25,top=5,order=position"


def run(out: Path, *more: str) -> list[dict[str, object]]:
    asked = ["run", "qa1,qa2", "--lengths", "4k", "-n", "12", "--model", "carrara/oracle", "--tokenizer", "gpt2"]
    ended = process.carrara(*asked, "--out", out, "--json", *more, check=True)
    rows: list[dict[str, object]] = json.loads(ended.stdout)
    return rows


@pytest.mark.slow
def test_recall_is_a_score_and_order_matters(tmp_path: Path) -> None:
    by_position = run(tmp_path, "--reader", "retrieval:sentences,by=bm25,order=position")
    by_score = run(tmp_path, "--reader", "retrieval:sentences,by=bm25")
    whole = run(tmp_path)
    for rows in (by_position, by_score, whole):
        assert [row["task"] for row in rows] == ["babilong/qa1", "babilong/qa2"]
    assert [row["mean"] for row in whole] == [1.0, 1.0]
    assert "recall" not in whole[0]["recall"] | whole[0]["published"]  # type: ignore[operator]
    one, two = by_position
    assert one["recall"]["recall"] > 0.8  # type: ignore[index]
    assert two["recall"]["recall"] < 0.3  # type: ignore[index]  # where the thing went, its name does not say
    assert two["recall"]["recall, share"] >= two["recall"]["recall"]  # type: ignore[index]
    assert one["mean"] >= one["recall"]["recall"]  # type: ignore[index]  # what is found stands in order
    assert by_score[0]["model"] == one["model"] == whole[0]["model"] == "carrara/oracle"
    assert one["variant"] == "retrieval:sentences"
    assert by_score[0]["variant"] == "retrieval:sentences, order=score"
    assert "variant" not in whole[0]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "retrieval:sentences,by=bm25,top=5,order=position" in page
    assert "oracle (retrieval:sentences, order=position)" in page


def test_the_prompt_keeps_everything_but_the_context() -> None:
    item = make("babilong/qa1", length=8192, tokenizer="gpt2")
    found = retrieve_parts(item.id, SETTING)
    context = join_passages([(part.chunk.start, part.chunk.end) for part in found.chunks], "\n\n")
    (message,) = prompt_of({"id": item.id, "context": context})
    template = item.prompt.template
    assert message.content.startswith(template.before)
    assert message.content.endswith(template.after)
    parts = message.content[len(template.before) : -len(template.after)].split("\n\n")
    assert len(parts) == 5
    places = [item.text.index(part) for part in parts]
    assert places == sorted(places)
    assert message.content == template.before + found.text + template.after
    assert prompt_of({"id": item.id}) == item.messages()


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("top", [1, 5, 400])
@pytest.mark.sampled(1)
def test_recall_is_of_the_supporting_facts(top: int, tmp_path: Path) -> None:
    results = carrara.run(
        "qa2",
        "carrara/oracle",
        lengths="4k",
        n=4,
        tokenizer="gpt2",
        out=tmp_path,
        reader=f"retrieval:sentences,by=bm25,top={top}",
    )
    shares = []
    for result in results:
        item = item_of(result.id)
        facts = [item.text[span.start : span.end] for span in item.survey.spans if span.fact in item.question.support]
        shown = retrieve_parts(item.id, f"sentences,by=bm25,top={top},order=score")
        share = sum(fact in shown.text for fact in facts) / len(facts)
        assert result.scores["recall, share"] == share
        assert result.scores["recall"] == (share == 1)
        shares.append(share)
    assert (sum(shares) == len(shares)) == (top == 400)


class Failing:
    """Stands in for an index whose server for embeddings is down."""

    def __init__(self, times: int) -> None:
        self.times = times

    def __call__(self, *_: object) -> "Failing":
        return self

    def find(self, question: str) -> FoundParts:
        self.times -= 1
        if self.times >= 0:
            raise EmbedderUnavailableError("http://host/v1 does not answer")
        return FoundParts("what was found", (), None)


def failing_server(monkeypatch: pytest.MonkeyPatch, times: int) -> Failing:
    """Put a server in place that fails some times. Its pauses are short."""
    server = Failing(times)
    monkeypatch.setattr(contexts, "Index", server)
    monkeypatch.setattr(contexts, "OUTAGE", contexts.Outage(0.01, 0.01))
    return server


def ids(start: int, count: int) -> list[str]:
    """Return items of which nothing is retrieved yet in this process."""
    return [make("babilong/qa1", index=start + index).id for index in range(count)]


@pytest.mark.usefixtures("heard")
def test_an_outage_is_waited_out_and_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    failing_server(monkeypatch, 3)
    [id] = ids(100, 1)
    assert retrieve_parts(id, SETTING).text == "what was found"
    waits, goes_on = capsys.readouterr().err.splitlines()
    assert "6 hours: http://host/v1 does not answer" in waits
    assert "goes on" in goes_on


def test_items_wait_together_for_a_server_that_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    down = failing_server(monkeypatch, 10**9)
    monkeypatch.setattr(contexts, "PATIENCE", 0.3)
    first, *others = ids(200, 20)
    with pytest.raises(EmbedderUnavailableError):
        retrieve_parts(first, SETTING)
    asked = down.times
    for id in others:
        with pytest.raises(EmbedderUnavailableError):
            retrieve_parts(id, SETTING)
    assert asked - down.times == 19  # the patience was that of all: each is tried, and not waited for again


def test_a_run_that_waits_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends, though the patience is six hours."""
    failing_server(monkeypatch, 10**9)

    async def stopped() -> bool:
        with anyio.move_on_after(0.3) as scope:
            async with anyio.create_task_group() as group:
                for id in ids(300, 3):
                    group.start_soon(anyio.to_thread.run_sync, retrieve_parts, id, SETTING)
        return scope.cancelled_caught

    assert anyio.run(stopped)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("faiss") is None, reason="the extra `retrieval` is not installed: no faiss")
@pytest.mark.usefixtures("heard")
def test_long_embedding_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    class Ones:
        name = "ones"

        def embed(self, texts: list[str]) -> object:
            return np.ones((len(texts), 2), np.float32)

    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path))
    monkeypatch.setattr("carrara.readers.retrieval.index.embedder", lambda by: Ones())
    monkeypatch.setattr(contexts, "LINE_EVERY", 0.0)
    retrieve_parts(
        make("babilong/qa1", length=4096, tokenizer="gpt2", index=77).id, "sentences,by=minilm,top=5,order=score"
    )
    first, *_ = capsys.readouterr().err.splitlines()
    assert first.endswith(" parts of a context of babilong/qa1 at 4k are embedded")

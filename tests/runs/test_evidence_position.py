"""Where in its context an answer is read from: in results, in slices, and not where only a part was sent."""

from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.items.item import make
from carrara.results.rows import summarize_by_labels
from carrara.runs.reading_record import Watch
from tests.helpers.inspect_warnings import LEFT_OPEN

TASKS = ("babilong/qa2", "michelangelo/mrcr", "michelangelo/latent_list", "minerva/word_search", "sync/graph")


@pytest.mark.parametrize("task", TASKS)
def test_places_are_those_of_the_text(task: str) -> None:
    """Found again by looking for each needed sentence in the whole prompt."""
    for index in range(4):
        item = make(task, length=4096, index=index, tokenizer="gpt2")
        watch = Watch(item.question.evidence)
        for part in item.prompt.parts(counted=False):
            watch.see(part)
        if not item.question.evidence:
            assert watch.places is None
            continue
        segments = list(item.prompt.packing)
        whole = sum(len(segment.text) for segment in segments)
        began: dict[int, float] = {}
        for n, segment in enumerate(segments):
            if segment.fact is not None and segment.fact in item.question.evidence:
                began.setdefault(segment.fact, sum(len(one.text) for one in segments[:n]) / whole)
        assert watch.places == pytest.approx((min(began.values()), max(began.values()), len(began)), abs=1e-4)


def test_a_part_of_a_context_has_no_places() -> None:
    watch = Watch([0, 1])
    for part in list(make("babilong/qa2", length=2048, index=3, tokenizer="gpt2").prompt.parts(counted=False))[:3]:
        watch.see(part)
    assert watch.places is None


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_run_knows_where_answers_stand(tmp_path: Path) -> None:
    def ask(prompt: str) -> str:
        return "FINAL ANSWER: kitchen"

    asked: dict[str, Any] = {"lengths": "0,1k", "n": 8, "tokenizer": "gpt2"}
    found = carrara.run("qa1", ask, out=tmp_path / "run", **asked)
    assert all(result.places and result.places[2] == 1 for result in found)
    assert len({result.places for result in found}) > 8
    rows = summarize_by_labels(list(found), ["place"])
    assert sum(row.stat.n for row in rows) == 16
    assert {row.labels["place"] for row in rows} <= {"0-20 %", "20-40 %", "40-60 %", "60-80 %", "80-100 %"}
    part = carrara.run("qa1", ask, out=tmp_path / "part", reader="retrieval:sentences,by=bm25,top=2", **asked)
    known = {result.id: result.places for result in found}
    assert [result.places for result in part] == [known[result.id] for result in part]

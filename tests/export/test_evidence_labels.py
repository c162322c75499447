"""The labels of evidence: the solver needs the labelled chunks, and no other."""

import json
from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

import pytest

import carrara
from carrara.export.config import ExportConfig
from carrara.export.evidence_labels import COLUMNS, EvidenceLabels
from carrara.export.lines import write_lines
from carrara.export.shards import ShardTable, write_tables
from carrara.items.item import Item, item_of
from carrara.items.item_id import ItemId
from carrara.readers.context import ReaderContext
from carrara.tokenizers import get
from carrara.types import Message, UndecidableError
from carrara.util.errors import UsageError

CHUNK = 128
TASKS = (
    "qa1,qa2,qa3,qa6,qa13,classic/hops,classic/niah,classic/vt,classic/json_kv,minerva/key_value,ranking,citations,"
    "walks,associations,sessions,sync/graph,idk"
)


def is_solved(item: Item, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether the solver finds the right answer in the segments that are whole in these parts of the prompt."""
    template, context = item.prompt.template, ReaderContext(item)
    first = len(template.before)
    text = template.separator.join(
        segment for start, end in spans for segment in context.whole_segments(start - first, end - first)
    )
    try:
        return bool(item.solve([Message("user", template.before + text + template.after)]) == item.question.gold)
    except UndecidableError:
        return False


def needed_spans(chunks: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return the positions of the needed chunks. Those in a row are one text."""
    runs = [list(run) for is_needed, run in groupby(chunks, key=itemgetter("needed")) if is_needed]
    return [(run[0]["start"], run[-1]["end"]) for run in runs]


@pytest.mark.parametrize("task", TASKS.split(","))
@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k"])
@pytest.mark.sampled(3)
def test_the_solver_needs_the_labelled_chunks_and_each_fact(task: str, tokenizer: str) -> None:
    for index in range(6):
        item = carrara.item(task, length="4k", index=index, tokenizer=tokenizer)
        row = EvidenceLabels(CHUNK).row(item)
        assert is_solved(item, needed_spans(row["chunks"])), item.id
        for fact in row["evidence"]:
            is_needed = [chunk["needed"] for chunk in row["chunks"] if _overlap(chunk, fact)]
            assert set(is_needed) == {True}
            if fact["fact"] in item.question.evidence:
                others = [(0, fact["start"]), (fact["end"], len(item.text))]
                assert not is_solved(item, others), (item.id, fact)


def _overlap(chunk: dict[str, Any], fact: dict[str, Any]) -> bool:
    return bool(chunk["start"] < fact["end"] and fact["start"] < chunk["end"])


@pytest.mark.parametrize("task", ["qa2", "classic/hops", "classic/niah", "sync/graph"])
def test_positions_are_those_of_the_facts_and_chunks_have_every_segment_once(task: str) -> None:
    item = carrara.item(task, length="4k", tokenizer="o200k")
    text, count = item.messages()[0].content, get("o200k").count
    row = EvidenceLabels(CHUNK).row(item)
    facts = [" ".join(segment.text for segment in chunk) for chunk in item.context.instance.chunks]
    for one in row["evidence"]:
        if one["fact"] >= 0:
            assert text[one["start"] : one["end"]] == facts[one["fact"]]
    chunks = row["chunks"]
    assert all(count(text[one["start"] : one["end"]]) <= CHUNK for one in chunks)
    between = [text[one["end"] : after["start"]] for one, after in pairwise(chunks)]
    assert set(between) <= {item.prompt.template.separator, " "}
    assert text[: chunks[0]["start"]] == item.prompt.template.before
    assert text[chunks[-1]["end"] :] == item.prompt.template.after


@pytest.mark.parametrize(
    "task", ["qa1", "hops", "classic/niah", "classic/json_kv", "key_value", "ranking", "citations"]
)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.sampled(8)
def test_chunks_may_be_shorter_than_a_sentence_and_longer_than_the_text(task: str, chunk: int) -> None:
    """And the tokens of each fact are its own, by decoding them."""
    item = carrara.item(task, length="2k", tokenizer="o200k")
    text, row, encoder = item.messages()[0].content, EvidenceLabels(chunk).row(item), cast(Any, get("o200k")).encoder
    ids = encoder.encode_ordinary(text)
    assert row["evidence"]
    for fact in row["evidence"]:
        found = encoder.decode(ids[fact["token_start"] : fact["token_end"]])
        assert found.strip(" \n,") == text[fact["start"] : fact["end"]].strip(" \n,")
    if chunk > len(text):
        assert [one["needed"] for one in row["chunks"]] == [True]


@pytest.mark.parametrize(
    ("task", "says"),
    [
        ("mrcr", "the context of michelangelo/mrcr is a conversation"),
        ("census", "an answer of carrara/census depends on the whole context"),
        ("latent_list", "do not decide its answer without the rest: leave michelangelo/latent_list out"),
    ],
)
def test_tasks_without_such_facts_are_refused(task: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        EvidenceLabels(CHUNK).row(carrara.item(task, length="8k"))


def _row(item: Item) -> dict[str, str]:
    return {"id": item.id}


@pytest.mark.parametrize("workers", [1, 2])
def test_any_rows_can_carry_them(tmp_path: Path, workers: int) -> None:
    config = ExportConfig("qa2,hops", lengths="4k", n=2, out=tmp_path, chunk=CHUNK, workers=workers)
    assert write_lines(config, {"rows.jsonl": _row}) == [f"{tmp_path / 'rows.jsonl'}: 4 items"]
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [{**one, **EvidenceLabels(CHUNK).row(item_of(one["id"]))} for one in lines] == lines
    assert len(lines) == 4

    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

    def path(first: ItemId, number: int, of: int) -> Path:
        return tmp_path / f"{first.task.replace('/', '-')}-{number}-of-{of}.parquet"

    files = write_tables(config, config.jobs, ShardTable("ids", _row, {"id": "string"}), path)
    assert [row for one in files for row in parquet.read_table(one.path).to_pylist()] == lines
    other = ExportConfig("qa2,hops", lengths="4k", n=2, out=tmp_path, chunk=2 * CHUNK)
    with pytest.raises(UsageError, match="holds other items"):
        write_tables(other, other.jobs, ShardTable("ids", _row, {"id": "string"}), path)
    assert set(COLUMNS) < set(lines[0])

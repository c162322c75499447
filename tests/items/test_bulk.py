"""Items in bulk are the same whatever made them, and what cannot be made is told once."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from carrara.items import bulk, render
from carrara.items.item_id import ItemId
from carrara.items.selection import Sampling, Selection, item_ids
from carrara.util.errors import LengthError
from tests.helpers.process import carrara

ROW = partial(render.line, row=render.render)


def first(name: str, length: int) -> ItemId:
    return replace(item_ids(Selection(name), Sampling(), None, "gpt2")[0], length=length)


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones, so that there are many."""
    monkeypatch.setattr(bulk, "SHARE", 3 * bulk.LEAST_TOKENS)


@pytest.mark.usefixtures("shares")
def test_several_processes_make_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [first("sync/graph", 0), first("babilong/qa1", 1024), first("babilong/qa2", 2048)]
    alone = [list(rows) for rows in bulk.bulk(jobs, 10, None, ROW, pytest.fail)]
    assert len(alone) == 12
    monkeypatch.setattr(bulk, "ALONE", 0)
    assert [list(rows) for rows in bulk.bulk(jobs, 10, None, ROW, pytest.fail, workers=2)] == alone


@pytest.mark.usefixtures("shares")
def test_what_does_not_fit_is_told_once() -> None:
    told: list[str] = []
    tight = first("sync/graph", 470)
    rows = [row for rows in bulk.bulk([tight, first("babilong/qa1", 1024)], 12, None, ROW, told.append) for row in rows]
    assert rows
    assert len(told) == 1
    assert "instances of sync/graph do not fit into 470 tokens" in told[0] or "sync/graph is left out" in told[0]
    with pytest.raises(LengthError):
        list(bulk.bulk([first("sync/graph", 10)], 12, None, ROW, told.append))


def test_item_ids_come_back_by_their_names(tmp_path: Path) -> None:
    line = ["generate", "sync/graph,qa1", "--lengths", "1k", "-n", "3", "--tokenizer", "gpt2"]
    carrara(*line, "--out", tmp_path / "item_ids", check=True)
    carrara(*line, "--render", "--out", tmp_path / "whole", check=True)
    carrara("generate", tmp_path / "item_ids/item_ids.jsonl", "--render", "--out", tmp_path / "again", check=True)
    assert (tmp_path / "again/items.jsonl").read_bytes() == (tmp_path / "whole/items.jsonl").read_bytes()
    item_ids = tmp_path / "item_ids/item_ids.jsonl"
    item_ids.write_text(item_ids.read_text().replace('"sha256": "', '"sha256": "0'))
    ended = carrara("generate", item_ids, "--render", "--out", tmp_path / "again")
    assert ended.returncode == 1
    assert "renders to other bytes" in ended.stderr

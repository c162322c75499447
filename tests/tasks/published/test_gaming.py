"""Replies that understand nothing, on rows in the schema of published sets."""

import re
from pathlib import Path

import pytest
from benchmarks.gaming_published import items_of, rows_of

from carrara.tasks import published_graphwalks, published_longbench2
from tests.helpers.published_sets import graphwalks, jsonl, longbench2


def test_no_reply_that_understands_nothing_scores_above_the_chance_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path / "cache"))
    walks = [graphwalks(n, operation) for operation in published_graphwalks.OPERATIONS for n in range(20)]
    files = published_graphwalks.FILES.sources(jsonl(tmp_path / "graphwalks.jsonl", walks))
    questions = [longbench2(n) for n in range(20)]
    others = published_longbench2.FILES.sources(jsonl(tmp_path / "longbench2.jsonl", questions))
    rows = [*rows_of(items_of(files)), *rows_of(items_of(others))]
    assert len(rows) == 29
    assert not [row for row in rows if "*" in row[3]]
    scores = {(row[0].rpartition("/")[2], row[1]): (float(row[3]), row[5]) for row in rows}
    # the sets' own rules give something for no answer, or for all of them
    assert scores["graphwalks-bfs", "unreadable"] == (0.0, "graphwalks 0.000, anthropic 0.200, exact 0.000")
    assert scores["longbench-v2", "empty"] == (0.0, "longbench2 0.000, compensated 0.250")
    ours, theirs = scores["graphwalks-bfs", "every node"]
    assert ours == 0.0
    assert not theirs.startswith("graphwalks 0.0")


def test_the_page_has_the_scores_of_the_results() -> None:
    """The first table of replies in docs/explanation/fidelity/published-sets.md."""
    cells = {}
    for line in Path("results/gaming_published.txt").read_text("utf-8").splitlines():
        if line.startswith("published/graphwalks"):
            task, reply, _, ours, _, published = re.split(r" {2,}", line, maxsplit=5)
            cells[task.rpartition("-")[2], reply] = [
                ours,
                *re.findall(r"(?:graphwalks|anthropic) ([0-9.]+)", published),
            ]
    page = Path("docs/explanation/fidelity/published-sets.md").read_text("utf-8")
    shown = {"every node": "every node", "[]": "an empty list", "unreadable": "empty, or unreadable"}
    for reply, named in {**shown, "a wrong node": "a wrong name"}.items():
        assert f"| {named} | {' | '.join(cells['bfs', reply] + cells['parents', reply])} |" in page
    assert cells["bfs", "empty"] == cells["bfs", "unreadable"]


def test_the_page_has_the_scores_of_nolima_and_oolong() -> None:
    cells = {}
    for line in Path("results/gaming_published.txt").read_text("utf-8").splitlines():
        if line.startswith(("published/nolima", "published/oolong")):
            task, reply, _, ours, chance, published = re.split(r" {2,}", line, maxsplit=5)
            cells[task.rpartition("/")[2], reply] = (ours, published.split()[1], chance)
    page = Path("docs/explanation/fidelity/published-sets.md").read_text("utf-8")
    shown = {
        "every word": "every word, the text, the prompt",
        "two names": "two names of four",
        "always the first name": "always the same name",
        "empty": "empty",
    }
    for reply, named in shown.items():
        assert f"| {named} | {' | '.join(cells['nolima', reply])} |" in page
    synth, real = (
        cells[f"oolong-{part}", reply][:2] for part, reply in (("synth", "always 20"), ("real", "always 60"))
    )
    assert f"| always 20; always 60 in a box | {' | '.join((*synth, *real))} |" in page
    for part, reply, row in (
        ("synth", "every comparison", "| every comparison | {} |"),
        ("real", "every spell", "| {} |"),
    ):
        assert row.format(" | ".join(cells[f"oolong-{part}", reply][:2])) in page

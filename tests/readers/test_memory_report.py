"""The report on memories: its shares equal the known flaws of scripted memories."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

import carrara
from carrara.cli.main import main
from carrara.items.item import Item, item_of
from carrara.operations.results import Results
from carrara.readers.context import ReaderContext
from carrara.readers.losses import count_private
from carrara.readers.reader import Exchange
from carrara.results.memories import PRIVATE, SIZE, MemoryRow, Outcome
from carrara.results.summary import Summary
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.session_memories import FORGOTTEN

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]


def run(out: Path, *flaws: str, n: int = 60) -> Results:
    readers = [f"memory:tests.helpers.session_memories:{flaw},chunk=1000000" for flaw in flaws]
    params = {"kind": "latest", "updates": "4"}
    for reader in readers:
        results = carrara.run(
            "sessions", "carrara/oracle", lengths="0", n=n, tokenizer="gpt2", reader=reader, params=params, out=out
        )
    return results


def memories_in(out: Path) -> Mapping[str, MemoryRow]:
    """Return the rows by the name of the flaw."""
    return {str(row.series)[:-1].rpartition(":")[2]: row for row in Summary(carrara.read(out)).memories}


def counts_of(row: MemoryRow) -> Mapping[str, Mapping[Outcome, int]]:
    return {kind.kind: {name: n for name, n in kind.counts.items() if n} for kind in row.kinds}


ALL_RIGHT = {"said": {"right": 36}, "withdrawn": {"right": 4}, "private": {"right": 16}, "not said": {"right": 4}}


def test_the_shares_are_those_of_the_flaws(tmp_path: Path) -> None:
    run(tmp_path, "Faithful", "Discreet", "Leak", "Withdrawn", "Old", "Invent")
    rows = memories_in(tmp_path)
    counts = {flaw: counts_of(row) for flaw, row in rows.items()}
    assert counts["Faithful"] == counts["Discreet"] == ALL_RIGHT
    assert counts["Leak"] == ALL_RIGHT | {"private": {"private served": 16}}
    assert counts["Withdrawn"] == ALL_RIGHT | {"withdrawn": {"withdrawn served": 4}}
    assert counts["Invent"] == {kind: {"invented": sum(right.values())} for kind, right in ALL_RIGHT.items()}
    items = {result.id: item_of(result.id) for result in carrara.read(tmp_path)}
    assert counts["Old"] == first_statements(items.values())
    assert {row.replies for row in rows.values()} == {60}
    texts = [ReaderContext(item) for item in items.values()]
    private = [context for context in texts if context.private]
    for flaw, share in (("Faithful", 1.0), ("Discreet", 0.0), ("Leak", 1.0), ("Withdrawn", 1.0)):
        kept = rows[flaw].measures[PRIVATE]
        assert (kept.value, kept.n) == (share, len(private))
        assert kept.low is not None
        assert kept.high is not None
        assert kept.low <= share <= kept.high
    assert PRIVATE not in rows["Invent"].measures, "it is not known what its model had"
    assert rows["Faithful"].measures[SIZE].value == pytest.approx(1, abs=0.02), (
        "the white space between sessions is not kept"
    )
    assert rows["Old"].measures[SIZE].value < 0.5
    differences = {(entry.kind, entry.what): entry.difference for entry in rows["Faithful"].differences}
    assert rows["Discreet"].first is None
    assert differences["", PRIVATE].mean == 1
    assert differences["", PRIVATE].instances == len(private)
    assert differences["", PRIVATE].clear
    assert (differences["", "score"].mean, differences["", "score"].clear) == (0, False)


def first_statements(items: object) -> dict[str, dict[str, int]]:
    """Return the outcomes of a memory that keeps the first statement about each thing, from the items' structure."""
    outcomes: dict[str, Counter[str]] = {kind: Counter() for kind in ALL_RIGHT}
    for item in items:  # type: ignore[attr-defined]
        reason = item.question.labels["answer"]
        kind = {"then off the record": "private", "only off the record": "private", "never said": "not said"}
        timeline, names = item.context.instance.structure, item.context.instance.names
        own = [
            event
            for event in timeline.events
            if (event.user, event.statement.thing) == (names["owner"], names["thing"])
        ]
        is_mistake = len(own) > 1 and own[1].statement.kind == "corrected"
        if not own or own[0].statement.kind == "private":
            outcome = "right" if item.gold == "not said" else "abstained"
        elif is_mistake:
            outcome = "invented" if item.gold == "not said" else "mutated"
        else:
            outcome = "stale"
        outcomes[kind.get(reason, reason)][outcome] += 1
    return {kind: dict(counts) for kind, counts in outcomes.items()}


def test_a_share_that_is_forgotten_lies_in_its_interval(tmp_path: Path) -> None:
    """An answer that one session decides is right if the session is kept, and only then: all towns differ."""
    run(tmp_path, "Forget", n=150)
    row = memories_in(tmp_path)["Forget"]
    said = next(kind for kind in row.kinds if kind.kind == "said")
    right = said.shares["right"]
    assert said.n == 90
    assert right.low is not None
    assert right.high is not None
    assert right.low < 1 - FORGOTTEN < right.high
    assert right.high - right.low < 0.25
    kept = row.measures[PRIVATE]
    assert kept.low is not None
    assert kept.high is not None
    assert kept.low < 1 - FORGOTTEN < kept.high
    assert kept.high < 1


def test_the_page_the_terminal_and_json_have_the_memories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "Faithful", "Leak", n=15)
    assert main(["report", str(tmp_path), "--force"]) == 0
    shown = capsys.readouterr().out
    assert "Memories: what became of each kind of fact" in shown
    assert "private served" in shown
    page = (tmp_path / "report.html").read_text("utf-8")
    assert '<h2 id="memories">Memories</h2>' in page
    assert "a value that must not be kept" in page
    assert "Difference from the first memory" in page
    assert main(["report", str(tmp_path), "--json", "--force"]) == 0
    first, second = [row["memory"] for row in json.loads(capsys.readouterr().out)]
    assert first["kinds"]["private"]["right"]["share"] == 1
    assert second["kinds"]["private"]["private served"]["count"] == 4
    assert second["measures"][PRIVATE]["value"] == 1
    assert {entry["what"]: entry["mean"] for entry in second["differences"] if entry["kind"] is None}["score"] < 0


def test_a_private_fact_in_the_answer_was_kept_even_if_the_texts_lack_it(tmp_path: Path) -> None:
    results = carrara.run(
        "sessions", "carrara/oracle", lengths="0", n=12, tokenizer="o200k", params={"kind": "latest"}, out=tmp_path,
        reader="memory:tests.helpers.session_memories:Hide,chunk=1000000",
    )  # fmt: skip
    private = [result.kept_private for result in results if result.kept_private]
    assert private
    assert {*private} == {(1, 1)}


def first_private(reason: str) -> Item:
    ids = (f"carrara/sessions@3;kind=latest;updates=4/test-0-{index}.0/0/chat/gpt2" for index in range(60))
    return next(item for item in map(item_of, ids) if item.question.labels["answer"] == reason)


def test_private_facts_are_found_in_other_words() -> None:
    item = first_private("then off the record")
    context, instance = ReaderContext(item), item.context.instance
    [place] = instance.private
    town = instance.structure.events[place].statement.town
    for notes, kept in ((f"{town}: the owner's thing", 1), (f"It is in {item.gold}.", 0), ("", 0)):
        calls = [Exchange([(0, len(context.text))], notes), Exchange([notes], "")]
        assert count_private(item, context, calls, None) == (kept, 1)
        assert count_private(item, context, [], [notes]) == (kept, 1)
    assert count_private(item, context, [Exchange([(0, len(context.text))], "")], None) == (1, 1)
    assert count_private(item, context, [], None) is None
    without = first_private("never said")
    assert count_private(without, ReaderContext(without), [], [""]) is None

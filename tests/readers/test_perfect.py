"""A perfect reader is right on every task, by every reader: the evidence alone, notes, and searches."""

from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.items import registry
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN

TASKS = [name for name in registry.names() if not name.startswith("published/")]
UNDECIDED = [name for name in TASKS if not registry.load(name).evidence_decides]
"""Tasks whose evidence does not decide the answer without the rest: what is counted or compared is the whole text."""
CONVERSATIONS = ["carrara/march"]
"""Tasks that are conversations of several questions, for which only some readers can read."""
LONG_FACTS = ["minerva/two_lists"]
"""Tasks whose facts are longer than a page, so that no single call of a tool shows one."""

FORMS = [
    ("rules", {}),
    ("rules", {"form": "text"}),
    ("trajectory", {"form": "text"}),
    ("trajectory", {"form": "chat"}),
    ("trajectory", {"form": "tools"}),
    ("timeline", {"form": "chat"}),
]
"""Tasks that show their context in several forms: as one text with labels, as turns, and as calls of tools."""
KEEPERS = [
    "evidence",
    "notes:chunk=200,size=8k",
    "compact:window=2k",
    "search",
    "memory:tests.helpers.memories:KeepAll",
    "memory:tests.helpers.memories:Recall",
]
"""Readers with which a perfect reader loses nothing, though they divide facts between passages."""


def test_which_tasks_need_the_whole_text() -> None:
    assert UNDECIDED == [
        "carrara/census",
        "carrara/in_context",
        "classic/cwe",
        "classic/fwe",
        "minerva/duplicates",
        "minerva/odd_group",
        "minerva/set_state",
        "minerva/theory_of_mind",
    ]
    with pytest.raises(UsageError, match=r"the evidence of classic/cwe does not decide its answer without the rest"):
        carrara.run("cwe", "carrara/oracle", reader="evidence", out="unused")


def scores(tasks: str, reader: str, out: Path, lengths: str = "4k") -> dict[str, set[float]]:
    found: dict[str, set[float]] = {}
    for result in carrara.run(tasks, "carrara/oracle", lengths=lengths, n=1, out=out, reader=reader):
        found.setdefault(result.task.partition(":")[0], set()).add(result.score)
    return found


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("reader", ["evidence", "notes:chunk=2k,size=8k", "search:calls=20"])
def test_a_few_tasks(reader: str, tmp_path: Path) -> None:
    found = scores("niah,vt,qa2,qa19,mrcr,key_value,sync/graph,latent_list", reader, tmp_path)
    assert len(found) == 8
    assert found == {name: {1.0} for name in found}


@pytest.mark.slow
@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("chunk", [32, 200])
def test_facts_that_are_divided_between_passages(chunk: int, tmp_path: Path) -> None:
    reader = f"notes:chunk={chunk},size=8k"
    assert list(scores("hops,mrcr,sessions,key_value", reader, tmp_path).values()) == [{1.0}] * 4


@LEFT_OPEN
@pytest.mark.slow
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("reader", ["evidence", "notes:chunk=4k,size=8k", "search:calls=20"])
def test_every_task_that_allows_the_reader(reader: str, tmp_path: Path) -> None:
    left_out = [*UNDECIDED, *(LONG_FACTS if reader.startswith("search") else [])]
    left_out += [] if reader == "evidence" else CONVERSATIONS
    found = scores(",".join(name for name in TASKS if name not in left_out), reader, tmp_path)
    assert found == {name: {1.0} for name in TASKS if name not in left_out}


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_closed_book_answer_is_a_guess(tmp_path: Path) -> None:
    """The oracle says that nothing is decided; the guesser does as well as with the text, for it does not read."""
    closed = carrara.run("qa1,niah", "carrara/oracle", n=4, lengths="1k", reader="none", out=tmp_path)
    assert {result.status for result in closed} == {"unparsed"}
    assert {trace.fate for result in closed for trace in result.facts} == {"unseen"}
    blind = carrara.run("qa1", "carrara/chance", n=4, lengths="1k", reader="none", out=tmp_path)
    whole = carrara.run("qa1", "carrara/chance", n=4, lengths="1k", out=tmp_path)
    assert {one.id: one.reply for one in blind} == {one.id: one.reply for one in whole}


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize(("task", "params"), FORMS)
def test_every_form_of_a_task_reaches_the_model_whole(task: str, params: dict[str, str], tmp_path: Path) -> None:
    for reader in KEEPERS:
        settings: Any = {"lengths": "3k", "n": 2, "reader": reader, "params": params, "tokenizer": "gpt2"}
        results = carrara.run(f"carrara/{task}", "carrara/oracle", out=tmp_path, **settings)
        assert [result.score for result in results] == [1.0] * 2, reader
        assert {trace.fate for result in results for trace in result.facts} == {"used"}, reader
    settings |= {"reader": "retrieval:sentences,by=bm25,top=2"}
    results = carrara.run(f"carrara/{task}", "carrara/oracle", out=tmp_path, **settings)
    assert {result.status for result in results} <= {"ok", "unparsed"}


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_readers_of_several_turns(tmp_path: Path) -> None:
    settings: Any = {"lengths": "0", "n": 2, "params": {"turns": 4}, "tokenizer": "gpt2", "out": tmp_path}
    for reader, fates in (("whole", set()), ("evidence", {"used"})):
        results = carrara.run("carrara/rules", "carrara/oracle", reader=reader, **settings)
        assert [result.score for result in results] == [1.0] * 2, reader
        assert {trace.fate for result in results for trace in result.facts} == fates
    closed = carrara.run("carrara/rules", "carrara/oracle", reader="none", **settings)
    assert {(result.status, len(result.turns)) for result in closed} == {("ok", 4)}
    assert all(result.score < 1 for result in closed)
    for reader in (*KEEPERS[1:], "retrieval:sentences", "agent:react"):
        with pytest.raises(UsageError, match=r"a conversation of several questions, and the reader \w+ reads for one"):
            carrara.run("carrara/rules", "carrara/oracle", reader=reader, **settings)

"""Published LongBench v2: its prompt, its two scores, the middle that may be left out, and files that are none."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara import tokenizers
from carrara.items.grading import grade
from carrara.items.item import Item, contexts, rebuild
from carrara.items.item_id import ItemId
from carrara.rng import Rng
from carrara.tasks.published_longbench2 import FILES, TASK, LongBench2, leave_out_middle, stated_letter
from carrara.tasks.published_rows import remember_files
from carrara.tasks.table_files import file_hash
from carrara.tokenizers.encoders import BytePairs
from carrara.types import Question
from carrara.util.errors import UsageError
from carrara.verify.reference import chance, majority
from tests.helpers.published_sets import Row, jsonl, longbench2


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, in this process and in those that it starts."""
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path_factory.mktemp("cache")))


def items(place: Path, params: str = "", length: int = 4096) -> list[Item]:
    data = remember_files(FILES.sources(place))
    first = ItemId(TASK, 1, f"data={data}{params}", "test", 0, 0, 0, length, "chat", "", "o200k")
    return [context.items[0] for context in contexts(first, 1000)]


def data_json(path: Path, rows: list[Row]) -> Path:
    path.write_text(json.dumps(rows), "utf-8")
    return path


def prompt_of(row: Row) -> str:
    """The prompt of `prompts/0shot.txt`, filled in the order of `pred.py`."""
    prompt = (
        "Please read the following text and answer the question below.\n\n<text>\n$DOC$\n</text>\n\nWhat is the "
        "correct answer to this question: $Q$\nChoices:\n(A) $C_A$\n(B) $C_B$\n(C) $C_C$\n(D) $C_D$\n\n"
        'Format your response as follows: "The correct answer is (insert answer here)".'
    )
    fields = {"DOC": "context", "Q": "question", **{f"C_{letter}": f"choice_{letter}" for letter in "ABCD"}}
    for name, column in fields.items():
        prompt = prompt.replace(f"${name}$", row[column].strip())
    return prompt


def question(text: str = "Who took the ledger?", gold: str = "B") -> Question[str]:
    ask = f"{text}\n(A) Anna\n(B) The harbour master\n(C) Nobody\n(D) Both"
    return Question(ask, gold, (), 0.25)


# --- as they are ---


@pytest.mark.parametrize("ending", ["json", "jsonl", "parquet"])
def test_prompts_are_those_of_the_published_code(tmp_path: Path, ending: str) -> None:
    rows = [longbench2(n) for n in range(6)]
    rows[1]["context"] += "\nLet $Q$ be a set, and $C_B$ a class."  # the published code fills these too
    rows[2]["question"] = "What is $C_A$?"
    path = tmp_path / f"data.{ending}"
    if ending == "parquet":
        parquet: Any = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), path)
    else:
        (jsonl if ending == "jsonl" else data_json)(path, rows)
    for item, row in zip(items(path), rows, strict=True):
        [sent] = rebuild(item.id).messages()
        assert (sent.role, sent.content) == ("user", prompt_of(row))
        assert item.question.gold == row["answer"]
        assert item.question.labels == {name: row[name] for name in ("difficulty", "length", "domain")}
        assert grade(item.task, item.question, item.gold).scores == {"longbench2": 1.0, "compensated": 1.0}
        assert grade(item.task, item.question, item.gold).score == 1.0
        assert item.question.chance_level == 0.25
        assert item.survey.tokens == item.prompt.tokens


def test_references_guess_a_letter_and_solve_nothing(tmp_path: Path) -> None:
    rows = [{**longbench2(n), "answer": "C" if n else "A"} for n in range(8)]
    found = items(jsonl(tmp_path / "data.jsonl", rows))
    assert {majority(item, item.messages()) for item in found} == {"The correct answer is (C)"}
    assert {grade(item.task, item.question, chance(item, item.messages())).score for item in found} <= {0.0, 1.0}
    results = carrara.run("longbench-v2", "carrara/oracle", out=tmp_path / "run", published=f"longbench2:{tmp_path}")
    assert [result.score for result in results] == [0.0] * 8


# --- scores ---


def _extract(response: str) -> str | None:
    """The letter that `extract_answer` of `pred.py` finds, restated."""
    response = response.strip().replace("*", "")
    found = re.search(r"The correct answer is \(([A-D])\)", response) or re.search(
        r"The correct answer is ([A-D])", response
    )
    return found[1] if found else None


FORMS = (
    "The correct answer is ({})", "The correct answer is {}", "The correct answer is {}.", "({})", "{}",
    "**The correct answer is ({})**", "The correct answer is **({})**", "the correct answer is ({})", "Answer: {}", "",
    "The correct answer is: ({})", "I think the correct answer is ({}) The harbour master.",
    "The correct answer is [{}]",
    "The correct answer is Both", "The correct answer is ({}) or (A)", "The correct answer is (insert answer here)",
    "The correct answer is (A). The correct answer is ({})", "\nThe correct answer is ({})\n",
    "The correct answer is\n({})",
)  # fmt: skip


def test_the_published_scores_are_those_of_its_code() -> None:
    rng, task, unread = Rng("replies to longbench"), LongBench2(), 0
    for _ in range(500):
        said, gold = rng.choice(FORMS).replace("{}", rng.choice("ABCDE")), rng.choice("ABCD")
        found = _extract(said)
        assert stated_letter(said) == found
        scores = task.paper_scores(said, question(gold=gold))
        assert scores["longbench2"] == float(found == gold)
        assert scores["compensated"] == (0.25 if found is None else float(found == gold))
        unread += found is None
    assert unread > 100


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("The correct answer is (B)", "B"),
        ("The correct answer is B.", "B"),
        ("**The correct answer is (B) The harbour master.**", "B"),
        ("The correct answer is (B) Anna", "B"),
        ("The correct answer is the harbour master.", "B"),
        ("The correct answer is The harbour master", "B"),
        ("correct answer: (B)", "B"),
        ("(B)", "B"),
        ("<think>The correct answer is (A)</think>The correct answer is (B)", "B"),
        ("I would say (A). No, wait.\nThe correct answer is (B)", "B"),
        ("FINAL ANSWER: B", "B"),
        ("(A), (B), (C), (D)", None),
        ("The correct answer is (A) or (B)", None),
        ("The correct answer is (B), because she said so.", "B"),
        ("The correct answer is C. Nobody", "C"),
        ("A harbour is a place for ships.", None),
        ("", None),
    ],
)
def test_our_score_reads_one_letter(said: str, letter: str | None) -> None:
    graded = grade(LongBench2(), question(gold="B"), said)
    assert graded.score == float(letter == "B"), graded
    assert (graded.status == "ok") == (letter is not None), graded


# --- the middle ---


def test_nothing_is_left_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    rows = [longbench2(0, 200), longbench2(1, 2000)]
    rows[1]["context"] += "🦭" * 50
    path = jsonl(tmp_path / "data.jsonl", rows)
    encoder: Any = tokenizers.get("o200k")
    assert isinstance(encoder, BytePairs)
    for keep in (500, 501, 1000):
        short, long = items(path, f";keep={keep}")
        assert short.text == prompt_of(rows[0])
        assert (short.question.labels["middle"], long.question.labels["middle"]) == ("kept", "left out")
        ids = encoder.encoder.encode_ordinary(prompt_of(rows[1]))
        expected = encoder.encoder.decode_lossy(ids[: keep // 2] + ids[-keep // 2 :])
        assert long.text == expected
        assert abs(encoder.count(long.text) - keep) <= 4  # tokens may merge where the middle was
    assert "middle" not in items(path)[1].question.labels


@pytest.mark.usefixtures("heard")
def test_what_is_left_out_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = jsonl(tmp_path / "data.jsonl", [longbench2(0, 900)])
    items(path, ";keep=401")
    assert f"`keep=401` leaves out the middle of longer prompts of {TASK}" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"`keep=20` cuts the question of row 0 of .*data\.jsonl: give more tokens"):
        items(path, ";keep=20")
    with pytest.raises(UsageError, match="`keep_by=words` cannot cut a text: name a bundled tokenizer, such as o200k"):
        items(path, ";keep=300;keep_by=words")
    [row] = FILES.rows(remember_files(FILES.sources(path)), TASK, 4096)
    assert leave_out_middle(row, 100_000, "o200k") == row.context


# --- files ---


def _bad() -> list[tuple[Mapping[str, Any], str]]:
    good = longbench2(1)
    return [
        ({**good, "answer": "E"}, "has the answer 'E', which is none of A, B, C, D"),
        ({**good, "answer": "a"}, "has the answer 'a', which is none of A, B, C, D"),
        ({**good, "length": "huge"}, "has the length 'huge', which is none of short, medium, long"),
        ({**good, "difficulty": ""}, "has no text for its difficulty"),
        ({**good, "choice_C": None}, "has no text for its choice_C"),
        ({**good, "context": "\ud800"}, "has no text for its context"),
        ({**good, "context": ["a"]}, "has no text for its context"),
    ]


@pytest.mark.parametrize(("row", "complaint"), _bad())
def test_rows_that_are_none_are_refused(tmp_path: Path, row: Mapping[str, Any], complaint: str) -> None:
    path = jsonl(tmp_path / "data.jsonl", [longbench2(0), row])
    with pytest.raises(UsageError, match=complaint) as refused:
        FILES.sources(path)
    assert f"row 1 of {path}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_without_a_column_is_refused(tmp_path: Path) -> None:
    row = longbench2(0)
    del row["choice_D"]
    path = data_json(tmp_path / "data.json", [row])
    with pytest.raises(
        UsageError, match=r"data\.json has no column choice_D, which LongBench v2 has; its columns: _id,"
    ):
        FILES.sources(path)
    with pytest.raises(UsageError, match="has no rows of LongBench v2 in"):
        FILES.sources(tmp_path)


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    with path.open("wb") as file:
        file.truncate(9 << 30)
    with pytest.raises(UsageError, match=r"data\.json cannot be read: it has .* part it into several files") as refused:
        FILES.sources(path)
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("heard")
def test_a_file_that_changed_since_the_last_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(rows: list[int]) -> int:
        path = jsonl(tmp_path / "data.jsonl", [longbench2(n, 20) for n in rows])
        file_hash.cache_clear()  # as another process would see it
        return len(carrara.run("longbench-v2", "carrara/oracle", out=tmp_path / "run", published=f"longbench2:{path}"))

    assert run([0, 1]) == run([0, 1]) == 2
    told = f"the files of {TASK} have changed since it was run into {tmp_path / 'run'}"
    assert told not in capsys.readouterr().err
    assert run([2]) == 1
    assert told in capsys.readouterr().err

"""Published Oolong, run as it is: files of the documented columns, written here."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrara.items.grading import grade
from carrara.items.item import Item, contexts, rebuild
from carrara.items.item_id import ItemId
from carrara.runs.jobs import published_jobs
from carrara.tasks._oolong_score import score_real, score_synth
from carrara.tasks.published_oolong import REAL, SYNTH, sources
from carrara.tasks.published_rows import remember_files
from carrara.util.errors import UsageError
from carrara.verify.reference import chance
from tests.helpers.oolong_rows import FORMS, LABELS, real, synth
from tests.helpers.published_sets import jsonl as write

REAL_ROWS = [
    real(0, "Total number of rolls across all the episodes?", "84"),
    real(1, "What is the first spell cast in the episode 7?", "Hunter's Mark"),
    real(2, "List the last spell cast in each episode? Return a comma separated list.", "Hex, Cure Wounds"),
]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path_factory.mktemp("cache")))


def items(place: Path, task: str, length: int = 1024, params: str = "") -> list[Item]:
    data = f"data={remember_files(sources(place))}{params}"
    first = ItemId(task, 1, data, "test", 0, 0, 0, length, "chat", "", "o200k")
    return [context.items[0] for context in contexts(first, 1000)]


def scores(item: Item, reply: str) -> tuple[float, float]:
    """Return our score and Oolong's."""
    graded = grade(item.task, item.question, reply)
    return graded.score, graded.scores["oolong"]


@pytest.fixture
def synthetic(tmp_path: Path) -> dict[str, Item]:
    write(tmp_path / "test.jsonl", [synth(n, answer_type) for n, answer_type in enumerate(FORMS)])
    return dict(zip(FORMS, items(tmp_path, SYNTH), strict=True))


@pytest.fixture
def transcripts(tmp_path: Path) -> list[Item]:
    return items(write(tmp_path / "dnd" / "test.jsonl", REAL_ROWS), REAL)


# --- as they are ---


def test_rows_are_sent_as_the_card_says(synthetic: Mapping[str, Item], transcripts: Sequence[Item]) -> None:
    rows = [*(synth(n, answer_type) for n, answer_type in enumerate(FORMS)), *REAL_ROWS]
    for item, row in zip([*synthetic.values(), *transcripts], rows, strict=True):
        (sent,) = rebuild(item.id).messages()
        assert sent.content == row["context_window_text"] + "\n" + row["question"]
        assert item.question.ask == row["question"]
    assert synthetic["ANSWER_TYPE.DATE"].question.labels == {"group": "counting", "kind": "date", "dataset": "spam"}
    assert transcripts[0].question.labels == {"type": "multidoc_spells", "episodes": "2"}


def test_the_right_answer_scores_1_by_both_scores(synthetic: Mapping[str, Item], transcripts: Sequence[Item]) -> None:
    for item in (*synthetic.values(), *transcripts):
        assert scores(item, item.task.write(item.question.gold)) == (1.0, 1.0)
        assert scores(item, f"Let me count.\n{item.task.write(item.question.gold)}") == (1.0, 1.0)
    levels = {answer_type: item.question.chance_level for answer_type, item in synthetic.items()}
    assert [round(level, 3) for level in levels.values()] == [0.333, 0.333, 0.0, 0.0, 0.0, 0.0]


def test_texts_with_labels_are_sent_if_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "test.jsonl", [synth(0, "ANSWER_TYPE.LABEL")])
    (item,) = items(tmp_path, SYNTH, params=";labels=true")
    assert item.text.count("|| Label: ham") >= 8
    write(tmp_path / "dnd.jsonl", REAL_ROWS[:1])
    with pytest.raises(UsageError, match="has no context_window_text_with_labels: leave `labels` out"):
        items(tmp_path / "dnd.jsonl", REAL, params=";labels=true")


def test_lengths_are_those_of_the_rows(tmp_path: Path) -> None:
    rows = [synth(n, "ANSWER_TYPE.LABEL", context_len=1024 << n % 3) for n in range(7)]
    write(tmp_path / "synth.jsonl", rows)
    write(tmp_path / "real.jsonl", [*REAL_ROWS, real(3, "How many?", "2", context_window_text="roll " * 1500)])
    assert [(source.task, source.length) for source in sources(tmp_path)] == [
        (REAL, 1024), (REAL, 2048), (SYNTH, 1024), (SYNTH, 2048), (SYNTH, 4096),
    ]  # fmt: skip
    assert len(items(tmp_path, SYNTH, 1024)) == 3
    assert len(items(tmp_path, SYNTH, 4096)) == 2


def test_census_runs_them(tmp_path: Path) -> None:
    write(tmp_path / "test.jsonl", [synth(0, "ANSWER_TYPE.LABEL")])
    asked = ItemId("carrara/census", 2, "labels=true", "test", 0, 0, 0, 0, "chat", "", "o200k")
    (job,) = published_jobs(f"oolong:{tmp_path}", [asked], None, None, "census")
    assert (job.first.task, job.first.length) == (SYNTH, 1024)
    assert job.first.params.endswith("labels=true")


def test_parquet_is_read_as_the_hub_has_it(tmp_path: Path) -> None:
    pa: Any = pytest.importorskip("pyarrow")
    pq: Any = pytest.importorskip("pyarrow.parquet")
    rows = [synth(n, answer_type) for n, answer_type in enumerate(FORMS)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "test-00000-of-00001.parquet")
    assert [item.gold for item in items(tmp_path, SYNTH)][2] == "Answer: 7"


# --- scores ---


@pytest.mark.parametrize(
    ("answer_type", "reply", "ours", "theirs"),
    [
        ("LABEL", "Label: spam", 1, 1),
        ("LABEL", "label: Spam.", 1, 0),
        ("LABEL", "The most common label is **spam**", 1, 0),
        ("LABEL", "So it is spam", 0, 0),  # theirs: 13 characters are the answer as a whole
        ("LABEL", "I have counted them all and it is spam", 0, 1),
        ("LABEL", "Label: ham, spam, neither of the two", 0, 0),
        ("LABEL", "Label: ham\nLabel: spam", 1, 1),
        ("COMPARISON", "Answer: ham is less common than spam", 1, 1),
        ("COMPARISON", "Answer: ham is more common than spam", 0, 0),
        ("COMPARISON", "Answer: more common, less common, or the same frequency", 0, 0),
        ("COMPARISON", "Answer: less common", 1, 1),
        ("COMPARISON", "Answer: less", 0, 0),
        ("NUMERIC", "Answer: 7", 1, 1),
        ("NUMERIC", "Answer: [7]", 1, 1),
        ("NUMERIC", "Answer: 7.", 1, 0),
        ("NUMERIC", "Answer: seven", 1, 0),
        ("NUMERIC", "Answer: 9", 0, 0.5625),
        ("NUMERIC", "Answer: 1,007", 0, 0),
        ("NUMERIC", f"Answer: {'9' * 5000}", 0, 0),
        ("USER", "User: 41523", 1, 1),
        ("USER", "User: 41524", 0, 0),
        ("DATE", "Date: 03/05/2024", 1, 1),
        ("DATE", "Date: March 5, 2024", 1, 1),
        ("DATE", "Date: 05/03/2024", 0, 0),
        ("MONTH_YEAR", "Answer: March 2023", 1, 1),
        ("MONTH_YEAR", "Answer: March, 2023", 1, 0),
        ("MONTH_YEAR", "Answer: May 2023", 0, 0),
    ],
)
def test_replies_to_synth(
    synthetic: Mapping[str, Item], answer_type: str, reply: str, ours: float, theirs: float
) -> None:
    assert scores(synthetic[f"ANSWER_TYPE.{answer_type}"], reply) == (ours, theirs)


@pytest.mark.parametrize(
    ("number", "reply", "ours", "theirs"),
    [
        (0, "\\boxed{84}", 1, 1),
        (0, "\\boxed{\\text{84}}", 1, 1),
        (0, "84", 1, 0),
        (0, "\\boxed{82}", 0, 0.5625),
        (0, "First \\boxed{82}, then \\boxed{84}", 0, 0.5625),
        (1, "\\boxed{hunter's mark}", 1, 1),
        (1, "Hunter's Mark", 1, 1),
        (2, "\\boxed{Cure Wounds, Hex}", 1, 1),
        (2, "\\boxed{Hex}", 0.5, 0),
        (2, "\\boxed{cure wounds, hex}", 1, 0),
        (2, "\\boxed{Hex, Cure Wounds, Bless, Shield}", 0, 1),
        (2, "\\boxed{Hex, Bless}", 0, 0.5),
    ],
)
def test_replies_to_real(transcripts: Sequence[Item], number: int, reply: str, ours: float, theirs: float) -> None:
    assert scores(transcripts[number], reply) == (ours, theirs)


def test_several_labels_may_be_right_by_our_score_alone(tmp_path: Path) -> None:
    write(tmp_path / "test.jsonl", [synth(0, "ANSWER_TYPE.LABEL", answer="['ham', 'spam']")])
    (item,) = items(tmp_path, SYNTH)
    assert [scores(item, f"Label: {label}") for label in LABELS[:2]] == [(1, 1), (1, 0)]


def test_a_list_with_a_name_twice_cannot_have_all_by_their_score(tmp_path: Path) -> None:
    write(tmp_path / "real.jsonl", [real(0, "Which?", "Hex, Hex, Bless, Shield")])
    (item,) = items(tmp_path, REAL)
    assert scores(item, item.task.write(item.question.gold)) == (1.0, 0.75)


def test_replies_that_understand_nothing(synthetic: Mapping[str, Item], transcripts: Sequence[Item]) -> None:
    every_spell = ", ".join(["Hex", "Bless", "Cure Wounds", "Shield", "Hunter's Mark", "Fireball"])
    replies: dict[str, Callable[[Item], str]] = {
        "nothing": lambda item: "",
        "the prompt": lambda item: item.text,
        "the question": lambda item: item.question.ask,
        "every label": lambda item: f"Label: {', '.join(LABELS)}",
        "every comparison": lambda item: "Answer: more common, less common, same frequency",
        "every name of the text": lambda item: f"\\boxed{{{every_spell}}}",
    }
    found = {
        name: [scores(item, reply(item)) for item in (*synthetic.values(), *transcripts)]
        for name, reply in replies.items()
    }
    assert {name: sum(ours for ours, _ in pairs) for name, pairs in found.items()} == dict.fromkeys(replies, 0.0)
    assert {name for name, pairs in found.items() if any(theirs for _, theirs in pairs)} == {"every name of the text"}
    assert score_synth("Answer: more common, less common, same frequency", "more common than", "") == 1.0
    assert score_real("\\boxed{12}", "10") == 0.5625


def test_the_chance_level_is_that_of_a_frequent_answer(tmp_path: Path) -> None:
    """Where the answers are no closed list, the guesser gives the most frequent one of the file."""
    spells = ["Hex", "Hex", "Ray", "Hex", "Ash"]
    rows = [real(n, "Which spell?", spell) for n, spell in enumerate(spells)]
    write(tmp_path / "test.jsonl", [*rows, real(7, "How many?", "3")])
    found = items(tmp_path, REAL)
    assert [item.question.chance_level for item in found] == [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    assert [chance(item, []) for item in found] == ["\\boxed{Hex}"] * 5 + ["\\boxed{unknown}"]


# --- what cannot be run ---


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (
            synth(0, "ANSWER_TYPE.LABEL", answer="spam"),
            "the answer of row 0 of .* is no list as Python writes it: spam",
        ),
        (synth(0, "ANSWER_TYPE.LABEL", answer="[]"), "is no list as Python writes it"),
        (synth(0, "ANSWER_TYPE.LABEL", answer="[' ']"), "is no list as Python writes it"),
        (synth(0, "ANSWER_TYPE.LABEL", answer="['\\ud800']"), "is no list as Python writes it"),
        (synth(0, "ANSWER_TYPE.LABEL", context_window_text=" \n"), "has no text for its context_window_text"),
        (synth(0, "ANSWER_TYPE.LABEL", context_len="9" * 5000), "row 0 of .* has no tokens as context_len"),
        (synth(0, "ANSWER_TYPE.LABEL", answer="[" * 9999), "is no list as Python writes it"),
        (synth(0, "ANSWER_TYPE.LABEL", question=None), "row 0 of .* has no text for its question"),
        (synth(0, "ANSWER_TYPE.LABEL", context_window_text="\ud800"), "has no text for its context_window_text"),
        (synth(0, "ANSWER_TYPE.LABEL", context_len=None), "has no tokens as context_len, and its path names no length"),
    ],
)
def test_rows_that_are_none_are_refused(tmp_path: Path, row: Mapping[str, Any], complaint: str) -> None:
    write(tmp_path / "test.jsonl", [row])
    with pytest.raises(UsageError, match=complaint) as refused:
        items(tmp_path, SYNTH)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", r"test\.jsonl:1: not a line of JSON"),
        ("[1]\n", "no JSON object with columns"),
        (
            "",
            "has no Oolong in .json, .jsonl, .parquet, .csv: a file of it has the columns context_window_text",
        ),
        (json.dumps({"question": "?"}), "has no Oolong in"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "test.jsonl").write_text(content)
    with pytest.raises(UsageError, match=complaint):
        sources(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        sources(tmp_path / "nowhere")


def test_answers_that_name_nothing_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "test.jsonl", [real(0, "Which spells?", "a, b"), real(1, "Which spells?", ", ,")])
    with pytest.raises(UsageError, match=r"the answer of row 1 of .* names nothing"):
        items(tmp_path, REAL)


def test_a_list_in_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "test.json").write_text(json.dumps([synth(n, "ANSWER_TYPE.LABEL") for n in range(2)]))
    assert len(items(tmp_path, SYNTH)) == 2


def test_boxes_without_an_end_are_read_in_linear_time() -> None:
    """Each of these replies takes hours if every beginning of a box is followed to the end."""
    for box in ("\\boxed" + "{" * 10**6, "\\boxed{" * 10**5, "\\boxed{\\text{" * 10**5 + "} }"):
        assert score_real(box, "7") == 0.0


def test_the_same_rows_twice_are_refused(tmp_path: Path) -> None:
    rows = [synth(n, "ANSWER_TYPE.LABEL") for n in range(2)]
    write(tmp_path / "a.jsonl", rows)
    write(tmp_path / "b.jsonl", rows[1:])
    with pytest.raises(UsageError, match=r"row 0 of .*b\.jsonl stands in .*a\.jsonl too"):
        items(tmp_path, SYNTH)


def test_an_item_that_is_none_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "test.jsonl", [synth(0, "ANSWER_TYPE.LABEL")])
    (item,) = items(tmp_path, SYNTH)
    with pytest.raises(UsageError, match="have 1 rows, and none numbered 1"):
        rebuild(str(replace(item.item_id, index=1)))

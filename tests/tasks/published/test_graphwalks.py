"""Published GraphWalks: rows made here in the documented schema, both vendors' rules, and files that are none."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara import tokenizers
from carrara.items.grading import grade
from carrara.items.item import Item, contexts, rebuild
from carrara.items.item_id import ItemId
from carrara.options import selections_of
from carrara.rng import Rng
from carrara.runs.jobs import RunItems, jobs_of
from carrara.tasks import published_graphwalks
from carrara.tasks.published_graphwalks import FILES, PREFIX, anthropic_score, card_score, read_walk, solve_walk
from carrara.tasks.published_rows import remember_files
from carrara.tasks.table_files import bin_of, file_hash
from carrara.util.errors import UsageError
from carrara.verify.audit import audit
from tests.helpers.published_sets import EXACT, Row, graphwalks, jsonl, name

BFS, PARENTS = PREFIX + "bfs", PREFIX + "parents"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, in this process and in those that it starts."""
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path_factory.mktemp("cache")))


def first(place: Path, task: str, length: int = 4096) -> ItemId:
    data = remember_files(FILES.sources(place))
    return ItemId(task, 1, f"data={data}", "test", 0, 0, 0, length, "chat", "", "o200k")


def items(place: Path, task: str, length: int = 4096) -> list[Item]:
    return [context.items[0] for context in contexts(first(place, task, length), 1000)]


def rows_of(operation: str, count: int = 10, **settings: Any) -> list[Row]:
    return [graphwalks(n, operation, **settings) for n in range(count)]


# --- as they are ---


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_rows_are_sent_as_they_stand(tmp_path: Path, ending: str) -> None:
    rows = [row for pair in zip(rows_of("bfs"), rows_of("parents"), strict=True) for row in pair]
    path = tmp_path / f"graphwalks_128k_and_shorter.{ending}"
    if ending == "parquet":
        parquet: Any = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), path)
    elif ending == "json":
        path.write_text(json.dumps(rows), "utf-8")
    else:
        jsonl(path, rows)
    for task in (BFS, PARENTS):
        own = [row for row in rows if PREFIX + row["problem_type"] == task]
        for item, row in zip(items(path, task), own, strict=True):
            [sent] = rebuild(item.id).messages()
            assert (sent.role, sent.content) == ("user", row["prompt"])
            assert list(item.question.gold) == row["answer_nodes"] == list(item.solve([sent]))
            assert item.question.labels["gold"] == "of the graph"
            assert grade(item.task, item.question, item.gold).scores == {
                "graphwalks": 1.0,
                "anthropic": 1.0,
                "exact": 1.0,
            }
            assert grade(item.task, item.question, item.gold).score == 1.0


def test_the_card_calls_the_answers_otherwise_than_the_file(tmp_path: Path) -> None:
    row = graphwalks(1, "bfs")
    row["answer"] = row.pop("answer_nodes")
    [item] = items(jsonl(tmp_path / "rows.jsonl", [row]), BFS)
    assert list(item.question.gold) == row["answer"]


def test_a_length_is_the_bin_of_the_tokens_of_the_prompt(tmp_path: Path) -> None:
    rows = [graphwalks(n, "bfs", nodes) for n, nodes in enumerate((20, 60, 200, 900))]
    path = jsonl(tmp_path / "rows.jsonl", [{**row, "prompt_chars": 1} for row in rows])
    count = tokenizers.get("o200k").count
    bins = [bin_of(count(row["prompt"])) for row in rows]
    assert len(set(bins)) == 3
    assert [source.length for source in FILES.sources(path)] == sorted(set(bins))
    [item] = items(path, BFS, bins[-1])
    assert item.text == rows[-1]["prompt"]
    assert item.survey.tokens == item.prompt.tokens != item.item_id.length


def test_both_wordings_of_the_depth_are_solved() -> None:
    for n in range(1, 9):
        rows = [graphwalks(n, "bfs", depth=n, wording=wording) for wording in ("", EXACT)]
        for row in rows:
            walk = read_walk(row["prompt"])
            assert (walk.depth, sorted(solve_walk(walk))) == (n, row["answer_nodes"])


# --- rows whose answer is another than that of their graph ---


@pytest.mark.usefixtures("heard")
def test_a_wrong_answer_is_named_and_says_which_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bfs, parents = rows_of("bfs"), rows_of("parents")
    walk = read_walk(bfs[1]["prompt"])
    level = {target for source, target in walk.edges if source == walk.node} - {walk.node}
    bfs[1]["answer_nodes"] = sorted({*bfs[1]["answer_nodes"]} | level)
    bfs[2]["answer_nodes"] = bfs[2]["answer_nodes"][1:]
    asked = read_walk(parents[3]["prompt"]).node
    parents[3]["answer_nodes"].append(asked)
    path = jsonl(tmp_path / "rows.jsonl", bfs + parents)
    kinds = [item.question.labels["gold"] for item in items(path, BFS)]
    assert (kinds[1], kinds[2]) == ("up to the depth", "another")
    assert {*kinds[3:]} == {"of the graph"}
    item = items(path, PARENTS)[3]
    assert item.question.labels["gold"] == "with the node itself"
    assert grade(item.task, item.question, item.gold).score == 1.0  # the file's answer counts
    said = capsys.readouterr().err
    assert f"the answer of row 2 of {path} is not that of its graph (1 nodes missing, 0 too many)" in said
    assert f"the answer of row 13 of {path} is not that of its graph (0 nodes missing, 1 too many)" in said
    breaches = audit(first(path, BFS), 100).breaches
    assert sorted((breach.check, rebuild(breach.id).item_id.index) for breach in breaches) == [
        ("oracle", 1),
        ("oracle", 2),
    ]


def test_a_prompt_in_other_words_is_asked_and_not_solved(tmp_path: Path) -> None:
    row = graphwalks(1, "bfs")
    row["prompt"] = row["prompt"].replace("Perform a BFS", "Walk")
    [item] = items(jsonl(tmp_path / "rows.jsonl", [row]), BFS)
    assert item.question.labels == {"gold": "unknown"}
    assert grade(item.task, item.question, item.gold).score == 1.0


# --- scores ---


def _card(response: str, gold: list[str]) -> float:
    """The score of openai/graphwalks, restated from revision be6cc6ec of its card, step by step as there."""
    line = response.split("\n")[-1]
    found = re.search(r"\[.*\]", line)
    failed = "Final Answer:" not in line or not found
    sampled = {one.strip() for one in found[0].strip("[]").split(",") if one.strip()} if found and not failed else set()
    truth = set(gold)
    if failed:
        return 0.0
    if len(truth) == len(sampled) == 0:
        return 1.0
    overlap = len(sampled & truth)
    recall = overlap / len(truth) if truth else 0
    precision = overlap / len(sampled) if sampled else 0
    return 2 * (recall * precision) / (recall + precision) if recall + precision > 0 else 0


def _anthropic(response: str, gold: list[str]) -> float:
    """Anthropic's score, restated from the system card of Claude Opus 4.6: no word of what cannot be read."""
    line = response.split("\n")[-1]
    found = re.search(r"\[.*\]", line) if "Final Answer:" in line else None
    sampled = {one.strip() for one in found[0].strip("[]").split(",") if one.strip()} if found else set()
    if not gold and not sampled:
        return 1.0
    overlap = len(sampled & set(gold))
    recall = overlap / len(gold) if gold else 0
    precision = overlap / len(sampled) if sampled else 0
    return 2 * (recall * precision) / (recall + precision) if recall + precision > 0 else 0


def reply(rng: Rng, gold: list[str]) -> str:
    """A reply that is right or wrong, in its form or in its nodes."""
    kept = [node for node in gold if rng.random() < 0.7]
    names = rng.shuffled([*kept, *(name(10**6 + rng.below(99)) for _ in range(rng.below(3)))])
    listed = rng.choice((", ", ",", " , ")).join(names)
    form = rng.choice(
        (
            "Final Answer: [{}]", "Final Answer:[{}]", "I think so.\nFinal Answer: [{}]", "Final Answer: [{}]\n",
            "Final Answer: {}", "final answer: [{}]", "FINAL ANSWER: [{}]", "[{}]", "The nodes are {}.", "",
            "Final Answer: [{}] or [x]", "Final Answer: [[{}]]", "**Final Answer: [{}]**",
            "Final Answer: []\nThat is {}.",
        )
    )  # fmt: skip
    return form.replace("{}", listed)


def replies() -> list[tuple[str, list[str]]]:
    rng = Rng("replies to graphwalks")
    golds = [row["answer_nodes"] for n in range(25) for row in (graphwalks(n, "bfs"), graphwalks(n, "parents"))]
    return [(reply(rng, gold), gold) for gold in golds for _ in range(12)]


def test_both_published_scores_are_those_of_their_rules() -> None:
    differ = 0
    for said, gold in replies():
        assert card_score(said, gold) == pytest.approx(_card(said, gold))
        assert anthropic_score(said, gold) == pytest.approx(_anthropic(said, gold))
        differ += card_score(said, gold) != anthropic_score(said, gold)
        assert card_score(said, gold) <= anthropic_score(said, gold)
    assert differ > 20


@pytest.mark.parametrize(
    ("said", "card", "anthropic", "ours"),
    [
        ("Final Answer: []", 1.0, 1.0, 1.0),
        ("There is none.", 0.0, 1.0, 1.0),
        ("none", 0.0, 1.0, 1.0),
        ("", 0.0, 1.0, 0.0),
        ("Final Answer: [cfcd208495]", 0.0, 0.0, 0.0),
        ("I could not find the node.", 0.0, 1.0, 0.0),
    ],
)
def test_the_rules_differ_where_no_node_is_right(
    tmp_path: Path, said: str, card: float, anthropic: float, ours: float
) -> None:
    [item] = items(jsonl(tmp_path / "rows.jsonl", [graphwalks(0, "bfs")]), BFS)
    assert item.question.gold == ()
    graded = grade(item.task, item.question, said)
    assert (graded.scores["graphwalks"], graded.scores["anthropic"]) == (card, anthropic)
    assert graded.score == ours


@pytest.mark.parametrize(
    ("form", "score"),
    [
        ("Final Answer: [{}]", 1.0),
        ("The nodes are:\n\n{}", 1.0),
        ("FINAL ANSWER: {}", 1.0),
        ("<think>[cfcd208495]</think>Final Answer: [{}]", 1.0),
        ("Final Answer: [{}, 0123456789]", 0.75),
        ("Final Answer: [0123456789]", 0.0),
        ("Perhaps.", 0.0),
    ],
)
def test_our_score_takes_wrong_nodes_off(tmp_path: Path, form: str, score: float) -> None:
    row = next(row for n in range(1, 50) if len((row := graphwalks(n, "parents"))["answer_nodes"]) == 4)
    [item] = items(jsonl(tmp_path / "rows.jsonl", [row]), PARENTS)
    said = form.replace(
        "{}", ", ".join(row["answer_nodes"]).upper() if "FINAL" in form else ", ".join(row["answer_nodes"])
    )
    assert grade(item.task, item.question, said).score == pytest.approx(score)


def test_brackets_without_an_end_are_read_in_linear_time() -> None:
    """This reply takes hours if every bracket is followed to the end of the line."""
    assert card_score("Final Answer: " + "[" * 10**6, ["a"]) == 0.0
    assert card_score("Final Answer: ] [a", ["a"]) == 0.0
    assert card_score("[x] Final Answer: [a]", ["a"]) == _card("[x] Final Answer: [a]", ["a"])


# --- files and runs ---


def _bad() -> list[tuple[Mapping[str, Any], str]]:
    good = graphwalks(1, "bfs")
    return [
        ({**good, "prompt": None}, "has no text for its prompt"),
        ({**good, "prompt": "\ud800"}, "has no text for its prompt"),
        ({**good, "problem_type": "dfs"}, "has the problem_type 'dfs', which is none of bfs, parents"),
        ({**good, "answer_nodes": None}, "are no list of names"),
        ({**good, "answer_nodes": "a, b"}, "are no list of names"),
        ({**good, "answer_nodes": [1]}, "are no list of names"),
        ({**good, "answer_nodes": [""]}, "are no list of names"),
    ]


@pytest.mark.parametrize(("row", "complaint"), _bad())
def test_rows_that_are_none_are_refused(tmp_path: Path, row: Mapping[str, Any], complaint: str) -> None:
    path = jsonl(tmp_path / "rows.jsonl", [graphwalks(2, "bfs"), row])
    with pytest.raises(UsageError, match=complaint) as refused:
        FILES.sources(path)
    assert f"row 1 of {path}" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("rows.jsonl", b"{", "rows.jsonl:1: not a line of JSON"),
        (
            "rows.jsonl",
            b'{"prompt": "x", "answer": [], "problem_type": "bfs"}\n\n{',
            "rows.jsonl:3: not a line of JSON",
        ),
        ("rows.jsonl", b'{"prompt": "x", "problem_type": "bfs"}\n', "has no column answer_nodes or answer, which"),
        ("rows.json", b'{"rows": []}', "has no column prompt, which GraphWalks has; its columns: rows"),
        ("rows.json", b"[1]", "has no column prompt"),
        ("rows.json", b"[" * 100_000, "rows.json is not JSON that can be read"),
        ("rows.parquet", b"PAR1", "rows.parquet is not Parquet that can be read"),
        ("rows.jsonl", b"", "has no column prompt"),
    ],
)
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, file: str, content: bytes, complaint: str) -> None:
    if file.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / file).write_bytes(content)
    with pytest.raises(UsageError, match=complaint) as refused:
        FILES.sources(tmp_path / file)
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("heard")
def test_a_folder_may_have_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonl(tmp_path / "other.jsonl", [{"question": "?"}])
    (tmp_path / "README.md").write_text("# GraphWalks")
    (tmp_path / "dataset_info.json").write_text('{"features": {}}')
    jsonl(tmp_path / ".cache" / "rows.jsonl", rows_of("bfs", 1))
    with pytest.raises(UsageError, match="has no rows of GraphWalks in"):
        FILES.sources(tmp_path)
    jsonl(tmp_path / "rows.jsonl", rows_of("bfs", 2))
    assert len(FILES.sources(tmp_path)) == 1
    assert (
        "dataset_info.json and 1 more are left out: a file of GraphWalks has the columns prompt, answer_nodes"
        in capsys.readouterr().err
    )
    jsonl(tmp_path / "copy.jsonl", rows_of("bfs", 1))
    with pytest.raises(UsageError, match=r"rows\.jsonl stands in .*copy\.jsonl too"):
        items(tmp_path, BFS)
    with pytest.raises(UsageError, match="there is no file or folder"):
        FILES.sources(tmp_path / "nowhere")


@pytest.mark.usefixtures("heard")
def test_rows_that_a_file_repeats_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = jsonl(tmp_path / "rows.jsonl", rows_of("bfs", 2) * 2)
    assert len(items(path, BFS)) == 4
    assert f"row 2 of {path} repeats row 0, and 1 more are repeated" in capsys.readouterr().err


def test_a_run_asks_the_tasks_by_their_names_or_ours(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "rows.jsonl", rows_of("bfs", 3) + rows_of("parents", 2))
    for tasks, names in (("walks", [BFS, PARENTS]), ("graphwalks-bfs", [BFS]), (f"{PARENTS},{BFS}", [BFS, PARENTS])):
        jobs = jobs_of(selections_of(tasks), RunItems(published=f"graphwalks:{path}"), "carrara/oracle")
        assert [job.first.task for job in jobs] == names
    results = carrara.run("walks", "carrara/oracle", out=tmp_path / "run", published=f"graphwalks:{path}")
    assert [result.score for result in results] == [1.0] * 5
    with pytest.raises(UsageError, match='needs its files: give them by `published = "graphwalks:FILE"`'):
        carrara.run("graphwalks-bfs", "carrara/oracle", out=tmp_path / "none")


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "rows.jsonl", rows_of("bfs", 2))
    item_id = items(path, BFS)[0].item_id
    path.write_text("")
    published_graphwalks._rows.cache_clear()
    file_hash.cache_clear()
    with pytest.raises(UsageError, match="is gone or has changed"):
        rebuild(str(replace(item_id, seed=1)))

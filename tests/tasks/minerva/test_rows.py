"""Replies to Minerva's published items, scored anew from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carrara
from carrara.cli.main import main
from carrara.tasks.minerva._given import grade_row
from carrara.tasks.minerva._published import PRIMARY
from carrara.util.errors import UsageError
from tests.helpers.growth import grows_in_proportion
from tests.helpers.published import minerva_cases

SCORE = ["score", "--published", "minerva"]
Capture = pytest.CaptureFixture[str]
Row = dict[str, Any]

WRONG_KINDS = {
    "both", "enumerate_all", "longer_number", "superstring", "superstring_number", "empty", "wrong", "wrong_verbose",
    "wrong_contains_no", "flipped", "off_by_one", "one_letter_off", "swapped_agents",
}  # fmt: skip
RIGHT_KINDS = {
    "self", "marker", "bold", "bold_names", "dot_per_line", "no_agent_prefix", "no_space_commas", "numbered_lines",
    "correct_in_list_order", "number_only", "n_times", "sentence", "sentence_right", "thousands_sep",
}  # fmt: skip

TREES = "oak, ash, elm, yew"
HANDS = {"Agent A": ["oak", "ash"], "Agent B": ["elm", "yew"]}
REFERENCES: dict[str, Any] = {
    **dict.fromkeys(PRIMARY, TREES),
    **{task: "no" for task in PRIMARY if "search" in task or "assoc" in task or task == "compare_positions"},
    **dict.fromkeys(("key_value_search", "find_duplicates", "patch_the_difference"), "oak"),
    "batch_key_value_search": TREES,
    "count": "6",
    "quantity_state": -1908,
    "identify_odd_group": "List 3",
    "group_membership": "no",
    "set_state": TREES.split(", "),
    "theory_of_mind": HANDS,
}


def written(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def row(task: str, reply: str | None, reference: Any = None, **more: Any) -> Row:
    return {"task": task, "reference": REFERENCES[task] if reference is None else reference, "reply": reply, **more}


def scored(capsys: Capture, *asked: str) -> Any:
    assert main([*SCORE, *asked, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_published_cases(tmp_path: Path, capsys: Capture) -> None:
    cases: list[Row] = json.loads(minerva_cases())["cases"]
    rows = [row(case["task"], case["answer"], case["reference"]) for case in cases]
    found = scored(capsys, str(written(tmp_path / "r.jsonl", rows)), "--out", str(tmp_path / "s.jsonl"))
    lines: list[Row] = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text("utf-8").splitlines()]
    assert [round(line["paper"], 12) for line in lines] == [case["primary_score"] for case in cases]
    for case, line in zip(cases, lines, strict=True):
        if case["reference"] == "":
            assert line["own"] is None
        elif case["kind"] in WRONG_KINDS:
            assert line["own"] == 0, case
        elif case["kind"] in RIGHT_KINDS:
            assert line["own"] == 1, case
        assert (line["status"] == "unparsed") == (line["answer"] is None)
        if line["answer"] is None:
            assert not line["own"]
    assert list(found["tasks"]) == list(PRIMARY)
    assert found["total"]["n"] == len(cases) == 143
    assert found["total"]["without_reference"] == 4
    assert found["total"]["unparsed"] == sum(line["status"] == "unparsed" for line in lines)
    assert found["total"]["paper"] == pytest.approx(sum(case["primary_score"] for case in cases) / 143)


ROWS = [
    row("set_state", "FINAL ANSWER: Yew,elm,ash,oak"),
    row("string_search_word", "yes or no"),
    row("string_search_word", "Yes."),
    row("key_value_search", "oak", ""),
    row("identify_the_odd_group", "**List 3**", "List 3"),
    row("count", None),
]


def test_figures(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path / "r.jsonl", ROWS)
    found = scored(capsys, str(path))
    assert found["file"] == str(path)
    assert found["tasks"]["string_search_word"] == {
        "n": 2, "paper": 0.5, "own": 0.0, "unparsed": 1, "without_reference": 0, "without_context": 0,
    }  # fmt: skip
    assert found["tasks"]["key_value_search"] == {
        "n": 1, "paper": 1.0, "own": None, "unparsed": 0, "without_reference": 1, "without_context": 0,
    }  # fmt: skip
    assert found["total"] == {
        "n": 6, "paper": 0.5, "own": 0.4, "unparsed": 2, "without_reference": 1, "without_context": 1,
    }  # fmt: skip


def test_a_line_for_each_row(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path / "r.jsonl", [*ROWS[:2], row("key_value_search", "o\ud800k")])
    path.write_text(path.read_text("utf-8").replace("\n", "\r\n\r\n"), "utf-8-sig")
    assert main([*SCORE, str(path), "--out", str(tmp_path / "s.jsonl")]) == 0
    assert "set_state" in capsys.readouterr().out
    first, second, third = map(json.loads, (tmp_path / "s.jsonl").read_text("utf-8").splitlines())
    assert (first["line"], first["paper"], first["own"], first["status"]) == (1, 0.0, 1.0, "ok")
    assert second["answer"] is None
    assert (second["line"], second["status"], third["own"]) == (3, "unparsed", 0.0)


PROMPT = "{}\n\nInstruction:\n{}\n\nAnswer:"
COPY = "Context:\noak, ash, oak, elm, oak, yew"
LISTS = "Context:\nList 1: oak, ash, elm\nList 2: fir, box, yew"
ROLES = "Context:\nRole 1: oak, ash\nRole 2: fir, box\nRole 1: elm, yew, fig\nRole 2: bay"
SET = (
    "Agent actions:\n\nAgent draws the following words: oak, ash, elm.\nAgent discards the following words: elm.\n"
    "Agent draws the following words: yew, fir.\nAgent discards the following words: oak.\n"
)
AGENTS = (
    "Agents actions:\n\nAgent A starts with the following words: oak, fir.\nAgent B starts with the following words: "
    'box.\nAgent B swaps the following words "box" with Agent A for the following words "oak".\n'
)


COPIED = COPY.removeprefix("Context:\n")
HELD = {"Agent A": ["fir", "box"], "Agent B": ["oak"]}


@pytest.mark.parametrize(
    ("task", "reference", "context", "asked", "trivial"),
    [
        ("replace_all", "bay, ash, bay, elm, bay, yew", COPY, 'Make each "oak" "bay".', "bay, bay, bay, bay, bay, bay"),
        ("replace_all_x_to_null", "ash, elm, yew", COPY, 'Skip the word "oak".', COPIED),
        ("overwrite_positions", "oak, bay, oak, bay, oak, bay", COPY, 'Every other becomes "bay".', COPIED),
        ("functional_updates", "4, 5, 3", "Context:\n1, 2, 0", "Add 3 to each.", "1, 2, 0"),
        ("batch_key_value_search", "ash, oak", "Context:\noak: ash, elm: oak", 'As "a: b": "oak, elm"', "oak, elm"),
        ("iterate_last", "elm, yew", LISTS, "The last word of each.", "oak, fir"),
        ("compare_two_lists", "box, fir", LISTS, "Of the second list.", "fir, box, yew"),
        ("processing_data_blocks", "ash, elm, yew, fig", ROLES, "After oak.", "oak, ash, fir, box, elm, yew, fig, bay"),
        ("set_state", ["ash", "yew", "fir"], SET, "Which words?", "oak, ash, elm, yew, fir"),
        ("theory_of_mind", HELD, AGENTS, "Which words?", "A: oak, fir, box\nB: oak, fir, box"),
    ],
)
def test_what_trivial_replies_have_is_taken_off(
    task: str, reference: Any, context: str, asked: str, trivial: str
) -> None:
    prompt = PROMPT.format(context, asked)
    found, bare = grade_row(task, reference, trivial, prompt), grade_row(task, reference, trivial)
    assert found.score == 0
    assert not found.without_context
    assert bare.without_context
    assert bare == grade_row(task, reference, trivial, "Which words are left?")
    assert (bare.paper, bare.answer) == (found.paper, found.answer)
    words = ", ".join(reference) if isinstance(reference, list) else reference
    right = words if isinstance(words, str) else "\n".join(f"{name}: {', '.join(own)}" for name, own in words.items())
    assert grade_row(task, reference, right, prompt).score == grade_row(task, reference, right).score == 1


def test_a_trivial_reply_may_be_right() -> None:
    """Where there is nothing to change, a copy of the context is the answer."""
    prompt = PROMPT.format(COPY, 'Replace "fir" with "bay".')
    assert grade_row("replace_all", COPIED, COPIED, prompt).score == 1
    every = PROMPT.format(AGENTS, "Which words?")
    assert grade_row("theory_of_mind", {"Agent A": ["oak", "fir", "box"]}, "Agent A: oak, fir, box", every).score == 1
    assert grade_row("theory_of_mind", {"Agent A": [], "Agent B": []}, "Agent A: none\nAgent B: none", every).score == 1
    assert grade_row("theory_of_mind", {"Agent A": [], "Agent B": []}, "Agent A: none\nAgent B: none").score == 1


def test_lists_are_those_of_the_context() -> None:
    prompt = PROMPT.format(LISTS, 'Which list has "box"?')
    assert grade_row("group_membership", "List 2", "It is in List 2.", prompt).score == 1
    assert grade_row("group_membership", "List 2", "It is in List 3.", prompt).answer is None
    assert grade_row("group_membership", "List 2", "List 1 and List 2", prompt).score == 0
    assert grade_row("identify_odd_group", "List 120", "120").score == 1
    assert grade_row("identify_odd_group", "List 1", "no").answer is None


def test_words_of_the_question_are_no_answer() -> None:
    prompt = 'Context:\noak: elm, ash: yew\n\nInstruction:\nFor the first word "oak", the second word is:'
    assert grade_row("key_value_search", "elm", 'For the first word "oak", the second word is: elm', prompt).score == 1
    assert grade_row("key_value_search", "elm", 'The word that goes with "oak" is "elm".', prompt).score == 1


WRONG: dict[str, tuple[str | bytes | Row | None, str]] = {
    "no file": (None, "there is no file"),
    "an empty file": ("\n\n", "no rows"),
    "no UTF-8": (b'{}\n\xff"', ":1: a row needs"),
    "no UTF-8 further on": (json.dumps(ROWS[0]).encode() + b"\n\xff\n", ":2: not UTF-8 text"),
    "no JSON": ("{", ":1: not a line of JSON"),
    "a deep line": ("[" * 100_000, ":1: not a line of JSON"),
    "a list": ("[1]", ":1: a list, and no object"),
    "no reply": ({"task": "count", "reference": "1"}, "'reply' is not there"),
    "a list for a reply": (row("count", "1") | {"reply": ["1"]}, "'reply' is no text"),
    "no task": ({"task": None, "reference": "1", "reply": "1"}, "no task ''"),
    "an unknown task": ({"task": "set_stat", "reference": "1", "reply": "1"}, "did you mean set_state"),
    "a share for a number": (row("quantity_state", "1", 1.5), "1.5"),
    "a number for a list": (row("iterate_last", "1", 5), "a text such as"),
    "a list for a text": (row("replace_all", "1", ["oak"]), "a text such as"),
    "a text for a list": (row("set_state", "1", "oak, elm"), "a list of words"),
    "a list for agents": (row("theory_of_mind", "1", ["oak"]), "a list of words for each agent"),
    "a text for an agent": (row("theory_of_mind", "1", {"Agent A": "oak"}), "a list of words for each agent"),
    "a list too many": (row("identify_odd_group", "1", "List 10000000"), "the name of a list"),
    "neither yes nor no": (row("string_search_word", "1", ""), "yes or no"),
    "two words": (row("key_value_search", "1", "oak, elm"), "one word"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_files_are_one_sentence(wrong: str, tmp_path: Path, capsys: Capture) -> None:
    content, said = WRONG[wrong]
    path = tmp_path / "r.jsonl"
    if content is not None:
        text = json.dumps(content) if isinstance(content, dict) else content
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main([*SCORE, str(path), "--out", str(tmp_path / "s.jsonl")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("carrara: ")
    assert captured.err.count("\n") == 1
    assert len(captured.err) < 400
    assert str(path) in captured.err
    assert said in captured.err
    assert not (tmp_path / "s.jsonl").exists()


def test_the_task_is_not_asked_for(tmp_path: Path, capsys: Capture) -> None:
    assert main([*SCORE, str(written(tmp_path / "r.jsonl", ROWS)), "--task", "qa1"]) == 2
    assert "--task is for BABILong" in capsys.readouterr().err


@settings(max_examples=2 * settings().max_examples)
@given(
    st.text(st.characters(codec=None))
    | st.lists(
        st.sampled_from(["FINAL ANSWER:", "Agent A", "List 1", ":", ", ", ".", "\n", "- ", "**", "oak", "no", "²", "0"])
    ).map("".join)
)
def test_any_reply_has_scores(reply: str) -> None:
    for task, reference in REFERENCES.items():
        found = grade_row(task, reference, reply, PROMPT.format(LISTS, reply))
        assert 0 <= found.paper <= 1
        assert found.score is not None
        assert 0 <= found.score <= 1
        assert found.answer is not None or found.score == 0


@pytest.mark.parametrize("part", ["oak, ", "7", "FINAL ANSWER:", "Agent A: \n", "List 1 ", '"yes" ', "It is not "])
@pytest.mark.slow
def test_long_replies_take_linear_time(part: str) -> None:
    def grade_all(size: int) -> None:
        for task, reference in REFERENCES.items():
            grade_row(task, reference, part * (size // len(part)))

    assert grows_in_proportion(grade_all, 200_000)


# --- the snapshot itself, run as it is ---

LEFT_OPEN = pytest.mark.filterwarnings(
    # streams that Inspect leaves open at the end of an evaluation, and Python comes upon later
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
RIGHT: dict[str, str] = {
    **{task: str(reference) for task, reference in REFERENCES.items()},
    "set_state": "FINAL ANSWER: " + TREES,
    "quantity_state": "FINAL ANSWER: -1908",
    "theory_of_mind": "Agent A: oak, ash\nAgent B: elm, yew",
}


def snapshot(folder: Path, rows: int = 2) -> Path:
    """Files as published, each with rows that ask for what the references have."""
    for task, reference in REFERENCES.items():
        (folder / "files").mkdir(exist_ok=True)
        context = "\n".join(f"List {n}: oak, elm, ash, yew" for n in range(1, 6))
        made = [
            {"id": str(n), "task": task, "category": "any", "context_length": 4000, "reference": reference,
             "prompt": f"Context:\n{context}\n\nInstruction:\nThis is row {n} of {task}.\n\nAnswer:"}
            for n in range(rows)
        ]  # fmt: skip
        written(folder / "files" / f"{task}.jsonl", made)
    return folder


@LEFT_OPEN
@pytest.mark.slow
@pytest.mark.usefixtures("collected")
def test_the_snapshot_is_run_as_it_is(tmp_path: Path) -> None:
    sent: list[str] = []

    def right(prompt: str) -> str:
        sent.append(prompt)
        return RIGHT[prompt.rpartition(" of ")[2].partition(".")[0]]

    found = carrara.run(
        "minerva", right, out=tmp_path / "run", published=f"minerva:{snapshot(tmp_path)}", tokenizer="gpt2"
    )
    assert len(found) == 2 * len(PRIMARY) == len(sent)
    assert {result.task for result in found} == {f"published/minerva-{task}" for task in PRIMARY}
    assert all(prompt.startswith("Context:\nList 1") and prompt.endswith("Answer:") for prompt in sent)
    assert [result.id for result in found if result.status != "ok"] == []
    assert [result.id for result in found if result.scores["minerva"] < 1] == []
    lists = {"replace_all", "overwrite_positions", "functional_updates"}
    assert [
        result.task for result in found if result.score < 1 and not any(name in result.task for name in lists)
    ] == []
    assert {result.length for result in found} == {0, 4000}
    again = carrara.item(found[0].id)
    assert again.text in sent


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_some_of_the_snapshot_is_run(tmp_path: Path) -> None:
    snapshot(tmp_path)

    def silent(prompt: str) -> str:
        return ""

    found = carrara.run(
        "count,snapshot", silent, out=tmp_path / "run", published=f"minerva:{tmp_path}", n=1, tokenizer="gpt2"
    )
    assert sorted(result.task.rpartition("-")[2] for result in found) == [
        "count", "snapshot_random_numbers", "snapshot_unique_words"
    ]  # fmt: skip
    assert {result.status for result in found} == {"empty"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "not a row of JSON with the texts prompt and reference"),
        ('{"prompt": 1, "reference": "6"}', "not a row of JSON with the texts prompt and reference"),
        ('{"prompt": "Context:", "reference": "six"}', "the reference of count is a whole number"),
    ],
)
def test_a_row_that_is_none_is_named(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "count.jsonl").write_text(line)

    def silent(prompt: str) -> str:
        return ""

    with pytest.raises(UsageError, match=f"count.jsonl:1: {message}"):
        carrara.run("count", silent, out=tmp_path / "run", published=f"minerva:{tmp_path}", tokenizer="gpt2")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="has no file of Minerva's snapshot"):
        carrara.run("count", silent, out=tmp_path / "run", published=f"minerva:{tmp_path / 'empty'}", tokenizer="gpt2")

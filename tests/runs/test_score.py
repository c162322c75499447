"""Replies from elsewhere: scored as they come, in any number, whatever is in them."""

import io
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inspect_ai.log import read_eval_log

from carrara.answers.status import STATUSES
from carrara.cli.main import main
from carrara.items.item import PosedInstance, pose, questions_of
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack
from carrara.items.registry import load
from carrara.results import summarize
from carrara.results.result import Result
from carrara.runs.replies import read_results
from carrara.runs.rescoring.job import ScoreCounts, ScoreProgress, Troubles
from carrara.runs.rescoring.lines import BOM, Batch, Lines
from carrara.runs.rescoring.parallel import ScorerPool
from carrara.runs.rescoring.scored import SMALL, Scorer, ScorerConfig, Trouble
from carrara.util.errors import RunError
from carrara.util.parallel import Engine
from tests.helpers.process import carrara

Capture = pytest.CaptureFixture[str]
Row = dict[str, Any]
LIST = "michelangelo/latent_list"
needs_ray = pytest.mark.skipif(not find_spec("ray"), reason="Ray is not installed")


def replies(task: str, instances: int, lengths: Sequence[int] = (0,), reply: str | None = None) -> list[Row]:
    """Right replies to all questions of some instances, or all the same one."""
    rows = []
    for length in lengths:
        for index in range(instances):
            first = replace(ItemId.parse(f"{task}@{load(task).version}/test-0-{index}.0/0/chat/gpt2"), length=length)
            for n, question in enumerate(questions_of(first).questions):
                said = load(task).write(question.gold) if reply is None else reply
                rows.append({"id": str(replace(first, question=n)), "reply": said})
    return rows


def file_of(path: Path, rows: Iterable[Row | str]) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def scored(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines()]


KINDS = {
    ": 2 lines (the first: 2)": "not a line of JSON",
    ":3": "needs an id",
    ":4": "a reply that is a text",
    ": 3 lines (the first: 5)": "'nonsense' is not an item's id",
    ": 3,000 lines (the first: 6)": "of version 99 of michelangelo/latent_list, and this is version",
    ":3006": "did you mean michelangelo/latent_list",
    ":3007": "asks question 9",
    ":3008": "'fine' is not a status",
    ": 3 lines (the first: 3009)": "not how an id is written",
    ":3016": "not UTF-8",
}


def told(err: str) -> list[str]:
    return [line.removeprefix("carrara: ") for line in err.splitlines() if line.startswith("carrara: ")]


def test_trouble_is_told_by_kind(tmp_path: Path, capsys: Capture) -> None:
    good, other = replies(LIST, 2)
    id = good["id"]
    [at] = re.findall(r"@\d+", id)
    broken: list[Row | str] = [
        '{"id": ',
        "[1, 2]",
        {"id": id},
        {"id": "nonsense", "reply": "1"},
        *({"id": id.replace(at, "@99"), "reply": str(n)} for n in range(3000)),
        {"id": id.replace("latent_list", "latent_lost"), "reply": "1"},
        {"id": id.replace("test-0-0.0", "test-0-0.9"), "reply": "1"},
        {"id": id, "reply": "1", "status": "fine"},
        {"id": id.replace(at, f"{at};complexity=05"), "reply": "1"},
        {"id": id.replace(at, f"{at};complexity=1,5,20"), "reply": "1"},
        {"id": id.replace(at, at.replace("@", "@0")), "reply": "1"},
        {"id": id.replace("gpt2", "\ud800"), "reply": "1"},
        {"id": id.replace(at, f"{at};complexity=500"), "reply": "1"},
        "[" * 100_000,
    ]
    path = file_of(tmp_path / "replies.jsonl", [good, *broken, other])
    with path.open("ab") as file:
        file.write(b'{"id": "\xff"}')
    assert main(["score", str(path)]) == 2
    captured = capsys.readouterr()
    assert [row["score"] for row in scored(captured.out)] == [1.0, 1.0]
    for line, (where, what) in zip(told(captured.err), KINDS.items(), strict=True):
        assert line.startswith(f"{path}{where}: ")
        assert what in line
    assert captured.err.endswith("2 replies scored; 3,014 lines could not be\n")
    assert "Traceback" not in captured.err


def test_no_file_has_more_kinds_of_trouble_than_can_be_read() -> None:
    troubles = Troubles()
    for n in range(1000):
        troubles.add(n + 1, Trouble(f"kind {n}", f"trouble {n}\n" + "x" * 1000))
    lines = troubles.describe("f")
    assert len(lines) == 41
    assert lines[-1].startswith("f: 960 lines (the first: 41): other trouble, such as this: trouble 40 xxx")
    assert all(len(line) < 600 and line.isprintable() for line in lines)


def test_of_an_id_the_first_line_counts(tmp_path: Path, capsys: Capture) -> None:
    first, second = replies(LIST, 2)
    wrong = first | {"reply": "unknown"}
    path = file_of(tmp_path / "replies.jsonl", ["{", first | {"reply": None}, first, second, wrong, wrong])
    assert main(["score", str(path)]) == 2
    captured = capsys.readouterr()
    assert [(row["id"], row["score"]) for row in scored(captured.out)] == [(first["id"], 1), (second["id"], 1)]
    assert told(captured.err)[-1].startswith(f"{path}: 2 lines (the first: 5): {first['id']} has a line before")


def test_several_models_may_reply_to_one_item(tmp_path: Path, capsys: Capture) -> None:
    [row] = replies(LIST, 1)
    rows = [row, row | {"model": "a"}, row | {"model": "b", "reply": "unknown"}]
    assert main(["score", str(file_of(tmp_path / "c.jsonl", rows))]) == 0
    captured = capsys.readouterr()
    assert [(line.get("model"), line["score"]) for line in scored(captured.out)] == [(None, 1), ("a", 1), ("b", 0)]
    assert [line.split()[0] for line in captured.err.splitlines()[2:5]] == ["a", "b", "c"]
    assert main(["score", str(file_of(tmp_path / "c.jsonl", [row | {"model": {"name": "a"}}]))]) == 2
    assert "is not the name of a model" in capsys.readouterr().err


UNTRUSTED = (
    *("\ud800 is what I'd say", "\udc00\ud800", "\x00\x00", "a\r\nb\u2028c\x85d\re", ""),
    *("a " * 50_000, "[" * 100_000, "7" * 100_000),
)


@pytest.mark.slow
def test_whatever_a_reply_is_it_is_scored(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    tasks = (LIST, "sync/graph", "minerva/snapshot", "babilong/qa1")
    rows = [
        row | {"model": f"m{n}", "reply": said and f"{said} {row['reply']}"}
        for n, said in enumerate(UNTRUSTED)
        for task in tasks
        for row in replies(task, 1)
    ]
    path = file_of(tmp_path / "replies.jsonl", rows)
    assert main(["score", str(path)]) == 0
    out, err = capfdbinary.readouterr()
    assert [row["id"] for row in scored(out.decode())] == [row["id"] for row in rows]
    assert b"Traceback" not in err
    assert main(["score", str(path), "--out", str(tmp_path / "out")]) == 0
    found = read_results(tmp_path / "out")
    assert {(result.model, result.id) for result in found} == {(row["model"], row["id"]) for row in rows}
    assert all(result.reply.encode() for result in found if result.reply)


@example([b"\0\0", b"\n", b"\n"], 2)
@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"0", b"\n"))), st.integers(1, 20))
def test_lines_are_numbered_as_editors_do_however_they_arrive(parts: list[bytes], block: int) -> None:
    data = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("carrara.runs.rescoring.lines.BLOCK", block)
        patch.setattr("carrara.runs.rescoring.lines.LINES", 3)
        lines = Lines(io.BytesIO(data), False)
        batches = list(lines.batches())
    found = [line for batch in batches for line in batch]
    assert found == [(n, line) for n, line in enumerate(data.removeprefix(BOM).split(b"\n"), 1) if line.strip()]
    ends = [sum(len(line) + 1 for line in data.split(b"\n")[: batch[-1][0]]) for batch in batches]
    assert [min(end, len(data)) for end in lines.ends] == [min(end, len(data)) for end in ends]


def test_a_line_that_never_ends_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrara.runs.rescoring.lines.LONGEST", 100)
    monkeypatch.setattr("carrara.runs.rescoring.lines.BLOCK", 30)
    data = b"a\n" + b"b" * 1000 + b"\nc\n" + b"d" * 100 + b"\n" + b"e" * 101
    batches = list(Lines(io.BytesIO(data), True).batches())
    assert [] in batches
    found = [line for batch in batches for line in batch]
    assert found == [(1, b"a"), (2, None), (3, b"c"), (4, b"d" * 100), (5, None)]
    assert isinstance(trouble := Scorer(ScorerConfig("m")).line(None), Trouble)
    assert "longer than" in trouble.message


def test_progress_says_how_long_it_will_take() -> None:
    with ScoreProgress(1000) as progress:
        progress.add(1234, 250)
        time.sleep(0.01)
        assert re.fullmatch(r"1,234 lines scored · [\d,]+ a second · about \d+ s left", progress.line())
    assert "left" not in ScoreProgress(None).line()


def test_standard_input_is_a_file_too(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Whatever its lines end with, and with a mark of their order before them."""
    text = "\r\n".join(["", *map(json.dumps, replies(LIST, 2)), "", "  "])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BOM + text.encode())))
    assert main(["score", "-"]) == 0
    captured = capsys.readouterr()
    assert len(scored(captured.out)) == 2
    assert "\nstdin  " in captured.err


def test_what_lines_come_to_stands_beside_them(tmp_path: Path, capsys: Capture) -> None:
    """On stderr where lines go to stdout, on stdout where they go to a file; by task and length, never in one mean."""
    rows = [*replies(LIST, 3, (0, 512)), *replies("sync/graph", 2)]
    rows[0] |= {"status": "error"}
    path = file_of(tmp_path / "acme.jsonl", rows)
    assert main(["score", str(path)]) == 0
    piped = capsys.readouterr()
    assert main(["score", str(path), "--out", str(tmp_path / "scores.jsonl")]) == 0
    filed = capsys.readouterr()
    assert (tmp_path / "scores.jsonl").read_text("utf-8") == piped.out
    _, _, *table = piped.err.splitlines()
    assert [line.split()[:4] for line in table[:-1]] == [
        ["acme", LIST, "0", "1.000"],  # of two replies: a failed request is in no mean
        ["acme", LIST, "512", "1.000"],
        *(["acme", f"sync/graph:{part}", "0", "1.000"] for part in ("connected", "longest", "shortest")),
    ]
    assert table[-1] == "12 replies scored"
    assert filed.out == f"{piped.err}{tmp_path / 'scores.jsonl'}\n"
    assert filed.err == ""


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.sampled(5)
def test_the_table_is_that_of_a_run(seed: int) -> None:
    """To the last bit, whatever the order, the statuses, the scores that a line has beside others."""
    chance = random.Random(seed)
    results = [
        Result(
            id=f"{task}@1;a={a}/test-0-{instance}.{part}/{length}/chat/gpt2",
            task=f"{task}:{part}",
            version=1,
            model=model,
            length=length,
            tokens=length,
            tokenizer="gpt2",
            context_id=f"{task}@1;a={a}/test-0-{instance}/{length}/chat/gpt2",
            instance_id=f"{task}@1;a={a}/test-0-{instance}",
            status=chance.choice(STATUSES),
            score=chance.choice([0.0, 1.0, chance.random()]),
            chance_level=chance.random(),
            scores={name: chance.random() for name in ("paper", "strict") if chance.random() < 0.7},
            category="order" if task == "s/t" else "",
            labels={"view": chance.choice("ab")},
        )
        for task in ("s/t", "s/u")
        for a in chance.choice([(1,), (1, 2)])
        for instance in range(chance.randint(1, 9))
        for part in range(3)
        for length in (0, 4096)
        for model in ("m", "n")
    ]
    chance.shuffle(results)
    tally = ScoreCounts()
    for result in results:
        tally.add(result)
    assert tally.rows() == summarize(results)


def test_a_folder_is_what_a_run_leaves(tmp_path: Path, capsys: Capture) -> None:
    rows = [*replies(LIST, 4, (0, 512)), *replies("sync/graph", 2), *replies("babilong/qa1", 2)]
    rows[0] |= {"reply": "I'm sorry, I can't."}
    rows[1] |= {"status": "truncated", "input_tokens": 321, "output_tokens": 5}
    rows[2] |= {"model": "b"}
    graph = next(row for row in rows if row["id"].startswith("sync"))
    graph["reply"] = "Shortest Path: 1 -> 2"
    path, out = file_of(tmp_path / "replies.jsonl", rows), tmp_path / "out"
    asked = ["score", str(path), "--out", str(out), "--model", "acme/one"]
    assert main(asked) == 0
    printed = capsys.readouterr().out
    scorer = Scorer(ScorerConfig("acme/one"))
    expected = {row["id"]: scorer.line(json.dumps(row).encode()) for row in rows}
    found = {result.id: replace(result, excerpt="", settings={}, answered_by="") for result in read_results(out)}
    assert found == expected
    logs = sorted(path.name for path in (out / "logs").iterdir())
    assert len(logs) == 5
    assert {read_eval_log(str(log), header_only=True).status for log in (out / "logs").iterdir()} == {"success"}
    assert main(["report", str(out)]) == 0
    reported = capsys.readouterr().out
    assert reported.splitlines()[: len(expected) - 8] == printed.splitlines()[: len(expected) - 8]
    # once more, with another reply: what is there is replaced
    assert main(["score", str(file_of(path, [rows[0] | {"reply": "unknown"}, *rows[1:]])), *asked[2:]]) == 0
    assert sorted(path.name for path in (out / "logs").iterdir()) == logs
    assert {result.id: result for result in read_results(out)}[rows[0]["id"]].reply == "unknown"


def test_a_log_has_so_many_lines_and_the_fullest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrara.runs.rescoring.logs.LINES", 5)
    rows = [row for pair in zip(replies(LIST, 12), replies(LIST, 12, (512,)), strict=True) for row in pair]
    path = file_of(tmp_path / "replies.jsonl", rows)
    assert main(["score", str(path), "--out", str(tmp_path / "five")]) == 0
    assert len(list((tmp_path / "five/logs").iterdir())) == 6
    monkeypatch.setattr("carrara.runs.rescoring.logs.HELD", 2500)
    assert main(["score", str(path), "--out", str(tmp_path / "few")]) == 0
    assert len(list((tmp_path / "few/logs").iterdir())) > 6
    assert len(read_results(tmp_path / "five")) == len(read_results(tmp_path / "few")) == 24


@pytest.mark.slow
def test_several_processes_give_the_same_in_the_same_order() -> None:
    rows = [*replies(LIST, 20, (0, 512)), *replies("sync/graph", 20)]
    lines: Batch = [(n, json.dumps(row).encode()) for n, row in enumerate(rows, 1)]
    lines[1:1] = [(0, b"{"), (0, None)]
    batches = [lines[n : n + 7] for n in range(0, len(lines), 7)]
    with ScorerPool(ScorerConfig("m"), workers=1) as alone, ScorerPool(ScorerConfig("m"), workers=2) as both:
        batches[1:1] = [[]]
        both.start()
        assert [both.submit(os.getpid).result() for _ in range(2)] != [os.getpid()] * 2  # both have come
        found = list(both.score(iter(batches)))
        assert [outcome for batch in found for outcome in batch] == [
            outcome for batch in alone.score(iter(batches)) for outcome in sorted(batch, key=lambda one: one[0])
        ]
        assert both.submit(pow, 2, 5).result() == alone.submit(pow, 2, 5).result() == 32


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=[needs_ray, pytest.mark.slow])])
def test_a_killed_process_is_one_sentence(engine: Engine) -> None:
    def killed() -> None:
        with ScorerPool(ScorerConfig("m"), 2, engine) as both:
            both.start()
            both.submit(os._exit, 9).result()

    with pytest.raises(RunError, match="memory"):
        killed()


@needs_ray
@pytest.mark.slow
def test_a_cluster_gives_the_same(tmp_path: Path) -> None:
    """Lines, logs, what is told of lines that cannot be scored, and what a process says."""
    path = tmp_path / "replies.jsonl"
    rows = [*replies(LIST, 40, (0, 512)), *replies("sync/graph", 40), {"id": "nothing"}, {"id": "qa1@1/test-0-0.0/0"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = []
    for name, engine in (("here", "local"), ("there", "ray")):
        line = ["score", path, "--engine", engine, "--workers", "2"]
        one = carrara(*line, "--out", tmp_path / f"{name}.jsonl")
        folder = carrara(*line, "--out", tmp_path / name)
        assert one.returncode == folder.returncode == 2
        said.append([text.replace(name, "") for text in (one.stdout, one.stderr, folder.stdout, folder.stderr)])
    assert said[0] == said[1]
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()
    here, there = (read_results(tmp_path / name) for name in ("here", "there"))
    assert len(here) == len(rows) - 2
    assert sorted(here, key=lambda one: one.id) == sorted(there, key=lambda one: one.id)


def test_lines_are_written_as_they_come_and_a_file_when_it_is_whole(tmp_path: Path) -> None:
    """A kill leaves whole lines behind on stdout, no half of a file, and no process."""
    rows = replies(LIST, 3)
    for out in ([], ["--out", str(tmp_path / "scores.jsonl")]):
        command = [sys.executable, "-m", "carrara", "score", "-", *out]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            assert run.stdin
            assert run.stdout
            for row in rows:
                run.stdin.write(json.dumps(row).encode() + b"\n")
                run.stdin.flush()
                if not out:
                    assert json.loads(run.stdout.readline())["id"] == row["id"]
            run.kill()
        assert not (tmp_path / "scores.jsonl").exists()


def test_instances_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [*replies(LIST, 5, (0, 512, 1024)), *replies("sync/graph", 2, (0, 4096))]
    built: list[ItemId] = []

    def counted(item_id: ItemId, pack: Pack | None) -> PosedInstance:
        built.append(item_id)
        return pose(item_id, pack)

    monkeypatch.setattr("carrara.runs.rescoring.scored.pose", counted)
    for room, times in ((None, 7), (2 * SMALL, 15 + 2)):
        if room:
            monkeypatch.setattr("carrara.runs.rescoring.scored.ROOM", room)
        built.clear()
        scorer = Scorer(ScorerConfig("m"))
        assert all(isinstance(scorer.line(json.dumps(row).encode()), Result) for row in rows)
        assert len(built) == times


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (["nowhere.jsonl"], "there is no file nowhere.jsonl"),
        (["r.jsonl", "--out", "r.txt"], "r.txt is no folder"),
        (["r.jsonl", "--out", "new.json"], "ends with .jsonl"),
        (["r.jsonl", "--model", "a\nb"], "--model 'a\\nb'"),
        (["r.jsonl", "--prompts", "nowhere.toml"], "nowhere.toml"),
        (["r.jsonl", "--task", "qa1"], "--published"),
        (["r.jsonl", "--published", "minerva", "--model", "m"], "--model"),
    ],
)
def test_wrong_use_is_one_sentence(
    asked: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path / "r.jsonl", replies(LIST, 1))
    (tmp_path / "r.txt").write_text("kept", "utf-8")
    assert main(["score", *asked]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("carrara: ")
    assert captured.err.count("\n") == 1
    assert named in captured.err
    assert (tmp_path / "r.txt").read_text("utf-8") == "kept"

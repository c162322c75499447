"""What Python users pass by mistake is answered with a CarraraError; items can be pickled, copied and thrown away."""

import copy
import json
import math
import os
import pickle
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.cli.output import print_json
from tests.helpers.process import carrara as carrara_command
from tests.helpers.process import python

ANY: Any = carrara

MISTAKES: dict[str, Callable[[], object]] = {
    "load(None)": lambda: ANY.load(None),
    "find(5)": lambda: ANY.find(5),
    "item(None)": lambda: ANY.item(None),
    "item(…, tokenizer=None)": lambda: ANY.item("qa1", tokenizer=None),
    "item(…, length=None)": lambda: ANY.item("qa1", None),
    "item(…, prompts=5)": lambda: ANY.item("qa1", prompts=5),
    "item.grade(None)": lambda: ANY.item("qa1").grade(None),
    "bytes for a parameter": lambda: ANY.load("latent_list", complexity=b"1"),
    "None for a parameter": lambda: ANY.load("latent_list", complexity=None),
    "a mapping for a parameter": lambda: ANY.load("latent_list", complexity={"a": 1}),
    "read(5)": lambda: ANY.read(5),
    "run(None, …)": lambda: ANY.run(None, "carrara/oracle", out="x"),
    "run(…, None)": lambda: ANY.run("qa1", None, out="x"),
    "run(…, out=None)": lambda: ANY.run("qa1", "carrara/oracle", out=None),
    "run(…, tokenizer=5)": lambda: ANY.run("qa1", "carrara/oracle", out="x", tokenizer=5),
    "compare(None, None)": lambda: ANY.compare(None, None),
    "figure(None)": lambda: ANY.figure(None),
    "audit(None)": lambda: ANY.audit(None),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_wrong_argument_is_a_sentence(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(carrara.CarraraError) as raised:
        MISTAKES[what]()
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["babilong/qa1", "michelangelo/mrcr", "sync/graph", "minerva/snapshot"])
def test_items_are_pickled_and_copied(name: str) -> None:
    """Data loaders do both."""
    item = carrara.item(name, "4k", index=1, tokenizer="gpt2")
    for other in (pickle.loads(pickle.dumps(item)), copy.deepcopy(item), copy.copy(item)):
        assert (other.id, other.text, other.gold) == (item.id, item.text, item.gold)
        assert other.grade(item.gold) == item.grade(item.gold)
        assert type(other).__name__ == "Item"
    assert len(pickle.dumps(item)) < 500


@pytest.mark.slow
def test_an_item_is_pickled_with_its_prompt_pack(tmp_path: Path) -> None:
    pack = tmp_path / "pack.toml"
    python("-m", "carrara", "prompts", "export", "qa1", "--out", str(pack), check=True)
    item = carrara.item("qa1", prompts=pack)
    assert pickle.loads(pickle.dumps(item)).text == item.text


@pytest.mark.slow
def test_a_pickled_item_is_read_in_another_process(tmp_path: Path) -> None:
    item = carrara.item("latent_list", "1k", tokenizer="gpt2")
    (tmp_path / "item").write_bytes(pickle.dumps(item))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).survey.sha256)"
    assert python("-c", code, str(tmp_path / "item"), check=True).stdout.strip() == item.survey.sha256


NESTED = """\
import carrara, sys
def nested(prompt: str) -> str:
    carrara.run("qa1", "carrara/oracle", n=1, tokenizer="gpt2", out=sys.argv[1] + "/inner")
    return "x"
try:
    carrara.run("qa1", nested, n=1, tokenizer="gpt2", out=sys.argv[1] + "/outer")
except carrara.CarraraError as error:
    print(error)
carrara.run("qa1", "carrara/oracle", n=1, tokenizer="gpt2", out=sys.argv[1] + "/after")
print("after")
"""


@pytest.mark.slow
def test_a_run_inside_a_models_function_is_refused(tmp_path: Path) -> None:
    ended = python("-c", NESTED, str(tmp_path))
    assert "a model's function cannot start a run" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "after"
    assert not (tmp_path / "inner").exists()


# --- the command line ---

NINES = "9" * 400
SERVER = ["run", "qa1", "--model", "openai-api/x/y", "--tokenizer", "gpt2", "--out", "x", "--base-url"]
ODD = {
    "a bracket that is not closed": ([*SERVER, "http://[::1/v1"], "'http://[::1/v1' is not a server's address"),
    "a port that is no number, behind a password": (
        [*SERVER, "http://me:PW@h:x/v1"],
        "'http://h:x/v1' is not a server's address",
    ),
    "a length of 400 digits": (["show", "qa1", "--lengths", NINES], "is not a length"),
    "a number of 400 digits": (["audit", "qa1", "-n", NINES], "give a number of at most 30 digits"),
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_argument_is_a_sentence(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line, message = ODD[what]
    assert main(line) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "PW" not in error
    assert NINES not in error


def test_a_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "carrara", "tasks", "qa1"]
    ended = subprocess.run(
        ["sh", "-c", f"exec {shlex.join(line)} >&-"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_plugin_that_exits_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    ended = carrara_command("tasks", "mine", env=os.environ | {"CARRARA_TASKS": str(tmp_path / "mine")})
    assert ended.returncode == 1
    assert "leaves.py cannot be loaded: SystemExit: 3 in line 2" in ended.stderr


ESCAPES = "o\x1b[31mred\x1b]0;title\x07\x9b31m\u202e"
"""What a terminal would obey, as the name of a folder, a task or a model."""


@pytest.mark.slow
def test_no_name_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    lines = "".join(
        json.dumps({"id": carrara.item("qa1", index=i, tokenizer="gpt2").id, "reply": "kitchen", "model": model}) + "\n"
        for i in range(3)
        for model in ("a", "b")
    )
    (tmp_path / "replies.jsonl").write_text(lines)
    reply = {"id": carrara.item("mrcr", tokenizer="gpt2").id, "reply": f"FINAL ANSWER: {ESCAPES}"}
    (tmp_path / "strange.jsonl").write_text(json.dumps(reply) + "\n")
    out = tmp_path / ESCAPES
    commands = [
        ["score", str(tmp_path / "replies.jsonl"), "--out", str(out)],
        ["report", str(out)],
        ["leaderboard", str(out)],
        ["leaderboard", str(out), "--out", str(tmp_path / f"{ESCAPES}.html")],
        ["compare", str(out)],
        ["compare", str(tmp_path / f"no{ESCAPES}"), str(out)],
        ["score", str(tmp_path / "strange.jsonl")],
        ["report", str(out), "--json"],
        ["leaderboard", str(out), "--json"],
        ["show", "qa1", "--reply", f"FINAL ANSWER: {ESCAPES}"],
        ["show", "qa1", "--reply", f"FINAL ANSWER: {ESCAPES}", "--json"],
        ["figure", "babilong-2", str(out), "--out", str(tmp_path / f"{ESCAPES}.csv")],
        ["run", f"qa1{ESCAPES}", "--model", "carrara/oracle", "--out", str(tmp_path / "x")],
        ["run", "qa1", "--model", f"openai-api/x/{ESCAPES}", "--out", str(tmp_path / "x")],
        ["plan", "qa1", "--model", "openai/x", "--tokenizer", ESCAPES],
    ]
    for line in commands:
        ended = python("-m", "carrara", *line)
        assert "Traceback" not in ended.stderr, line
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", ended.stdout + ended.stderr), line


def test_json_is_ascii_and_has_no_numbers_that_json_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"models": ["\x9b31m", "\u202e", "\ud800", "模型"], "after": math.nan, "count": math.inf})
    printed = capsys.readouterr().out
    assert printed.isascii()
    found = json.loads(printed, parse_constant=pytest.fail)
    assert found == {"models": ["\x9b31m", "\u202e", "\ud800", "模型"], "after": None, "count": None}


def test_no_file_is_replaced_that_the_command_did_not_write(tmp_path: Path) -> None:
    item = carrara.item("qa1", tokenizer="gpt2")
    replies, notes, scores = tmp_path / "r.jsonl", tmp_path / "notes.txt", tmp_path / "scores.jsonl"
    replies.write_text(json.dumps({"id": item.id, "reply": item.gold}) + "\n")
    notes.write_text("mine")
    run = tmp_path / "run"
    assert carrara_command("score", replies, "--out", run).returncode == 0
    for line in (
        ["score", replies, "--out", replies],
        ["prompts", "export", "qa1", "--out", notes],
        ["report", run, "--out", notes],
        ["report", run, "--out", replies],
        ["leaderboard", run, "--out", notes],
        ["guard", "make", "--model", "openai-api/x/y", "--base-url", "http://127.0.0.1:9/v1", "--out", notes],
        ["guard", "make", "--model", "openai-api/x/y", "--base-url", "http://127.0.0.1:9/v1", "--out", replies],
    ):
        before = replies.read_bytes(), notes.read_bytes()
        ended = carrara_command(*line)
        assert ended.returncode == 2, line
        assert "is there already, and this command did not write it" in ended.stderr
        assert (replies.read_bytes(), notes.read_bytes()) == before
    for _ in range(2):  # its own it replaces
        assert carrara_command("score", replies, "--out", scores).returncode == 0
        assert carrara_command("report", run, "--out", tmp_path / "page.html").returncode == 0
    assert carrara_command("prompts", "export", "qa1", "--out", notes, "--force").returncode == 0
    assert notes.read_text() != "mine"


@pytest.mark.parametrize("kind", ["svg", "html", "csv", "json"])
@pytest.mark.sampled(1)
def test_a_figure_replaces_only_figures(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"figure.{kind}"
    line = ["figure", "minerva-2", "--out", path]
    for _ in range(2):
        assert carrara_command(*line).returncode == 0
    written = path.read_bytes()
    foreign = {"svg": b"<svg></svg>", "csv": b"model,price\n", "json": b'{"figure": 1}'}
    path.write_bytes(foreign.get(kind, b"<!doctype html>mine"))
    refused = carrara_command(*line)
    assert refused.returncode == 2
    assert "is there already, and this command did not write it" in refused.stderr
    assert path.read_bytes() != written
    assert carrara_command(*line, "--force").returncode == 0
    assert path.read_bytes() == written


@pytest.mark.slow
def test_generated_items_replace_only_their_own(tmp_path: Path) -> None:
    line = ["generate", "qa1", "--lengths", "0", "-n", "1", "--out", tmp_path]
    for more, name in ((["--finetune", "--split", "train"], "finetune"), ([], "item_ids")):
        for _ in range(2):
            assert carrara_command(*line, *more).returncode == 0
        (tmp_path / f"{name}.jsonl").write_text('{"id": 1, "mine": true}\n')
        assert carrara_command(*line, *more).returncode == 2
    assert carrara_command(*line, "--force").returncode == 0

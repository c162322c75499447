"""The command line as people and scripts use it, and what it says when it is used wrongly."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from carrara.cli.commands import COMMANDS
from carrara.cli.main import main
from tests.helpers.commands import commands
from tests.helpers.process import python

Capture = pytest.CaptureFixture[str]
GENERATE = ["generate", "latent_list", "--lengths", "0,2k", "-n", "4", "--seed", "7", "--tokenizer", "gpt2"]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("items")
    assert main([*GENERATE, "--render", "--out", str(folder)]) == 0
    return folder / "items.jsonl"


def test_tasks_as_json(capsys: Capture) -> None:
    assert main(["tasks", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    latent = rows["michelangelo/latent_list"]
    assert latent["suite"] == "michelangelo"
    assert latent["parameters"]["complexity"] == "1,5,20"
    assert 0 < latent["chance_level"] < 0.2


def test_patterns_match_short_names_too(capsys: Capture) -> None:
    for pattern in ("qa1?", "babilong/qa1?"):
        assert main(["tasks", pattern, "--json"]) == 0
        names = [row["name"] for row in json.loads(capsys.readouterr().out)]
        assert names == [f"babilong/qa1{n}" for n in range(10)]


def test_generated_rows_hold_everything(generated: Path) -> None:
    rows = lines(generated)
    wanted = "id task version split seed index length tokens tokenizer messages question gold chance_level context_id"
    assert len(rows) == 8
    for row in rows:
        assert {*wanted.split(), "sha256", "spans"} <= set(row)
        assert row["tokens"] == row["length"] or row["length"] == 0
        assert row["spans"]


def test_generation_gives_the_same_bytes_in_a_new_process(generated: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "carrara", *GENERATE, "--render", "--out", str(tmp_path)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
    )
    assert (tmp_path / "items.jsonl").read_bytes() == generated.read_bytes()


def test_item_ids_are_small(tmp_path: Path, capsys: Capture) -> None:
    assert main(["generate", "latent_list", "--lengths", "64k", "-n", "2", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "item_ids.jsonl").stat().st_size < 2000
    assert "by o200k" in capsys.readouterr().out


def test_item_ids_are_rendered_later(generated: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main([*GENERATE, "--out", str(tmp_path)]) == 0
    item_ids = tmp_path / "item_ids.jsonl"
    assert main(["generate", str(item_ids), "--render", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "items.jsonl").read_bytes() == generated.read_bytes()
    item_ids.write_text(item_ids.read_text("utf-8").replace('"sha256": "', '"sha256": "0'), "utf-8")
    assert main(["generate", str(item_ids), "--render", "--out", str(tmp_path)]) == 1
    assert "other bytes" in capsys.readouterr().err
    assert (tmp_path / "items.jsonl").read_bytes() == generated.read_bytes()


def test_an_item_is_shown_by_its_id(generated: Path, capsys: Capture) -> None:
    row = lines(generated)[5]
    assert main(["show", row["id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == row


WRONG = {
    "an unknown task": (["tasks", "latent-list"], "latent_list"),
    "an unknown parameter": (["audit", "all", "-p", "complexty=5"], "complexity"),
    "a length below the puzzle": (["show", "latent_list", "--lengths", "100"], "without any filler"),
    "no file": (["score", "nowhere.jsonl"], "nowhere.jsonl"),
    "several tasks for one item": (["show", "qa1,qa2"], "names 2 tasks"),
    "an option beside an id": (["show", "michelangelo/latent_list@5/test-0-0.0/0/chat/gpt2", "--seed", "1"], "--seed"),
    "an unknown command": (["dance"], "no command is called 'dance'"),
    "an unknown option": (["show", "latent_list", "--lenghts", "4k"], "--lengths"),
    "two tasks where one is shown": (["show", "qa1", "qa2"], "qa2"),
    "an unknown choice": (["show", "latent_list", "--split", "tests"], "--split"),
    "two files at once": (["generate", "qa1", "--render", "--finetune", "--out", "x"], "--render and --finetune"),
    "options beside item_ids": (["generate", "r.jsonl", "-n", "3", "--out", "x"], "-n cannot be given beside r.jsonl"),
    "a score of more than 1": (["report", ".", "--min-base-score", "2"], "--min-base-score 2"),
    "a parameter twice": (["show", "latent_list", "-p", "view=sum", "-p", "view=min"], "twice"),
    "no parameter": (["show", "latent_list", "-p", "complexity"], "NAME=VALUE"),
    "no task": (["run"], "`carrara run` needs TASKS: see `carrara run --help`"),
    "no model": (["run", "qa1"], "`carrara run` needs --model"),
    "an option without its value": (["run", "qa1", "--model"], "--model needs a value"),
    "an argument too many": (["demo", "now"], "'now' is one argument too many"),
    "an option twice": (["show", "qa1", "--seed", "1", "--seed", "2"], "--seed is given twice: give it once"),
}


def test_lists_of_an_option_that_is_given_twice_are_joined(tmp_path: Path, capsys: Capture) -> None:
    assert main(["generate", "qa1", "--lengths", "0", "--lengths", "1k", "-n", "1", "--out", str(tmp_path)]) == 0
    assert "2 items at 0, 1k tokens" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_use_is_one_sentence(
    wrong: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    asked, named = WRONG[wrong]
    assert main(asked) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("carrara: ")
    assert captured.err.count("\n") == 1
    assert named in captured.err


HEAVY = ("inspect_ai", "numpy", "tokenizers", "splintr", "jinja2", "pydantic", "openai", "torch", "httpx")


def imported_by(*line: str) -> set[str]:
    """Return the modules that a command imports in a new process."""
    code = "import sys; from carrara.cli.main import main; main(sys.argv[1:]); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True, check=True)
    return set(ended.stdout.splitlines()[-1].split())


def test_help_imports_nothing_heavy() -> None:
    """What keeps `carrara --help` quick; the seconds are measured in benchmarks/startup.py."""
    code = "import sys, carrara.cli.main as c; c.make_app(); print(*sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {*HEAVY, "rich"} & set(made)
    shown = imported_by("--help")
    assert not {*HEAVY, "rich.markdown", "rich.progress", "pygments", "markdown_it"} & shown
    own = {module for module in shown if module.startswith("carrara.")}
    assert not {module for module in own if not module.startswith(("carrara.cli", "carrara.util", "carrara._version"))}


@pytest.mark.parametrize("name", [name for group in COMMANDS.values() for name in group])
@pytest.mark.sampled(1)
def test_help_of_a_command_imports_nothing_heavy(name: str) -> None:
    assert not set(HEAVY) & imported_by(name, "--help")


@pytest.mark.slow
def test_a_full_disk_loses_nothing(generated: Path, capsys: Capture) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    code = (
        "import carrara.cli.output as o, pathlib, sys\n"
        "from carrara.cli.main import main\n"
        "real, full = pathlib.Path.open, pathlib.Path('/dev/full')\n"
        "pathlib.Path.open = lambda self, *a, **k: real(full if '.items' in self.name else self, *a, **k)\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    asked = ["generate", "latent_list", "-n", "4", "--render", "--out", str(generated.parent)]
    before = generated.read_bytes()
    run = python("-c", code, *asked)
    assert run.returncode == 1
    assert "No space left" in run.stderr
    assert "Traceback" not in run.stderr
    assert generated.read_bytes() == before
    assert [file.name for file in generated.parent.iterdir()] == [generated.name]


def test_a_prompt_pack_changes_the_words_and_the_id(tmp_path: Path, capsys: Capture) -> None:
    pack = tmp_path / "pack.toml"
    pack.write_text('["michelangelo/latent_list"]\ninstruction = "Be Python.\\n\\n"\n', "utf-8")
    assert main(["show", "latent_list", "--lengths", "1k", "--prompts", str(pack), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["messages"][0]["content"].startswith("Be Python.\n\n=====")
    assert row["tokens"] == 1024
    assert "/chat~" in row["id"]
    assert main(["audit", "latent_list", "-n", "3", "--lengths", "0,1k", "--prompts", str(pack)]) == 0


def test_braces_are_plain_text_where_there_are_no_fields(tmp_path: Path, capsys: Capture) -> None:
    pack = tmp_path / "pack.toml"
    pack.write_text("['michelangelo/latent_list']\ninstruction = 'Reply with {\"answer\": …}. '", "utf-8")
    assert main(["show", "latent_list", "--prompts", str(pack)]) == 0
    assert 'Reply with {"answer": …}.' in capsys.readouterr().out


def test_show_marks_what_is_needed(capsys: Capture) -> None:
    assert main(["show", "latent_list", "--lengths", "1k", "--index", "3"]) == 0
    shown = capsys.readouterr().out
    assert ">> a = [1, 2, 3, 4, 5, 6]" in shown
    assert "gold" in shown
    assert "michelangelo/latent_list@5/test-0-3.0/1024/chat/o200k" in shown


def test_a_reader_who_has_seen_enough_is_no_failure() -> None:
    shown = [sys.executable, "-m", "carrara", "show", "latent_list", "--lengths", "64k"]
    with subprocess.Popen(shown, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 0
    assert complaint == b""


def test_every_command_has_help_with_an_example(capsys: Capture) -> None:
    for name, _ in commands():
        assert main([*name.split(), "--help"]) == 0
        assert f"Example: carrara {name}" in " ".join(capsys.readouterr().out.split())


def test_every_option_has_a_help_text() -> None:
    for name, command in commands():
        for argument in command.assemble_argument_collection(parse_docstring=True):
            assert argument.parameter.help or not argument.show, f"{name} {argument.name}"


def test_one_item_is_shown_at_several_lengths(capsys: Capture) -> None:
    assert main(["show", "qa1", "--lengths", "1k"]) == 0
    assert "\ntokens    1,024 by o200k" in capsys.readouterr().out
    assert main(["show", "qa1", "--lengths", "0,1k"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\ngold ") == 2
    assert shown.index("by o200k") < shown.index("\ntokens    1,024 by o200k")
    assert main(["show", "qa1", "--lengths", "0,1k", "--json"]) == 0
    short, long = json.loads(capsys.readouterr().out)
    assert (short["length"], long["length"]) == (0, 1024)
    assert short["context_id"] != long["context_id"]
    assert (short["question"], short["gold"]) == (long["question"], long["gold"])
    assert main(["show", "qa1", "--lengths", "0,1k", "--reply", short["gold"], "--json"]) == 0
    assert [one["score"] for one in json.loads(capsys.readouterr().out)] == [1.0, 1.0]

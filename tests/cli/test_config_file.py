"""Settings of a run in a file: read, checked, overridden by flags, and written with their meanings."""

import json
import pydoc
import tomllib
from pathlib import Path

import pytest
from attrs import fields

import carrara
from carrara.cli.commands import COMMANDS
from carrara.cli.main import main
from carrara.operations.run import TerminalConfig
from carrara.runs.config import RunConfig
from tests.helpers.commands import commands
from tests.helpers.inspect_warnings import LEFT_OPEN

Capture = pytest.CaptureFixture[str]


def file(folder: Path, text: str) -> str:
    path = folder / "run.toml"
    path.write_text(text, "utf-8")
    return str(path)


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_run_takes_its_settings_from_a_file_and_flags_override_it(tmp_path: Path, capsys: Capture) -> None:
    config = file(
        tmp_path, 'tasks = "qa1"\nmodel = "carrara/oracle"\nlengths = ["0", "1k"]\nn = 3\ntokenizer = "gpt2"\n'
    )
    assert main(["run", "--config", config, "-n", "2", "--out", str(tmp_path / "run"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["task"], row["length"], row["n"]) for row in rows] == [
        ("babilong/qa1", 0, 2),
        ("babilong/qa1", 1024, 2),
    ]
    assert main(["plan", "--config", config, "--json"]) == 0
    assert sum(line["requests"] for line in json.loads(capsys.readouterr().out)["lines"]) == 6


WRONG = {
    "an unknown setting": ("lenghts = 4\n", "run.toml: there is no setting 'lenghts'; did you mean lengths?"),
    "a wrong value": (
        "connections = 0\n",
        "run.toml: connections: `connections=0` is not a whole number of at least 1",
    ),
    "a wrong kind": ('within = "yes"\n', "run.toml: within: `within='yes'` is neither true nor false"),
    "a setting of Python alone": ("progress = true\n", "there is no setting 'progress'"),
    "no TOML": ("[", "run.toml cannot be read as TOML"),
    "a key": ('model_args = {api_key = "sk-abcdefghijk"}\n', "give keys in the environment"),
    "a key in a header": (
        'model_args = {default_headers = {Authorization = "Bearer sk-abcdefghijk1"}}\n',
        "has a secret",
    ),
    "a password": ('base_url = "http://me:hidden-word@127.0.0.1/v1"\n', "--base-url has a secret"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_file_is_one_sentence(wrong: str, tmp_path: Path, capsys: Capture) -> None:
    text, message = WRONG[wrong]
    line = ["run", "qa1", "--model", "openai-api/x/y", "--config", file(tmp_path, text), "--out", str(tmp_path / "run")]
    assert main(line) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert "abcdefghijk" not in error
    assert not (tmp_path / "run").exists()


def test_a_missing_file_and_missing_settings_are_named(tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", "qa1", "--config", str(tmp_path / "none.toml")]) == 2
    assert "none.toml cannot be read" in capsys.readouterr().err
    assert main(["run", "--config", file(tmp_path, 'tasks = "qa1"\n')]) == 2
    assert "`carrara run` needs --model" in capsys.readouterr().err


def test_a_file_is_written_with_every_setting_and_its_meaning(tmp_path: Path, capsys: Capture) -> None:
    given = ["qa1", "--model", "carrara/oracle", "--lengths", "0,1k", "-p", "background=all", "--tokenizer", "gpt2"]
    assert main(["run", *given, "--write-config"]) == 0
    text = capsys.readouterr().out
    assert tomllib.loads(text) == {
        "tasks": "qa1",
        "model": ["carrara/oracle"],
        "lengths": "0,1k",
        "params": ["background=all"],
        "tokenizer": "gpt2",
    }
    for config in (RunConfig, TerminalConfig):
        for one in fields(config):
            if one.init and one.metadata.get("flag", True):
                assert f"\n{one.alias} =" in text or f"\n# {one.alias} =" in text, one.alias
    assert "# Time to wait for a server that is down, by default 6h." in text
    assert main(["plan", "--config", file(tmp_path, text), "-n", "1"]) == 0
    assert main(["run", *given, "--base-url", "http://me:hidden-word@127.0.0.1/v1", "--write-config"]) == 2
    assert "hidden-word" not in capsys.readouterr().out


def test_the_surface_is_small() -> None:
    assert sum(len(group) for group in COMMANDS.values()) <= 20
    shown = [one for name, app in commands() if name == "run" for one in app.assemble_argument_collection() if one.show]
    assert len({name for one in shown for name in one.names if name.startswith("-")}) <= 26
    assert len(carrara.__all__) <= 22
    assert sorted(carrara.__all__) == dir(carrara)
    assert len(pydoc.render_doc(carrara).splitlines()) < 900


def test_tasks_are_positional_and_the_model_is_a_flag() -> None:
    for name, app in commands():
        names = {flag for one in app.assemble_argument_collection() for flag in one.names}
        assert not names & {"--tasks", "--task"} or name == "score", name
        assert "MODEL" not in names, name

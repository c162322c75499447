"""What cannot be exported is refused before a file is written, in one sentence."""

from pathlib import Path

import pytest

from carrara.cli.main import main
from carrara.export import trl
from carrara.export.stream import Stream
from carrara.util.errors import UsageError
from tests.helpers.parquet import require_parquet

Capture = pytest.CaptureFixture[str]

REFUSED = [
    ("batch qa1", "--model"),
    ("serving qa1 --model m", "--model"),
    ("parquet qa1", "parquet"),
    ("nemo-gym qa1 -n 1 --style base", "chat"),
    ("nemo-gym qa1 -n 1 --split few-shot", "few-shot"),
    ("nemo-gym qa1 -n 1 --validation 3", "train"),
    ("nemo-gym qa1 -n 1 --split train --validation 0", "at least 1"),
    ("nemo-gym qa1 -n 1 --prompts pack.toml", "prompt pack"),
    ("nemo-gym march --lengths 4k -n 1", "one prompt for each item"),
    ("harbor qa1 --style base", "style"),
    ("harbor march", "after the model's replies"),
    ("harbor qa1 --out memory://x", "of its own machine"),
    ("harbor minerva/set_state --lengths 4k --tokenizer words:x", "words"),
    ("harbor qa1 --wheel setup.whl", "no wheel of Carrara"),
    ("harbor qa1 --wheel x.whl --verifier-image x", "give one of them"),
    ("harbor qa1 --network some", "network"),
    ("kvpress mrcr --lengths 8k -n 1", "conversation"),
    ("kvpress sync/graph --lengths 8k -n 1 --style base", "different lines"),
    ("lm-eval mrcr --lengths 8k -n 1", "conversation"),
    ("lm-eval rules --lengths 0 -n 1", "leave it out, or give form=text, if the task has it"),
    ("lm-eval trajectory --lengths 0 -n 1 -p form=tools --tokenizer gpt2", "conversation"),
    ("datasets trajectory --lengths 0 -n 1 -p form=tools --tokenizer gpt2", "only texts"),
    ("verl trajectory --lengths 0 -n 1 -p form=tools --tokenizer gpt2", "only texts"),
    ("verl qa1 --style base", "style"),
    ("verl mrcr --lengths 8k -n 1 --context", "mrcr is a conversation"),
    ("verl march --lengths 4k -n 1", "march goes on"),
    *(
        (f"{kind} rules -n 1 -p turns=4 --lengths 0 --tokenizer gpt2", "rules goes on with 3 messages")
        for kind in ("batch --model m", "datasets", "harbor", "nemo-gym", "verl")
    ),
    *(
        (f"{kind} timeline -n 1 -p form=chat --lengths 4k --tokenizer gpt2", "conversation")
        for kind in ("kvpress", "lm-eval", "serving", "verl --context")
    ),
]
WOULD_ADD_LINES = [
    ("nemo-gym", "--package", 'carrara"]\n[tool.x]\ny = 1', "no requirement"),
    ("nemo-gym", "--package", "carrara\x01", "no requirement"),
    ("harbor", "--image", "python\nRUN touch ran", "no name of an image"),
    ("harbor", "--image", "python AS x", "no name of an image"),
    ("harbor", "--verifier-image", "python\\", "no name of an image"),
    ("harbor", "--image", "--platform=x", "carrara"),
    ("harbor", "--wheel", "carrara-1;touch ran-py3-none-any.whl", "no wheel of Carrara"),
]


def check_refusal(words: list[str], says: str, folder: Path, capsys: Capture) -> None:
    require_parquet(*words)
    out = [] if "--out" in words else ["--out", str(folder / "out")]
    assert main(["export", *words, *out]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not [path for path in (folder / "out").rglob("*") if path.is_file()]


@pytest.mark.parametrize(("line", "says"), REFUSED)
def test_what_cannot_be_exported_is_a_sentence(line: str, says: str, tmp_path: Path, capsys: Capture) -> None:
    check_refusal(line.split(), says, tmp_path, capsys)


@pytest.mark.parametrize(
    ("task", "params", "says"),
    [("rules", {"turns": 4}, "goes on with 3 messages"), ("trajectory", {"form": "tools"}, "only texts")],
)
def test_what_trl_cannot_train_on_is_a_sentence(task: str, params: dict[str, int | str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        next(trl._rows(Stream(task, "0", params=params, tokenizer="gpt2"), 0))


@pytest.mark.parametrize(("kind", "option", "value", "says"), WOULD_ADD_LINES)
def test_what_would_add_lines_to_a_file_is_refused(
    kind: str, option: str, value: str, says: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if option == "--wheel":
        Path(value).write_bytes(b"PK")
    check_refusal([kind, "qa1", "-n", "1", f"{option}={value}"], says, tmp_path, capsys)


@pytest.mark.parametrize("kind", ["datasets", "serving", "harbor", "nemo-gym"])
def test_a_card_of_others_stays(kind: str, tmp_path: Path, capsys: Capture) -> None:
    line = ["export", kind, "qa1", "-n", "1", "--tokenizer", "gpt2", "--out", str(tmp_path)]
    require_parquet(kind)
    card = tmp_path / "README.md"
    card.write_text("Mine.")
    assert main(line) == 2
    assert "was not made here" in capsys.readouterr().err
    assert card.read_text() == "Mine."
    card.unlink()
    assert main(line) == 0
    assert "Not to be trained on" in card.read_text()
    assert main([*line, "--split", "train"]) == (2 if kind == "datasets" else 0)


@pytest.mark.parametrize("kind", ["datasets", "harbor"])
def test_files_of_another_export_are_refused_and_those_of_the_same_stay(
    kind: str, tmp_path: Path, capsys: Capture
) -> None:
    line = ["export", kind, "qa1", "--tokenizer", "gpt2", "--out", str(tmp_path)]
    require_parquet(kind)
    assert main([*line, "--lengths", "0,1k", "-n", "2"]) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for more in (["--lengths", "0", "-n", "2"], ["--lengths", "0,1k", "-n", "1"]):
        assert main([*line, *more]) == 2
        assert "other" in capsys.readouterr().err
    assert main([*line, "--lengths", "0,1k", "-n", "2"]) == 0
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before

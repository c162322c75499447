"""Local GGUF files as models of their own: `carrara/gguf:PATH`."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

import carrara as door
from carrara.runs.replies import read_results
from carrara.servers.embedded import DEMO
from carrara.tokenizers import for_model, get
from carrara.tokenizers.gguf import gguf_model, header_bytes, metadata
from carrara.util.errors import UsageError
from tests.helpers.process import carrara
from tests.tokenizers.test_tokenizers import byte_vocabulary, gguf_bytes

KEYS: dict[str, Any] = {
    "general.architecture": "llama",
    "general.name": "A/Model [x]\n of  mine",
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": byte_vocabulary(),
    "tokenizer.ggml.token_type": [1] * 256,
    "tokenizer.ggml.merges": [],
    "tokenizer.chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}",
}
ASKED = ["latent_list", "-p", "complexity=1", "-p", "view=print", "--lengths", "0,256", "-n", "1"]


@pytest.fixture(autouse=True)
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path / "cache"))


def written(path: Path, **changes: Any) -> Path:
    """A GGUF file without tensors; None removes a key."""
    keys = KEYS | {name.replace("__", "."): value for name, value in changes.items()}
    path.write_bytes(gguf_bytes({name: value for name, value in keys.items() if value is not None}))
    return path


def renamed(name: str, path: Path) -> Path:
    """SmolLM2's file under another `general.name`, which takes as many bytes."""
    content = Path(DEMO.path).read_bytes()
    old = str(metadata(DEMO.path)["general.name"]).encode()
    new = name.encode().ljust(len(old))[: len(old)]
    begin = content.index(b"general.name") + len(b"general.name") + 4
    assert content[begin : begin + 8] == struct.pack("<Q", len(old))
    path.write_bytes(content[: begin + 8] + new + content[begin + 8 + len(old) :])
    return path


def test_names_come_from_the_file_and_not_from_its_place(tmp_path: Path) -> None:
    file = gguf_model(f"carrara/gguf:{written(tmp_path / 'q.gguf')}")
    assert file is not None
    assert file.name == "A-Model [x] of mine"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "q.gguf").rename(tmp_path / "elsewhere" / "r.gguf")
    moved = gguf_model(f"carrara/gguf:{tmp_path / 'elsewhere' / 'r.gguf'}")
    assert moved is not None
    assert (moved.full_name, moved.tokenizer) == (file.full_name, file.tokenizer)
    nameless = gguf_model(f"carrara/gguf:{written(tmp_path / 'my model.gguf', general__name=None)}")
    assert nameless is not None
    assert nameless.name == "my model"
    assert nameless.digest != file.digest


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    """Even where header, name and size are the same."""
    one, other = written(tmp_path / "a.gguf"), written(tmp_path / "b.gguf")
    one.write_bytes(one.read_bytes() + b"\0" * 5000)
    other.write_bytes(other.read_bytes() + b"\0" * 4999 + b"\1")
    found = [gguf_model(f"carrara/gguf:{path}") for path in (one, other)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].name == found[1].name
    assert found[0].full_name != found[1].full_name


def test_the_tokenizer_is_the_files_own_and_outlives_it(tmp_path: Path) -> None:
    path = written(tmp_path / "q.gguf")
    assert header_bytes(path) == path.read_bytes()
    path.write_bytes(path.read_bytes() + b"weights")
    name = for_model(f"carrara/gguf:{path}")
    assert name is not None
    assert str(tmp_path) not in name
    path.unlink()
    tokenizer = get(name)
    assert tokenizer.count("hello") == 5
    assert tokenizer.chat is not None
    with pytest.raises(UsageError, match="is not known on this machine"):
        get("gguf:sha256-0123456789abcdef")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tokenizer__ggml__tokens": None}, "so no tokenizer"),
        ({"tokenizer__chat_template": None}, "has no chat template"),
        ({"general__architecture": "nomic-bert"}, "is an embedding model"),
        ({"llama__pooling_type": 3}, "is an embedding model"),
        ({"tokenizer__ggml__pre": "chameleon"}, "cannot be rebuilt here"),
    ],
)
def test_a_file_that_cannot_be_asked_is_one_sentence(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    model = f"carrara/gguf:{written(tmp_path / 'q.gguf', **changes)}"
    with pytest.raises(UsageError, match=says):
        door.run("latent_list", model, lengths=[0], n=1, out=tmp_path / "run")


@pytest.mark.slow
def test_what_is_no_gguf_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "zip.gguf").write_bytes(b"PK\3\4 and so on")
    (tmp_path / "cut.gguf").write_bytes(written(tmp_path / "q.gguf").read_bytes()[:300])
    (tmp_path / "empty.gguf").touch()
    for place, says in (
        (tmp_path / "none.gguf", "there is no file"),
        (tmp_path, "there is no file"),
        (tmp_path / "zip.gguf", "is not a GGUF file"),
        (tmp_path / "empty.gguf", "is not a GGUF file"),
        (tmp_path / "cut.gguf", "damaged or cut short"),
        (tmp_path / "q.gguf", "llama.cpp cannot load"),  # it has no tensors
        ("", "names no file"),
    ):
        ended = carrara("run", *ASKED, "--model", f"carrara/gguf:{place}", "--out", tmp_path / "run")
        assert ended.returncode == 2, ended.stderr
        assert says in ended.stderr
        assert "Traceback" not in ended.stderr
    old = carrara("run", *ASKED, "--model", "carrara/smollm2", "-M", "gguf=x.gguf", "--out", tmp_path / "run")
    assert old.returncode == 2
    assert "no argument 'gguf'" in old.stderr


@pytest.mark.slow
def test_a_file_is_run_under_its_own_name_and_goes_on_when_it_was_moved(tmp_path: Path) -> None:
    if not DEMO.here():
        pytest.skip(DEMO.missing)
    out, path = tmp_path / "run", renamed("Renamed [b]M", tmp_path / "q.gguf")
    line = ["run", *ASKED, "--max-tokens", "16", "--out", out, "-M", "copies=1"]
    ended = carrara(*line, "--model", f"carrara/gguf:{path}", check=True)
    assert "carrara/gguf:Renamed [b]M" in ended.stdout
    assert str(path) not in ended.stdout.replace(str(out), "")
    assert str(path) not in (out / "report.html").read_text()
    assert "Renamed [b]M" in (out / "report.html").read_text()
    results = read_results(out)
    assert {one.model for one in results} == {"carrara/gguf:Renamed [b]M"}
    assert [one.input_tokens for one in results] == [one.tokens for one in results]  # llama.cpp counts the same
    moved = path.rename(tmp_path / "moved.gguf")
    again = carrara(*line, "--model", f"carrara/gguf:{moved}", check=True)
    assert "2 of 2 replies are there already" in again.stderr
    with moved.open("r+b") as file:  # other weights under the same name
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    other = carrara(*line, "--model", f"carrara/gguf:{moved}", check=True)
    assert "replies are there already" not in other.stderr
    told = json.loads(carrara("report", out, "--json", check=True).stdout)
    assert len(json.dumps(told).split("(file=")) > 2
    assert str(tmp_path) not in json.dumps(told)

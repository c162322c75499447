"""Local GGUF files as models of their own: `carrara/gguf:PATH`."""

import struct
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import carrara as door
from carrara.cli.main import main
from carrara.runs.replies import read_results
from carrara.servers.embedded import DEMO
from carrara.tokenizers import for_model, get
from carrara.tokenizers.base import ChatPart, count_plain
from carrara.tokenizers.gguf import gguf_model, header_bytes, load, metadata
from carrara.types import Message
from carrara.util.errors import UsageError
from tests.helpers.process import carrara


def gguf_bytes(keys: dict[str, Any], version: int = 3) -> bytes:
    def string(text: str) -> bytes:
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def value(item: Any) -> bytes:
        if isinstance(item, bool):
            return struct.pack("<I?", 7, item)
        if isinstance(item, int):
            return struct.pack("<II", 4, item)
        if isinstance(item, float):
            return struct.pack("<Id", 12, item)
        if isinstance(item, str):
            return struct.pack("<I", 8) + string(item)
        kind = 8 if item and isinstance(item[0], str) else 5
        elements = b"".join(string(e) if kind == 8 else struct.pack("<i", e) for e in item)
        return struct.pack("<IIQ", 9, kind, len(item)) + elements

    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(keys))
    return head + b"".join(string(key) + value(item) for key, item in keys.items())


def byte_vocabulary() -> list[str]:
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


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
    ],
)
def test_a_file_that_cannot_be_asked_is_one_sentence(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    model = f"carrara/gguf:{written(tmp_path / 'q.gguf', **changes)}"
    with pytest.raises(UsageError, match=says):
        door.run("latent_list", model, lengths=[0], n=1, out=tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none.gguf", "there is no file"),
        (".", "there is no file"),
        ("zip.gguf", "is not a GGUF file"),
        ("cut.gguf", "damaged or cut short"),
        ("q.gguf", "llama.cpp cannot load"),  # it has no tensors
        ("", "names no file"),
    ],
)
def test_what_is_no_gguf_file_is_one_sentence(
    name: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "llama.cpp" in says:
        pytest.importorskip("xllamacpp", reason="llama.cpp is not installed: `make env-all` installs it")
    (tmp_path / "zip.gguf").write_bytes(b"PK\3\4 and so on")
    (tmp_path / "cut.gguf").write_bytes(written(tmp_path / "q.gguf").read_bytes()[:300])
    model = f"carrara/gguf:{tmp_path / name if name else ''}"
    assert main(["run", *ASKED, "--model", model, "--out", str(tmp_path / "run")]) == 2
    assert says in capsys.readouterr().err


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
    told = carrara("report", out, "--json", check=True).stdout
    assert len(told.split("(file=")) > 2
    assert str(tmp_path) not in told


# --- the format ---


def test_metadata_of_every_type(tmp_path: Path) -> None:
    keys = {"a": True, "b": 7, "c": 0.5, "d": "é", "e": ["x", "", "yz"], "f": [1, -2]}
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(keys) + b"\0" * 64)
    assert metadata(path) == keys
    for cut in range(30, len(gguf_bytes(keys)), 7):
        path.write_bytes(gguf_bytes(keys)[:cut])
        with pytest.raises(UsageError, match="damaged or cut short"):
            metadata(path)
    path.write_bytes(gguf_bytes(keys, version=9))
    with pytest.raises(UsageError, match="version 9"):
        metadata(path)
    path.write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match="not a GGUF file"):
        metadata(path)


_HEAD = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"a"
_NESTED = struct.pack("<I", 9) + struct.pack("<IQ", 9, 1)


@pytest.mark.parametrize(
    ("content", "zeros", "says"),
    [
        (_HEAD + _NESTED + struct.pack("<IQ", 9, 1) * 100_000, 0, "an array of arrays"),
        (_HEAD + struct.pack("<IIQ", 9, 9, 1 << 62), 0, "an array of arrays"),
        (_HEAD + struct.pack("<IIQ", 9, 8, 1 << 62), 0, "4,611,686,018,427,387,904 values"),
        (_HEAD + struct.pack("<IIQ", 9, 0, 1 << 62), 100, "4,611,686,018,427,387,904 values"),
        (_HEAD + struct.pack("<IIQ", 9, 0, 100_000_000), 100_000_000, "100,000,000 values"),
        (_HEAD + struct.pack("<IQ", 8, 1 << 63), 100, "runs past the end"),
        (_HEAD + struct.pack("<IQ", 8, 1 << 29), 1 << 29, "536,870,912 bytes"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 63), 0, "9,223,372,036,854,775,808 values"),
        (_HEAD + struct.pack("<I", 77), 0, "a value of type 77"),
    ],
    ids=range(9),
)
def test_a_hostile_gguf_file_is_one_sentence_and_takes_no_memory(
    content: bytes, zeros: int, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.gguf"
    with path.open("wb") as file:
        file.write(content)
        file.truncate(len(content) + zeros)  # a hole, which takes no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=says) as raised:
            metadata(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert peak < 10 << 20


@pytest.mark.parametrize(
    "changes",
    [
        {"tokenizer__ggml__tokens": [1, 2]},
        {"tokenizer__ggml__token_type": [1]},
        {"tokenizer__ggml__token_type": ["x"] * 256},
        {"tokenizer__ggml__merges": ["onepart"]},
        {"tokenizer__ggml__merges": [1]},
    ],
    ids=range(5),
)
def test_a_gguf_vocabulary_that_does_not_fit_together_is_one_sentence(changes: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "v.gguf", **changes)
    with pytest.raises(UsageError, match=r"the vocabulary of .* is damaged"):
        load("x", str(path))


def test_a_gguf_vocabulary_with_its_user_defined_tokens(tmp_path: Path) -> None:
    path = written(
        tmp_path / "v.gguf",
        tokenizer__ggml__pre="llama-bpe",
        tokenizer__ggml__tokens=[*byte_vocabulary(), "he", "<s>", "<e>", "<tool>"],
        tokenizer__ggml__token_type=[1] * 257 + [3, 3, 4],
        tokenizer__ggml__merges=["h e"],
        tokenizer__ggml__bos_token_id=257,
        tokenizer__chat_template="{% for m in messages %}[{{ m.content | trim }}]<e>{% endfor %}",
    )
    tokenizer = get(f"gguf:{path}")
    assert tokenizer.count_many(["he", "he<tool>he", "<s>", ""]) == [1, 3, 3, 0]
    assert count_plain(tokenizer, "he") == 2  # llama.cpp opens this family with a token unless the file says not to
    assert tokenizer.chat is not None
    assert tokenizer.chat.parts([Message("user", " <e> ")]) == [
        ChatPart("<s>", special=True),
        ChatPart("[<e>]"),
        ChatPart("<e>", special=True),
    ]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("tokenizer__ggml__model", "llama", "use server:URL"),
        ("tokenizer__ggml__pre", "chameleon", "use server:URL"),
        ("tokenizer__ggml__merges", None, r"has no tokenizer\.ggml\.merges"),
    ],
)
def test_a_gguf_vocabulary_that_cannot_be_rebuilt_is_refused(
    key: str, value: str | None, says: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "v.gguf", **{key: value})
    with pytest.raises(UsageError, match=says):
        load("x", str(path))

"""An id that comes from a stranger opens no file, walks no folder and asks no server."""

import json
import pickle
import threading
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import zipfile_zstd  # noqa: F401  # teaches zipfile the compression that Inspect uses

from carrara.items.bulk import HashedId, bulk, remake
from carrara.items.item import Item, rebuild
from carrara.items.item_id import ItemId
from carrara.items.registry import load
from carrara.tokenizers import permission
from carrara.util.errors import UsageError
from tests.helpers.process import carrara


@pytest.fixture
def listening() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the paths that it is asked for."""
    asked = list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def id_of(task: str, params: str = "", length: int = 1024, tokenizer: str = "gpt2") -> str:
    given = f";{params}" if params else ""
    return f"{task}@{load(task).version}{given}/test-0-0.0/{length}/chat/{tokenizer}"


@pytest.mark.parametrize(
    ("task", "parameter"),
    [
        ("babilong/qa1", "haystack"),
        ("babilong/qa1", "stories"),
        ("classic/niah", "haystack"),
        ("classic/passkey", "haystack"),
        ("michelangelo/idk", "haystack"),
        ("michelangelo/mrcr", "writings"),
        ("minerva/count", "words"),
        ("sync/translation", ""),
    ],
)
def test_no_parameter_of_an_id_names_a_file(
    task: str, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever parameter reads a file when a user names one; a task that has no such parameter is here, too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("private words\nof mine\n" * 50)
    reading = [name for name, field in load(task).__dataclass_fields__.items() if "built_in" in field.metadata]
    assert reading == ([parameter] if task != "babilong/qa1" else ["stories", "haystack"]) if parameter else not reading
    for value in ("notes.txt", ".", "..", "~", "hf:imdb", "file:notes.txt") if parameter else ():
        with pytest.raises(UsageError) as refused:
            rebuild(id_of(task, f"{parameter}={value}"))
        assert "an id cannot name a file" in str(refused.value)
        assert "private" not in str(refused.value)


@pytest.mark.parametrize(
    ("task", "parameter"),
    [
        ("babilong/qa1", "haystack"),
        ("babilong/qa1", "stories"),
        ("classic/niah", "haystack"),
        ("classic/qa_1", "data"),
        ("michelangelo/mrcr", "writings"),
        ("minerva/count", "words"),
        ("published/minerva-count", "data"),
    ],
)
def test_a_file_whose_name_is_like_a_hash_is_not_read(
    task: str, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's folder may have a link of that name to any file of this machine."""
    (tmp_path / "notes.txt").write_text("private words\nof mine\n" * 50)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ("0" * 16)).symlink_to("notes.txt")
    with pytest.raises(UsageError, match="stands for a known text, and a file here has that name"):
        rebuild(id_of(task, f"{parameter}={'0' * 16}"))


def test_every_parameter_that_reads_a_file_says_what_is_built_in() -> None:
    from carrara.items import registry

    for name in registry.names():
        for field in registry.load(name).__dataclass_fields__.values():
            reads = field.metadata.get("reads")
            if reads is not None and field.name != "depth":
                assert "built_in" in field.metadata, (name, field.name)


def test_a_server_that_only_an_id_names_is_not_asked(listening: tuple[str, list[str]], tmp_path: Path) -> None:
    url, asked = listening
    lines = tmp_path / "replies.jsonl"
    lines.write_text(json.dumps({"id": id_of("minerva/snapshot", tokenizer=f"server:{url}"), "reply": "x"}))
    ended = carrara("score", lines)
    assert ended.returncode == 2
    assert f"pass `--allow server:{url}` if you trust" in ended.stderr
    assert asked == []
    allowed = carrara("score", lines, "--allow", f"server:{url}")
    assert "--allow" not in allowed.stderr
    assert asked


def test_a_file_that_only_an_id_names_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "tokenizer.json"
    secret.write_text("private")
    for tokenizer in (f"hf:{secret}", f"hf:{tmp_path}", "hf:acme/private", f"gguf:{secret}", "gguf:sha256-0/../x"):
        with pytest.raises(UsageError, match="you have not named on this machine: pass `--allow"):
            rebuild(id_of("babilong/qa1", tokenizer=tokenizer))


def test_what_a_user_names_stays_allowed(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """In later processes too, by a file in the cache."""
    monkeypatch.delenv("CARRARA_ALLOWED_TOKENIZERS", raising=False)
    assert not permission.is_allowed("hf:acme/mine")
    permission.allow("hf:acme/mine")
    monkeypatch.delenv("CARRARA_ALLOWED_TOKENIZERS")
    assert permission.is_allowed("hf:acme/mine")
    assert not permission.is_allowed("hf:acme/other")
    assert (cache / "tokenizers" / "allowed.txt").read_text() == "hf:acme/mine\n"


@pytest.mark.slow
def test_a_folder_of_a_stranger_is_read_without_its_tokenizer(listening: tuple[str, list[str]], tmp_path: Path) -> None:
    """The report and the leaderboard leave out what they cannot make again, and say so."""
    url, requests = listening
    run = tmp_path / "run"
    asked = ["run", "snapshot", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--lengths", "1k", "-n", "3"]
    carrara(*asked, "--out", run, check=True)
    for path in (run / "logs").glob("*.eval"):
        with zipfile.ZipFile(path) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries.items():
                forged = content.replace(b"/gpt2", f"/server:{url}".encode()).replace(
                    b'"gpt2"', f'"server:{url}"'.encode()
                )
                archive.writestr(name, forged)
    (run / "plan.json").unlink()
    report = carrara("report", run)
    board = carrara("leaderboard", run)
    assert (report.returncode, requests) == (0, []), report.stderr
    assert f"server:{url}" in report.stdout + (run / "report.html").read_text("utf-8")
    assert "Traceback" not in board.stderr
    assert requests == []


def _tokenizer(folder: Path) -> str:
    """The name of a tokenizer in a folder: SmolLM2's in miniature."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    made = Tokenizer(models.BPE({sign: n for n, sign in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    return f"hf:{folder}"


def elsewhere(monkeypatch: pytest.MonkeyPatch, place: Path, module: str) -> list[bytes]:
    """Have a module's work done as on another machine: with another cache and another environment."""
    sent = list[bytes]()

    def parallel_map(work: Any, jobs: Sequence[Any], *_: object) -> Iterator[Any]:
        for job in jobs:
            sent.append(pickle.dumps((work, job)))
            with monkeypatch.context() as there:
                there.setenv("CARRARA_CACHE", str(place))
                there.delenv("CARRARA_ALLOWED_TOKENIZERS", raising=False)
                again, given = pickle.loads(sent[-1])
                yield again(given)

    monkeypatch.setattr(f"{module}.parallel_map", parallel_map)
    return sent


@pytest.mark.slow
def test_workers_on_other_machines_are_told_which_tokenizers_are_allowed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARRARA_ALLOWED_TOKENIZERS", raising=False)
    name = _tokenizer(tmp_path / "model")
    first = replace(ItemId.parse(id_of("babilong/qa1", length=2048)), tokenizer=name, style="base")
    sent = elsewhere(monkeypatch, tmp_path / "there", "carrara.items.bulk")
    with pytest.raises(UsageError, match="which you have not named on this machine"):
        list(bulk([first], 1, None, str, print, engine="ray"))
    permission.allow(name)
    assert len(list(bulk([first], 1, None, _id, print, engine="ray"))) == 1
    monkeypatch.delenv("CARRARA_ALLOWED_TOKENIZERS")  # an earlier command has allowed it
    assert len(list(remake([HashedId(str(first), None)], None, _id, engine="ray"))) == 1
    assert len(sent) == 3


def _id(item: Item) -> str:
    return str(item.item_id)


def test_processes_that_stay_are_told_too(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARRARA_ALLOWED_TOKENIZERS", raising=False)
    permission.allow("hf:acme/model")
    start = pickle.dumps(permission.with_permissions(_started))
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path / "there"))
    monkeypatch.delenv("CARRARA_ALLOWED_TOKENIZERS")
    assert not permission.is_allowed("hf:acme/model")
    assert pickle.loads(start)() == "started"
    assert permission.is_allowed("hf:acme/model")
    assert not permission.is_allowed("hf:acme/other")


def _started() -> str:
    return "started"

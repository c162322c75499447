"""Files that people name: only regular ones are opened, and none is read that is too large for it."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrara import corpora
from carrara.cli.main import main
from carrara.generators import append_file, bank, haystack, vocabulary
from carrara.items.prompt_pack import read_pack
from carrara.operations.generate import generate
from carrara.papers import external_scores
from carrara.tasks import mrcr_rows
from carrara.tasks.babilong import _predictions as predictions
from carrara.tasks.babilong import _published_items as babilong
from carrara.tasks.babilong import _story_files as stories
from carrara.tasks.minerva import _rows as minerva_rows
from carrara.util import files
from carrara.util.errors import UsageError

READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a text": ("a.txt", lambda path: corpora.open(str(path))),
    "a named corpus": ("a.txt", lambda path: corpora.add("name", str(path))),
    "a folder of texts": ("a.txt", lambda path: corpora.open(str(path.parent))),
    "a haystack": ("a", lambda path: haystack.haystack_name(str(path))),
    "JSON Lines": ("a.jsonl", lambda path: corpora.open(f"{path}:text")),
    "Parquet": ("a.parquet", lambda path: corpora.open(f"{path}:text")),
    "a folder of tables": ("a.jsonl", lambda path: corpora.open(f"{path.parent}:text")),
    "the hub's layout": ("train.jsonl", lambda path: corpora.open(f"hf:{path.parent}")),
    "a prompt pack": ("a.toml", read_pack),
    "a bank": ("a.jsonl", lambda path: bank.bank(str(path))),
    "a bank of MRCR": ("a.json", bank.entries),
    "a bank that grows": ("a.jsonl", lambda path: append_file.open_bank_file(path).__enter__()),
    "words": ("a.txt", lambda path: vocabulary.vocabulary_name(str(path))),
    "BABILong": ("qa1_4k.json", babilong.sources),
    "a folder of BABILong": ("qa1_4k.json", lambda path: babilong.sources(path.parent)),
    "MRCR": ("a.csv", mrcr_rows.sources),
    "a folder of MRCR": ("a.jsonl", lambda path: mrcr_rows.sources(path.parent)),
    "scores": ("a.csv", external_scores.read_external_scores),
    "predictions": ("a.csv", lambda path: list(predictions.predictions(path))),
    "Minerva's replies": ("a.jsonl", lambda path: list(minerva_rows._grade_lines(path))),
    "stories": ("qa1_a.txt", lambda path: list(stories._lines(path))),
    "item_ids": ("a.jsonl", lambda path: generate(str(path), out=path.parent / "out")),
}


@pytest.fixture(autouse=True)
def no_waiting(cache: Path) -> Iterator[None]:
    """What would wait for ever, or read without end, fails after twenty seconds."""

    def late(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 20)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def place(folder: Path, name: str) -> Path:
    (folder / "place").mkdir()
    return folder / "place" / name


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_what_is_no_file_is_refused_before_it_is_opened(tmp_path: Path, reader: str, kind: str) -> None:
    name, read = READERS[reader]
    path = place(tmp_path, name)
    if kind == "FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match=rf"(?s){name} .*it is a {kind}, and only regular files are") as told:
        read(path)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("reader", READERS)
def test_a_link_to_a_file_is_that_file(tmp_path: Path, reader: str) -> None:
    """The hub's own cache is made of links that lead out of their folder."""
    name, read = READERS[reader]
    path = place(tmp_path, name)
    (tmp_path / "blob").write_bytes(b"nothing of use")
    path.symlink_to(tmp_path / "blob")
    told = ""
    try:
        read(path)
    except UsageError as error:
        told = str(error)
    assert "cannot be read: it is" not in told


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


@pytest.mark.parametrize(
    ("name", "size", "read"),
    [
        ("a.txt", files.TEXT.bytes, READERS["a text"][1]),
        ("a.toml", files.SMALL.bytes, read_pack),
        ("a.txt", files.SMALL.bytes, READERS["words"][1]),
        ("a.csv", files.SMALL.bytes, external_scores.read_external_scores),
        ("a.jsonl", files.DATA.bytes, READERS["a bank"][1]),
        ("a.jsonl", files.DATA.bytes, READERS["item_ids"][1]),
        ("qa1_a.txt", files.TEXT.bytes, READERS["stories"][1]),
    ],
)
def test_what_is_too_large_is_refused_with_the_limit(
    tmp_path: Path, name: str, size: int, read: Callable[[Path], object]
) -> None:
    path = sparse(tmp_path / name, 1 << 42)
    with pytest.raises(UsageError, match=rf"{name} .*has 4,398\.0 GB, and at most [\d.]+ [MG]B are read in one piece"):
        read(path)
    assert files._size(size) in {"537 MB", "67 MB", "8.6 GB"}


def test_a_table_may_be_large_but_not_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "One."}\n' * 1000, "utf-8")
    few = files.Limit(100, "write a document a line")
    assert len(list(files.lines(path, few))) == 1000
    path.write_text('{"text": "One."}\n' + "x" * 200, "utf-8")
    with pytest.raises(UsageError, match=r"its line 2 has 0 MB, and at most 0 MB are .*; write a document a line"):
        list(files.lines(path, few))
    assert list(files.lines(path)) == [b'{"text": "One."}\n', b"x" * 200]


def test_a_folder_may_hold_more_than_one_text_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place(tmp_path, "a.txt").parent
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"Sentence {name}. " * 10, "utf-8")
    few = files.Limit(150, "part it into several files of one folder")
    monkeypatch.setattr("carrara.corpora.sources.TEXT", few)
    assert corpora.open(str(folder)).documents == 3
    (folder / "d.txt").write_text("Sentence d. " * 20, "utf-8")
    with pytest.raises(UsageError, match=r"d\.txt .* part it into several files"):
        corpora.open(str(folder))


def test_a_file_that_is_longer_than_it_says(tmp_path: Path) -> None:
    assert b"MemTotal" in files.content(Path("/proc/meminfo"), files.SMALL)
    with pytest.raises(UsageError, match="at most 0 MB"):
        files.content(Path("/proc/meminfo"), files.Limit(10, "take another"))


def test_what_becomes_a_fifo_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    os.mkfifo(path)
    monkeypatch.setattr(files, "regular", lambda *_: None)
    with pytest.raises(UsageError, match="it is a FIFO"):
        files.open_binary(path)


def test_folders_and_sockets_and_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        files.open_binary(tmp_path)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        files.open_binary(tmp_path / "none")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "s"))
        with pytest.raises(UsageError, match="it is a socket"):
            files.open_binary(tmp_path / "s")


@pytest.mark.parametrize("name", ["x" * 5000, "x/" * 3000])
def test_a_name_that_is_too_long_is_no_traceback(name: str) -> None:
    for read in (corpora.open, haystack.haystack_name, bank.bank, vocabulary.vocabulary_name):
        with pytest.raises(UsageError):
            read(name)


def test_the_command_ends_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "a.txt")
    assert main(["corpus", "add", "pipe", str(tmp_path / "a.txt")]) == 2
    told = capsys.readouterr().err
    assert "it is a FIFO" in told
    assert len(told.splitlines()) == 1

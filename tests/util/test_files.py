"""Files that people name: only regular ones are opened, and none is read that is too large for it."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrara import corpora
from carrara.generators import append_file, bank, haystack, vocabulary
from carrara.items.item import make
from carrara.items.prompt_pack import read_pack
from carrara.operations.generate import generate
from carrara.operations.score import score_command
from carrara.papers import external_scores
from carrara.runs.jobs import published_jobs
from carrara.util import files
from carrara.util.errors import UsageError


def published(suite: str, task: str) -> Callable[[Path], object]:
    """Return a function that reads a folder or a file of published items."""
    first = make(task).item_id
    return lambda path: list(published_jobs(f"{suite}:{path}", [first], None, 1, task))


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
    "a folder of BABILong": ("qa1_4k.json", lambda path: published("babilong", "babilong/qa1")(path.parent)),
    "MRCR": ("a.csv", published("mrcr", "michelangelo/mrcr")),
    "scores": ("a.csv", external_scores.read_external_scores),
    "predictions": ("a.csv", lambda path: score_command(path, published="babilong", task="qa1")),
    "Minerva's replies": ("a.jsonl", lambda path: score_command(path, published="minerva")),
    "stories": ("qa1_a_test.txt", lambda path: make("babilong/qa1", params={"stories": str(path.parent)})),
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


@pytest.mark.parametrize("reader", ["a text", "a prompt pack", "words", "scores", "a bank", "item_ids"])
def test_what_is_too_large_is_refused_with_the_limit(tmp_path: Path, reader: str) -> None:
    name, read = READERS[reader]
    path = place(tmp_path, name)
    with path.open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(UsageError, match=rf"{name} .*has 4,398\.0 GB, and at most (537 MB|67 MB|8\.6 GB) are"):
        read(path)


def test_a_table_may_be_large_but_not_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "One."}\n' * 1000, "utf-8")
    few = files.Limit(100, "write a document a line")
    assert len(list(files.lines(path, few))) == 1000
    path.write_text('{"text": "One."}\n' + "x" * 200, "utf-8")
    with pytest.raises(UsageError, match=r"its line 2 has 0 MB, and at most 0 MB are .*; write a document a line"):
        list(files.lines(path, few))
    assert list(files.lines(path)) == [b'{"text": "One."}\n', b"x" * 200]


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

"""The cache of replies in a run's folder: read without running anything, whole or not at all."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

from carrara.results.result import Result
from carrara.runs.folder import ReplyCache
from carrara.runs.replies import read_results
from carrara.util.errors import RunError
from tests.helpers.process import carrara
from tests.helpers.server import Address

N = 4


def run(out: Path, server: Address, mode: str = "ok") -> list[Result]:
    """Run a few items, of a model whose name says how the server answers."""
    asked = ["run", "latent_list", "--lengths", "0", "-n", str(N), "-p", "complexity=1", "--out", str(out)]
    carrara(*asked, "--model", f"openai-api/test/{mode}", "--base-url", server.base_url, "--tokenizer", "o200k")
    return read_results(out)


def lose_logs(out: Path) -> list[Path]:
    """Leave a folder with its cache alone, as a kill does, and return the files in it."""
    shutil.rmtree(out / "logs")
    return [path for path in (out / "cache").rglob("*") if path.is_file()]


class Exploit:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.mkdir, (str(self.marker),)


def test_a_crafted_pickle_runs_nothing(tmp_path: Path, server: Address) -> None:
    out = tmp_path / "run"
    run(out, server)
    files = lose_logs(out)
    assert len(files) == N
    for path in files:
        path.write_bytes(pickle.dumps((None, Exploit(tmp_path / "marker"))))
    assert len(run(out, server)) == N
    assert not (tmp_path / "marker").exists()
    assert server.asked() == 2 * N


@pytest.mark.parametrize("mode", ["ok", "filter", "cut", "call", "parts"])
@pytest.mark.sampled(1)
def test_a_kept_reply_is_not_asked_for_again(mode: str, tmp_path: Path, server: Address) -> None:
    before = run(tmp_path / "run", server, mode)
    lose_logs(tmp_path / "run")
    after = run(tmp_path / "run", server, mode)
    assert server.asked() == N

    def told(results: list[Result]) -> list[tuple[object, ...]]:
        return sorted((one.id, one.status, one.reply, one.output_tokens, one.requests) for one in results)

    assert told(after) == told(before)
    assert all(one.seconds for one in after)


@pytest.mark.parametrize(
    "content",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"",
        lambda whole: b"[" * 100_000,
        lambda whole: b"{}",
        lambda whole: b'{"choices": 5}',
        lambda whole: b"\xff\xfe",
        None,
    ],
    ids=["cut", "empty", "nested", "nothing", "number", "bytes", "fifo"],
)
def test_a_damaged_file_is_no_reply(content: Callable[[bytes], bytes] | None, tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path, {})
    cache.put("a", ModelOutput.from_content("m", "whole"))
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.unlink()
    if content is None:
        os.mkfifo(path)
    else:
        path.write_bytes(content(whole))
    assert cache.get("a") is None


def test_replies_of_other_questions_have_other_names(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path, {"server": "http://a"})
    message = ChatMessageUser(content="?", metadata={"carrara": {"id": "x", "sha256": "1"}})
    other = ChatMessageUser(content="?", metadata={"carrara": {"id": "x", "sha256": "2"}})

    def name(cache: ReplyCache = cache, **changed: Any) -> str:
        given = {"input": [message], "tools": [], "tool_choice": "auto", "config": GenerateConfig()} | changed
        return cache.name("m", **given)  # type: ignore[arg-type]

    own = name()
    assert own == name(input=[message.model_copy(update={"id": "another"})])
    assert own == name(config=GenerateConfig(max_connections=3, max_retries=1, timeout=3))
    assert own != name(input=[other])
    assert own != name(input=[message, message])
    assert own != name(config=GenerateConfig(temperature=1))
    assert own != name(config=GenerateConfig(prompt_logprobs=1))
    assert own != name(cache=ReplyCache(tmp_path, {"server": "http://b"}))


def test_numbers_that_are_none_are_kept(tmp_path: Path) -> None:
    output = ModelOutput.from_content("m", "é\n😀")
    output.metadata = {"nats": [float("inf"), 0.5]}
    cache = ReplyCache(tmp_path, {})
    cache.put("a", output)
    assert cache.get("a") == output
    assert json.loads(next(tmp_path.iterdir()).read_text("utf-8"))["model"] == "m"


def test_a_reply_that_cannot_be_written_does_not_count_as_kept(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.write_text("a file where the folder should be")
    with pytest.raises(RunError, match=r"its reply could not be written to .*/full \(File exists\): make room"):
        ReplyCache(full, {}).put("a", ModelOutput.from_content("m", "yes"))

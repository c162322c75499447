"""Speed beside the score: runs on a server that streams, or does not, in the way that the model's name says."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from carrara import run
from carrara.operations.results import Results
from carrara.report.page import render
from carrara.report.tables import summary_lines
from carrara.results.result import Result, Speed
from carrara.results.speed import speed_rows
from carrara.results.summary import Summary
from carrara.runs.replies import check_result, read_results
from carrara.util.errors import UsageError
from tests.helpers.json_server import Handler, Server, listening

GAP = 0.05
"""The seconds before each piece of a streamed reply."""
PIECES = ("FINAL", " ANSWER", ":", " garden")


class Streaming(Handler):
    """A server whose journal, of the class, has the model, whether a stream was requested, and the items."""

    journal: list[tuple[str, bool, int]] = []
    active = 0
    failed: set[str] = set()

    def do_GET(self) -> None:
        self.send({"object": "list", "data": [{"id": "streams", "object": "model"}]})

    def do_POST(self) -> None:
        request = json.loads(self.read())
        model, streamed = request["model"], bool(request.get("stream"))
        prompt = request["messages"][0]["content"]
        is_short = len(prompt) < 30
        Streaming.active += 1
        self.journal.append((model, streamed, Streaming.active))
        try:
            self.answer(model, streamed, prompt, is_short)
        finally:
            Streaming.active -= 1

    def answer(self, model: str, streamed: bool, prompt: str, is_short: bool) -> None:
        usage = {"prompt_tokens": 20 + len(prompt) // 4, "completion_tokens": 5, "total_tokens": 0}
        usage["total_tokens"] = usage["prompt_tokens"] + 5
        if model != "silent":
            usage["prompt_tokens_details"] = {"cached_tokens": 0 if is_short else 10}  # type: ignore[assignment]
        if model == "lies":
            usage["completion_tokens"] = 1 << 50
        if streamed and model == "refuses":
            self.refuse(400, "stream_options is not supported")
        elif model == "fails-once" and not is_short and prompt not in self.failed:
            self.failed.add(prompt)
            time.sleep(1.0)
            self.refuse(503, "loading")
        elif not streamed or model == "ignores":
            choice = {"index": 0, "message": {"role": "assistant", "content": "".join(PIECES)}, "finish_reason": "stop"}
            self.send(self.body(model, [choice], "chat.completion", usage=usage))
        else:
            self.stream(model, usage, is_short)

    def refuse(self, status: int, message: str) -> None:
        body = json.dumps({"error": {"message": message, "type": "error"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self, model: str, choices: list[Any], kind: str, **other: Any) -> dict[str, Any]:
        return {"id": "x", "object": kind, "created": 0, "model": model, "choices": choices, **other}

    def stream(self, model: str, usage: dict[str, int], is_short: bool) -> None:
        deltas: list[Any] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in PIECES)]
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        chunks = [self.body(model, [choice], "chat.completion.chunk") for choice in choices]
        chunks.append(self.body(model, [], "chat.completion.chunk", usage=usage))
        events = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if model == "at-once":
            time.sleep(len(events) * GAP)
            events = [b"".join(events)]
        for sent in events:
            self.wfile.write(sent)
            self.wfile.flush()
            time.sleep(GAP)
            if model == "hangs" and not is_short:
                time.sleep(3)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with listening(Server(Streaming)) as url:
        yield url


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "none")


def asked(model: str, address: str, out: Path, **options: Any) -> Results:
    settings = {"lengths": "0,256", "n": 2, "tokenizer": "words", "measure_speed": True, **options}
    return run("qa1", f"openai-api/test/{model}", base_url=address, out=out, **settings)


def test_a_run_that_streams(address: str, tmp_path: Path) -> None:
    results = asked("streams", address, tmp_path / "run")
    assert len(results) == 4
    for result in results:
        speed = result.speed
        assert speed
        assert speed.first_token_seconds
        assert speed.decode_seconds
        assert result.seconds
        assert speed.first_token_seconds >= GAP  # the first event is no piece
        assert speed.decode_seconds >= (len(PIECES) - 1) * GAP
        assert speed.first_token_seconds + speed.decode_seconds <= result.seconds
        assert (speed.cached_tokens, speed.reply_tokens) == (10, 5)
    requests = [line for line in Streaming.journal if line[0] == "streams"]
    assert {active for *_, active in requests} == {1}  # one at a time
    assert [streamed for _, streamed, _ in requests].count(False) == 1  # the short question, before it is streamed
    shown = "\n".join(summary_lines(Summary(results)))
    assert "Speed, one request at a time" in shown
    assert [row["speed"]["streamed"] for row in Summary(results).records()] == [2, 2]
    assert '<h2 id="speed">Speed</h2>' in render(Summary(results), "run")
    assert list(results.frame()["speed.cached_tokens"]) == [10] * 4
    before = len(Streaming.journal)
    assert [result.speed for result in asked("streams", address, tmp_path / "run")] == [r.speed for r in results]
    assert len(Streaming.journal) == before


def test_a_killed_run_keeps_the_times_that_were_measured(address: str, tmp_path: Path) -> None:
    """A kill before the first log leaves the replies that the cache has."""
    first = {result.id: result.speed for result in asked("streams", address, tmp_path / "run", lengths="0")}
    rmtree(tmp_path / "run" / "logs")
    before = len(Streaming.journal)
    results = asked("streams", address, tmp_path / "run", lengths="0")
    assert {result.id: result.speed for result in results} == first
    assert len(Streaming.journal) == before + 2  # the short questions
    assert all(first.values())


@pytest.mark.parametrize("model", ["ignores", "refuses", "at-once"])
def test_a_server_that_does_not_stream_gives_no_time_to_the_first_token(
    model: str, address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    results = asked(model, address, tmp_path / "run", lengths="0")
    assert [result.status for result in results] == ["ok", "ok"]
    assert all(result.speed and not result.speed.is_streamed and result.seconds for result in results)
    shown = "\n".join(summary_lines(Summary(results)))
    assert "not streamed" in shown
    assert "2 replies arrived at once" in shown
    assert ("does not stream its replies" in caplog.text) == (model != "at-once")
    assert ("stream_options is not supported" in caplog.text) == (model == "refuses")


def test_counts_that_cannot_be_give_no_rate(address: str, tmp_path: Path) -> None:
    [result, _] = asked("lies", address, tmp_path / "run", lengths="0")
    assert result.speed
    assert result.speed.is_streamed
    assert (result.speed.prompt_tokens, result.speed.reply_tokens) == (None, None)


def test_the_time_of_a_failed_request_does_not_count(address: str, tmp_path: Path) -> None:
    [result] = asked("fails-once", address, tmp_path / "run", lengths="0", n=1)
    assert result.repeated == 1
    assert result.speed
    assert result.speed.first_token_seconds
    assert result.speed.first_token_seconds < 1.0


def test_a_reply_that_does_not_end_is_no_reply(address: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no reply within"):
        asked("hangs", address, tmp_path / "run", lengths="0", n=1, request_timeout="1s", patience="1s")
    assert [result.speed for result in read_results(tmp_path / "run")] == [None]


def test_replies_of_a_run_that_did_not_measure(address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plain = asked("streams", address, tmp_path / "run", lengths="0", measure_speed=False)
    assert {result.speed for result in plain} == {None}
    results = asked("streams", address, tmp_path / "run", lengths="0", n=3)
    assert "2 replies in" in caplog.text
    [row] = speed_rows(results)
    assert (row.replies, row.untimed) == (1, 2)


def test_a_reply_of_several_requests_has_no_times(address: str, tmp_path: Path) -> None:
    results = asked("streams", address, tmp_path / "run", lengths="0,1k", n=1, reader="notes:size=512")
    timed = {result.reading.calls: result.speed for result in results if result.reading}
    assert max(timed) > 1
    assert all((speed is None) == (calls > 1) for calls, speed in timed.items())


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"connections": 4}, "`connections=4` does not"),
        ({"shard": "1/2"}, "`shard=1/2` does not"),
        ({"perplexity": True}, "`perplexity` does not"),
        ({"model_args": {"stream": False}}, "`-M stream=false` does not"),
    ],
)
def test_what_does_not_go_with_it(option: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        asked("streams", "http://127.0.0.1:9/v1", tmp_path / "run", **option)


def test_a_model_without_a_server_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="carrara/oracle has none: give the address"):
        run("qa1", "carrara/oracle", measure_speed=True, out=tmp_path / "run")


# --- the numbers of a row ---


def reply(number: int, speed: Speed | None, score: float = 1.0, length: int = 512, **other: Any) -> Result:
    id = f"s/t@1/test-0-{number}"
    status = other.pop("status", "ok")
    return Result(
        f"{id}.0/{length}/chat/gpt2", "s/t", 1, "m", length, length, "gpt2", f"{id}/{length}", id, status, score, 0.1,
        speed=speed, seconds=2.0, **other,
    )  # fmt: skip


def test_rates_are_quotients_of_sums() -> None:
    speeds = [
        Speed(1.0, 2.0, prompt_tokens=1000, cached_tokens=0, reply_tokens=21),
        Speed(0.5, 1.0, prompt_tokens=1000, cached_tokens=750, reply_tokens=21),
        Speed(3.0, 0.0, prompt_tokens=1000, cached_tokens=0, reply_tokens=1),
    ]
    [row] = speed_rows([reply(i, speed, score) for i, (speed, score) in enumerate(zip(speeds, (1, 1, 0), strict=True))])
    assert row.first_token
    assert row.first_token.median == 1.0
    assert row.prefill == 2250 / 4.5
    assert row.decode == 40 / 3
    assert row.cached_share == 0.25
    assert row.right_answer == 3.0
    assert row.score == pytest.approx(2 / 3)


def test_few_tokens_give_no_rate() -> None:
    [row] = speed_rows([reply(i, Speed(1.0, 0.1, 80, 0, 3)) for i in range(3)])
    assert (row.prefill, row.decode, row.cached_share) == (None, None, 0.0)


def test_an_unknown_cache_makes_an_upper_bound() -> None:
    [row] = speed_rows([reply(i, Speed(1.0, 1.0, 1000, None if i else 0, 30)) for i in range(3)])
    assert (row.prefill, row.cached_share) == (1000.0, None)
    assert "≤ 1,000" in "\n".join(summary_lines(Summary([reply(0, Speed(1.0, 1.0, 1000, None, 30))])))


def test_nothing_right_has_no_price() -> None:
    [row] = speed_rows([reply(0, Speed(1.0, 1.0, 1000, 0, 40), score=0.0)])
    assert row.right_answer is None
    assert speed_rows([reply(0, None)]) == []


def test_a_prompt_that_the_server_cut_has_no_speed() -> None:
    cut = [reply(i, Speed(1.0, 1.0, 1000, 0, 40), 0.0, 4096, status="shortened") for i in range(2)]
    assert speed_rows(cut) == []
    [row] = speed_rows([reply(0, Speed(1.0, 1.0, 1000, 0, 40)), *cut])
    assert (row.length, row.replies, row.untimed) == (512, 1, 0)


@pytest.mark.parametrize("speed", [Speed(-1.0), Speed(float("nan")), Speed(1.0, 1.0, 1 << 60), Speed("1")])  # type: ignore[arg-type]
def test_times_that_no_run_writes_are_refused(speed: Speed) -> None:
    with pytest.raises(ValueError, match=r"out of range|valid number"):
        check_result(reply(0, speed))

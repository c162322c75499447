"""What is asked before a run, when it is asked again, and what is said meanwhile."""

import gc
import io
import math
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from inspect_ai.model import Logprob, Logprobs, ModelOutput, ModelUsage, TopLogprob
from openai import APIStatusError
from rich.console import Console

import carrara
from carrara.cli.main import main
from carrara.runs import progress
from carrara.servers import short_question
from carrara.servers.probe import check_server, window_in_list, window_in_props
from carrara.servers.providers import PLACEHOLDER, make_model, secrets_of
from carrara.servers.redact import sanitize_output
from carrara.servers.retry import (
    PATIENCE,
    TALLY,
    Attempts,
    GarbledReplyError,
    Kind,
    ReplyTimeoutError,
    RetryTrouble,
    trouble_of,
)
from carrara.servers.secrets import in_address, public
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.server import Address, serving

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with serving(tmp_path_factory.mktemp("server") / "journal.tsv") as address:
        yield address


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")


REFUSED = {
    "page": (UsageError, "does not answer as a model's server: the server answered with a web page"),
    "garbled": (UsageError, "the server's reply is no JSON, or was cut off; is the address right?"),
    "no-choices": (UsageError, "the server's reply has no choices"),
    "bare-text": (UsageError, "has not the shape that its API gives replies"),
    "quota": (UsageError, "takes no more requests with this key: the server answered 429 (You exceeded"),
    "401": (UsageError, "refuses the API key: check TEST_API_KEY"),
    "reset": (RunError, "cannot be reached"),
    "elsewhere": (UsageError, " redirects to http://localhost:"),
    "loop": (UsageError, "does not answer as a model's server: the server redirects again and again"),
    "status-line": (UsageError, "does not answer as a model's server: the server's reply is not HTTP (illegal status"),
    "long-headers": (UsageError, "the headers of the server's reply are larger than 100 KB"),
    "bomb": (UsageError, "the server's reply is larger than 32 MB, which is the limit"),
    "endless": (UsageError, "the server's reply is larger than 32 MB, which is the limit"),
}
TOLD = {
    "429": "takes no more requests just now and is waited for: the server answered 429 (Rate limit reached)",
    "503": "is not ready and is waited for: the server answered 503 (Loading model)",
    "400": "refused a short question, and the run goes on: the server answered 400 (Invalid value for top_p)",
    "key-error": "refused a short question, and the run goes on: the server answered 400 (not with [key]",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", REFUSED)
def test_the_probe_refuses_what_cannot_get_better(way: str, server: Address) -> None:
    kind, said = REFUSED[way]
    with pytest.raises(kind) as refused:
        check_server(f"openai-api/test/probe-{way}", server.base_url, {})
    assert said in str(refused.value)


def test_a_provider_that_makes_its_client_late_has_the_limits_too(server: Address) -> None:
    with pytest.raises(UsageError, match="redirects to http://localhost:"):
        check_server("vllm/probe-elsewhere", server.base_url, {})


@pytest.mark.parametrize("way", TOLD)
def test_the_probe_tells_what_may_pass(way: str, server: Address, caplog: pytest.LogCaptureFixture) -> None:
    before = len(server.probed())
    check_server(f"openai-api/test/probe-{way}", server.base_url, {})
    assert TOLD[way] in caplog.text
    assert len(server.probed()) == before + 1  # the client did not ask again by itself


def test_the_probe_is_content_with_an_answer(server: Address, caplog: pytest.LogCaptureFixture) -> None:
    for way in ("ok", "parts", "call", "usage-text", "packed", "moved"):
        check_server(f"openai-api/test/probe-{way}", server.base_url, {})
    assert [record for record in caplog.records if record.name == logger.name] == []


def test_a_slow_probe_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(short_question, "LATE", 0.1)
    with serving(tmp_path / "journal.tsv", (0.8, 0.8)) as slow:
        check_server("openai-api/test/probe-ok", slow.base_url, {})
    assert "has not answered a short question yet" in caplog.text


def test_a_server_on_this_machine_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_API_KEY")
    assert make_model("openai-api/test/x", "http://127.0.0.1:9/v1", {}).api.api_key == PLACEHOLDER
    assert make_model("openai-api/test/x", "http://localhost:9/v1", {}).api.api_key == PLACEHOLDER
    with pytest.raises(UsageError, match="TEST_API_KEY"):
        make_model("openai-api/test/x", "https://api.example.org/v1", {})


def times_asked(kind: Kind, others_answered: int = 0) -> int:
    """Return how often an item is asked, between whose failures the server answers so many others."""
    attempts, asked = Attempts(), 1
    while attempts.should_repeat(RetryTrouble(kind, "it failed")):
        TALLY.answers += others_answered
        asked += 1
    return asked


@pytest.mark.parametrize(("kind", "requests"), [("final", 1), ("garbled", 3), ("hanging", 3), ("failing", 20)])
def test_what_cannot_get_better_is_asked_a_few_times(kind: Kind, requests: int) -> None:
    assert times_asked(kind) == requests


@pytest.mark.parametrize(("kind", "requests"), [("failing", 7), ("down", 31), ("unreachable", 31)])
def test_an_item_on_which_a_server_fails_while_it_answers_others_is_given_up(kind: Kind, requests: int) -> None:
    assert times_asked(kind, others_answered=1) == requests


@pytest.mark.parametrize("kind", ["busy", "down", "unreachable"])
def test_an_outage_is_waited_out_and_no_longer(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, PATIENCE * 2, 60))
    monkeypatch.setattr("carrara.servers.retry.time.monotonic", lambda: next(clock))
    assert times_asked(kind) == PATIENCE // 60 + 1


def status(code: int, message: str = "no", headers: dict[str, str] | None = None) -> APIStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    response = httpx.Response(code, request=request, headers=headers)
    return APIStatusError(message, response=response, body={"message": message})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (status(400), "final"),
        (status(402), "final"),
        (status(408), "down"),
        (status(429), "busy"),
        (status(429, "You exceeded your current quota, check your plan and billing details"), "final"),
        (status(500), "failing"),
        (status(501), "final"),
        (status(502), "down"),
        (status(529), "down"),
        (ReplyTimeoutError(60), "hanging"),
        (GarbledReplyError("has no choices"), "garbled"),
        (TypeError("'NoneType' object is not iterable"), "garbled"),
        (IndexError("list index out of range"), "garbled"),
        (ConnectionError("refused"), "unreachable"),
        (RuntimeError("a provider's own"), "final"),
    ],
)
def test_what_a_failed_attempt_means(error: Exception, kind: str) -> None:
    trouble = trouble_of(error, lambda error: False, ())
    assert trouble.kind == kind
    assert "Error(" not in trouble.words


def test_a_server_says_how_long_it_wants_to_be_left_alone() -> None:
    retried = make_model("openai-api/test/x", "http://127.0.0.1:9/v1", {}).api.should_retry  # Inspect reads the headers

    def after(code: int, **headers: str) -> float:
        return trouble_of(status(code, headers=headers), retried, ()).after

    assert after(429, **{"Retry-After": "17"}) == 17.0
    assert after(429, **{"x-ratelimit-reset-requests": "1m30s"}) == 90.0
    assert after(503, **{"Retry-After": "3"}) == 3.0
    assert after(503, **{"Retry-After": "soon"}) == 0.0
    assert trouble_of(status(429, headers={"Retry-After": "17"}), lambda error: True, ()).after == 0.0


@pytest.mark.slow
def test_progress_says_every_half_a_minute_for_how_long_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrara.util.progress.LINE_EVERY", 0.5)
    monkeypatch.setattr(progress, "PATIENT", 0.0)
    console = Console(file=io.StringIO(), width=200)
    with progress.progress(24, {str(n): 100 for n in range(24)}, "24 prompts", console):
        for n in range(24):
            progress.on_request(str(n))
        for n in range(21):
            progress.on_end(str(n))
            progress.on_answer(str(n))
        time.sleep(2.2)
    assert isinstance(console.file, io.StringIO)
    _, *lines = console.file.getvalue().splitlines()
    assert len(lines) >= 3
    assert all(line.startswith("21 of 24 answered · 3 waiting, the longest for ") for line in lines)
    assert all("2,100 tokens · about " in line for line in lines)


def test_a_count_that_cannot_be_is_no_count() -> None:
    def usage(read: int, wrote: int, reasoning: int = 0) -> ModelUsage | None:
        output = ModelOutput.from_content("m", "yes")
        output.usage = ModelUsage(
            input_tokens=read, output_tokens=wrote, total_tokens=read + wrote, reasoning_tokens=reasoning
        )
        return sanitize_output(output, (), 4000).usage

    assert usage(1000, 5) is not None
    assert usage(-5, 5) is None
    assert usage(10**12, 5) is None
    assert usage(1000, 10**12) is None
    assert usage(1000, 5, 10**400) is None


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_log_probabilities_that_json_lacks_are_not_written(number: float) -> None:
    output = ModelOutput.from_content("m", "yes")
    other = TopLogprob(token="no", logprob=number)
    output.choices[0].logprobs = Logprobs(content=[Logprob(token="yes", logprob=-1, top_logprobs=[other])])
    assert sanitize_output(output, (), 10).choices[0].logprobs is None


def test_an_output_can_be_written() -> None:
    output = sanitize_output(ModelOutput.from_content("m", "a \ud800 b sk-very-secret c"), ("sk-very-secret",), 10)
    assert output.completion == output.message.text == "a \ufffd b [key] c"
    assert sanitize_output(output, (), 10) is output


def test_what_is_secret_in_an_address() -> None:
    address = "https://me:my%20word@host/v1?api_key=se%2Fcret&v=2"
    assert {"me", "my word", "se/cret", "se%2Fcret", "2"} <= in_address(address)
    assert re.fullmatch(r"https://host/v1\?api_key=\[[0-9a-f]{6}\]&v=\[[0-9a-f]{6}\]", public(address) or "")
    assert public(public(address)) == public(address)
    assert len({public(f"https://host/v1?deployment={name}") for name in ("AAAA", "BBBB")}) == 2
    assert "sk-1" not in (public("https://host/v1?sk-1&v=2") or "")
    api = make_model("openai-api/test/x", "http://127.0.0.1:9/v1?api_key=secret-word", {}).api
    assert api.base_url == "http://127.0.0.1:9/v1"
    assert "secret-word" in secrets_of(api)


def test_a_tokenizers_address_has_no_secret_in_it(tmp_path: Path, capsys: Capture) -> None:
    asked = ["run", "latent_list", "--model", "carrara/oracle", "--out", str(tmp_path / "r")]
    assert main([*asked, "--tokenizer", "server:http://127.0.0.1:9?api_key=hidden-word"]) == 2
    told = capsys.readouterr().err
    assert "would stand in every item's id" in told
    assert "hidden-word" not in told


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"data": [{"id": "m", "max_model_len": 32768}, {"id": "n", "max_model_len": 8}]}, 32768),
        ({"data": [{"id": "other", "context_length": 4096}]}, 4096),
        ({"data": [{"id": "m", "meta": {"n_ctx": 2048}}]}, 2048),
        ([{"id": "m", "context_length": 9}], 9),
        ({"data": [{"id": "a"}, {"id": "b", "max_model_len": 5}]}, None),
        ({"data": [{"id": "m", "max_model_len": -5}]}, None),
        ({"data": [{"id": "m", "max_model_len": "32k", "meta": 7}]}, None),
        ({"data": "none"}, None),
        ("<html>", None),
        (None, None),
    ],
)
def test_what_a_server_says_of_its_window(answer: object, found: int | None) -> None:
    told = window_in_list(answer, "m")
    assert (told[0] if told else None) == found
    assert window_in_props({"default_generation_settings": {"n_ctx": 512}}) == 512
    assert window_in_props({"default_generation_settings": []}) is None


@LEFT_OPEN
def test_a_run_leaves_no_connection_open(
    server: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")
    request.addfinalizer(gc.enable)
    gc.disable()  # it would close them, too
    counts = []
    for name in "abc":
        carrara.run("qa1", "openai-api/test/ok", base_url=server.base_url, n=1, tokenizer="gpt2", out=tmp_path / name)
        counts.append(len(os.listdir("/proc/self/fd")))
    assert counts[1] == counts[2]  # the first run opens files of the process

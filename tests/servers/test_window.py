"""The real window of a server, against servers that know what they kept of each prompt."""

import json
from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from carrara import tokenizers
from carrara.cli.main import main
from carrara.operations.server import server as show_server
from carrara.servers.server_info import ServerInfo
from carrara.servers.window import MOST_PROMPTS, measure_windows, most_tokens
from carrara.servers.window_prompt import REPLY, Answered, Asker, Refused, coded_text
from carrara.servers.window_report import EndpointWindow, WindowReport
from carrara.util.errors import RunError, UsageError
from tests.helpers.cutting_server import (
    BEHAVIOURS,
    CHAT,
    CHAT_STREAM,
    COMPLETIONS,
    ENDPOINTS,
    CuttingServer,
    cutting,
    llama_cpp,
    ollama,
    repeat_codes,
    vllm,
)

MODEL = "openai-api/test/m"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")
    monkeypatch.setattr("carrara.servers.window.Random", partial(Random, 0))


def measured(server: CuttingServer, upto: int | None = 16_384) -> WindowReport:
    with cutting(server) as address:
        return measure_windows(MODEL, address, {}, info_of(server, address), upto)


def info_of(server: CuttingServer, address: str) -> ServerInfo:
    """Return what a probe would find out that the measurement needs."""
    states = server.software in ("llama.cpp", "vllm", "sglang") or server.states_window
    return ServerInfo(MODEL, address, context_window=(server.states_window or server.window) if states else None)


def by_name(report: WindowReport) -> dict[str, EndpointWindow]:
    return {window.endpoint: window for window in report.endpoints}


def check_window(window: EndpointWindow, largest: int | None) -> None:
    """Check a window against the largest prompt that the server reads whole."""
    if largest is None:
        assert window.outcome == "unlimited"
        return
    assert window.largest is not None
    assert window.smallest_cut is not None
    assert window.largest <= largest < window.smallest_cut + 8  # the smallest that is cut is as long as it is expected
    near = 0.02 if window.evidence == "counts" else 0.03
    assert window.smallest_cut - window.largest <= max(80, near * largest)


LOST = {
    "tail": "beginning",
    "head": "end",
    "ends": "middle",
    "blocks": "beginning",
    "none": "",
    "all": "",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", [name for name in BEHAVIOURS if name not in ("counts what was sent", "uncached counts")]
)
def test_each_behaviour(name: str) -> None:
    server = BEHAVIOURS[name]()
    report = measured(server)
    spent = 0
    for endpoint, window in by_name(report).items():
        largest = server.largest(endpoint, REPLY)
        check_window(window, largest)
        assert window.lost == ("" if largest is None else LOST[server.keeps])
        assert window.outcome == ("unlimited" if largest is None else "refused" if server.keeps == "none" else "cut")
        assert window.evidence == ("codes" if server.counts == "none" else "counts")
        assert window.prompts <= MOST_PROMPTS
        assert window.tokens <= most_tokens(report.upto)
        spent += window.prompts
    assert spent <= len(server.seen)
    assert tuple(by_name(report)) == ENDPOINTS
    assert report.is_measured
    first = report.endpoints[0]
    if server.largest(CHAT) is not None:
        assert first.reply_taken is server.reserves
        assert first.limit == (None if server.counts == "none" else 4096)


def test_counts_that_leave_out_what_is_cached_are_learned() -> None:
    server = BEHAVIOURS["uncached counts"]()
    report = measured(server)
    for endpoint, window in by_name(report).items():
        assert window.largest is not None
        assert window.smallest_cut is not None
        assert window.evidence == "counts"
        whole = [seen.tokens for seen in server.seen if seen.is_whole and seen.endpoint == endpoint]
        cut = [seen.tokens for seen in server.seen if not seen.is_whole and seen.endpoint == endpoint]
        assert max(whole) <= 4096 < min(cut)
        assert min(cut) - max(whole) <= 0.02 * 4096
        assert window.lost == "beginning"


def test_a_prefix_in_the_cache_that_is_long_is_named() -> None:
    server = ollama(counts="uncached", system="You are a careful assistant of the company. " * 20)
    window = by_name(measured(server))[COMPLETIONS]  # the question before it left the prefix of a chat
    assert window.outcome == "cut"
    assert "token counts leave out what the server has in its cache" in window.notes


def test_codes_that_are_lost_from_prompts_that_count_whole_are_no_proof_of_a_cut() -> None:
    report = measured(BEHAVIOURS["counts what was sent"]())
    window = report.endpoints[0]
    assert (window.outcome, window.evidence) == ("unlimited", "counts")
    assert any("are counted whole, but replies lack some of their codes" in note for note in window.notes)
    assert report.is_measured


def weak(text: str) -> str:
    return "I am not sure which codes you mean."


def forgetful(text: str) -> str:
    """Repeat the codes of short prompts."""
    return repeat_codes(text) if len(text) < 4_000 else "12345"


def test_a_weak_model_does_not_hide_a_cut() -> None:
    server = ollama(answers=weak)
    report = measured(server)
    for window in report.endpoints:
        check_window(window, 4096)
        assert (window.outcome, window.lost) == ("cut", "")
        assert any("nothing shows what is lost" in note for note in window.notes)


def test_a_weak_model_is_not_cut() -> None:
    for answers in (weak, forgetful):
        report = measured(CuttingServer(keeps="all", answers=answers))
        assert {window.outcome for window in report.endpoints} == {"unlimited"}


def test_the_end_that_a_forgetful_model_does_not_repeat_is_not_called_lost() -> None:
    assert measured(ollama(answers=forgetful)).endpoints[0].lost == ""


def test_without_counts_and_codes_nothing_is_measured() -> None:
    server = ollama(counts="none", answers=weak)
    report = measured(server)
    assert not report.is_measured
    assert {window.outcome for window in report.endpoints} == {"unknown"}
    assert "replies have no token counts, and do not repeat the codes" in report.endpoints[0].notes[0]
    assert len(server.seen) < 12  # nothing long was sent for it
    assert max(seen.tokens for seen in server.seen) < 600


def test_counts_that_never_change_are_none() -> None:
    server = ollama()
    server._counted = lambda tokens, kept, cached: 400  # type: ignore[method-assign]
    window = measured(server).endpoints[0]
    assert (window.outcome, window.evidence, window.lost) == ("cut", "codes", "beginning")


@pytest.mark.slow
def test_an_error_half_way_leaves_what_was_found() -> None:
    server = ollama(fails=lambda number: 503 if number > 5 else 0)
    report = measured(server)
    first = report.endpoints[0]
    assert (first.outcome, report.is_measured) == ("unknown", False)
    assert first.largest is not None
    assert first.largest > 2000
    assert "503" in first.notes[-1]


def test_a_server_that_ends_leaves_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    ask_once = Asker._ask_once

    async def ask(asker: Asker, endpoint: str, streamed: bool, text: str, max_tokens: int) -> Answered | Refused:
        asked.append(text)
        if len(asked) > 5:
            raise RunError("the server cannot be reached: is the server running, and is the address right?")
        return await ask_once(asker, endpoint, streamed, text, max_tokens)

    monkeypatch.setattr(Asker, "_ask_once", ask)
    report = measured(ollama())
    assert [window.outcome for window in report.endpoints] == ["unknown"] * 4
    assert (report.endpoints[0].largest or 0) > 2000
    assert "cannot be reached" in report.endpoints[0].notes[0]
    assert report.endpoints[1].notes[0].startswith("not asked, because")
    assert len(asked) == 6


@pytest.mark.slow
def test_a_failure_that_passes_changes_nothing() -> None:
    server = ollama(fails=lambda number: 500 if number % 5 == 4 else 0)
    report = measured(server)
    assert {window.limit for window in report.endpoints} == {4096}
    assert report.is_measured


def test_a_server_without_completions() -> None:
    report = measured(ollama(offers=(CHAT, CHAT_STREAM)))
    assert [window.outcome for window in report.endpoints] == ["cut", "cut", "missing", "missing"]
    assert report.is_measured


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("make", "window"),
    [
        (ollama, 700),
        (ollama, 5001),
        (ollama, 50_000),
        (llama_cpp, 1000),
        (llama_cpp, 10_000),
        (vllm, 700),
        (vllm, 4000),
    ],
)
def test_windows_of_other_sizes(make: Callable[..., CuttingServer], window: int) -> None:
    server = make(window, states_window=131_072)
    report = measured(server, 65_536)
    for name, found in by_name(report).items():
        check_window(found, server.largest(name, REPLY))
        assert found.prompts <= MOST_PROMPTS


def test_a_stated_window_that_is_right_needs_few_prompts() -> None:
    server = vllm(32_768)
    report = measured(server, None)
    assert report.upto == 32_768
    assert sum(window.prompts for window in report.endpoints) <= 20
    check_window(report.endpoints[0], 32_768 - REPLY)


def test_the_longest_prompt_bounds_what_is_sent() -> None:
    server = CuttingServer(keeps="all")
    report = measured(server, 3000)
    assert max(seen.tokens for seen in server.seen) <= 3100
    assert {window.outcome for window in report.endpoints} == {"unlimited"}
    assert all(2900 <= (window.largest or 0) <= 3100 for window in report.endpoints)


def test_a_key_that_is_refused_is_named() -> None:
    with cutting(ollama(fails=lambda number: 401)) as address, pytest.raises(UsageError, match="refuses the API key"):
        measure_windows(MODEL, address, {}, ServerInfo(MODEL, address), 4096)


def test_a_server_that_is_gone_is_named() -> None:
    with cutting(ollama()) as address:
        pass
    with pytest.raises(RunError, match="cannot be reached"):
        measure_windows(MODEL, address, {}, ServerInfo(MODEL, address), 4096)


@pytest.mark.parametrize("name", ["gpt2", "o200k", "smollm2", "words", "tekken"])
@pytest.mark.parametrize("tokens", [96, 384, 2000])
def test_prompts_have_their_length_and_their_codes_where_they_belong(name: str, tokens: int) -> None:
    tokenizer = tokenizers.get(name)
    for completes in (False, True):
        prompt = coded_text(tokens, tokenizer, Random(1), completes)
        assert tokenizer.count(prompt.text) == prompt.tokens
        assert tokens - 8 <= prompt.tokens <= tokens
        first, second, third = (prompt.text.index(code) for code in prompt.codes)
        before, after = prompt.text[:second], prompt.text[second:]
        assert abs(tokenizer.count(before) - tokenizer.count(after)) <= 16
        assert first < 30
        assert len(prompt.text) - third < 200
        assert prompt.repeated(f"{prompt.codes[0]}, 1{prompt.codes[1]} and {prompt.codes[2]}.") == (True, False, True)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    server = ollama()
    with cutting(server) as address:
        given = ["server", "--model", MODEL, "--base-url", address]
        assert main([*given, "--window", "--upto", "16k"]) == 0
        shown = capsys.readouterr()
        assert "at most 48 prompts and" in shown.err
        assert "chat, streamed" in shown.out
        assert "cut to 4,096 tokens" in shown.out
        assert main([*given, "--window", "--upto", "16k", "--json"]) == 0
        record = json.loads(capsys.readouterr().out)
        assert record["software"] == "Ollama 0.12.6"
        assert [window["limit"] for window in record["window"]["endpoints"]] == [4096] * 4
        assert main([*given, "--upto", "16k"]) == 2
        assert main([*given, "--window", "--upto", "10"]) == 2
        report = show_server(model=MODEL, base_url=address, window=True, upto="8k")
        assert report.window is not None
        assert report.window.endpoints[1].endpoint == CHAT_STREAM
        assert COMPLETIONS in str(report)


def test_what_cannot_be_measured_has_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    with cutting(ollama(counts="none", answers=weak)) as address:
        assert main(["server", "--model", MODEL, "--base-url", address, "--window", "--upto", "8k"]) == 1
    assert "not measured" in capsys.readouterr().out

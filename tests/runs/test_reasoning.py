"""Reasoning held to none or to a number of tokens: on llama.cpp's own server, and on one that cannot go on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara import tokenizers
from carrara.items import registry
from carrara.items.item import make
from carrara.results.result import Result
from carrara.runs.reasoning import lead_of, request
from carrara.runs.replies import read_results
from carrara.servers.probe import probe_server
from carrara.servers.reasoning_mode import Thinking
from carrara.types import PromptTemplate
from carrara.util.errors import UsageError
from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.server import reply
from tests.runs.test_run import run

TASKS = "sync/graph,qa1"
LEADS = {
    "sync/graph:shortest": "Shortest Path:",
    "sync/graph:longest": "Longest Path:",
    "babilong/qa1": "FINAL ANSWER:",
}


@pytest.fixture(scope="module")
def llama_cpp() -> Iterator[str]:
    """The address of llama.cpp's server on SmolLM2, in this process."""
    xllamacpp = pytest.importorskip("xllamacpp")
    from carrara.servers.embedded import smollm2

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(smollm2())
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.cache_ram_mib = 0
    running = xllamacpp.Server(parameters)
    yield f"{running.listening_address}/v1"
    del running


def asked(address: str, out: Path, *more: str, model: str = "smollm2") -> "tuple[int, str, list[Result]]":
    ended = run(
        *(TASKS, "--model", f"openai-api/local/{model}", "--base-url", address, "--tokenizer", "smollm2"),
        *("-n", "1", "--max-tokens", "40", "--out", str(out), *more),
        LOCAL_API_KEY="none",
    )
    return ended.returncode, ended.stderr, read_results(out) if (out / "logs").is_dir() else []


def test_a_probe_finds_out_everything(llama_cpp: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    info = probe_server("openai-api/local/smollm2", llama_cpp)
    assert (info.reachable, info.context_window, len(info.models)) == (True, 2048, 1)
    assert (info.counts_tokens, info.separate_reasoning, info.prefill, info.prompt_logprobs) == (True, False, {}, False)
    assert info.tokenizer == f"server:{llama_cpp.removesuffix('/v1')}"
    assert tokenizers.get(info.tokenizer).count("one two three") == 3


@pytest.mark.slow
@pytest.mark.parametrize(("cot", "reasoning"), [("none", 0), ("exactly:0", 0), ("exactly:24", 24)])
def test_reasoning_is_exact_and_the_answers_first_words_follow(
    cot: str, reasoning: int, llama_cpp: str, tmp_path: Path
) -> None:
    code, told, results = asked(llama_cpp, tmp_path, "--cot", cot)
    assert code == 0, told
    assert len(results) == 4
    for result in results:
        lead = LEADS.get(result.task, "Connected Node:")
        assert f"\n\n{lead}" in result.reply if reasoning else result.reply.startswith(lead)
        assert result.reasoning == reasoning
        assert result.answering is not None
        assert result.answering <= (result.output_tokens or 0)
    assert {result.settings["cot"] for result in results} == {"none, prefilled" if cot == "none" else cot}
    code, told, again = asked(llama_cpp, tmp_path, "--cot", cot)
    assert code == 0, told
    assert again == results


class ThinkingHandler(Handler):
    """Counts a word as a token, and three more for every message. The model's name says what it is like:

    closed     answers a begun reply as if it were closed
    mistral    so, too, and closing takes a single token; goes on only if it is told to
    think      goes on, and thinks first
    parser     the same, with its thinking in a field of its own
    short      goes on, and stops after three words every time
    mute       goes on, and has nothing to say
    """

    server: "ThinkingServer"

    def do_POST(self) -> None:
        request = json.loads(self.read())
        self.server.requests.append(request)
        model = request["model"] if self.server.continues else "closed"
        sent = request["messages"]
        begun = sent[-1]["role"] == "assistant"
        words = sum(len(message["content"].split()) + 3 for message in sent)
        told = bool(request.get("continue_final_message"))
        if begun and (model in ("think", "parser", "short", "mute") or (model == "mistral" and told)):
            words -= 3
        elif begun and model == "mistral":
            words -= 2
        message = {"role": "assistant", "content": f"I was asked: {sent[-1]['content'][-120:]}"}
        if model in ("think", "parser"):
            thought, said = "aaa bbb ccc ddd", "I think so." if not begun else " and so on"
            message["content"] = said if begun or model == "parser" else f"<think>\n{thought}\n</think>\n\n{said}"
            if model == "parser" and not begun:
                message["reasoning_content"] = thought
        elif model in ("short", "mute"):
            room = min(3, request.get("max_tokens") or 3)
            message["content"] = " and so on"[: (0, 4, 7, 10)[room]] if model == "short" else ""
        wrote = len(message["content"].split())
        usage = {"prompt_tokens": words, "completion_tokens": wrote, "total_tokens": words + wrote}
        self.send(reply(message=message, model=model, usage=usage))


class ThinkingServer(Server):
    def __init__(self) -> None:
        super().__init__(ThinkingHandler)
        self.requests: list[dict[str, Any]] = []
        self.continues = True
        """Whether it goes on with a message at all."""

    def begun(self) -> list[str]:
        """What replies were to be gone on with, after the probe."""
        last = [request["messages"][-1] for request in self.requests]
        return [m["content"] for m in last if m["role"] == "assistant" and not m["content"].startswith("one two")]


@pytest.fixture
def server() -> Iterator[ThinkingServer]:
    server = ThinkingServer()
    with listening(server):
        yield server


@pytest.mark.slow
def test_thinking_is_kept_in_what_is_gone_on_with(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, results = asked(server.address, tmp_path, "--cot", "exactly:40", model="think")
    assert code == 0, told
    assert all("aaa bbb ccc ddd" in begun for begun in server.begun())
    assert all("aaa bbb" in result.reply for result in results)
    assert {result.reasoning for result in results} == {40}


def test_thinking_kept_apart_is_refused(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, _ = asked(server.address, tmp_path, "--cot", "exactly:40", model="parser")
    assert code == 2
    assert "keeps its reasoning apart" in told.replace("\n", " ")
    assert server.begun() == []


@pytest.mark.slow
def test_a_closed_message_is_told_by_a_single_token(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, results = asked(server.address, tmp_path, "--cot", "none", model="mistral")
    assert code == 0, told
    assert {result.settings["cot"] for result in results} == {"none, prefilled"}
    assert all(
        r.get("continue_final_message")
        for r in server.requests
        if r["messages"][-1]["role"] == "assistant" and not r["messages"][-1]["content"].startswith("one two")
    )


@pytest.mark.slow
def test_a_model_that_stops_is_pushed_on(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, results = asked(server.address, tmp_path, "--cot", "exactly:400", model="short")
    assert code == 0, told
    assert {result.reasoning for result in results} == {400}
    assert all("Wait" in result.reply for result in results)


@pytest.mark.slow
def test_a_model_that_will_not_go_on_says_so(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, results = asked(server.address, tmp_path, "--cot", "exactly:400", model="mute")
    assert code == 0, told
    assert all((result.reasoning or 0) < 400 for result in results)
    assert "reasoned for fewer tokens than was asked for" in (tmp_path / "report.html").read_text("utf-8")


def test_a_free_replys_thinking_is_counted(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, results = asked(server.address, tmp_path, model="think")
    assert code == 0, told
    assert all((result.reasoning or 0) >= 4 for result in results)


@pytest.mark.slow
def test_a_run_goes_on_as_it_began(server: ThinkingServer, tmp_path: Path) -> None:
    """Finished, it needs no server; and it does not become another experiment when its server has changed."""
    code, told, results = asked(server.address, tmp_path, "--cot", "none", model="short")
    assert (code, len(results)) == (0, 4), told
    sent = len(server.requests)
    code, told, again = asked(server.address, tmp_path, "--cot", "none", model="short")
    assert (code, again, len(server.requests)) == (0, results, sent), told
    server.continues = False  # after an update
    code, told, after = asked(server.address, tmp_path, "--cot", "none", "--seed", "1", model="short")
    assert code == 2
    assert "cannot go on with a message" in told
    assert after == results


def test_where_a_server_cannot_go_on_it_is_asked_for_the_answer_alone(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, results = asked(server.address, tmp_path, "--cot", "none", model="closed")
    assert code == 0, told
    assert {result.settings["cot"] for result in results} == {"none, asked"}
    assert all("answer alone, without any reasoning" in result.reply for result in results)
    assert any("beginning with `Shortest Path:`" in result.reply for result in results)


def test_an_exact_length_is_refused_where_it_cannot_be(server: ThinkingServer, tmp_path: Path) -> None:
    code, told, results = asked(server.address, tmp_path, "--cot", "exactly:24", model="closed")
    assert code == 2
    assert "cannot go on with a message" in told
    assert results == []


@pytest.mark.parametrize(
    ("model", "cot"),
    [("smollm2", "some"), ("smollm2", "exactly:many"), ("smollm2", "exactly:-1"), ("oracle", "exactly:9")],
)
def test_what_cannot_be_is_refused(model: str, cot: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        carrara.run("qa1", f"carrara/{model}", n=1, cot=cot, out=tmp_path)


def test_a_base_model_does_not_reason(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="llama.cpp is not installed: `make env-all` installs it")
    with pytest.raises(UsageError, match="base model"):
        carrara.run("qa1", "carrara/smollm2", n=1, cot="exactly:9", style="base", out=tmp_path)


@pytest.mark.parametrize("task", [name for name in registry.names() if not name.startswith("published/")])
def test_every_prompt_has_words_that_an_answer_begins_with(task: str) -> None:
    template = make(task).prompt.template
    lead = lead_of(template)
    assert len(lead) <= 40
    assert "\n" not in lead
    assert request(template).endswith("." if not lead else "`.")


def test_leads() -> None:
    assert lead_of(PromptTemplate("", "\n\nWho?\nOutput:")) == "Output:"
    assert lead_of(PromptTemplate("", "\n\nWho is it?")) == "FINAL ANSWER:"
    assert lead_of(PromptTemplate("", "\n\nWho?\nOutput:", lead="")) == ""
    for text in ("free", "", "none, prefilled", "none,asked", "exactly:8"):
        assert Thinking.parse(str(Thinking.parse(text))) == Thinking.parse(text)
    with pytest.raises(UsageError):
        Thinking.parse("none")

"""The probe of a server before a run: how many requests it takes, and what it finds out."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrara.cli.main import main
from carrara.servers.probe import check_server, is_probed, probe_server
from carrara.servers.retry import RetryTrouble
from carrara.servers.server_info import ServerInfo, server_info_lines
from carrara.util.errors import RunError, UsageError
from tests.helpers.cutting_server import CuttingServer, Software, cutting
from tests.helpers.process import Ended, carrara, in_file
from tests.helpers.published_sets import graphwalks, jsonl
from tests.helpers.server import Address, serving

LIST, CHAT = "/v1/models", "/v1/chat/completions"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with serving(tmp_path_factory.mktemp("server") / "journal.tsv") as address:
        yield address


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")


def run(server: Address, model: str, out: Path, *given: str) -> tuple[Ended, list[str]]:
    """A run of two items, and the requests of its probe."""
    before = len(server.probed())
    ended = carrara(
        *("run", "latent_list", "-p", "complexity=1", "-n", "2", "--tokenizer", "gpt2", "--out", out),
        *("--model", f"openai-api/test/{model}", "--base-url", server.base_url, *given),
    )
    return ended, server.probed()[before:]


@pytest.mark.parametrize(
    ("model", "given", "requests"),
    [
        ("ok", (), [LIST, CHAT]),
        ("continues", ("--cot", "none"), [CHAT, CHAT, CHAT, LIST]),
        ("ok", ("--cot", "none"), [CHAT, CHAT, CHAT, CHAT, CHAT, LIST]),
        ("told", ("perplexity",), [LIST, CHAT]),
    ],
)
def test_a_run_asks_for_each_fact_once_and_a_finished_run_for_none(
    model: str, given: tuple[str, ...], requests: list[str], server: Address, tmp_path: Path
) -> None:
    for expected in (requests, []):
        flags = in_file(tmp_path / "file", perplexity=True) if given == ("perplexity",) else given
        ended, probed = run(server, model, tmp_path / "run", *flags)
        assert ended.returncode == 0, ended.stderr
        assert probed == expected


def test_a_window_that_no_prompt_fits_is_asked_for_and_nothing_else(server: Address, tmp_path: Path) -> None:
    ended, probed = run(server, "window-600", tmp_path, "--lengths", "600")
    assert ended.returncode == 2
    assert "takes 600 tokens, prompt and answer together" in ended.stderr
    assert probed == [LIST]


def test_published_prompts_that_a_window_has_no_room_for_are_counted(server: Address, tmp_path: Path) -> None:
    rows = [graphwalks(n, "bfs", nodes) for n, nodes in enumerate((10, 12, 60))]
    published = f"graphwalks:{jsonl(tmp_path / 'rows.jsonl', rows)}"
    asked = [
        *("run", "graphwalks-bfs", *in_file(tmp_path / "file", published=published), "--out", tmp_path / "run"),
        *("--model", "openai-api/test/window-2048", "--base-url", server.base_url, "--tokenizer", "gpt2"),
    ]
    ended = carrara(*asked)
    said = "takes 2,048 tokens, prompt and answer together, without room for the answers of 1 of 3 prompts at 4k"
    assert said in ended.stderr
    counted = r"\(by up to [0-9,]+ tokens\) as gpt2 counts, which is not known to be its tokenizer: give shorter ones"
    assert re.search(counted, ended.stderr)
    assert "within" not in ended.stderr
    for again in range(2):  # the second time nothing is left to ask, and no server is asked for its window
        said = (
            "1 of 3 prompts of published/graphwalks-bfs at 4k do not fit the window of openai-api/test/window-2048 "
            "with their answers: it takes 2,048 tokens, and gpt2 counted"
        )
        folder = tmp_path / "run"
        shown = carrara("report", folder, "--force")
        assert said in shown.stdout
        assert said in (folder / "report.html").read_text("utf-8")
        [row] = json.loads(carrara("report", folder, "--json", "--force").stdout)
        assert (row["crowded"], row["window"]) == (1, 2048)
        assert row["n"] == sum(row["statuses"].values()) == 3  # it was sent, and is not left out in silence
        if not again:
            carrara(*asked)


def test_a_full_probe(server: Address) -> None:
    info = probe_server("openai-api/test/continues", server.base_url)
    assert (info.address, info.reachable, info.models) == (server.base_url, True, ("window-600", "window-2048"))
    assert (info.counts_tokens, info.separate_reasoning, info.prefill, info.prompt_logprobs) == (True, False, {}, False)
    told = probe_server("openai-api/test/told", server.base_url)
    assert told.prompt_logprobs is True
    assert told.prefill is None
    assert probe_server("openai-api/test/window-600", server.base_url).context_window == 600
    assert probe_server("vllm/window-600", server.base_url).context_window == 600  # its client comes late
    assert probe_server("openai-api/test/probe-no-usage", server.base_url).counts_tokens is False


def test_a_full_probe_tells_what_may_pass(server: Address) -> None:
    busy = probe_server("openai-api/test/probe-429", server.base_url)
    assert (busy.reachable, busy.trouble and busy.trouble.kind) == (True, "busy")
    loading = probe_server("openai-api/test/probe-503", server.base_url)
    assert (loading.reachable, loading.trouble and loading.trouble.kind) == (False, "down")
    refused = probe_server("openai-api/test/probe-400", server.base_url)
    assert (refused.reachable, refused.trouble and refused.trouble.kind) == (True, "final")
    assert refused.prefill is None
    assert refused.prompt_logprobs is None
    with pytest.raises(UsageError, match="refuses the API key: check TEST_API_KEY"):
        probe_server("openai-api/test/probe-401", server.base_url)
    with pytest.raises(RunError, match="cannot be reached"):
        probe_server("openai-api/test/m", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize("model", ["probe-told-nan", "probe-told-odd"])
def test_costs_of_a_prompt_that_cannot_be_are_none(model: str, server: Address) -> None:
    assert probe_server(f"openai-api/test/{model}", server.base_url).prompt_logprobs is False
    with pytest.raises(UsageError, match="does not tell the log-probabilities of a prompt"):
        check_server(f"openai-api/test/{model}", server.base_url, {}, logprobs=["prompt"])


@pytest.mark.parametrize("model", ["probe-usage-negative", "probe-usage-zero", "probe-usage-huge"])
def test_token_counts_that_cannot_be_are_none(model: str, server: Address) -> None:
    info = probe_server(f"openai-api/test/{model}", server.base_url)
    assert (info.counts_tokens, info.prefill) == (False, None)


@pytest.mark.parametrize(
    ("model", "says"), [("429", "yes, but busy: the server answered 429"), ("400", "yes, but the server answered 400")]
)
def test_a_server_that_answers_nothing_has_failed(
    model: str, says: str, server: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["server", "--model", f"openai-api/test/probe-{model}", "--base-url", server.base_url]
    assert main(given) == 1
    assert says in capsys.readouterr().out
    assert main([*given, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["reachable"] is True


def test_a_run_that_depends_on_prefill_does_not_wait_for_the_server(server: Address) -> None:
    with pytest.raises(RunError, match=r"probe-503 did not answer a short question: the server answered 503"):
        check_server("openai-api/test/probe-503", server.base_url, {}, prefill=True)
    assert check_server("openai-api/test/probe-400", server.base_url, {}, prefill=True).prefill is None


def test_what_has_no_server_is_not_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    assert not is_probed("vllm/m", None, {})
    assert is_probed("vllm/m", None, {"port": 8000})
    assert is_probed("vllm/m", "http://127.0.0.1:9/v1", {})
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    assert is_probed("vllm-completions/m", None, {})
    assert is_probed("openai/m", None, {})
    assert check_server("carrara/oracle", None, {}, window=True, prefill=True) == ServerInfo("carrara/oracle")
    with pytest.raises(UsageError, match="runs in this process"):
        probe_server("carrara/smollm2")
    with pytest.raises(UsageError, match="has no server yet: give the address"):
        probe_server("sglang/m")


def cells(info: ServerInfo) -> dict[str, str]:
    return {line.cells[0]: line.cells[1] for line in server_info_lines(info) if line.cells}


def test_the_table() -> None:
    models = ("qwen3", *(f"adapter-{n}" for n in range(6)))
    told = cells(
        ServerInfo(
            "vllm/qwen3", reachable=True, models=models, context_window=32768, prefill={"continue_final_message": True}
        )
    )
    assert "adapter-3 and 2 more" in told["models"]
    assert "32,768" in told["context window"]
    assert told["prefill"] == "yes, with continue_final_message=true"


@pytest.mark.parametrize(
    ("info", "prefill"),
    [
        (ServerInfo("openai/m", reachable=True, counts_tokens=True), "no"),
        (ServerInfo("openai/m", reachable=True, counts_tokens=False), "no: it is detected by token counts"),
        (ServerInfo("openai/m", reachable=True, separate_reasoning=True), "no: reasoning has a field of its own"),
        (ServerInfo("openai/m", reachable=False, trouble=RetryTrouble("busy", "the server answered 429")), "unknown"),
        (ServerInfo("vllm-completions/m", reachable=True), "yes, plain text"),
    ],
)
def test_the_table_says_why_there_is_no_prefill(info: ServerInfo, prefill: str) -> None:
    assert cells(info)["prefill"] == prefill


def test_a_model_that_is_not_listed_is_asked_all_the_same(server: Address, caplog: pytest.LogCaptureFixture) -> None:
    check_server("openai-api/test/ok", server.base_url, {}, window=True)
    assert caplog.text.count("'ok', which is not in its list (window-600, window-2048)") == 1
    caplog.clear()
    check_server("openai-api/test/window-2048", server.base_url, {}, window=True)
    assert "not in its list" not in caplog.text


def test_an_unknown_model_is_named_as_the_server_knows_it(server: Address) -> None:
    with pytest.raises(UsageError, match=r"/v1 knows no model 'unknown'; it lists window-600, window-2048$"):
        probe_server("openai-api/test/unknown", server.base_url)


@pytest.mark.parametrize("end", ["", "/"])
def test_an_address_without_its_version_is_completed(end: str, server: Address) -> None:
    address = server.base_url.removesuffix("/v1")
    with pytest.raises(UsageError, match=rf"^{address}{end} is not the address of an API, .*: give {address}/v1$"):
        probe_server("openai-api/test/ok", f"{address}{end}")


@pytest.mark.parametrize(
    ("software", "by_run", "in_full"),
    [
        ("ollama", "Ollama", "Ollama 0.12.6"),
        ("llama.cpp", "llama.cpp b6710", "llama.cpp b6710"),
        ("lmstudio", "LM Studio", "LM Studio"),
        ("vllm", "vLLM 0.21.0", "vLLM 0.21.0"),
        ("sglang", "SGLang", "SGLang 0.5.4"),
        ("", "", ""),
    ],
)
def test_the_software_is_recognized(software: Software, by_run: str, in_full: str) -> None:
    cutting_server = CuttingServer(software=software)
    with cutting(cutting_server) as address:
        assert check_server("openai-api/test/m", address, {}, window=True).software == by_run
        assert len(cutting_server.seen) == 1  # the short question, and no other prompt
        info = probe_server("openai-api/test/m", address)
        assert info.software == in_full
        assert cells(info)["software"] == (in_full or "not recognized")

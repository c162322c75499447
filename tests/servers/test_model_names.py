"""A model whose name has no provider, or an unknown one, is refused with the name that was probably meant."""

from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai._util.registry import registry_find, registry_info, registry_unqualified_name

from carrara.cli.main import main
from carrara.runs.provider import MODELS
from carrara.servers.model_names import OURS, PROVIDERS, check_model
from carrara.util.errors import UsageError

Capture = pytest.CaptureFixture[str]

MEANT = {
    "gpt-4o": "openai/gpt-4o",
    "claude-sonnet-4-5": "anthropic/claude-sonnet-4-5",
    "gemini-2.5-pro": "google/gemini-2.5-pro",
    "command-r-plus": "openrouter/cohere/command-r-plus",
    "qwen3:8b": "ollama/qwen3:8b",
    "smollm2": "carrara/smollm2",
    "gpt-oss-20b": "vllm/openai/gpt-oss-20b or hf/openai/gpt-oss-20b",
    "Qwen3-8B": "vllm/Qwen/Qwen3-8B or hf/Qwen/Qwen3-8B",
    "Llama-3.1-8B-Instruct": "vllm/meta-llama/Llama-3.1-8B-Instruct or hf/meta-llama/Llama-3.1-8B-Instruct",
    "Qwen/Qwen3-8B": "vllm/Qwen/Qwen3-8B or hf/Qwen/Qwen3-8B",
    "opnai/gpt-4o": "openai/gpt-4o",
    "Anthropic/claude-sonnet-4-5": "anthropic/claude-sonnet-4-5",
}


@pytest.mark.parametrize(("given", "meant"), MEANT.items())
def test_what_was_meant_is_suggested(given: str, meant: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_model(given)
    assert repr(given) in str(refused.value)
    assert str(refused.value).endswith(f"; did you mean {meant}?")


def test_a_name_that_nothing_is_known_of_is_refused_with_examples() -> None:
    with pytest.raises(UsageError, match=r"write PROVIDER/MODEL, such as .*openai-api/local/mine with `base_url`"):
        check_model("mine")
    with pytest.raises(UsageError, match="write openai/MODEL"):
        check_model("openai/")


def test_the_providers_are_those_of_inspect_and_ours() -> None:
    found = {registry_unqualified_name(registry_info(one)) for one in registry_find(lambda i: i.type == "modelapi")}
    found -= {"listener", "caller", "recorder"}  # of other tests, which may have run in this process
    assert found <= PROVIDERS
    assert MODELS.keys() == OURS
    for name in found:
        check_model(f"{name}/any")


COMMANDS: dict[str, Callable[[str, str], list[str]]] = {
    "run": lambda task, out: ["run", task, "--out", out],
    "plan": lambda task, out: ["plan", task],
    "plan with a tokenizer": lambda task, out: ["plan", task, "--tokenizer", "gpt2"],
    "profile": lambda task, out: ["profile", task, "--out", out],
    "guard make": lambda task, out: ["guard", "make", task, "--out", f"{out}.json"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_test_is_reported_before_an_unknown_model(command: str, tmp_path: Path, capsys: Capture) -> None:
    def said(task: str) -> str:
        assert main([*COMMANDS[command](task, str(tmp_path / "out")), "--model", "gpt-4o"]) == 2
        return capsys.readouterr().err

    assert "called 'qa99'" in said("qa99")
    assert said("qa1") == "carrara: the model 'gpt-4o' names no provider; did you mean openai/gpt-4o?\n"
    assert not (tmp_path / "out").exists()


def test_the_model_that_writes_is_checked_too(tmp_path: Path, capsys: Capture) -> None:
    assert main(["corpus", "write", "--model", "gpt-4o", "--out", str(tmp_path / "bank.jsonl")]) == 2
    assert "did you mean openai/gpt-4o?" in capsys.readouterr().err

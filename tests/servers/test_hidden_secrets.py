"""No secret is shown: arguments of a model are refused or hidden, and echoes of a key are masked in any form."""

import base64
import json
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig

from carrara.options import model_args_of
from carrara.runs.config import RunConfig
from carrara.runs.settings import settings_of
from carrara.servers.probe import probe_server
from carrara.servers.providers import make_model
from carrara.servers.secrets import HIDDEN, check_secrets, hide, mask, refuse_secret
from carrara.util.errors import UsageError
from tests.helpers.growth import grows_in_proportion
from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.server import reply


@pytest.mark.parametrize("given", ["api_key", "hf_token", "Authorization", "pass", "bearer", "db_pwd", "auth", "PIN"])
def test_a_secret_among_a_models_arguments_is_refused(given: str) -> None:
    for name, value in ((given, "word"), (given, 12345), ("deep", {"er": {given: "word"}})):
        with pytest.raises(UsageError, match="would be kept in the logs") as refused:
            refuse_secret(name, value, "-M")
        assert "word" not in str(refused.value)
    refuse_secret("default_headers", {given: "word"}, "-M")  # logs do not show them
    refuse_secret("max_tokens", 5, "-M")
    refuse_secret("tokenizer_path", "/models/x", "-M")
    refuse_secret("pass_through", True, "-M")


@pytest.mark.parametrize(
    "arguments",
    [
        {"default_headers": {"X-Session": "hidden"}},
        {"default_query": {"v": ["hidden"]}},
        {"headers": "X: hidden"},
        {"headers": b"hidden"},
        {"organization": "hidden"},
        {"userName": "hidden"},
        {"extra": {"any": ["Bearer hidden"]}},
        {"extra": "sk-hidden-1"},
        {"extra": "8c5d2e19a47b40f3963210hidden8c5d2e19a47b40f39632107f5be1d004"},
        {"extra": "kJ8sLq2Zx9WpTm4Rvhidden"},
        {"extra": "6f1c2a9e-3b54-4c1d-9a70-1f2e3d4c5b6a hidden"},
    ],
)
def test_what_may_be_secret_among_a_models_arguments_is_hidden(arguments: dict[str, Any]) -> None:
    shown = hide(arguments)
    assert "hidden" not in str(shown)
    assert list(shown) == list(arguments)
    assert hide(shown) == shown
    other = json.loads(json.dumps(arguments, default=bytes.decode).replace("hidden", "others"))
    assert hide(other) != shown  # another value is another experiment
    assert "hidden" not in str(settings_of("", arguments, GenerateConfig()))


def test_ordinary_arguments_are_shown() -> None:
    arguments = {
        "context": 4096,
        "device": "cuda:0",
        "model_path": "/models/Meta-Llama-3.1-70B-Instruct/checkpoint-120000",
        "dtype": "bfloat16",
        "quantization": "compressed-tensors",
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0},
        "speculative_config": {"model": "Qwen/Qwen2.5-Coder-0.5B-Instruct-GPTQ-Int4"},
        "revision": "8c5d2e19a47b40f39632107f5be1d0048c5d2e19",
        "responses_api": True,
    }
    assert hide(arguments) == arguments


def echoes(key: str) -> list[str]:
    padded = [f"{before}{key}{after}".encode() for before in ("", "a", "ab") for after in ("", "z")]
    coded = [
        *(base64.b64encode(text).decode() for text in padded),
        base64.urlsafe_b64encode(f"Bearer {key}".encode()).decode(),
        key.encode().hex(),
        key.encode().hex().upper(),
    ]
    plain = [key, key.upper(), key.lower(), key.swapcase(), key[::-1].upper()]
    return [*plain, key[::-1], *coded, *(text[::-1] for text in coded)]


@pytest.mark.parametrize("key", ['sk-Proj-9x_8kQz?/>+&"', "correct horse battery", "hunter2"])
def test_echoes_of_a_key_are_masked(key: str) -> None:
    for echo in echoes(key):
        masked = mask(f"your key is {echo}, is it?", {key})
        assert masked.startswith("your key is ")
        assert HIDDEN in masked, echo
        rest = masked.removeprefix("your key is ").removesuffix(", is it?")
        assert len(rest.replace(HIDDEN, "")) <= 13, (echo, masked)  # what is beside the key in Base64
    assert mask(json.dumps({"error": key}), {key}) == '{"error": "[key]"}'


@pytest.mark.parametrize("key", ["none", "EMPTY", "x", "dummy", "lm-studio", "sk-no-key-required"])
def test_a_placeholder_masks_nothing(key: str) -> None:
    check_secrets(key, f"http://me:{key}@127.0.0.1:9/v1?api_key={key}", {"default_headers": {"X-Auth": key}})
    assert mask(f"{key} of them, {key.lower()}", {key}) == f"{key} of them, {key.lower()}"


@pytest.mark.parametrize("key", ["word", "12345", "a1", "kitchen"])
def test_a_secret_that_is_like_a_word_is_refused(key: str) -> None:
    cases: list[tuple[str, str | None, dict[str, Any]]] = [
        (key, None, {}),
        ("", f"http://me:{key}@127.0.0.1:9/v1", {}),
        ("", f"http://127.0.0.1:9/v1?api_key={key}", {}),
        ("", None, {"default_headers": {"X-Auth": f"Bearer {key}"}}),
    ]
    for given in cases:
        with pytest.raises(UsageError, match="is so short that it could not be told from words of a reply") as refused:
            check_secrets(*given)
        assert f" {key} " not in str(refused.value)
    check_secrets("", f"http://127.0.0.1:9/v1?deployment={key}", {"default_headers": {"X-Env": key}})


def test_a_short_key_is_masked_where_it_stands_alone() -> None:
    assert (
        mask("sk-1, (SK-1) and 1-ks, but task-1 and sk-12", {"sk-1"})
        == "[key], ([key]) and [key], but task-1 and sk-12"
    )


def test_a_key_in_the_list_of_models_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-secret-99")
    listed = {"object": "list", "data": [{"id": "qwen3"}, {"id": "lora of SK-SECRET-99"}]}

    class Lister(Handler):
        def do_GET(self) -> None:
            self.send(listed)

        def do_POST(self) -> None:
            self.read()
            self.send(reply("OK"))

    with listening(Server(Lister)) as address:
        assert probe_server("openai-api/test/qwen3", address).models == ("qwen3", "lora of [key]")


def test_masking_takes_time_in_proportion_to_a_text() -> None:
    secrets = {f"sk-secret-{number:04}-of-many" for number in range(20)}
    assert grows_in_proportion(lambda size: mask("a word " * size, secrets), 400_000)


@pytest.mark.parametrize("given", [["sk-secret-of-mine"], ["bearer:sk-secret-of-mine"], "sk-secret-of-mine", 7])
def test_arguments_that_are_none_are_not_repeated(given: object) -> None:
    with pytest.raises(UsageError) as refused:
        model_args_of(given)  # type: ignore[arg-type]
    assert "secret" not in str(refused.value).replace("may be a secret", "")
    assert "secret" not in repr(RunConfig("qa1", "carrara/oracle", model_args={"x": "sk-secret-of-mine"}))


def test_a_model_that_takes_no_such_argument_names_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")
    with pytest.raises(UsageError, match=r"cannot be made with its arguments \(shape\)") as refused:
        make_model("openai-api/test/x", "http://127.0.0.1:9/v1", {"shape": "a-plain-value"})
    assert "a-plain-value" not in str(refused.value)

"""The contract with Inspect: the server receives the whole text, the log keeps a reference.

Some names are private to Inspect (`servers/inspect_private.py`). A release has to pass here before it is pinned.
"""

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ModelAPI, get_model

from carrara.items.item import rebuild
from carrara.runs.by_reference import ReferencedAPI, provider_of
from carrara.runs.replies import read_results
from carrara.servers.redact import WHOLE, Glimpse, clip, shorten
from tests.helpers.process import KEY, Ended, carrara, in_file
from tests.helpers.server import Address

LENGTH = 160 * 1024  # tokens: half a megabyte of text
ITEMS = 6
PROMPT = b">> a.reverse()\n>> a.reverse()"


def run(out: Path, model: str, server: Address) -> Ended:
    asked = ["run", "latent_list", "--lengths", str(LENGTH), "-n", str(ITEMS), "--tokenizer", "o200k"]
    asked += [
        "--model",
        f"openai-api/test/{model}",
        "--base-url",
        server.base_url,
        *in_file(out.with_name("file"), connections=3),
    ]
    return carrara(*asked, "--out", out)


@pytest.mark.parametrize(
    ("model", "code", "status"),
    [
        ("ok", 0, "unparsed"),
        ("filter", 0, "filtered"),
        ("overflow", 1, "overflow"),
        ("quoting", 1, "error"),
    ],
)
@pytest.mark.sampled(1)
def test_the_server_gets_the_text_and_the_log_a_reference(
    model: str, code: int, status: str, tmp_path: Path, server: Address
) -> None:
    ended = run(tmp_path / "run", model, server)
    facts = [fact for fact in server.facts() if fact.what == "asked"]
    assert ended.returncode == code, ended.stderr
    results = read_results(tmp_path / "run")
    assert [result.status for result in results] == [status] * ITEMS

    sent = {fact.item for fact in facts}
    contents = {result.id: rebuild(result.id).messages()[0].content for result in results}
    assert sent == {sha256(content.encode()).hexdigest()[:12] for content in contents.values()}
    assert min(fact.size for fact in facts) > 500_000

    logs = sum(file.stat().st_size for file in (tmp_path / "run/logs").glob("*.eval"))
    assert logs < 20 * 1024 * ITEMS
    for file in (tmp_path / "run").rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert KEY.encode() not in content
            assert content.count(PROMPT) < 50
    assert KEY not in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr) < 2000


@pytest.mark.slow
def test_failed_requests_are_asked_again_by_the_same_command(tmp_path: Path, server: Address) -> None:
    first = run(tmp_path / "run", "mended", server)
    failed = sum(result.status == "error" for result in read_results(tmp_path / "run"))
    asked = server.asked()
    second = run(tmp_path / "run", "mended", server)
    assert first.returncode == 1
    assert 0 < failed < ITEMS
    assert f"{failed} of {ITEMS} requests failed" in first.stderr
    assert "Invalid value for top_p" in first.stderr
    assert asked == ITEMS
    assert server.asked() == ITEMS + failed
    assert second.returncode == 0, second.stderr
    assert all(result.status != "error" for result in read_results(tmp_path / "run"))


def test_a_key_that_is_an_ordinary_word_is_left_in_it() -> None:
    assert clip("make room in tiny/x", {"x"}) == "make room in tiny/x"
    assert clip({"said": [f"no key {KEY}."]}, {KEY}) == {"said": ["no key [key]."]}


@given(st.lists(st.integers(0, WHOLE), max_size=5), st.integers(1, 300))
def test_of_a_text_in_parts_the_same_is_shown(lengths: list[int], period: int) -> None:
    parts = ["".join(chr(97 + (i // period + n) % 26) for i in range(length)) for n, length in enumerate(lengths)]
    seen = Glimpse()
    for part in parts:
        seen.add(part)
    assert seen.text == shorten("".join(parts))


def test_a_provider_that_takes_references_is_itself_in_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    model = get_model("carrara/oracle", memoize=False)
    provider, name = model.api, str(model)
    assert provider_of(model) is provider
    model.api = ReferencedAPI(model, lambda wanted: [])
    assert provider_of(model) is provider
    assert (str(model), model.name, model.api.qualified_model_name) == (name, provider.model_name, name)
    assert type(model.api).__name__ == type(provider).__name__  # Inspect names pools of connections after it
    provider.api_key = "renewed"
    assert model.api.api_key == "renewed"

    own = {"generate", "should_retry", "retry_wait"}
    asked = {name for name, value in vars(ModelAPI).items() if callable(value) and not name.startswith("_")} - own
    assert {"max_tokens", "max_connections", "connection_key", "aclose", "refresh_credentials"} <= asked
    for method in asked:
        monkeypatch.setattr(provider, method, lambda *args, **options: (args, options))
        assert getattr(model.api, method)("x", y=1) == (("x",), {"y": 1})

"""What a server puts around a question is shown as text, and what its template does not explain as a number."""

from typing import Any

import pytest

from carrara.servers.probe import probe_server
from carrara.servers.template_text import TemplateText, describe_surplus, describe_template
from tests.helpers.cutting_server import cutting, llama_cpp

SYSTEM = "You are a careful assistant of the company."


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-test")


def template(**behaviour: Any) -> TemplateText:
    with cutting(llama_cpp(**behaviour)) as address:
        info = probe_server("openai-api/test/m", address)
    assert info.template is not None
    return info.template


def test_a_server_with_its_own_template_adds_nothing() -> None:
    found = template()
    assert (found.surplus, found.doubled) == (0, "")
    assert found.before.endswith("user\n")
    assert found.after.endswith("assistant\n")
    assert describe_surplus(found) == "none"


def test_a_system_prompt_of_the_template_is_shown() -> None:
    found = template(system=SYSTEM)
    assert SYSTEM in found.before
    assert found.surplus == 0


@pytest.mark.parametrize(("behaviour", "least"), [({"template_times": 2}, 5)])
def test_a_template_that_is_applied_twice_is_a_surplus(behaviour: dict[str, int], least: int) -> None:
    """The server's own endpoint for the template tells the same, so the text shows it."""
    found = template(**behaviour)
    assert found.before.count("<|im_start|>user") == 2 or (found.surplus or 0) >= least


def test_a_second_first_token_is_named() -> None:
    found = template(bos=2)
    assert found.doubled == "<|bos|>"
    assert describe_surplus(found) == "each prompt begins with <|bos|> twice"


@pytest.mark.parametrize(
    ("surplus", "words"),
    [
        (None, "unknown"),
        (-3, "3 tokens fewer than the question in its template"),
        (12, "12 tokens in each request beyond its template: a system prompt of a gateway, a second begin-of-text"),
    ],
)
def test_a_surplus_in_words(surplus: int | None, words: str) -> None:
    assert describe_surplus(TemplateText("", "", surplus)).startswith(words)


def test_what_a_server_says_is_safe_to_show() -> None:
    shown = describe_template(TemplateText("\x1b[2J\u202e" + "a" * 100_000, "", 0))
    assert shown.isprintable()
    assert len(shown) < 400

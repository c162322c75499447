"""The tools of the reader `search`: what they show of a context, and what they do with what models write."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.items.item import item_of, make
from carrara.readers.context import ReaderContext
from carrara.readers.registry import parse_reader
from carrara.readers.search import find, read, written_calls
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.server import Address
from tests.readers.scripted import SEEN

PAGE = 300


@pytest.fixture(scope="module")
def context() -> ReaderContext:
    return ReaderContext(make("classic/niah", length=4096, params={"variant": "single_1"}))


def test_a_needle_is_found_and_shown_with_the_text_around_it(context: ReaderContext) -> None:
    [fact] = context.needed
    shown = find(context, "KEPT for", 0, PAGE)
    assert context.text[fact.start : fact.end] in shown
    place = int(shown[1 : shown.index("]")])
    assert context.text[place:].startswith(shown.partition("] ")[2].splitlines()[0][:50])
    assert find(context, "kept for", fact.end, PAGE) == f"Nothing is found from {fact.end} on."


def test_a_text_can_be_read_to_its_end_by_positions(context: ReaderContext) -> None:
    shown, texts = "The text goes on at 0.", list[str]()
    while "goes on at" in shown:
        shown = read(context, int(shown.rpartition("goes on at ")[2].rstrip(".")), PAGE)
        texts.append(shown.partition("] ")[2].rpartition("\n")[0])
        assert context.count(texts[-1]) <= PAGE + 5
    assert "".join("".join(texts).split()) == "".join(context.text.split())
    assert shown.endswith("This is the end of the text.")
    assert read(context, 10**9, PAGE) == f"The text ends at {len(context.text)}."


def test_a_search_shows_a_bounded_text(context: ReaderContext) -> None:
    shown = find(context, ".", 0, PAGE)
    assert context.count(shown) <= PAGE + 200
    assert shown.splitlines()[-1].startswith("There are more, from ")
    on = int(shown.rpartition("from ")[2].partition(" ")[0])
    assert find(context, ".", on, PAGE).startswith("[")


@pytest.mark.parametrize("pattern", ["(a", "[", "a{1000000}", "\\", "*", "?", "(?P<x", "\ud83d", "\x00"])
def test_a_wrong_pattern_is_searched_for_as_words(pattern: str, context: ReaderContext) -> None:
    assert find(context, pattern, 0, PAGE).startswith(("Nothing is found", "["))


@pytest.mark.parametrize("pattern", ["", "  ", None, 5, ["a"], "a" * 300])
def test_what_is_no_pattern_is_said(pattern: object, context: ReaderContext) -> None:
    assert find(context, pattern, 0, PAGE).startswith(("`pattern` is empty", "The pattern has 300 characters"))


def test_matching_an_exploding_pattern_ends(context: ReaderContext) -> None:
    """Python's own matcher would need longer than the universe has existed."""
    assert find(context, "(a*)*(b*)*(x+x+)+y$", 0, PAGE)


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ('{"name": "read", "arguments": {"start": 0}}', [("read", {"start": 0})]),
        ('I search.\n```json\n{"name": "find", "parameters": {"pattern": "a"}}\n```', [("find", {"pattern": "a"})]),
        ('<tool_call>{"name": "find", "arguments": {"pattern": "}"}}</tool_call>', [("find", {"pattern": "}"})]),
        ("FINAL ANSWER: 5", []),
        ('{"garden": 1}', []),
        ('{"name": "find", "arguments": ', []),
        ('{"name": 5, "arguments": {}}', []),
        ('{"a":' * 5000, []),
    ],
)
def test_calls_in_plain_replies(reply: str, calls: Sequence[tuple[str, Any]]) -> None:
    assert written_calls(reply) == calls


class Script:
    """A model that gives the same reply to everything, and counts its calls."""

    def __init__(self, reply: str) -> None:
        self.reply, self.calls = reply, 0

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.calls += 1
        return self.reply


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize(
    ("reply", "calls", "status"),
    [
        ("FINAL ANSWER: 5", 1, "unread"),
        ("", 1, "unread"),
        (json.dumps({"name": "find", "arguments": {"pattern": "kept"}}), 4, "limited"),
        (json.dumps({"name": "fetch", "arguments": {"url": "x"}}), 4, "limited"),
        (json.dumps({"name": "read", "arguments": {"start": "x"}}), 4, "limited"),
        (json.dumps({"name": "read", "arguments": {"start": -5, "tokens": 1e99}}), 4, "limited"),
    ],
)
@pytest.mark.sampled(3)
def test_a_model_that_never_calls_or_never_answers(reply: str, calls: int, status: str, tmp_path: Path) -> None:
    model = Script(reply)
    [result] = carrara.run(
        "niah", model, n=1, lengths="1k", out=tmp_path, tokenizer="o200k", reader="search:calls=3,plain"
    )
    assert result.status == status
    assert result.reading is not None
    assert result.reading.calls == calls == model.calls
    assert not result.error


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_the_model_gets_the_text_and_the_log_its_positions(tmp_path: Path) -> None:
    SEEN.clear()
    [result] = carrara.run(
        "niah", "caller/x", n=1, lengths="2k", out=tmp_path, tokenizer="o200k", reader="search:calls=20"
    )
    context = ReaderContext(item_of(result.id))
    told = "".join(m.text.partition("] ")[2].rpartition("\n")[0] for m in SEEN[-1] if m.role == "tool")
    assert "".join(told.split()) == "".join(context.text.split())
    assert {trace.fate for trace in result.facts} == {"unused"}
    log = b"".join(path.read_bytes() for path in tmp_path.rglob("*.json"))
    sentence = max(context.text.split(". "), key=len)
    assert sentence.encode() not in log
    from inspect_ai.log import read_eval_log

    for path in (tmp_path / "logs").glob("*.eval"):
        assert sentence not in read_eval_log(str(path)).model_dump_json()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("search:calls=0", "calls is 0"),
        ("search:hits=3", "has no setting 'hits'"),
        ("serch", "did you mean search"),
        ("search:calls=3,calls=4", "calls is given twice"),
    ],
)
def test_a_wrong_reader_is_a_sentence(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_reader(text)


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.slow
@pytest.mark.parametrize(("way", "calls"), [("calls-1000", 2), ("calls-exploding", 2), ("call-odd", 4)])
@pytest.mark.parametrize("reader", ["agent:react,calls=3", "search:calls=3"])
def test_hostile_calls_of_tools_are_limited(
    reader: str, way: str, calls: int, tmp_path: Path, server: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-not-a-key")
    results = carrara.run(
        "qa1",
        f"openai-api/test/{way}",
        base_url=server.base_url,
        lengths="4k",
        n=1,
        tokenizer="gpt2",
        out=tmp_path,
        reader=reader,
    )
    [result] = results
    assert result.status == "limited"
    assert result.reading is not None
    assert result.reading.calls == calls

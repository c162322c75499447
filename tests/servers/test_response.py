"""What a server's reply may cost: checks before Inspect reads it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model._call_tools import parse_tool_call
from inspect_ai.model._openai import parse_reasoning_content
from inspect_ai.tool import ToolInfo, ToolParam, ToolParams
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion import ChoiceLogprobs

from carrara.servers.response import MOST_PLAIN, check_completion, validate_responses
from carrara.servers.retry import GarbledReplyError, trouble_of
from carrara.util.transport import LIMIT, ReplyTooLargeError
from tests.helpers.growth import grows_in_proportion

ALIASES = "a: &a [l,l,l]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]"
TOOL = ToolInfo(name="look", description="Look.", parameters=ToolParams(properties={"where": ToolParam(type="string")}))


def completion(content: object = "[1]", calls: object = None, logprobs: object = None, id: object = "x") -> Any:
    message = SimpleNamespace(content=content, tool_calls=calls)
    choice = SimpleNamespace(message=message, index=0, logprobs=logprobs, finish_reason="stop")
    return SimpleNamespace(choices=[choice], model="m", usage=None, id=id)


def call(arguments: object, **other: object) -> Any:
    return SimpleNamespace(**{"id": "c", "function": SimpleNamespace(name="look", arguments=arguments)} | other)


def checked_calls(calls: object) -> list[Any]:
    """Return the calls of tools of a reply after it was checked."""
    reply = completion(None, calls)
    check_completion(reply)
    found: list[Any] = reply.choices[0].message.tool_calls
    return found


def checked(*arguments: object) -> list[Any]:
    """Return the arguments of calls of tools after a reply with them was checked."""
    return [one.function.arguments for one in checked_calls([call(one) for one in arguments])]


@pytest.mark.parametrize("calls", ["x", {"a": 1}, ["x", None, 5], [call("", function=None), call("", function="look")]])
def test_calls_that_name_no_tool_are_left_out(calls: object) -> None:
    assert checked_calls(calls) == []


@pytest.mark.parametrize("id", [None, 5, {}])
def test_a_call_without_an_id_is_read(id: object) -> None:
    assert [(one.id, one.function.name) for one in checked_calls([call("{}", id=id)])] == [("call_0", "look")]


def test_arguments_of_many_values_are_refused_before_they_are_objects() -> None:
    half = '{"a": [' + "{}," * (LIMIT.values // 4) + "1]}"
    assert checked(half) == [half]
    with pytest.raises(ReplyTooLargeError, match="20,000 JSON values"):
        checked(half, half)


@pytest.mark.parametrize("arguments", [ALIASES, "x = 1\nprint(x)", "where: list", "&a [*a]"])
def test_arguments_that_are_no_json_are_one_text(arguments: str) -> None:
    [text] = checked(arguments)
    assert parse_tool_call("c", "look", text, [TOOL]).arguments == {"where": arguments}


@pytest.mark.parametrize("arguments", ['{"where": "list"}', ' {"where": 1', '"list"', "5", "true", "[1]", ""])
def test_other_arguments_are_read_as_they_are(arguments: object) -> None:
    assert checked(arguments) == [arguments]
    assert checked(None) == [""]


@pytest.mark.parametrize("arguments", [{"where": "list"}, ["list"], 5, True])
def test_arguments_that_are_no_text_are_read(arguments: object) -> None:
    assert checked(arguments) == [json.dumps(arguments)]


def test_many_characters_that_are_no_json_are_refused() -> None:
    assert json.loads(checked("x" * MOST_PLAIN)[0]) == "x" * MOST_PLAIN
    with pytest.raises(GarbledReplyError, match="65,537 characters of arguments of tools"):
        checked("x" * MOST_PLAIN, "y")


def test_a_reply_that_is_nested_too_deeply_is_a_reply_that_cannot_be_read() -> None:
    try:
        json.loads("[" * 1_000_000)
    except RecursionError as error:
        trouble = trouble_of(error, lambda error: True, ())
    assert (trouble.kind, trouble.words) == ("garbled", "the server's reply is nested too deeply to be read")


TOKEN = {"token": "x", "logprob": -1.0, "bytes": None, "top_logprobs": []}


@pytest.mark.parametrize(
    ("content", "is_kept"),
    [
        ([TOKEN], True),
        (None, True),
        ("x", False),
        ([1], False),
        ([None], False),
        ([TOKEN | {"token": 5}], False),
        ([TOKEN | {"logprob": -(10**400)}], False),
        ([TOKEN | {"bytes": ["a"]}], False),
    ],
)
def test_log_probabilities_of_other_types_are_left_out(content: object, is_kept: bool) -> None:
    reply = completion(logprobs=ChoiceLogprobs.model_construct(content=content))
    check_completion(reply)
    assert (reply.choices[0].logprobs is not None) == is_kept
    assert reply.choices[0].message.content == "[1]"


def test_parts_may_be_bare_texts_and_ids_numbers() -> None:
    reply = completion(["[1", {"type": "image_url"}, "]"], id=5)
    check_completion(reply)
    assert (reply.choices[0].message.content, reply.id) == ("[1]", "")


@pytest.mark.parametrize(
    ("content", "text", "thoughts"),
    [
        ("So <think>a</think> [1]", "So <think>a</think> [1]", None),
        ("So " + "<think>" * 20 + "a</think>b</think> [1]", "So  [1]", "<think>" * 20 + "a</think>b"),
        ("</think>" + "<think " * 20, "</think>", "<think " * 20),
        ("<think>" + "<summary>" * 20 + "</think>[1]", "[1]", "<think>" + "<summary>" * 20),
        ("<summary>" * 20, "<summary>" * 20, None),
    ],
)
def test_tags_of_reasoning_that_are_repeated_are_separated(content: str, text: str, thoughts: str | None) -> None:
    reply = completion(content)
    check_completion(reply)
    message = reply.choices[0].message
    assert (message.content, getattr(message, "reasoning_content", None)) == (text, thoughts)


@pytest.mark.parametrize("unit", ["<think>", "<think ", "<think><summary>", "</think>"])
def test_reasoning_is_read_in_time_in_proportion_to_a_reply(unit: str) -> None:
    def read(times: int) -> None:
        reply = ChatCompletionMessage.model_construct(role="assistant", content=unit * times)
        choice = SimpleNamespace(message=reply, index=0, logprobs=None, finish_reason="stop")
        check_completion(SimpleNamespace(choices=[choice], model="m", usage=None))
        parse_reasoning_content(reply)

    assert grows_in_proportion(read, 100_000)


def part(index: object, *calls: object) -> Any:
    delta = SimpleNamespace(tool_calls=[SimpleNamespace(index=one) for one in calls] or None)
    return SimpleNamespace(choices=[SimpleNamespace(index=index, delta=delta)])


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([part(0), part(0, 0, 127), SimpleNamespace(choices=None), SimpleNamespace()], ""),
        ([part(0), part(16)], "has choices without a number below 16"),
        ([part("a")], "has choices without a number below 16"),
        ([part(0, 1), part(0, 128)], "has calls of tools without a number below 128"),
        ([part(0, -1)], "has calls of tools without a number below 128"),
    ],
)
def test_parts_of_a_streamed_reply_are_limited(parts: list[Any], says: str) -> None:
    async def read(stream: AsyncIterator[Any]) -> list[Any]:
        return [one async for one in stream]

    async def sent() -> AsyncIterator[Any]:
        for one in parts:
            yield one

    api: Any = SimpleNamespace(
        chat_choices_from_completion=lambda completion, tools: completion, stream_completion=read
    )
    validate_responses(api)
    with pytest.raises(GarbledReplyError, match=says) if says else nullcontext():
        assert asyncio.run(api.stream_completion(sent())) == parts


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "has no choices"),
        ({"error": {"message": "the cache is full"}}, "is an error (the cache is full)"),
        ({"detail": "the cache is full"}, "is an error (the cache is full)"),
        ({"detail": [{"msg": "the cache is full"}]}, "has no choices"),
        ({"error": None, "message": "the cache is full"}, "is an error (the cache is full)"),
    ],
)
def test_an_error_that_came_as_a_reply_is_told(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(GarbledReplyError, match=re.escape(message)):
        check_completion(SimpleNamespace(choices=None, **fields))

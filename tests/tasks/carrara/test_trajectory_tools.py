"""Trajectory with real calls of tools: what APIs, templates, servers, logs and exports get."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.solver import generate
from inspect_ai.tool import ToolChoice, ToolInfo
from jinja2 import Environment
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

import carrara
from carrara import tokenizers
from carrara.export.nemo_gym import row as nemo_gym_row
from carrara.export.requests import RequestSettings, batch
from carrara.inspect_tasks import trajectory
from carrara.items.grading import grade
from carrara.items.item import Item, item_of, make
from carrara.items.prompt import count, fingerprint
from carrara.items.render import finetuning, render, tabular
from carrara.readers.context import ReaderContext
from carrara.runs.replies import read_results
from carrara.servers.chat_messages import declare_tools, from_inspect, to_inspect
from carrara.tasks.carrara._nodes import NODE
from carrara.tokenizers.template import Special, TemplateFormat
from carrara.types import Message
from carrara.util.errors import UsageError
from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.server import reply
from tests.tasks.carrara.test_trajectory import expected

pytestmark = pytest.mark.filterwarnings("ignore")  # of Inspect: what it deprecates, and streams that it leaves open

TOOLS = {"form": "tools"}
CHAT: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
RESPONSES: TypeAdapter[Any] = TypeAdapter(list[ResponseInputItemParam])
Chat = Sequence[Mapping[str, Any]]
QWEN = """
{%- for m in messages %}
    {%- if m.role == "assistant" and m.tool_calls %}
        {{- '<|im_start|>assistant' }}
        {%- if m.content %}{{- '\\n' + m.content }}{%- endif %}
        {%- for call in m.tool_calls %}
            {{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
            {{- call.function.arguments | tojson }}{{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif m.role == "tool" %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + m.content + '\\n</tool_response><|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}{{- '<|im_start|>assistant\\n' }}"""
"""The part of Qwen2.5's template that writes messages."""


def item_with_tools(index: int = 0, length: int = 0, **more: Any) -> Item:
    return make("carrara/trajectory", index=index, length=length, params=TOOLS, **more)


def chat_of(item: Item) -> Chat:
    return [message.as_chat() for message in item.messages()]


def text_of_chat(chat: Chat) -> str:
    """The log as the other solver reads it, from messages as they are sent."""
    lines = list[str]()
    for message in chat:
        for call in message.get("tool_calls", ()):
            name = call["function"]["name"].replace("_", ".")
            lines.append(f"Agent: {call['id'].removesuffix('000')} {name} {call['function']['arguments']}")
        if message["role"] == "tool":
            lines.append(f"Tool: {message['content']}")
    return "\n".join(lines)


def check_chat(chat: Chat) -> None:
    """Check what APIs require: a result right after each call, of the same id, and turns in alternation."""
    CHAT.validate_python(chat)
    roles = [message["role"] for message in chat]
    pairs = (len(chat) - 3) // 2
    assert roles == ["user", *["assistant", "tool"] * pairs, "assistant", "user"]
    for call, result in zip(chat[1:-2:2], chat[2:-2:2], strict=True):
        [made] = call["tool_calls"]
        assert (made["id"], made["type"]) == (result["tool_call_id"], "function")
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", made["function"]["name"])
        assert re.fullmatch(r"[a-zA-Z0-9]{9}", made["id"])
        assert isinstance(json.loads(made["function"]["arguments"]), dict)
        assert result["content"].startswith(f"{made['id'].removesuffix('000')} ")
    assert len({result["tool_call_id"] for result in chat[2:-2:2]}) == pairs


def test_messages_are_valid_and_have_the_calls_of_the_text() -> None:
    for index in range(24):
        item = item_with_tools(index)
        chat = chat_of(item)
        check_chat(chat)
        text = make("carrara/trajectory", index=index).text
        calls = re.findall(r"^Agent: ([a-z]{6}) ([a-z]+\.[a-z]+) (\{.*\})$", text, re.MULTILINE)
        made = [message["tool_calls"][0] for message in chat if "tool_calls" in message]
        assert [(call["id"], call["function"]["name"]) for call in made] == [
            (f"{id}000", name.replace(".", "_")) for id, name, _ in calls
        ]
        values = [json.loads(arguments) for _, _, arguments in calls]
        assert [json.loads(call["function"]["arguments"]) for call in made] == values
        assert item.question == make("carrara/trajectory", index=index).question


def test_the_messages_as_sent_give_the_answer_of_both_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    for index in range(200):
        item = item_with_tools(index)
        monkeypatch.setattr("tests.tasks.carrara.test_trajectory.text_of", lambda item: text_of_chat(chat_of(item)))
        assert expected(item) == item.gold, item.id
        sent = to_inspect(item.messages(), lambda number: {})
        assert item.solve([from_inspect(message) for message in sent]) == item.question.gold, item.id


@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k"])
def test_lengths_are_exact(tokenizer: str) -> None:
    for index in range(3):
        item = item_with_tools(index, 8192, tokenizer=tokenizer)
        assert count(item.prompt.measure.tokenizer, "chat", item.messages()) == 8192
        assert fingerprint(item.messages()) == item.survey.sha256
        check_chat(chat_of(item))
        assert item.solve(item.messages()) == item.question.gold


class Templated:
    """A tokenizer with a chat template."""

    def __init__(self, template: str) -> None:
        self.name, self.opening = f"templated:{hash(template)}", 0
        specials = Special("<|im_start|>"), Special("<|im_end|>")
        self.chat = TemplateFormat("the model", template, specials, None, None)
        self.count, self.count_many = (getattr(tokenizers.get("gpt2"), name) for name in ("count", "count_many"))


def rendered_independently(chat: Chat) -> str:
    environment = Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False)
    environment.filters["tojson"] = json.dumps
    messages = json.loads(json.dumps(chat))
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return environment.from_string(QWEN).render(messages=messages)


@pytest.mark.parametrize("length", [0, 6000])
def test_lengths_are_those_of_the_rendered_template(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Templated(QWEN)
    monkeypatch.setattr("carrara.tokenizers.get", lambda name: tokenizer)
    for index in range(3):
        item = item_with_tools(index, length, tokenizer="gpt2", seed=77)
        text = rendered_independently(chat_of(item))
        parts = re.split(r"(<\|im_(?:start|end)\|>)", text)
        tokens = sum(1 if part.startswith("<|im_") else tokenizer.count(part) for part in parts if part)
        assert tokens == item.survey.tokens == (length or tokens)
        for call, _, arguments in re.findall(r'"name": "(\w+)", "arguments": ((\{.*\}))\}\n', text):
            assert call
            assert json.loads(arguments)


MISTRAL = """
{{- bos_token }}
{%- for m in messages %}
    {%- if m.role == "assistant" and m.tool_calls %}
        {{- '[TOOL_CALLS] [' }}
        {%- for call in m.tool_calls %}
            {{- (call.function|tojson)[:-1] }}
            {%- if call.id is not defined or call.id|length != 9 %}
                {{- raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}
            {%- endif %}
            {{- ', "id": "' + call.id + '"}' }}
        {%- endfor %}
        {{- ']' + eos_token }}
    {%- elif m.role == "tool" %}
        {%- if m.tool_call_id is not defined or m.tool_call_id|length != 9 %}
            {{- raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}
        {%- endif %}
        {{- '[TOOL_RESULTS] {"content": ' + m.content|string + ', "call_id": "' + m.tool_call_id }}
        {{- '"}[/TOOL_RESULTS]' }}
    {%- elif m.role == "user" %}
        {{- '[INST] ' + m.content + '[/INST]' }}
    {%- else %}
        {{- ' ' + m.content + eos_token }}
    {%- endif %}
{%- endfor %}"""
"""The part of Mistral's template that writes messages, which refuses ids of other lengths than nine."""


@pytest.mark.parametrize(
    ("template", "marks"), [(QWEN, ["<|im_start|>", "<|im_end|>"]), (MISTRAL, ["[INST]", "[/INST]", "[TOOL_CALLS]"])]
)
def test_lengths_are_those_of_transformers(template: str, marks: list[str], tmp_path: Path) -> None:
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

    transformers = pytest.importorskip("transformers")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    built = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.add_special_tokens([AddedToken(mark, special=True) for mark in ("<s>", "</s>", *marks)])
    built.save(str(tmp_path / "tokenizer.json"))
    config = {"chat_template": template, "bos_token": "<s>", "eos_token": "</s>"}
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({**config, "tokenizer_class": "PreTrainedTokenizerFast"}), encoding="utf-8"
    )
    own = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for index in range(3):
        item = item_with_tools(index, 20_000 * bool(index), tokenizer=f"hf:{tmp_path}")
        chat = json.loads(json.dumps(chat_of(item)))
        for message in chat:
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        ids = own.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)["input_ids"]
        assert len(ids) == item.survey.tokens
        assert not index or len(ids) == 20_000


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for m in messages %}{{ m.role + m.content }}{% endfor %}", "does not write calls of tools"),
        (
            "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c | tojson }}{% endfor %}{% endfor %}",
            "does not write calls of tools",
        ),
        (
            "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}{% endfor %}",
            "refuses this conversation: no tools",
        ),
    ],
)
def test_templates_without_tools_are_refused(template: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        Templated(template).chat.parts(item_with_tools().messages())
    assert str(refused.value).endswith("choose a form of the task without them, such as `form=chat`")
    assert Templated(template).chat.parts([Message("user", "A")]) is not None


def test_a_result_that_a_template_writes_as_json_is_counted_with_its_escapes() -> None:
    template = "{% for m in messages %}{{ m.content | tojson }}{{ m.tool_calls | tojson if m.tool_calls }}{% endfor %}"
    messages = [Message("user", "A"), Message("call", 'bcdfgh a.b {"c": "d"}'), Message("tool", 'bcdfgh {"ok": true}')]
    text = "".join(part.text for part in Templated(template).chat.parts(messages))
    assert '"bcdfgh {\\"ok\\": true}"' in text


@pytest.mark.parametrize("tokenizer", ["smollm2", "qwen3", "llama3", "deepseek-v3", "tekken", "mistral-v7"])
def test_formats_that_are_known_without_tools_are_refused(tokenizer: str) -> None:
    with pytest.raises(UsageError, match="known without calls of tools"):
        item_with_tools(tokenizer=tokenizer)


def test_the_id_of_a_call_may_be_given_as_an_api_takes_it() -> None:
    item = next(item for index in range(99) if NODE.pattern.fullmatch((item := item_with_tools(index)).gold))
    other = next(call.id for call in item.context.instance.structure.calls if call.id != item.gold)
    for text in (f"FINAL ANSWER: {item.gold}000", f"The last change was by call `{item.gold}000`.", item.gold):
        assert grade(item.task, item.question, text).score == 1.0, text
    assert grade(item.task, item.question, f"FINAL ANSWER: {other}000").score == 0.0


# --- runs ---


class ToolServer(Server):
    """A server that refuses what APIs refuse, and answers from what it reads."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(ToolHandler)
        self.answers = {text_of_chat(chat_of(item_of(id))): item_of(id).gold for id in ids}
        self.requests = list[dict[str, Any]]()


class ToolHandler(Handler):
    def do_POST(self) -> None:
        server, body = self.server, json.loads(self.read())
        assert isinstance(server, ToolServer)
        messages = body["messages"]
        if len(messages) < 3:
            self.send(reply("OK"))
            return
        server.requests.append(body)
        check_chat(messages)
        self.send(reply(f"FINAL ANSWER: {server.answers[text_of_chat(messages)]}"))


def test_a_server_gets_valid_messages_and_no_log_keeps_the_calls(tmp_path: Path) -> None:
    ids = [item_with_tools(index, 4096, tokenizer="o200k").id for index in range(4)]
    server = ToolServer(ids)
    with listening(server) as address:
        results = carrara.run(
            "trajectory",
            "openai-api/test/model",
            base_url=address,
            out=tmp_path,
            n=4,
            lengths="4k",
            params=TOOLS,
            tokenizer="o200k",
        )
        assert [result.score for result in results] == [1.0] * 4
    assert len(server.requests) == 4
    assert all("tools" not in request for request in server.requests)
    logged = "".join(path.read_text("utf-8", "replace") for path in tmp_path.rglob("*.json"))
    assert all(text_of_chat(request["messages"]).splitlines()[20] not in logged for request in server.requests)
    assert Counter(result.status for result in read_results(tmp_path)) == {"ok": 4}


class Recorder(ModelAPI):
    """A provider that needs tools to be declared if messages call some."""

    def __init__(self, model_name: str, *args: Any, **options: Any) -> None:
        super().__init__(model_name)
        self.input, self.tools = list[ChatMessage](), list[ToolInfo]()

    def tools_required(self) -> bool:
        return True

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        self.input, self.tools = input, tools
        assert tool_choice == "none"
        return ModelOutput.from_content("recorder", "FINAL ANSWER: none")


@modelapi(name="recorder")
def provider() -> type[ModelAPI]:
    return Recorder


def test_tools_are_declared_where_an_api_needs_them(tmp_path: Path) -> None:
    model = get_model("recorder/model", memoize=False)
    recorder = model.api
    assert isinstance(recorder, Recorder)
    [log] = eval(
        trajectory(form="tools", n=1, tokenizer="gpt2"), model=model, display="none", log_dir=str(tmp_path / "logs")
    )
    assert log.status == "success"
    called = {call.function: {*call.arguments} for m in recorder.input for call in getattr(m, "tool_calls", None) or ()}
    assert {tool.name for tool in recorder.tools} == {*called}
    assert all(called[tool.name] <= {*tool.parameters.properties} for tool in recorder.tools)
    assert declare_tools([message for message in recorder.input if message.role == "user"]) == []


def test_any_solver_gets_the_calls_and_the_log_does_not(tmp_path: Path) -> None:
    task = trajectory(form="tools", length="4k", n=1, tokenizer="gpt2")
    [log] = eval(task, solver=generate(), model="carrara/oracle", display="none", log_dir=str(tmp_path / "logs"))
    assert log.samples
    [sample] = log.samples
    assert sample.output.completion, sample.error and sample.error.traceback
    assert sample.scores
    assert read_results(tmp_path / "logs")[0].score == 1.0
    assert not any(isinstance(message, ChatMessageAssistant) and message.tool_calls for message in sample.messages)
    assert '"arguments":{' not in sample.model_dump_json()


def test_a_function_gets_messages_as_chat_templates_take_them(tmp_path: Path) -> None:
    seen = list[Any]()

    def ask(messages: list[dict[str, Any]]) -> str:
        seen.append(messages)
        return "FINAL ANSWER: none"

    carrara.run("trajectory", ask, out=tmp_path, n=1, params=TOOLS, tokenizer="gpt2")
    [messages] = seen
    check_chat(messages)
    assert messages == chat_of(item_with_tools(tokenizer="gpt2"))


@pytest.mark.parametrize("reader", ["notes", "evidence", "search"])
def test_readers_get_a_transcript(reader: str, tmp_path: Path) -> None:
    results = carrara.run(
        "trajectory",
        "carrara/oracle",
        out=tmp_path,
        n=2,
        lengths="4k",
        params=TOOLS,
        tokenizer="gpt2",
        reader=reader,
    )
    assert [result.score for result in results] == [1.0, 1.0]


def test_a_part_of_the_context_is_a_text_for_readers() -> None:
    for params in (TOOLS, {"form": "chat"}):
        item = make("carrara/trajectory", length=4096, params=params, tokenizer="gpt2")
        context = ReaderContext(item)
        assert ("Tool call: " in context.text) == (params == TOOLS)
        prompts = [context.prompt([context.text]), context.prompt([context.text[200:]])]
        for prompt in prompts[params != TOOLS :]:
            [message] = prompt
            assert message.role == "user"
        assert all(item.solve(prompt) == item.question.gold for prompt in prompts)


# --- exports ---


def test_lines_have_the_messages_as_sent() -> None:
    item = item_with_tools(tokenizer="o200k")
    row = render(item)
    assert row["messages"] == chat_of(item)
    texts = {segment.text for fact in item.context.instance.chunks for segment in fact}
    for span in row["spans"]:
        message = row["messages"][span["message"]]
        content = message["content"][span["start"] : span["end"]]
        assert content == "" if "tool_calls" in message else content in texts
    body = batch(item, RequestSettings("gpt-4o", None))["body"]
    check_chat(body["messages"])
    train = make("carrara/trajectory", params=TOOLS, split="train")
    conversation = finetuning(train)["messages"]
    check_chat(conversation[:-1])
    assert conversation[-1] == {"role": "assistant", "content": train.gold}


def test_a_row_of_nemo_gym_has_items_of_the_responses_api() -> None:
    item = item_with_tools()
    sent = nemo_gym_row(item)["responses_create_params"]["input"]
    RESPONSES.validate_python(sent)
    calls = [entry for entry in sent if entry.get("type") == "function_call"]
    results = [entry for entry in sent if entry.get("type") == "function_call_output"]
    assert [call["call_id"] for call in calls] == [result["call_id"] for result in results]
    assert len(calls) == len(sent) // 2 - 1


def test_tables_have_only_texts() -> None:
    with pytest.raises(UsageError, match="a table has only texts: choose a form of the task without them"):
        tabular(item_with_tools())

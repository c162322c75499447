"""The reader `search`: the model does not see the context, and has two tools to look into it.

    find(pattern, start)     the places where a regular expression occurs, each with the text around it
    read(start, tokens)      the text from a position on

Both return a bounded text, and the model has a bounded number of calls. Patterns are matched in linear time (RE2). A
model without a format for calls of tools may write them as JSON: {"name": "find", "arguments": {"pattern": "…"}}.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrara.items.item_id import ItemId
from carrara.readers.context import ReaderContext
from carrara.readers.reader import Estimate, Reader, ReaderModel, Reading
from carrara.util.errors import UsageError
from carrara.util.unicode import replace_surrogates

if TYPE_CHECKING:
    from inspect_ai.tool import ToolInfo

HITS = 10
"""The most places that one search returns."""
AROUND = 120
"""The characters on each side of a place."""
LONGEST = 200
"""The most characters of a pattern, and of the matched text that is shown."""
MEMORY = 1 << 20
"""The bytes that a compiled pattern may take."""
ROUND = 250
"""The tokens that a call and its result take, about."""
HIDDEN = "[The text is not shown here. It has {characters:,} characters. Look into it with the tools.]"
_TASK = (
    "You are to answer a question about a long text that is not shown. You have two tools: `find` searches it for a "
    "regular expression, and `read` shows the text from a position on. You may call them {calls} times, and then you "
    "have to answer. The text stands between the instructions and the question below."
)
_CALL = (
    'To call a tool, reply with one JSON object and nothing else: {"name": "find", "arguments": {"pattern": "…", '
    '"start": 0}} or {"name": "read", "arguments": {"start": 0, "tokens": 500}}.'
)
_LAST = "You have used all calls of the tools. Answer the question now."
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Search(Reader):
    """The model does not see the context, and has tools to search and to read it."""

    calls: int = 20
    """The most calls of tools."""
    page: int = 1024
    """The most tokens that one call returns."""
    plain: bool = False
    """Whether calls are written as JSON in plain replies, for models without a format of their own."""

    name = "search"

    def __post_init__(self) -> None:
        for setting in ("calls", "page"):
            if getattr(self, setting) < 1:
                raise UsageError(f"the reader search: {setting} is 0, give 1 or more")

    def check(self, first: ItemId) -> None:
        if first.style == "base":
            raise UsageError("the reader search is a conversation, and a base model only completes its prompt")

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        from inspect_ai.model import ChatMessage, ChatMessageTool, ChatMessageUser

        tools = [] if self.plain else tool_infos(self.page)
        task = _TASK.format(calls=self.calls) + (f"\n\n{_CALL}" if self.plain else "")
        hidden = context.prompt([HIDDEN.format(characters=len(context.text))])[-1].content
        messages: list[ChatMessage] = [ChatMessageUser(content=f"{task}\n\n{hidden}")]
        calls_made = 0
        while calls_made < self.calls:
            output = await model.generate(messages, tools)
            if not output.choices:
                return Reading("", "" if calls_made else "unread")
            native = output.message.tool_calls or []
            written = [] if native else written_calls(output.completion)
            if not native and not written:
                return Reading(output.completion, "" if calls_made else "unread")
            messages.append(output.message)
            for call in native:
                result = self._call(context, call.function, call.arguments) if calls_made < self.calls else _LAST
                messages.append(ChatMessageTool(content=result, tool_call_id=call.id, function=call.function))
                calls_made += 1
            if written:
                name, arguments = written[0]
                messages.append(ChatMessageUser(content=self._call(context, name, arguments)))
                calls_made += 1
        messages.append(ChatMessageUser(content=_LAST))
        output = await model.generate(messages, tools, may_call=False)
        return Reading(output.completion, "limited")

    def _call(self, context: ReaderContext, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the result of a call, or a sentence that says what is wrong with it."""
        start = _number_of(arguments.get("start", 0))
        if start is None:
            return "`start` is not a position: give a whole number of characters, such as 0."
        if name == "find":
            return find(context, arguments.get("pattern"), start, self.page)
        if name == "read":
            tokens = _number_of(arguments.get("tokens", self.page))
            if not tokens:
                return "`tokens` is not a number of tokens: give a whole number, such as 500."
            return read(context, start, min(tokens, self.page))
        return f"There is no tool {name!r:.60}: call `find` or `read`."

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        rounds = self.calls + 1
        return Estimate(rounds, rounds * around + ROUND * rounds * (rounds - 1) // 2, rounds * 30 + answer)


def tool_infos(page: int) -> "list[ToolInfo]":
    """Return the descriptions of the two tools that a model receives."""
    from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

    start = ToolParam(type="integer", description="The position at which to begin, in characters from 0.")
    pattern = ToolParam(type="string", description="A regular expression. Upper and lower case are the same.")
    tokens = ToolParam(type="integer", description=f"How much to show, in tokens; at most {page}.")
    return [
        ToolInfo(
            name="find",
            description=f"Search the text. Returns up to {HITS} places with the text around them.",
            parameters=ToolParams(properties={"pattern": pattern, "start": start}, required=["pattern"]),
        ),
        ToolInfo(
            name="read",
            description="Show the text from a position on.",
            parameters=ToolParams(properties={"start": start, "tokens": tokens}, required=["start"]),
        ),
    ]


def find(context: ReaderContext, pattern: object, start: int, tokens: int) -> str:
    """Return the places where a pattern occurs, with the text around them."""
    import re2

    if not isinstance(pattern, str) or not pattern.strip():
        return "`pattern` is empty: give the words to search for."
    if len(pattern) > LONGEST:
        return f"The pattern has {len(pattern):,} characters: give at most {LONGEST}."
    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, MEMORY
    pattern = replace_surrogates(pattern)
    try:
        compiled = re2.compile(pattern, options)
    except re2.error:
        compiled = re2.compile(re2.escape(pattern), options)  # words with a sign that has a meaning in patterns
    text, lines, end, left = context.text, list[str](), -1, tokens
    for match in compiled.finditer(text, min(start, len(text))):
        if match.start() == match.end() or match.start() < end:
            continue  # it stands in the text that was shown last
        if len(lines) == HITS:
            lines.append(f"There are more, from {match.start()} on.")
            break
        matched = min(match.end(), match.start() + LONGEST)
        passage = context.around(match.start(), matched, AROUND)
        if (left := left - context.count(passage)) < 0:
            lines.append(f"There are more, from {match.start()} on.")
            break
        end = passage.end
        lines.append(f"[{passage.start}] {passage}")
    return "\n".join(lines) if lines else f"Nothing is found from {start} on."


def read(context: ReaderContext, start: int, tokens: int) -> str:
    """Return the text from a position on."""
    size = len(context.text)
    if start >= size:
        return f"The text ends at {size}."
    passage = context.from_position(start, tokens)
    rest = f"The text goes on at {passage.end}." if passage.end < size else "This is the end of the text."
    return f"[{passage.start}] {passage}\n{rest}"


def written_calls(reply: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the calls of tools that a reply writes as JSON.

    >>> written_calls('```json\\n{"name": "find", "arguments": {"pattern": "key"}}\\n```')
    [('find', {'pattern': 'key'})]
    >>> written_calls("The garden.")
    []
    """
    calls = list[tuple[str, Mapping[str, Any]]]()
    for brace in re.finditer(r"\{\s*\"", reply[: 1 << 14]):
        try:
            value, _ = _DECODER.raw_decode(reply, brace.start())
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            continue
        arguments = value.get("arguments", value.get("parameters"))
        if isinstance(arguments, dict):
            calls.append((value["name"], arguments))
    return calls


def _number_of(value: object) -> int | None:
    """Return the number that a model wrote. None if it is no whole number of at least 0."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,12}\s*", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None

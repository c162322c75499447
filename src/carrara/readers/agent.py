"""The reader `agent`: any agent or solver of Inspect AI, with the context as two tools or as a file in its sandbox.

    agent:react                                 an agent of an installed package, by its name in Inspect's registry
    agent:my_agents.py@careful,calls=30         an agent or solver in a file
    agent:my_agents.py@careful,sandbox=docker   the same, with the context as the file context.txt in the sandbox

An agent that is made with `tools` gets the tools `find` and `read` of the reader `search`; for a solver they are among
the tools of the state. Calls of the model are counted, and limited, whoever makes them.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrara.items.item_id import ItemId
from carrara.readers import search
from carrara.readers.context import ReaderContext
from carrara.readers.context_file import ContextFile
from carrara.readers.reader import Estimate, LimitReachedError, Reader, ReaderModel, Reading
from carrara.readers.sandboxes import check_sandbox, parse_sandbox
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage
    from inspect_ai.tool import Tool

FILE = "context.txt"
"""The file that holds the context, in the agent's working directory."""
_WITH_TOOLS = (
    "Answer a question about a long text that is not shown. Two tools look into it: `find` searches it for a regular "
    "expression, and `read` shows the text from a position on. The text stands between the instructions and the "
    "question below. Your last message has to be the reply that the question asks for."
)
_LAST = "You may not call the model or tools any more. Answer the question now."


@dataclass(frozen=True)
class AgentReader(Reader):
    """An agent or a solver of Inspect AI reads the context by tools, or as a file."""

    agent: str
    """The name of the agent or solver in Inspect's registry, or file.py@name."""
    calls: int = 50
    """The most calls of the model."""
    page: int = 1024
    """The most tokens that a call of `find` or `read` returns."""
    sandbox: str = ""
    """The type of Inspect's sandbox in which the context is a file, or TYPE:FILE with the absolute path of the file
    that describes it. Without it the agent gets two tools."""

    name = "agent"

    def __post_init__(self) -> None:
        parse_sandbox(self.name, self.sandbox)

    @classmethod
    def parse(cls, options: str) -> "Reader":
        agent, _, settings = options.partition(",")
        if not agent:
            raise UsageError("the reader agent needs the name of an agent or solver of Inspect, such as agent:react")
        known = {field.name: field.default for field in fields(cls) if field.name != "agent"}
        return cls(agent, **cls.parse_settings(settings, known))

    def __str__(self) -> str:
        return f"{self.name}:{self.agent},{self.write_settings(('calls', 'page', 'sandbox'))}"

    def check(self, first: ItemId) -> None:
        if first.style == "base":
            raise UsageError("the reader agent is a conversation, and a base model only completes its prompt")

    def ready(self) -> None:
        if self.sandbox:
            check_sandbox(self.name, parse_sandbox(self.name, self.sandbox)[0])
        self._make([])

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        from inspect_ai.model import ChatMessageUser

        tools = [] if self.sandbox else context_tools(context, self.page)
        if self.sandbox:
            from inspect_ai.util import sandbox

            file = context.file
            await sandbox().write_file(FILE, file.content.encode())
            task = prompt_with_file(file)
        else:
            hidden = context.prompt([search.HIDDEN.format(characters=len(context.text))])
            task = f"{_WITH_TOOLS}\n\n{hidden[-1].content}"
        conversation = _Conversation(self._make(tools), tools, [ChatMessageUser(content=task, source="input")])
        try:
            with model.limit(self.calls):
                reply = await conversation.run()
        except LimitReachedError:
            messages = [*conversation.messages, ChatMessageUser(content=_LAST)]
            output = await model.generate(_complete(messages))
            return Reading(output.completion, "limited")
        called = any(message.role == "tool" for message in conversation.messages)
        return Reading(reply, "" if called else "unread")

    def _make(self, tools: "Sequence[Tool]") -> Any:
        """Return the agent or solver, made with the tools if it takes any."""
        make = _factory(self.agent)
        takes = inspect.signature(make).parameters
        agent = make(tools=list(tools)) if "tools" in takes and not self.sandbox else make()
        if not callable(agent):
            raise UsageError(f"{self.agent} returned {type(agent).__name__}: it has to return an agent or a solver")
        return agent

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        return search.Search(calls=self.calls, page=self.page).estimate(prompt, around, answer)


def prompt_with_file(file: ContextFile) -> str:
    """Return the prompt of an item whose context is the file `FILE` in the agent's working directory."""
    return (
        f"Answer a question about a long text that is not shown. {file.about(FILE)} Your last message has to be the "
        f"reply that the question asks for.\n\n{file.instruction(FILE)}"
    )


class _Conversation:
    """The conversation of an agent or a solver. Its messages can be read even after it was stopped."""

    def __init__(self, agent: Any, tools: "Sequence[Tool]", messages: "list[ChatMessage]") -> None:
        self._agent, self._tools = agent, tools
        self._state: Any = None
        self._first = messages

    @property
    def messages(self) -> "list[ChatMessage]":
        return list(self._state.messages) if self._state is not None else self._first

    async def run(self) -> str:
        from inspect_ai.agent import AgentState, is_agent

        if is_agent(self._agent):
            self._state = AgentState(messages=list(self._first))
            self._state = await self._agent(self._state)
        else:
            self._state = _task_state(self._first, self._tools)
            self._state = await self._agent(self._state, _generate)
        output = self._state.output
        if output.choices and output.completion.strip():
            return str(output.completion)
        replies = [message.text for message in self.messages if message.role == "assistant"]
        return replies[-1] if replies else ""


def _task_state(messages: "list[ChatMessage]", tools: "Sequence[Tool]") -> Any:
    from inspect_ai.model import ModelName, get_model
    from inspect_ai.solver import TaskState

    name = ModelName(get_model())
    state = TaskState(name, sample_id="context", epoch=1, input=list(messages), messages=list(messages))
    state.tools = list(tools)
    return state


async def _generate(state: Any, tool_calls: str = "loop", cache: bool = False, **config: Any) -> Any:
    """Have the model reply to a solver's state, and call the tools that it asks for."""
    from inspect_ai.model import GenerateConfig, execute_tools, get_model

    while True:
        output = await get_model().generate(state.messages, state.tools, state.tool_choice, GenerateConfig(**config))
        state.output = output
        state.messages.append(output.message)
        if not output.message.tool_calls or tool_calls == "none":
            return state
        result = await execute_tools(state.messages, state.tools)
        state.messages.extend(result.messages)
        if result.output is not None:
            state.output = result.output
        if tool_calls == "single":
            return state


def context_tools(context: ReaderContext, page: int) -> "list[Tool]":
    """Return the tools `find` and `read` of a context, for agents of Inspect."""
    from inspect_ai.tool import ToolDef

    async def find(pattern: str, start: int = 0) -> str:
        return search.find(context, pattern, max(0, start), page)

    async def read(start: int, tokens: int = page) -> str:
        return search.read(context, max(0, start), max(1, min(tokens, page)))

    functions: dict[str, Callable[..., Any]] = {"find": find, "read": read}
    return [
        ToolDef(functions[info.name], info.name, info.description, info.parameters).as_tool()
        for info in search.tool_infos(page)
    ]


def _factory(name: str) -> Callable[..., Any]:
    """Return the function that makes an agent or a solver."""
    path, at, function = name.partition("@")
    if at:
        return _from_file(Path(path), function)
    for kind in ("agent", "solver"):
        if _create(kind, name) is not None:
            return partial(_from_registry, kind, name)
    raise UsageError(f"Inspect has no agent and no solver {name!r}: give the name of an installed one, or file.py@name")


def _from_registry(kind: str, name: str, tools: "Sequence[Tool] | None" = None) -> Any:
    """Return a registered agent or solver, made with the tools if it takes any."""
    created = _create(kind, name, tools=list(tools or []))
    return _create(kind, name) if created is None else created


def _create(kind: str, name: str, **arguments: Any) -> Any:
    """Return a registered object. None: it is not registered, or does not take the arguments."""
    from inspect_ai.util import registry_create

    create: Any = registry_create
    try:
        return create(kind, name, **arguments)
    except (LookupError, TypeError, ValueError):
        return None


def _from_file(path: Path, function: str) -> Callable[..., Any]:
    if not path.is_file():
        raise UsageError(f"there is no file {path}: give the file of the agent or solver, as file.py@name")
    spec = spec_from_file_location(f"carrara_agent_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file: give the file of the agent or solver, as file.py@name")
    if spec.name in sys.modules:
        module = sys.modules[spec.name]
    else:
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[spec.name]
            raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}") from None
    factory = getattr(module, function, None)
    if not callable(factory):
        raise UsageError(f"{path} has no function {function!r}: give one that returns an agent or a solver")
    return factory  # type: ignore[no-any-return]


def _complete(messages: "Sequence[ChatMessage]") -> "list[ChatMessage]":
    """Return a conversation in which each call of a tool has a result, as servers want it."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool

    answered = {message.tool_call_id for message in messages if isinstance(message, ChatMessageTool)}
    complete: list[ChatMessage] = []
    for message in messages:
        complete.append(message)
        if isinstance(message, ChatMessageAssistant):
            complete += [
                ChatMessageTool(content="The call was not made.", tool_call_id=call.id, function=call.function)
                for call in message.tool_calls or []
                if call.id not in answered
            ]
    return complete

"""Python functions as models, so that a user who trains a model needs no server.

    def ask(prompt: str) -> str: ...                     # a prompt that is one message
    def ask(messages: list[dict[str, str]]) -> str: ...  # [{"role": "user", "content": …}, …], as chat templates take
    async def ask(…) -> str: ...

The annotation of the parameter decides whether the function gets a text or messages; without one it gets a text. A
function that is not async is called in a thread, one call at a time unless the user asks for more connections. Results
name the model by the function's name.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, get_origin, get_type_hints

import anyio
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from carrara.servers.embedded import in_chat
from carrara.util.errors import RunError, UsageError, describe_exception, has_long_text

Function = Callable[[Any], str | Awaitable[str]]

MOST_AT_ONCE = 10
"""Calls of an async function."""


def name_of(function: Function) -> str:
    """Return the name of a function among models.

    >>> def ask(prompt: str) -> str: ...
    >>> name_of(ask)
    'function/ask'
    """
    name = getattr(function, "__name__", type(function).__name__)
    if not name.isidentifier():
        raise UsageError(f"a model in results is called by its name, and {name} is none: define it with `def`")
    return f"function/{name}"


def model_of(function: Function) -> Model:
    make: Callable[[str, Function], ModelAPI] = _provider  # as Inspect's decorator leaves it
    return Model(make(name_of(function).partition("/")[2], function), GenerateConfig())


class FunctionAPI(ModelAPI):
    def __init__(self, model_name: str, function: Function) -> None:
        super().__init__(model_name)
        self.function = function
        self.takes_messages = _takes_messages(function)
        self.waits = inspect.iscoroutinefunction(_code_of(function))

    def max_connections(self) -> int:
        return MOST_AT_ONCE if self.waits else 1

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        if self.takes_messages:
            prompt: Any = [in_chat(message) for message in input]
        elif len(input) == 1:
            prompt = input[0].text
        else:
            raise UsageError(
                f"{self.model_name} takes one text, and this prompt has {len(input)} turns: annotate its parameter "
                "as list[dict[str, str]], and it is sent messages"
            )
        try:
            if self.waits:
                reply: Any = await self.function(prompt)  # type: ignore[misc]
            else:
                reply = await anyio.to_thread.run_sync(self.function, prompt)
        except (Exception, SystemExit) as error:
            cause = None if has_long_text(error) else error
            raise RunError(f"{self.model_name} raised {describe_exception(error)}") from cause
        if not isinstance(reply, str):
            raise UsageError(f"{self.model_name} replied with a {type(reply).__name__}, which is no text")
        return ModelOutput.from_content(self.model_name, reply)


@modelapi(name="function")
def _provider() -> type[ModelAPI]:
    return FunctionAPI


def _code_of(function: Function) -> Callable[..., Any]:
    """Return the code that runs: for an object, the method by which it is called."""
    return function if inspect.isroutine(function) else type(function).__call__


def _takes_messages(function: Function) -> bool:
    required = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    if len(required) != 1 or required[0].kind not in (required[0].POSITIONAL_ONLY, required[0].POSITIONAL_OR_KEYWORD):
        raise UsageError(f"{name_of(function)} is to take a prompt, and nothing else that has to be given")
    hint = get_type_hints(_code_of(function)).get(required[0].name, str)
    if hint is str:
        return False
    origin = get_origin(hint) or hint
    if isinstance(origin, type) and issubclass(list, origin):
        return True
    raise UsageError(f"{name_of(function)} takes a {hint}: annotate its parameter as str, or as list[dict[str, str]]")

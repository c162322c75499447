"""A model that says what it is told to, and readers whose losses are therefore known."""

import re
from collections.abc import Iterator
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageTool, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolCall, ToolInfo

from carrara.readers.context import Passage, ReaderContext
from carrara.readers.reader import ReaderModel

TOLD = re.compile(r"SAY<(.*?)>YAS", re.DOTALL)


class Told:
    """A model that replies with what the prompt tells it to say, and counts its calls."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        found = TOLD.findall(prompt)
        return str(found[-1]) if found else "FINAL ANSWER: nothing"


def say(text: str) -> str:
    """Return what tells the model to say a text."""
    return f"SAY<{text}>YAS"


async def note(model: ReaderModel, passage: str, notes: str) -> str:
    """Show a passage, and have the model write notes."""
    return await model(f"Read this:\n{passage}\n{say(notes)}")


def with_fact(context: ReaderContext, size: int = 300) -> Iterator[tuple[Passage, bool]]:
    """Yield the passages of a context, each with whether it has the first needed fact."""
    fact = context.needed[0]
    for passage in context.passages(size):
        yield passage, passage.start <= fact.start < passage.end


SEEN: list[list[ChatMessage]] = []
"""What the model `caller/x` was sent."""


@modelapi(name="caller")
def caller() -> type[ModelAPI]:
    class Caller(ModelAPI):
        """Reads the whole text page by page, and answers with what it saw."""

        async def generate(
            self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: Any, config: Any
        ) -> ModelOutput:
            SEEN.append(input)
            shown = [m.text for m in input if isinstance(m, ChatMessageTool) and m.function == "read"]
            if any(tool.name == "read" for tool in tools) and (not shown or "goes on at" in shown[-1]):
                start = int(shown[-1].rpartition("goes on at ")[2].rstrip(".")) if shown else 0
                output = ModelOutput.for_tool_call("caller", "read", {"start": start, "tokens": 400})
                output.message.tool_calls = [
                    ToolCall(id=f"c{len(shown)}", function="read", arguments={"start": start, "tokens": 400})
                ]
                return output
            answer = f"FINAL ANSWER: {len(shown)}"
            if any(tool.name == "submit" for tool in tools):
                return ModelOutput.for_tool_call("caller", "submit", {"answer": answer})
            return ModelOutput.from_content("caller", answer)

    return Caller

"""`carrara/NAME` for Inspect: the embedded model and the reference models."""

from collections.abc import Sequence
from typing import Any

import anyio
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from carrara.errors import UsageError, nearest
from carrara.types import Message

MODELS = {
    "smollm2": "SmolLM2-135M-Instruct on llama.cpp, in this process: real, but weak",
    "oracle": "solves from the rendered text: 1, or an item is broken",
    "chance": "guesses blindly",
    "majority": "gives the answer that is commonest for the kind of question",
    "echo": "repeats the prompt",
}


@modelapi(name="carrara")
def carrara() -> type[ModelAPI]:
    return CarraraAPI


class CarraraAPI(ModelAPI):
    """Becomes the model that is named."""

    def __new__(cls, model_name: str, *args: Any, **kwargs: Any) -> ModelAPI:  # type: ignore[misc]
        if model_name not in MODELS:
            raise UsageError(
                f"there is no model carrara/{model_name}{nearest(model_name, MODELS)}; there are {', '.join(MODELS)}"
            )
        if model_name == "smollm2":
            from carrara.models.embedded import Embedded

            return Embedded(model_name, *args, **kwargs)
        return Reference(model_name, *args, **kwargs)


class Reference(ModelAPI):
    """A model that needs no weights. It is told which item it is asked, and reads that item's prompt."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # as in Inspect
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        from carrara.engine.by_reference import KEY

        wanted = next((m.metadata[KEY] for m in input if m.metadata and KEY in m.metadata), None)
        if wanted is None:
            return ModelOutput.from_content(self.model_name, "OK")
        messages = [Message(m.role, m.text) for m in input if m.role != "tool"]
        reply = await anyio.to_thread.run_sync(self.reply, str(wanted["id"]), messages)
        return ModelOutput.from_content(self.model_name, reply)

    def reply(self, id: str, messages: Sequence[Message]) -> str:
        from carrara.engine.items import item_of
        from carrara.models.reference import REFERENCES

        return REFERENCES[self.model_name](item_of(id), messages)

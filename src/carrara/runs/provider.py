"""The provider `carrara/NAME` of Inspect: the embedded model, local GGUF files and the reference models."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

import anyio
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from carrara.constants import KEY, PARTS, PROMPT
from carrara.items.item import item_of
from carrara.readers.perfect import answer_from, next_block, next_reads, reply_to, writes_code
from carrara.readers.search import Search
from carrara.runs import calls
from carrara.servers.chat_messages import from_inspect
from carrara.servers.inspect_private import SetupError
from carrara.types import Message
from carrara.util.errors import nearest
from carrara.verify.reference import REFERENCES, reply_in_turn

MODELS = {
    "smollm2": "SmolLM2-135M-Instruct on llama.cpp, in this process: real, but weak",
    "oracle": "solves from the rendered text: 1, or an item is broken",
    "chance": "guesses as the task's guesser does, whose mean score is the chance level",
    "majority": "gives the answer that is commonest for the kind of question",
    "echo": "repeats the prompt",
}


@modelapi(name="carrara")
def carrara() -> type[ModelAPI]:
    return CarraraAPI


class CarraraAPI(ModelAPI):
    """The provider of Carrara's models. Its constructor returns the provider of the named model."""

    def __new__(cls, model_name: str, *args: Any, **kwargs: Any) -> ModelAPI:  # type: ignore[misc]
        provider_class: type[ModelAPI] = ReferenceModel
        if model_name.startswith(("recurrent:", "probe:")):
            provider_class = _streaming(model_name)
        elif model_name not in MODELS and not model_name.startswith("gguf:"):
            raise SetupError(
                f"there is no model carrara/{model_name}{nearest(model_name, MODELS)}; there are {', '.join(MODELS)}, "
                f"gguf:PATH, recurrent:DIR and probe:MODULE:MODEL"
            )
        elif model_name not in REFERENCES:
            from carrara.servers.embedded import EmbeddedAPI

            provider_class = EmbeddedAPI
        _check(model_name, provider_class, kwargs)
        return provider_class(model_name, *args, **kwargs)


def _streaming(model_name: str) -> type[ModelAPI]:
    try:
        from carrara.runs.streaming import ProbedAPI, Recurrent
    except ModuleNotFoundError as error:
        if error.name in ("torch", "safetensors"):
            raise SetupError("recurrent models need PyTorch: pip install 'carrara[recurrent]'") from None
        raise
    return Recurrent if model_name.startswith("recurrent:") else ProbedAPI


def _check(model_name: str, provider_class: type[ModelAPI], arguments: Mapping[str, Any]) -> None:
    """Raise for arguments that a model does not have, or that have a wrong type."""
    hints = {
        name: hint
        for name, hint in get_type_hints(provider_class.__init__).items()
        if name not in ("return", "model_name")
    }
    own_names = [name for name in hints if name not in ("base_url", "api_key", "config", "base")]
    for name, value in arguments.items():
        if name not in hints:
            has = f"it has {', '.join(own_names)}" if own_names else "it has none"
            raise SetupError(
                f"carrara/{model_name} has no argument {name!r}{nearest(name, own_names)}; {has}: correct `model_args`"
            )
        kinds = get_args(hints[name]) or (hints[name],)
        # True is an int in Python, but not a number of tokens
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            expected = "a whole number" if int in kinds else "a path" if str in kinds else "something else"
            raise SetupError(f"carrara/{model_name}: {name}={value} is not {expected}: correct `model_args`")
        if isinstance(value, int) and not isinstance(value, bool) and value < 1:
            raise SetupError(f"carrara/{model_name}: {name}={value} is below 1: correct `model_args`")


class ReferenceModel(ModelAPI):
    """A model without weights. It receives the id of the item, and reads that item's prompt."""

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
        item_calls = calls.current()
        id = item_calls.id if item_calls else next((id for message in input if (id := _item_id(message))), None)
        if id is None:
            return ModelOutput.from_content(self.model_name, "OK")
        messages = [from_inspect(message) for message in input if message.role != "tool" or _is_prompt(message)]
        if self.model_name == "oracle" and not any(map(_is_prompt, input)):
            return await anyio.to_thread.run_sync(self._read, id, input, tools if tool_choice == "auto" else [])
        reply = await anyio.to_thread.run_sync(self.reply, id, messages)
        return ModelOutput.from_content(self.model_name, reply)

    def _read(self, id: str, input: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> ModelOutput:
        """Return the output of a perfect reader to a message that is not an item's prompt: notes, calls or code."""
        item = item_of(id)
        if writes_code(input[0].text):
            outputs = [message.text for message in input[1:] if message.role == "user"]
            reply = next_block(item, len(outputs)) or answer_from(item, outputs)
            return ModelOutput.from_content(self.model_name, reply)
        results = [message.text for message in input if message.role == "tool"]
        if tools and not results and (reads := next_reads(item, Search.calls, Search.page)):
            output = ModelOutput.for_tool_call(self.model_name, "read", {})
            output.message.tool_calls = [
                ToolCall(id=f"read-{number}", function="read", arguments=call._asdict())
                for number, call in enumerate(reads)
            ]
            return output
        # What a compaction left is a user's text between the task and the last message.
        texts = [message.text for message in input[1:-1] if message.role in ("tool", "user")]
        if input[-1].role == "tool":
            texts.append(input[-1].text)
        if tools or (texts and input[-1].role == "tool"):
            reply = answer_from(item, texts)
        else:
            reply = reply_to(item, input[-1].text, texts)
        return ModelOutput.from_content(self.model_name, reply)

    def reply(self, id: str, messages: Sequence[Message]) -> str:
        return reply_in_turn(self.model_name, item_of(id), messages)


def _is_prompt(message: ChatMessage) -> bool:
    """Return whether a message is an item's prompt, or a part of it, rather than a reader's own message."""
    metadata = message.metadata or {}
    return PROMPT in metadata or (KEY in metadata and PARTS not in metadata[KEY])


def _item_id(message: ChatMessage) -> str | None:
    metadata = message.metadata or {}
    return str(metadata[KEY]["id"]) if KEY in metadata else str(metadata["id"]) if PROMPT in metadata else None

"""The model under test, as a reader calls it: its prompts go by reference, and its calls are counted (calls.py)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    GenerateConfigArgs,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, TaskState
from inspect_ai.tool import ToolInfo

from carrara.answers.reply_text import without_reasoning
from carrara.answers.transcript import join_replies
from carrara.constants import CONTEXT, COT, KEY, REQUEST, REQUESTS
from carrara.items.item import Item, is_quick
from carrara.items.prompt import fingerprint, hash_parts
from carrara.readers.context import Part, ReaderContext
from carrara.readers.prompts import Reference, parts_of
from carrara.runs.by_reference import PromptReference, call_in_thread
from carrara.runs.calls import Calls
from carrara.runs.reading_record import Watch
from carrara.runs.reasoning import Spent, get_reply, request, spent
from carrara.servers import retry
from carrara.servers.inspect_private import active_generate_config
from carrara.servers.reasoning_mode import Thinking
from carrara.servers.redact import Glimpse, shorten
from carrara.servers.response import ending
from carrara.types import Message


def join_outputs(outputs: Sequence[ModelOutput], item: Item) -> ModelOutput:
    """Return the outputs of a conversation as one.

    A reply that the model did not complete, such as one that was cut, ends a conversation. The transcript has the
    reason in its place, and the replies before it count. If it is the first reply, its output is returned.
    """
    first = outputs[0]
    if ending(first) != "answered":
        return first
    replies = [output.completion if (how := ending(output)) == "answered" else f"({how})" for output in outputs]
    joined = ModelOutput.from_content(first.model, join_replies(replies))
    joined.time = sum(output.time or 0.0 for output in outputs)
    costs = [spent(output, item, None) for output in outputs]
    joined.metadata = {
        **(first.metadata or {}),
        COT: Spent(sum(cost.reasoning for cost in costs), sum(cost.answer for cost in costs))._asdict(),
        REQUESTS: sum(_requests(output.metadata) for output in outputs),
    }
    return joined


def _requests(metadata: dict[str, Any] | None) -> int:
    return int((metadata or {}).get(REQUESTS, 0))


@dataclass
class CalledModel:
    """The model for one item. It implements `ReaderModel`.

    Args:
        thinking: How the model reasons when it answers.
    """

    item: Item
    context: ReaderContext
    whole: PromptReference
    thinking: Thinking
    state: TaskState
    generate_state: Generate
    config: GenerateConfigArgs
    calls: Calls
    outputs: list[ModelOutput] = field(default_factory=list[ModelOutput])
    """The outputs of all calls."""

    async def __call__(self, prompt: str, *, max_tokens: int | None = None) -> str:
        output = await self.generate([ChatMessageUser(content=prompt)], max_tokens=max_tokens)
        return without_reasoning(output.completion).strip()

    async def generate(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolInfo] = (),
        *,
        max_tokens: int | None = None,
        may_call: bool = True,
    ) -> ModelOutput:
        referenced = [await call_in_thread(is_quick(self.item.id), self.refer, message) for message in messages]
        configured = active_generate_config().max_tokens  # a model that reasons needs more than the reply
        most = max(max_tokens, configured) if max_tokens and configured else max_tokens or configured
        with retry.attempts_within():
            output = await get_model().generate(
                referenced,
                tools=list(tools),
                tool_choice="auto" if tools and may_call else "none",
                config=GenerateConfig(max_tokens=most),
            )
        self.outputs.append(output)
        return output

    async def answer(self, context: str | Sequence[Part] | None = None) -> str:
        reference = self.whole
        if context is not None:
            parts = self.context.parts(context) if isinstance(context, str) else context
            reference = await call_in_thread(is_quick(self.item.id), make_reference, self.item, self.thinking, parts)
        turns = self.item.prompt.template.follow_ups
        output = await self._converse(reference, turns) if turns else await self._reply([reference.message()])
        self.outputs.append(output)
        return output.completion

    async def _converse(self, reference: PromptReference, follow_ups: Sequence[str]) -> ModelOutput:
        """Have the model reply to the prompt and to each message that follows, up to a reply that is not complete."""
        messages: list[ChatMessage] = [reference.message()]
        outputs = [await self._reply(messages)]
        for text in follow_ups:
            if ending(outputs[-1]) != "answered":
                break
            reply = without_reasoning(outputs[-1].completion).strip()
            messages += ChatMessageAssistant(content=reply), ChatMessageUser(content=text + reference.request)
            outputs.append(await self._reply(messages))
        return join_outputs(outputs, self.item)

    async def _reply(self, messages: Sequence[ChatMessage]) -> ModelOutput:
        state = await get_reply(self.thinking, self.item, messages, self.state, self.generate_state, self.config)
        return state.output

    def output_of(self, reply: str) -> ModelOutput:
        """Return the output that a reader's reply is, with its stop reason. A reply of the reader's own has none."""
        for output in reversed(self.outputs):
            if output.choices and reply.strip() in (
                output.completion.strip(),
                without_reasoning(output.completion).strip(),
            ):
                return output
        return ModelOutput.from_content(str(get_model()), reply)

    @contextmanager
    def limit(self, calls: int) -> Iterator[None]:
        self.calls.most = len(self.calls.made) + calls
        try:
            yield
        finally:
            self.calls.most = None

    def refer(self, message: ChatMessage) -> ChatMessage:
        if isinstance(message.content, str) and KEY not in (message.metadata or {}):
            parts = self.context.parts(message.content)
            if any(not isinstance(part, str) for part in parts):
                digest = fingerprint([Message("user", message.content)])
                shared = str(replace(self.item.item_id, question=0))  # its cached reply serves all questions
                reference = PromptReference(shared, digest, shorten(message.content), parts=parts)
                metadata = {**(message.metadata or {}), KEY: reference.fields()}
                return message.model_copy(update={"content": reference.excerpt, "metadata": metadata})
        return message


def make_reference(
    item: Item, thinking: Thinking, context: Sequence[Part] | None = None, watch: Watch | None = None
) -> PromptReference:
    """Return the reference of an item's prompt.

    Args:
        thinking: How the model reasons, which may add a sentence to the prompt.
        context: What stands in place of the context. None: the context is sent whole.
    """
    more = request(item.prompt.template) if thinking.way == "asked" else ""
    reference: Reference = {"id": item.id, REQUEST: more, **({} if context is None else {CONTEXT: context})}
    digest, seen, message = sha256(), Glimpse(), 0
    for part in hash_parts(parts_of(reference), digest):
        seen.add("\n\n" * (part.message - message) + part.text)
        if watch:
            watch.see(part)
        message = part.message
    return PromptReference(item.id, digest.hexdigest(), seen.text, context, request=more)

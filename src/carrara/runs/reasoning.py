"""Control of chain of thought: free, none, or an exact number of tokens.

    free                 the model replies without restriction
    none, prefilled      the reply starts with the answer's first words: `Shortest Path:`
    none, asked          the prompt asks for the answer alone, where the server cannot continue a message
    exactly:500          500 tokens of reasoning: longer reasoning is cut, shorter reasoning is continued with `Wait`,
                         and then the answer's first words are prefilled

The message that a server continues is the last one, of the assistant. Some servers return it with their continuation,
others return the continuation alone; both are read here. Every reply has the numbers of its tokens of reasoning and of
the answer.
"""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfigArgs,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.solver import Generate, TaskState

from carrara import tokenizers
from carrara.answers.extraction import FINAL
from carrara.answers.reply_text import without_reasoning
from carrara.constants import COT, REQUESTS
from carrara.items.item import Item
from carrara.servers.inspect_private import active_generate_config
from carrara.servers.reasoning_mode import Thinking
from carrara.types import PromptTemplate
from carrara.util.errors import RunError

PUSHES = ("\n\nWait,", "\n\nWait", "\n\n", "\n")
"""Texts that continue a reasoning that is too short, in the model's own voice. The first that fits is used."""
IDLE = 8
"""The number of continuations of at most one token each, after which the model may answer."""
DIRECT = "Reply with the answer alone, without any reasoning or explanation"

_THOUGHT_ENDS = re.compile(r"\s*</think>\s*\Z")


class Spent(NamedTuple):
    """The time and tokens of a reply."""

    reasoning: int
    answer: int


def lead_of(template: PromptTemplate) -> str:
    """Return the first words of an answer without reasoning: those of its task, or the last words of the prompt."""
    if template.lead is not None:
        return template.lead
    last = template.after.rstrip().rpartition("\n")[2]
    return last if last.endswith(":") and len(last) <= _LABEL else FINAL


_LABEL = 40
"""The most characters of a prompt's last words that can be the beginning of the answer."""


def request(template: PromptTemplate) -> str:
    """Return the text that is appended to a prompt to ask for the answer alone."""
    lead = lead_of(template)
    return f"\n\n{DIRECT}{f', beginning with `{lead}`' if lead else ''}."


async def get_reply(
    thinking: Thinking,
    item: Item,
    messages: Sequence[ChatMessage],
    state: TaskState,
    generate: Generate,
    config: GenerateConfigArgs,
) -> TaskState:
    """Have the model reply to messages with the configured reasoning."""
    state.messages = list(messages)
    if not thinking.continues or item.item_id.style == "base":  # the prompts of base models end with these words
        return await generate(state, tool_calls="none", **config)
    turn = _Turn(item, messages, state, generate, config)
    if await turn.reason(thinking.length):
        await turn.answer(lead_of(item.prompt.template))
    return turn.state


class _Turn:
    """A reply that is made in pieces."""

    def __init__(
        self,
        item: Item,
        messages: Sequence[ChatMessage],
        state: TaskState,
        generate: Generate,
        config: GenerateConfigArgs,
    ) -> None:
        self.item, self.messages, self.state, self.generate, self.config = item, messages, state, generate, config
        self.text = ""
        self.spent = 0
        """The tokens of reasoning so far."""
        self.outputs: list[ModelOutput] = []

    async def reason(self, length: int) -> bool:
        """Extend `text` to a number of tokens of reasoning. Return False if the reply is complete already.

        If a model does not continue, it has fewer tokens, and its result says how many.
        """
        counter = tokenizers.get(self.item.item_id.tokenizer)
        idle = 0
        while self.spent < length and idle < IDLE:
            output = await self._ask(length - self.spent)
            if not output.choices or output.stop_reason not in ("stop", "max_tokens"):
                return False
            if output.message.tool_calls:
                return False
            wrote = output.usage.output_tokens if output.usage else 0
            if not wrote and output.completion:
                raise RunError(f"{output.model} does not say how many tokens it wrote, and `cot=exactly` needs it")
            idle = idle + 1 if wrote <= 1 else 0
            self.spent += wrote
            if push := next((push for push in PUSHES if counter.count(push) <= length - self.spent), ""):
                self.text = _THOUGHT_ENDS.sub("", self.text) + push
                self.spent += counter.count(push)
        return True

    async def answer(self, lead: str) -> None:
        """Prefill the first words of the answer."""
        if self.text:
            closed = "\n</think>" if self.text.rfind("<think>") > self.text.rfind("</think>") else ""
            self.text += f"{closed}\n\n"
        self.text += lead
        begun = len(self.text)
        limit = active_generate_config().max_tokens or self.item.question.budget
        output = await self._ask(min(limit, self.item.question.budget))
        # The line of a label is complete; a continuation is not part of it.
        self._settle(output, lead.endswith(":") and "\n" in self.text[begun:].strip())

    async def _ask(self, most: int) -> ModelOutput:
        """Continue the text by at most a number of tokens."""
        reply_so_far = [ChatMessageAssistant(content=self.text)] if self.text else []
        self.state.messages = [*self.messages, *reply_so_far]
        config: GenerateConfigArgs = {**self.config, "max_tokens": most}
        self.state = await self.generate(self.state, tool_calls="none", **config)
        output = self.state.output
        self.text = join_continuation(self.text, written(output))
        self.outputs.append(output)
        return output

    def _settle(self, last: ModelOutput, whole: bool) -> None:
        """Set the state's output to one reply made of all pieces."""
        usages = [output.usage for output in self.outputs if output.usage]
        wrote = last.usage.output_tokens if last.usage else 0
        final = last.model_copy(deep=True)
        final.choices[0].message.content = self.text
        final.completion = self.text
        if whole and last.stop_reason == "max_tokens":
            final.choices[0].stop_reason = "stop"
        final.usage = ModelUsage(
            input_tokens=usages[0].input_tokens if usages else 0,  # before there was anything to continue
            output_tokens=self.spent + wrote,
            total_tokens=sum(usage.total_tokens for usage in usages),
        )
        final.input_context_tokens = self.outputs[0].input_context_tokens
        final.time = sum(output.time or 0.0 for output in self.outputs)
        final.metadata = {**(last.metadata or {}), COT: Spent(self.spent, wrote)._asdict()}
        final.metadata[REQUESTS] = sum((output.metadata or {}).get(REQUESTS, 0) for output in self.outputs)
        self.state.output = final
        self.state.messages = [*self.messages, final.choices[0].message]


def written(output: ModelOutput) -> str:
    """Return all text that a model wrote, including the reasoning that providers remove from a reply."""
    if not output.choices:
        return ""
    content = output.message.content
    if isinstance(content, str):
        return content
    parts = []
    for part in content:
        if isinstance(part, ContentReasoning):
            parts.append(f"<think>\n{part.reasoning.strip()}\n</think>\n\n")
        elif isinstance(part, ContentText):
            parts.append(part.text)
    return "".join(parts)


def join_continuation(text: str, added: str) -> str:
    """Return a text with its continuation, whether or not the server repeats the text.

    >>> join_continuation("Path:", "Path: Node 1"), join_continuation("Path:", " Node 1")
    ('Path: Node 1', 'Path: Node 1')
    >>> join_continuation("a\\n\\nb", "a b c")
    'a\\n\\nb c'
    """
    left = len("".join(text.split()))
    if left and "".join(added.split()).startswith("".join(text.split())):
        signs = accumulate(not sign.isspace() for sign in added)
        place = next(n for n, count in enumerate(signs, 1) if count == left)
        return text.rstrip() + added[place:]
    return text + added


def spent(output: ModelOutput, item: Item, answer: str | None) -> Spent:
    """Return the tokens of reasoning and of the answer in a reply.

    In a reply that was not made in pieces, the answer begins at its label. Without a label it begins at the last place
    where the extracted answer stands, or else after the reasoning.
    """
    logged = (output.metadata or {}).get(COT)
    if logged:
        return Spent(**logged)
    counter = tokenizers.get(item.item_id.tokenizer)
    reply = written(output)
    visible_text = without_reasoning(reply)
    lead = lead_of(item.prompt.template)
    at = -1
    if lead.endswith(":"):
        label = re.compile(rf"{re.escape(lead[:-1])}[*_`\s]{{0,3}}:", re.IGNORECASE)
        at = max((match.start() for match in label.finditer(visible_text)), default=-1)
    if at < 0 and answer:
        at = visible_text.rfind(answer)
    reply_tokens, answer_tokens = counter.count_many([reply, visible_text[max(0, at) :]])
    seen = "<think>" in reply
    hidden = (output.usage.reasoning_tokens or 0) if output.usage and not seen else 0
    return Spent(max(0, reply_tokens - answer_tokens) + hidden, answer_tokens)

"""Chain of thought under control: as long as a model likes, none at all, or an exact number of tokens.

    free                 the model replies as it will
    none, prefilled      the answer's first words are put into its mouth: `Shortest Path:`
    none, asked          where its server cannot go on with a message, the prompt asks for the answer alone
    exactly:500          500 tokens of reasoning: what is longer is cut, what is shorter is told to `Wait` and go on,
                         and then the answer's first words are put into its mouth

A message that is gone on with is the last one, of the assistant. Some servers send it back with what they add, some do
not; both is read here. How many tokens were reasoning and how many answer is kept with every reply.
"""

import re
from itertools import accumulate
from typing import NamedTuple

from inspect_ai.model import (
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
from carrara.runs.by_reference import Reference
from carrara.servers.inspect_private import active_generate_config
from carrara.servers.reasoning_mode import Thinking
from carrara.types import PromptTemplate
from carrara.util.errors import RunError

PUSHES = ("\n\nWait,", "\n\nWait", "\n\n", "\n")
"""What a model is told that has not reasoned enough, the first that fits: it stands in its own words."""
IDLE = 8
"""Pushes in a row that are answered by at most a token, after which a model is let go on to its answer."""
DIRECT = "Reply with the answer alone, without any reasoning or explanation"

_STILL_THINKING = re.compile(r"<think>(?!.*</think>)", re.DOTALL)
_THOUGHT_ENDS = re.compile(r"\s*</think>\s*\Z")


class Spent(NamedTuple):
    """What a reply took."""

    reasoning: int
    answer: int


def lead_of(template: PromptTemplate) -> str:
    """What an answer without reasoning begins with: as its task says, or else what the prompt ends with."""
    if template.lead is not None:
        return template.lead
    last = template.after.rstrip().rpartition("\n")[2]
    return last if last.endswith(":") and len(last) <= _LABEL else FINAL


_LABEL = 40
"""Characters that a prompt's last words have at most, if they are what the answer goes on with."""


def request(template: PromptTemplate) -> str:
    """What is put behind a prompt to ask for the answer alone."""
    lead = lead_of(template)
    return f"\n\n{DIRECT}{f', beginning with `{lead}`' if lead else ''}."


async def replied(
    thinking: Thinking,
    item: Item,
    reference: Reference,
    state: TaskState,
    generate: Generate,
    config: GenerateConfigArgs,
) -> TaskState:
    """Have the model reply as it is to reason."""
    state.messages = [reference.message()]
    if not thinking.continues or item.recipe.style == "base":  # the prompts of base models end with these words
        return await generate(state, tool_calls="none", **config)
    turn = _Turn(item, reference, state, generate, config)
    if await turn.reason(thinking.length):
        await turn.answer(lead_of(item.prompt.template))
    return turn.state


class _Turn:
    """A reply that is made piece by piece."""

    def __init__(
        self,
        item: Item,
        reference: Reference,
        state: TaskState,
        generate: Generate,
        config: GenerateConfigArgs,
    ) -> None:
        self.item, self.reference, self.state, self.generate, self.config = item, reference, state, generate, config
        self.text = ""
        self.spent = 0
        """Tokens of reasoning so far."""
        self.outputs: list[ModelOutput] = []

    async def reason(self, length: int) -> bool:
        """Fill `text` with so many tokens of reasoning. False if there is a whole reply: known already, or filtered.

        A model that will not go on has fewer, and its result says how many.
        """
        counter = tokenizers.get(self.item.recipe.tokenizer)
        idle = 0
        while self.spent < length and idle < IDLE:
            output = await self._ask(length - self.spent)
            if COT in (output.metadata or {}) or not output.choices or output.stop_reason not in ("stop", "max_tokens"):
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
        """Put the answer's first words into the model's mouth."""
        if self.text:
            closed = "\n</think>" if _STILL_THINKING.search(self.text) else ""
            self.text += f"{closed}\n\n"
        self.text += lead
        begun = len(self.text)
        limit = active_generate_config().max_tokens or self.item.question.budget
        output = await self._ask(min(limit, self.item.question.budget))
        if COT not in (output.metadata or {}):
            # What stands on the line of a label is whole; what goes on behind it is no part of it.
            whole = lead.endswith(":") and "\n" in self.text[begun:].strip()
            self._settle(output, whole)

    async def _ask(self, most: int) -> ModelOutput:
        """Go on with the text, for so many tokens at most."""
        told = [ChatMessageAssistant(content=self.text)] if self.text else []
        self.state.messages = [self.reference.message(), *told]
        config: GenerateConfigArgs = {**self.config, "max_tokens": most}
        self.state = await self.generate(self.state, tool_calls="none", **config)
        output = self.state.output
        if COT in (output.metadata or {}):
            self.state.messages = [self.reference.message(), output.message]
        else:
            self.text = joined(self.text, written(output))
            self.outputs.append(output)
        return output

    def _settle(self, last: ModelOutput, whole: bool) -> None:
        """One reply of all the pieces."""
        usages = [output.usage for output in self.outputs if output.usage]
        wrote = last.usage.output_tokens if last.usage else 0
        final = last.model_copy(deep=True)
        final.choices[0].message.content = self.text
        final.completion = self.text
        if whole and last.stop_reason == "max_tokens":
            final.choices[0].stop_reason = "stop"
        final.usage = ModelUsage(
            input_tokens=usages[0].input_tokens if usages else 0,  # before there was anything to go on with
            output_tokens=self.spent + wrote,
            total_tokens=sum(usage.total_tokens for usage in usages),
        )
        final.input_context_tokens = self.outputs[0].input_context_tokens
        final.time = sum(output.time or 0.0 for output in self.outputs)
        final.metadata = {**(last.metadata or {}), COT: Spent(self.spent, wrote)._asdict()}
        final.metadata[REQUESTS] = sum((output.metadata or {}).get(REQUESTS, 0) for output in self.outputs)
        self.state.output = final
        self.state.messages = [self.reference.message(), final.choices[0].message]


def written(output: ModelOutput) -> str:
    """All that a model wrote, with the thinking that providers take out of a reply."""
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


def joined(text: str, added: str) -> str:
    """A text with what was added to it, whether the server sends it back before that or not.

    >>> joined("Path:", "Path: Node 1"), joined("Path:", " Node 1"), joined("a\\n\\nb", "a b c")
    ('Path: Node 1', 'Path: Node 1', 'a\\n\\nb c')
    """
    left = len("".join(text.split()))
    if left and "".join(added.split()).startswith("".join(text.split())):
        signs = accumulate(not sign.isspace() for sign in added)
        place = next(n for n, count in enumerate(signs, 1) if count == left)
        return text.rstrip() + added[place:]
    return text + added


def spent(output: ModelOutput, item: Item, answer: str | None) -> Spent:
    """How many tokens of a reply were reasoning, and how many the answer.

    Where it was not made piece by piece, the answer is what stands from its label on; or from where it is last said as
    it was read; or all that is not thinking.
    """
    kept = (output.metadata or {}).get(COT)
    if kept:
        return Spent(**kept)
    counter = tokenizers.get(item.recipe.tokenizer)
    reply = written(output)
    own = without_reasoning(reply)
    lead = lead_of(item.prompt.template)
    at = -1
    if lead.endswith(":"):
        label = re.compile(rf"{re.escape(lead[:-1])}[*_`\s]{{0,3}}:", re.IGNORECASE)
        at = max((found.start() for found in label.finditer(own)), default=-1)
    if at < 0 and answer:
        at = own.rfind(answer)
    said, of_it = counter.count_many([reply, own[max(0, at) :]])
    seen = "<think>" in reply
    hidden = (output.usage.reasoning_tokens or 0) if output.usage and not seen else 0
    return Spent(max(0, said - of_it) + hidden, of_it)

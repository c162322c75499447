"""The reader `repl`: the model writes Python code that looks into the context, in a session in a sandbox of Inspect.

    repl:sandbox=docker                          a sandbox that Inspect makes by itself
    repl:sandbox=docker:/home/me/compose.yaml    one that a file describes

The context is the variable `context`, and the function `llm` asks the model in turn, as in recursive language models
(arXiv:2512.24601). Code of the model runs in the sandbox alone.

Code may cut a context anywhere. To find stretches of the context in prompts that code has made, the blocks of `BLOCK`
characters of the context are looked up at each position of the prompt. This finds every stretch of at least `SHORTEST`
characters, in a time that is linear in the lengths of the texts.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import anyio

from carrara.answers.reply_text import without_reasoning
from carrara.items.item_id import ItemId
from carrara.readers.context import ReaderContext
from carrara.readers.reader import Estimate, Reader, ReaderModel, Reading
from carrara.readers.repl.session import BlockResult, CallError, PythonSession, SessionLimits
from carrara.readers.sandboxes import check_sandbox, parse_sandbox
from carrara.util.errors import UsageError

BLOCK = 128
SHORTEST = 2 * BLOCK
"""The characters of a stretch that always has a whole block."""
MOST = 20
"""The most stretches of one text, the longest."""


class Quotes:
    """The stretches of a context that texts quote."""

    def __init__(self, context: ReaderContext) -> None:
        self._context = context

    def hand_out(self, text: str) -> None:
        """Hand out the passages that a text quotes, by which logs refer to them."""
        for start, end in self.find(text):
            self._context.passage(start, end)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the positions, in the context, of the longest stretches that a text quotes."""
        spans = list[tuple[int, int]]()
        place = 0
        while place + BLOCK <= len(text):
            start = self._blocks.get(text[place : place + BLOCK])
            if start is None:
                place += 1
                continue
            before = self._common_before(text, place, start)
            after = self._common_after(text, place, start)
            if before + after >= SHORTEST:
                spans.append((start - before, start + after))
            place += after
        return sorted(spans, key=lambda span: span[0] - span[1])[:MOST]

    @cached_property
    def _blocks(self) -> dict[str, int]:
        whole = self._context.text
        return {whole[start : start + BLOCK]: start for start in range(0, len(whole) - BLOCK + 1, BLOCK)}

    def _common_before(self, text: str, place: int, start: int) -> int:
        """Return how many characters before a block are the same. There is no whole block among them."""
        whole, length = self._context.text, 0
        while length < min(place, start, BLOCK) and text[place - length - 1] == whole[start - length - 1]:
            length += 1
        return length

    def _common_after(self, text: str, place: int, start: int) -> int:
        """Return how many characters are the same from the beginning of a block on."""
        whole, length = self._context.text, BLOCK
        while text[place + length : place + length + BLOCK] == whole[start + length : start + length + BLOCK] != "":
            length += BLOCK
        end = min(len(text) - place, len(whole) - start)
        length = min(length, end)
        while length < end and text[place + length] == whole[start + length]:
            length += 1
        return length


CHARACTERS = 4
"""The characters of a token, about."""
ROUND = 600
"""The tokens that a block and its output take, about."""
CODE = 200
"""The tokens of a block, about."""
SUBREPLY = 60
"""The tokens of a reply to `llm`, about."""
HIDDEN = "[The text is not shown here. It is the variable `context`.]"
_TASK = """\
You are to answer a question about a long text that is not shown. A Python session has it in the variable `context`, a \
string of {characters:,} characters. To run code in the session, reply with a block:

```python
print(context[:300])
```

You then see what the code prints, up to {page:,} tokens. Variables are kept from block to block. You may run {blocks} \
blocks, each for {seconds} seconds at most.{llm} When you know the answer, reply with it as the question asks, without \
a block, or call `FINAL(reply)` in a block. The text stands between the instructions and the question \
below, whose rules for a reply hold for the answer, not for blocks."""
_LLM = (
    " In your code, `llm(prompt)` asks a language model that sees the prompt alone, and returns its reply: use it to "
    "have passages read. You may call it {calls} times."
)
_OUTPUT = "Output:\n{text}\n\n{rest}"
_LEFT = "Blocks that are left: {blocks}."
_LAST = "You have used all blocks. Answer the question now, without a block."
_LOST = "[{error}. The session started anew: all variables but `context` are gone.]"
_NOTHING = "[The code printed nothing.]"
_LEFT_OUT = "\n[…]\n"
_BLOCK = re.compile(r"^[ \t]*```(?:python3?|py|repl)[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Repl(Reader):
    """The model runs code over the context in a Python session, in a sandbox of Inspect."""

    sandbox: str = ""
    """The type of the sandbox, or TYPE:FILE with the absolute path of the file that describes it."""
    blocks: int = 10
    """The most blocks of code."""
    calls: int = 50
    """The most calls of `llm`. With 0, the prompt does not mention it."""
    seconds: int = 60
    """The seconds that a block may run, without the time that it waits for `llm`."""
    page: int = 2048
    """The most tokens of output that the model sees at a time."""

    name = "repl"

    def __post_init__(self) -> None:
        kind, _ = parse_sandbox(self.name, self.sandbox)
        if not kind:
            raise UsageError(
                "the reader repl runs code that the model writes: name a sandbox of Inspect, such as sandbox=docker"
            )
        if kind == "local":
            raise UsageError(
                "the reader repl: local is this machine itself, not a sandbox: name another one of Inspect, such as "
                "sandbox=docker"
            )
        for setting in ("blocks", "seconds", "page"):
            if getattr(self, setting) < 1:
                raise UsageError(f"the reader repl: {setting} is 0, give 1 or more")

    def check(self, first: ItemId) -> None:
        if first.style == "base":
            raise UsageError("the reader repl is a conversation, and a base model only completes its prompt")

    def ready(self) -> None:
        check_sandbox(self.name, parse_sandbox(self.name, self.sandbox)[0])

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        from inspect_ai.util import sandbox

        quotes = Quotes(context)

        async def llm(prompt: str) -> str:
            await anyio.to_thread.run_sync(quotes.hand_out, prompt)
            reply = await model(prompt)
            if not reply:
                raise CallError("the model gave no reply: is the prompt too long?")
            return reply

        limits = SessionLimits(seconds=self.seconds, output=self.page * CHARACTERS, calls=self.calls)
        session = PythonSession(sandbox(), llm, limits)
        try:
            await session.start(context.text)
            return await self._converse(context, quotes, model, session)
        finally:
            await session.close()

    async def _converse(
        self, context: ReaderContext, quotes: Quotes, model: ReaderModel, session: PythonSession
    ) -> Reading:
        from inspect_ai.model import ChatMessage, ChatMessageUser

        # The id keeps items apart in the cache of replies: without the context, their prompts may be the same.
        first = ChatMessageUser(content=self._prompt(context))
        messages: list[ChatMessage] = [first]
        left = self.blocks
        while left:
            output = await model.generate(messages)
            codes = code_blocks(without_reasoning(output.completion))
            if not codes:
                return Reading(output.completion, "" if left < self.blocks else "unread")
            results = list[BlockResult]()
            for code in codes[:left]:
                results.append(await session.run(code))
                left -= 1
                if results[-1].final is not None:
                    return Reading(results[-1].final)
                if results[-1].error is not None:  # later blocks may rest on this one
                    break
            text = shorten("\n".join(map(_describe_result, results)), self.page, context)
            await anyio.to_thread.run_sync(quotes.hand_out, text)
            rest = _LEFT.format(blocks=left) if left else _LAST
            messages += [output.message, ChatMessageUser(content=_OUTPUT.format(text=text, rest=rest))]
        output = await model.generate(messages)
        return Reading(output.completion, "limited")

    def _prompt(self, context: ReaderContext) -> str:
        task = _TASK.format(
            characters=len(context.text),
            page=self.page,
            blocks=self.blocks,
            seconds=self.seconds,
            llm=_LLM.format(calls=self.calls) if self.calls else "",
        )
        return f"{task}\n\n{context.prompt([HIDDEN])[-1].content}"

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        """Return the requests for one item, whose calls of `llm` read the context once."""
        rounds = self.blocks + 1
        sent = rounds * around + ROUND * rounds * (rounds - 1) // 2 + (prompt if self.calls else 0)
        return Estimate(rounds + self.calls, sent, rounds * CODE + self.calls * SUBREPLY + answer)


def code_blocks(reply: str) -> list[str]:
    """Return the blocks of Python code in a reply. The last one may lack its end.

    >>> code_blocks("First:\\n```python\\nx = 1\\n```\\nThen:\\n```repl\\nprint(x)\\n```")
    ['x = 1\\n', 'print(x)\\n']
    >>> code_blocks("```\\nAnswer: 5\\n```")
    []
    """
    return [code for code in _BLOCK.findall(reply) if code.strip()]


def shorten(text: str, tokens: int, context: ReaderContext) -> str:
    """Return the start and the end of a text, with at most this many tokens together."""
    count = context.count(text)
    if count <= tokens:
        return text
    half = len(text) * tokens // count // 2
    return context.clip(f"{text[:half]}{_LEFT_OUT}{text[len(text) - half :]}", tokens)


def _describe_result(result: BlockResult) -> str:
    """Return what the model sees of a block."""
    text = result.text.strip("\n")
    if result.lost:
        text = f"{text}\n{_LOST.format(error=result.error)}".lstrip("\n")
    return text or _NOTHING

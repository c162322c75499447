"""The reader `notes`: the model reads a passage at a time, rewrites its notes after each, and answers from the notes.

It is the loop of MemAgent (arXiv:2507.02259). With `blind` the model does not know the question while it reads.
"""

from dataclasses import dataclass

from carrara.readers.context import ReaderContext
from carrara.readers.reader import Estimate, Reader, ReaderModel, count_passages
from carrara.util.errors import UsageError

OPEN, CLOSE = "<notes>", "</notes>"
OPEN_PART, CLOSE_PART = "<part>", "</part>"
WRITTEN = 60
"""The tokens of the instructions for one passage, about."""

_TASK = "You are reading a long text in {parts} parts, one at a time, and take notes. You will not see a part again."
_KNOWN = "When you have read all parts, you answer this question from your notes alone:\n\n{question}"
_BLIND = (
    "When you have read all parts, you will be asked a question about the text, to be answered from your notes alone."
)
_REQUEST = (
    "Rewrite your notes: keep what you still need, and add what is new and matters. They replace your notes so far, "
    "and may have at most {size} tokens. Reply with the notes alone."
)


@dataclass(frozen=True)
class Notes(Reader):
    """The model reads passages, rewrites its notes after each, and answers from the notes."""

    chunk: int = 4096
    """Tokens of a passage."""
    size: int = 1024
    """The most tokens of the notes. Longer notes are cut."""
    blind: bool = False
    """Whether the question is asked only after the reading."""

    name = "notes"

    def __post_init__(self) -> None:
        for setting in ("chunk", "size"):
            if getattr(self, setting) < 1:
                raise UsageError(f"the reader notes: {setting} is 0, give 1 token or more")

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        notes = ""
        passages = context.passages(self.chunk)
        purpose = _BLIND if self.blind else _KNOWN.format(question=context.ask)
        task = f"{_TASK.format(parts=len(passages))} {purpose}"
        for number, passage in enumerate(passages, 1):
            prompt = (
                f"{task}\n\nYour notes so far:\n{OPEN}\n{notes}\n{CLOSE}\n\n"
                f"Part {number} of {len(passages)}:\n{OPEN_PART}\n{passage}\n{CLOSE_PART}\n\n"
                f"{_REQUEST.format(size=self.size)}"
            )
            notes = context.clip(await model(prompt, max_tokens=self.size), self.size)
        return await model.answer(notes)

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        parts = count_passages(max(0, prompt - around), self.chunk)
        question = 0 if self.blind else around
        sent = parts * (WRITTEN + question + self.size) + prompt + self.size
        return Estimate(parts + 1, sent, parts * self.size + answer)

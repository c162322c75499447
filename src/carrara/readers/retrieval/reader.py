"""The reader `retrieval`: the model sees only the parts of a context that are most similar to the question."""

from dataclasses import dataclass, field

import anyio

from carrara.readers.context import ReaderContext
from carrara.readers.one_prompt import join_passages
from carrara.readers.reader import Estimate, Reader, ReaderModel
from carrara.readers.retrieval.contexts import retrieve_parts
from carrara.readers.retrieval.index import JOINT, ready
from carrara.readers.retrieval.setting import Retrieval

SENTENCE = 30
"""Approximate tokens of a sentence."""


@dataclass(frozen=True)
class RetrievalReader(Reader):
    """The context is shortened to the parts that are most similar to the question."""

    setting: Retrieval = field(default_factory=Retrieval)
    """How the context is cut and searched."""

    name = "retrieval"

    @classmethod
    def parse(cls, options: str) -> "RetrievalReader":
        return cls(Retrieval.parse(options or "sentences"))

    def __str__(self) -> str:
        return f"{self.name}:{self.setting}"

    def ready(self) -> None:
        ready(self.setting)

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> str:
        found = await anyio.to_thread.run_sync(retrieve_parts, context.id, str(self.setting))
        return await model.answer(join_passages([(part.chunk.start, part.chunk.end) for part in found.chunks], JOINT))

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        found = self.setting.top * (self.setting.size or SENTENCE)
        return Estimate(1, min(prompt, around + found), answer)

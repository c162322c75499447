"""Mem0 as a memory that Carrara measures. The model under test extracts the facts, and answers from them.

    pip install 'carrara[retrieval]' mem0ai
    PYTHONPATH=examples carrara run qa1 --lengths 4k --model openai/gpt-4o-mini --reader memory:memory_mem0:Mem0

Mem0 keeps everything in this process, and no request goes elsewhere: embeddings are Carrara's own.
"""

import os
import re
import tempfile
from typing import Any

import anyio.from_thread

from carrara.readers.memory import MemoryModel
from carrara.readers.retrieval.index import embed_texts, embedder

os.environ["MEM0_TELEMETRY"] = "False"  # both are read when mem0 is imported
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-"))

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase
from mem0.llms.base import LLMBase

DIMENSIONS = 384
UNUSED = {"provider": "openai", "config": {"api_key": "none"}}  # replaced below
SETTINGS = {
    "llm": UNUSED,
    "embedder": UNUSED,
    "history_db_path": ":memory:",
    "vector_store": {"provider": "qdrant", "config": {"path": ":memory:", "embedding_model_dims": DIMENSIONS}},
}


class Mem0:
    """The memory of one context."""

    def __init__(self, model: MemoryModel) -> None:
        self.model, self.time = model, ""
        self.found: list[str] = []
        self.memory = Memory.from_config(SETTINGS)
        self.memory.llm, self.memory.embedding_model = Llm(self), Embedder()

    def add(self, text: str, session: str, time: str) -> None:
        self.time = time
        self.memory.add(text, user_id="reader", metadata={"session": session, "created_at": time})

    def answer(self, question: str) -> str:
        found = self.memory.search(question, filters={"user_id": "reader"}, top_k=10)["results"]
        self.found = [f"{one['created_at']}: {one['memory']}" for one in found]
        return self.ask("\n".join(["Facts:", *self.found, "", question]))

    def ask(self, prompt: str) -> str:
        return anyio.from_thread.run(self.model, prompt)

    def close(self) -> None:
        self.memory.close()


class Llm(LLMBase):  # type: ignore[misc]
    """The model under test, as Mem0 calls it."""

    def __init__(self, own: Mem0) -> None:
        super().__init__()
        self.own = own

    def generate_response(self, messages: list[dict[str, str]], **options: Any) -> str:
        prompt = "\n\n".join(message["content"] for message in messages)
        # Mem0 writes today's date, by which a prompt would differ each day. The date of the passage belongs there.
        prompt = re.sub(r"(?m)^(## (?:Observation|Current) Date\n).*$", rf"\g<1>{self.own.time}", prompt)
        return self.own.ask(prompt)


class Embedder(EmbeddingBase):  # type: ignore[misc]
    """Carrara's embeddings, which work offline."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        vectors: list[list[float]] = embed_texts(embedder("minilm"), texts).tolist()
        return vectors

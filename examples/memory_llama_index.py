"""The memory of LlamaIndex, which Carrara measures: a short buffer, extracted facts, and recalled passages.

    pip install 'carrara[retrieval]' llama-index-core
    PYTHONPATH=examples carrara run qa1 --lengths 4k --model openai/gpt-4o-mini \\
        --reader memory:memory_llama_index:LlamaIndex

Passages that leave the buffer go to two blocks: the model under test extracts facts from them, and a vector store keeps
them. Everything is in this process: embeddings are Carrara's own.
"""

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CustomLLM
from llama_index.core.memory import FactExtractionMemoryBlock, Memory, VectorMemoryBlock
from llama_index.core.vector_stores import SimpleVectorStore

from carrara.readers.memory import MemoryModel
from carrara.readers.retrieval.index import embed_texts, embedder

BUFFER = 1000
"""The tokens of the buffer. LlamaIndex's own default holds 30,000, so that shorter contexts would never leave it."""


class LlamaIndex:
    """The memory of one context."""

    def __init__(self, model: MemoryModel) -> None:
        self.model, self.found = model, ""
        facts = FactExtractionMemoryBlock(name="facts", llm=Llm(call=model))
        recalled = VectorMemoryBlock(
            name="recalled",
            vector_store=Store(),
            embed_model=Embedder(),
            similarity_top_k=5,
            retrieval_context_window=2,
        )
        self.memory = Memory.from_defaults(
            session_id="memory", token_limit=BUFFER, token_flush_size=BUFFER // 5, memory_blocks=[facts, recalled]
        )

    async def add(self, text: str, session: str, time: str) -> None:
        await self.memory.aput(ChatMessage(role="user", content=f"[{time}, session {session}] {text}"))

    async def answer(self, question: str) -> str:
        messages = await self.memory.aget(input=question)
        self.found = "\n".join(message.content or "" for message in messages)
        return await self.model(f"{self.found}\n\n{question}")


class Llm(CustomLLM):  # type: ignore[misc]
    """The model under test, as the blocks call it."""

    call: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="under-test")

    async def achat(self, messages: list[ChatMessage], **options: Any) -> ChatResponse:
        reply = await self.call("\n\n".join(message.content or "" for message in messages))
        return ChatResponse(message=ChatMessage(role="assistant", content=reply))

    def complete(self, prompt: str, formatted: bool = False, **options: Any) -> Any:
        raise NotImplementedError("the blocks call achat alone")

    stream_complete = complete


class Embedder(BaseEmbedding):  # type: ignore[misc]
    """Carrara's embeddings, which work offline."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = embed_texts(embedder("minilm"), [text])[0].tolist()
        return vector

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Store(SimpleVectorStore):  # type: ignore[misc]
    """The library's vector store in memory, with the texts, which the block expects to get back."""

    stores_text: bool = True
    texts: dict[str, Any] = {}

    def add(self, nodes: Any, **options: Any) -> Any:
        for node in nodes:
            node.id_ = f"{len(self.texts):08}"  # not at random, because ids decide between equal similarities
            self.texts[node.id_] = node
        return super().add(nodes)

    def query(self, query: Any, **options: Any) -> Any:
        result = super().query(query)
        result.nodes = [self.texts[id] for id in result.ids or []]
        return result

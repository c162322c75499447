"""Small memory systems, which tests name: `memory:tests.helpers.memories:KeepAll`."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

import anyio.from_thread

from carrara.readers.memory import MemoryLostError, MemoryModel


class KeepAll:
    """Keeps every passage, and has the model answer from all of them."""

    made: ClassVar[list["KeepAll"]] = []

    def __init__(self, model: MemoryModel) -> None:
        self.model, self.closed = model, 0
        self.added = list[tuple[str, str, str]]()
        self.made.append(self)

    async def add(self, text: str, session: str, time: str) -> None:
        self.added.append((text, session, time))

    async def answer(self, question: str) -> str:
        return await self.model("\n\n".join([*(text for text, _, _ in self.added), question]))

    async def close(self) -> None:
        self.closed += 1


class Found(KeepAll):
    """Says from which texts it answers."""

    def found(self) -> Sequence[str]:
        return [text for text, _, _ in self.added]


class Recall(Found):
    """Leaves the answer to the model."""

    async def answer(self, question: str) -> str:
        return None  # type: ignore[return-value]


class Crash(Found):
    """The first one that is made is lost at its first question."""

    async def answer(self, question: str) -> str:
        if self.made[0] is self:
            raise MemoryLostError("the memory is gone")
        return await super().answer(question)


class FirstPassage(Found):
    """Loses all but the first passage."""

    async def add(self, text: str, session: str, time: str) -> None:
        if not self.added:
            await super().add(text, session, time)


class Extract(KeepAll):
    """Has the model write down what matters in each passage, and answers from that."""

    async def add(self, text: str, session: str, time: str) -> None:
        noted = await self.model(f"What matters in this?\n\n{text}\n\nReply with the facts alone.")
        self.added.append((noted, session, time))


class Forget(Extract):
    """Has the model write down what matters, and loses it."""

    def found(self) -> Sequence[str]:
        return []

    async def answer(self, question: str) -> str:
        return await self.model(question)


class Plain:
    """Has plain functions, which call the model from a thread."""

    def __init__(self, model: MemoryModel) -> None:
        self.model = model
        self.texts = list[str]()

    def add(self, text: str, session: str, time: str) -> None:
        self.texts.append(anyio.from_thread.run(self.model, f"What matters in this?\n\n{text}\n\nThe facts alone."))

    def answer(self, question: str) -> str:
        return anyio.from_thread.run(self.model, "\n\n".join([*self.texts, question]))


class Raise(KeepAll):
    """Cannot take in the second passage."""

    async def add(self, text: str, session: str, time: str) -> None:
        if session == "2":
            raise OSError("the store is full")
        await super().add(text, session, time)


class NoAnswer:
    """Has no method `answer`."""

    def __init__(self, model: MemoryModel) -> None:
        pass

    async def add(self, text: str, session: str, time: str) -> None:
        pass


class AnswerNumber(KeepAll):
    """Answers with what is no text."""

    async def answer(self, question: str) -> str:
        return 7  # type: ignore[return-value]


class OtherLoop(Plain):
    """Calls the model from an event loop of its own, in a thread."""

    def add(self, text: str, session: str, time: str) -> None:
        self.texts.append(text)

    def answer(self, question: str) -> str:
        return asyncio.run(self._ask("\n\n".join([*self.texts, question])))

    async def _ask(self, prompt: str) -> str:
        return await self.model(prompt)


class Worker(KeepAll):
    """Calls the model from a task that began when the first question was asked."""

    def __init__(self, model: MemoryModel) -> None:
        super().__init__(model)
        self.prompts, self.replies = asyncio.Queue[str](), asyncio.Queue[str]()
        self.task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while True:
            await self.replies.put(await self.model(await self.prompts.get()))

    async def answer(self, question: str) -> str:
        await self.prompts.put("\n\n".join([*(text for text, _, _ in self.added), question]))
        return await self.replies.get()

    async def close(self) -> None:
        await super().close()
        self.task.cancel()


class Sized(KeepAll):
    """Says that it keeps what `sizes` holds."""

    sizes: object = None

    def size(self) -> object:
        return self.sizes


class AnswerSome(Found):
    """Answers every other question by itself, and has the model answer the others."""

    def __init__(self, model: MemoryModel) -> None:
        super().__init__(model)
        self.answers = len(KeepAll.made) % 2 == 0

    async def answer(self, question: str) -> str | None:  # type: ignore[override]
        return "FINAL ANSWER: kitchen" if self.answers else None

"""`carrara/recurrent:DIR`: a trained recurrent model, which streams its items.

It is handed no prompt: of each item that is asked it opens the stream of segments, and reads all that wait together,
a segment of each at a time. So a context of ten million tokens takes no more memory than one of ten thousand.
"""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import anyio
import torch
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from carrara.core.errors import UsageError
from carrara.engine.by_reference import KEY, RETRIEVE
from carrara.engine.rendering import item_of
from carrara.engine.retrieving import found
from carrara.recurrent import checkpoint
from carrara.recurrent.answering import said
from carrara.recurrent.reading import Desk, Reading
from carrara.recurrent.streams import asked, cut, segments
from carrara.recurrent.training import halved
from carrara.recurrent.vocabulary import END

AT_ONCE = 32
"""Items that are read side by side."""
PREFIX = "recurrent:"


class _Asked(NamedTuple):
    question: list[int]
    reply: "Future[_Reply]"


class _Reply(NamedTuple):
    text: str
    read: int
    said: int


class Recurrent(ModelAPI):
    streams = True
    """It opens its items itself."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # as in Inspect
        threads: int = 1,
        copies: int = AT_ONCE,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        try:
            self.trained = checkpoint.load(Path(model_name.removeprefix(PREFIX)))
        except UsageError as error:
            raise PrerequisiteError(str(error)) from None
        self.threads, self.copies = threads, copies
        self.waiting: SimpleQueue[tuple[Mapping[str, str], Future[_Reply]]] = SimpleQueue()
        self.worker: threading.Thread | None = None
        self.lock = threading.Lock()

    def max_connections(self) -> int:
        return self.copies

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        wanted = next((m.metadata[KEY] for m in input if m.metadata and KEY in m.metadata), None)
        if wanted is None:
            raise UsageError(f"{self.model_name} reads items of this house, and nothing else")
        reply = await anyio.to_thread.run_sync(self._ask, wanted, abandon_on_cancel=True)
        output = ModelOutput.from_content(self.model_name, reply.text)
        output.usage = ModelUsage(
            input_tokens=reply.read, output_tokens=reply.said, total_tokens=reply.read + reply.said
        )
        return output

    def _ask(self, wanted: Mapping[str, str]) -> _Reply:
        reply: Future[_Reply] = Future()
        with self.lock:
            self.waiting.put((wanted, reply))
            if self.worker is None or not self.worker.is_alive():
                self.worker = threading.Thread(target=self._work, daemon=True)
                self.worker.start()
        return reply.result()

    def _work(self) -> None:
        """Read on while anybody waits."""
        desk: Desk[_Asked] = Desk(self.trained.model)
        torch.set_num_threads(self.threads)
        with torch.inference_mode(), self._precision():
            while True:
                self._take(desk)
                if not desk.readings:
                    with self.lock:
                        if self.waiting.empty():
                            self.worker = None
                            return
                    continue
                try:
                    for ended in desk.turn():
                        self._answer(ended)
                except Exception as error:
                    for one in desk.readings:
                        one.whose.reply.set_exception(error)
                    desk.readings.clear()

    def _take(self, desk: Desk[_Asked]) -> None:
        while True:
            try:
                wanted, reply = self.waiting.get_nowait()
            except Empty:
                return
            try:
                item, vocabulary = item_of(wanted["id"]), self.trained.vocabulary
                size = self.trained.segment
                if retrieve := wanted.get(RETRIEVE):
                    stream = cut([found(wanted["id"], retrieve).text], vocabulary, size)
                else:
                    stream = segments(item, vocabulary, size)
                desk.lay(_Asked(asked(item, vocabulary), reply), stream)
            except Exception as error:
                reply.set_exception(error)

    def _answer(self, ended: Reading[_Asked]) -> None:
        question, reply = ended.whose
        tokens = said(self.trained.model, ended.state, question, END, self.trained.segment)
        text = self.trained.vocabulary.decode(tokens)
        reply.set_result(_Reply(text, ended.tokens + len(question), len(tokens)))

    def _precision(self) -> AbstractContextManager[Any]:
        return torch.autocast("cpu", torch.bfloat16) if halved("auto", torch.device("cpu")) else nullcontext()

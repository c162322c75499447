"""Models that stream their items: `carrara/recurrent:DIR`, and the user's own `carrara/probe:MODULE:MODEL`.

They get no prompt. They open the stream of segments of each item, and read all waiting items together, a segment of
each at a time. So a context of ten million tokens takes no more memory than one of ten thousand.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from resource import RUSAGE_SELF, getrusage
from typing import Any, Generic, NamedTuple, TypeVar

import anyio
import numpy as np
import torch
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from carrara.constants import CONTEXT, KEY, MEASURED, PARTS
from carrara.items.item import item_of
from carrara.items.prompt import hash_parts
from carrara.readers.context import context_of
from carrara.readers.prompts import parts_of
from carrara.recurrent import checkpoint
from carrara.recurrent.device import find_device, keep_freed_memory, uses_half_precision
from carrara.recurrent.protocol import State, decode_answer, join_states, likelihoods, read, room, rows, tensors
from carrara.recurrent.streams import cut, texts
from carrara.recurrent.text_codec import Text, TextCodec, most_probable
from carrara.recurrent.vocabulary import Ids
from carrara.runs.by_reference import PromptMismatchError
from carrara.servers.inspect_private import SetupError
from carrara.util.errors import CarraraError, RunError, UsageError, describe_exception

T = TypeVar("T")


@dataclass
class SegmentReading(Generic[T]):
    """A text that is being read."""

    owner: T
    """The object for which it is read."""
    segments: Iterator[Ids]
    state: State
    tokens: int = 0


class BatchReader(Generic[T]):
    """Reads several texts with one model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.readings: list[SegmentReading[T]] = []

    def add(self, owner: T, segments: Iterator[Ids]) -> None:
        """Add a text."""
        self.readings.append(SegmentReading(owner, segments, self.model.init(1)))

    def read_segments(self) -> list[SegmentReading[T]]:
        """Read one more segment of each text. Remove and return those that have ended."""
        going: list[SegmentReading[T]] = []
        ended: list[SegmentReading[T]] = []
        by_size: dict[int, list[tuple[SegmentReading[T], Ids]]] = {}
        for reading in self.readings:
            segment = next(reading.segments, None)
            if segment is None:
                ended.append(reading)
            else:
                going.append(reading)
                reading.tokens += len(segment)
                by_size.setdefault(len(segment), []).append((reading, segment))
        self.readings = going
        for same_size in by_size.values():  # the last segment of a text may be shorter
            state = join_states([reading.state for reading, _ in same_size])
            after = read(self.model, state, torch.from_numpy(np.stack([segment for _, segment in same_size])))
            for place, (reading, _) in enumerate(same_size):
                reading.state = rows(after, torch.tensor([place]))
        return ended


AT_ONCE = 32
"""The number of items that are read together."""
SEGMENT = 512
"""The tokens that the user's own model gets at a time by default."""


class _OpenQuestion(NamedTuple):
    question: list[int]
    options: tuple[str, ...]
    begun: float
    reply: "Future[ModelOutput]"
    id: str
    sha256: str
    digest: Any
    """The hash of the text that was read, which has to match."""


class Streaming(ModelAPI):
    streams = True
    """Whether the model opens its items itself."""

    def __init__(self, model_name: str, model: Any, codec: TextCodec, segment: int, threads: int, copies: int) -> None:
        super().__init__(model_name)
        self.model, self.codec, self.segment = model, codec, segment
        self.threads, self.copies = threads, copies
        self.waiting: SimpleQueue[tuple[Mapping[str, str], Future[ModelOutput]]] = SimpleQueue()
        self.worker: threading.Thread | None = None
        self.lock = threading.Lock()

    def max_connections(self) -> int:
        return self.copies

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        reference = next((m.metadata[KEY] for m in input if m.metadata and KEY in m.metadata), None)
        if reference is None or PARTS in reference:
            raise UsageError(
                f"carrara/{self.model_name} reads an item as a stream, not as messages: use the task's own solver"
            )
        return await anyio.to_thread.run_sync(self._ask, reference, abandon_on_cancel=True)

    def _ask(self, reference: Mapping[str, str]) -> ModelOutput:
        reply: Future[ModelOutput] = Future()
        with self.lock:
            self.waiting.put((reference, reply))
            if self.worker is None:
                self.worker = threading.Thread(target=self._work, daemon=True)
                self.worker.start()
        return reply.result()

    def _work(self) -> None:
        reader: BatchReader[_OpenQuestion] = BatchReader(self.model)
        torch.set_num_threads(self.threads)
        keep_freed_memory()
        with torch.inference_mode(), self._precision():
            while True:
                self._take(reader)
                if not reader.readings:
                    with self.lock:
                        if self.waiting.empty():
                            self.worker = None
                            return
                    continue
                here = list(reader.readings)
                try:
                    for ended in reader.read_segments():
                        self._answer(ended)
                except Exception as error:
                    for reading in here:
                        if not reading.owner.reply.done():
                            reading.owner.reply.set_exception(self._as_error(error))
                    reader.readings.clear()

    def _answer(self, ended: SegmentReading[_OpenQuestion]) -> None:
        """Set the reply to an item that was read. An error affects only this item."""
        open_question = ended.owner
        if open_question.digest.hexdigest() != open_question.sha256:
            open_question.reply.set_exception(PromptMismatchError(open_question.id))
            return
        try:
            open_question.reply.set_result(self._output_of(ended))
        except Exception as error:
            open_question.reply.set_exception(self._as_error(error))

    def _take(self, reader: BatchReader[_OpenQuestion]) -> None:
        while True:
            try:
                reference, reply = self.waiting.get_nowait()
            except Empty:
                return
            try:
                item, digest = item_of(reference["id"]), sha256()
                parts = hash_parts(parts_of(reference), digest)
                if CONTEXT in reference:
                    deque(parts, maxlen=0)
                    prompt_parts: Iterable[str] = [context_of(reference["id"]).render(reference[CONTEXT])]
                else:
                    prompt_parts = texts(item.prompt.template, parts)
                open_question = _OpenQuestion(
                    self.codec.question(item.question.ask),
                    item.question.options,
                    time.monotonic(),
                    reply,
                    reference["id"],
                    reference["sha256"],
                    digest,
                )
                reader.add(open_question, cut(prompt_parts, self.codec, self.segment))
            except Exception as error:
                reply.set_exception(self._as_error(error))

    def _as_error(self, error: Exception) -> Exception:
        if isinstance(error, CarraraError):
            return error
        return RunError(f"carrara/{self.model_name} raised {describe_exception(error)}")

    def _output_of(self, ended: SegmentReading[_OpenQuestion]) -> ModelOutput:
        open_question, state = ended.owner, ended.state
        if open_question.options and self._silent:
            options = [self.codec.answer(option) for option in open_question.options]
            text = open_question.options[most_probable(likelihoods(self.model, state, open_question.question, options))]
            spoken, cut_off = 0, False
        else:
            most = room(self.model, open_question.question, SEGMENT)
            ids = decode_answer(self.model, state, open_question.question, self.codec.end, most)
            text, spoken, cut_off = self.codec.decode(ids), len(ids), len(ids) == most
        output = ModelOutput.from_content(self.model_name, text, "max_tokens" if cut_off else "stop")
        read = ended.tokens + len(open_question.question)
        output.usage = ModelUsage(input_tokens=read, output_tokens=spoken, total_tokens=read + spoken)
        output.metadata = {
            MEASURED: {
                "tokens": ended.tokens,
                "state": self.model.nbytes(state),
                "began": open_question.begun,
                "ended": time.monotonic(),
                "resident": getrusage(RUSAGE_SELF).ru_maxrss << 10,
            }
        }
        return output

    @property
    def _silent(self) -> bool:
        """Whether the model has no words. It is then asked for the most probable of the options."""
        return False

    def _precision(self) -> AbstractContextManager[Any]:
        return nullcontext()


class Recurrent(Streaming):
    """A checkpoint of `carrara recurrent train`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # as in Inspect
        threads: int = 1,
        copies: int = AT_ONCE,
        device: str = "cpu",
    ) -> None:
        try:
            self.device = find_device(device)
            trained = checkpoint.load(Path(model_name.partition(":")[2]))
        except UsageError as error:
            raise SetupError(str(error)) from None
        model = trained.model.to(self.device)
        super().__init__(model_name, model, trained.codec, trained.segment, threads, copies)

    def _precision(self) -> AbstractContextManager[Any]:
        halved = uses_half_precision("auto", self.device)
        return torch.autocast(self.device.type, torch.bfloat16) if halved else nullcontext()


class ProbedAPI(Streaming):
    """The user's own model, which implements the protocol."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # as in Inspect
        segment: int | None = None,
        threads: int = 1,
        copies: int = AT_ONCE,
    ) -> None:
        try:
            model = load_model(model_name.partition(":")[2])
        except UsageError as error:
            raise SetupError(str(error)) from None
        size = segment or int(getattr(model, "segment", SEGMENT))
        super().__init__(model_name, model, Text(model), size, threads, copies)

    @property
    def _silent(self) -> bool:
        return not hasattr(self.model, "decode")


def load_model(place: str) -> Any:
    """Return the model that `package.module:Model` names. Raise `UsageError` if it does not implement the protocol."""
    module, colon, name = place.partition(":")
    if not colon or not module or not name:
        raise UsageError(f"{place!r} names no model: write package.module:Model")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module in the current folder
    try:
        loaded = getattr(import_module(module), name)
    except ImportError as error:
        raise UsageError(f"{place} cannot be imported: {error}") from None
    except AttributeError:
        raise UsageError(f"{module} has no {name}") from None
    try:
        model = loaded() if isinstance(loaded, type) or not hasattr(loaded, "step") else loaded
    except Exception as error:
        raise UsageError(f"{place} cannot be made without arguments: {type(error).__name__}: {error}") from None
    if lacking := [method for method in ("init", "step", "nbytes") if not callable(getattr(model, method, None))]:
        raise UsageError(f"{place} has no {', '.join(lacking)}: a model to probe has init, step and nbytes")
    _check_steps(place, model)
    return model


def _check_steps(place: str, model: Any) -> None:
    """Check a model with two items of three tokens: the state, and the result of a step."""
    tokens = torch.tensor([[1, 2, 3], [3, 2, 1]])

    def check_batch(state: Any) -> None:
        if any(tensor.ndim == 0 or len(tensor) != 2 for tensor in tensors(state)):
            raise UsageError(f"{place}: its state does not have the items of a batch along the first dimension")

    try:
        with torch.inference_mode():
            state = model.init(2)
            check_batch(state)
            copies = [tensor.clone() for tensor in tensors(state)]
            after, logits = model.step(state, tokens)
            check_batch(after)
            size = model.nbytes(after)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{place} does not take a step: {type(error).__name__}: {error}") from None
    wrong = ""
    if any(not torch.equal(before, tensor) for before, tensor in zip(copies, tensors(state), strict=True)):
        wrong = "its step changes the state that it was given"
    elif not isinstance(logits, torch.Tensor) or logits.ndim != 3 or logits.shape[:2] != tokens.shape:
        wrong = "its step gives no batch × length × vocabulary beside the state"
    elif not isinstance(size, int):
        wrong = "its nbytes is no whole number"
    if wrong:
        raise UsageError(f"{place}: {wrong}")

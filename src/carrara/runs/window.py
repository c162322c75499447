"""Prompts that the server of a run cut: warn at the first, stop asking for what it cannot read, and ask again later.

A run compares each count of prompt tokens with those before (results/shortened.py). After `IN_A_ROW` cut prompts at one
length it sends no more prompts of this length or longer. Shorter ones go on.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.log import EvalError, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput

from carrara.constants import NOT_ASKED
from carrara.results.result import Result, task_of
from carrara.results.shortened import PromptCount, PromptCounts, prompt_counts
from carrara.runs.budget import NotAskedError
from carrara.runs.calls import count_input
from carrara.runs.log_files import logs
from carrara.runs.replies import LoggedReply, replies_in, steps_of
from carrara.util.log import logger
from carrara.util.quantities import count, write_length

if TYPE_CHECKING:
    from carrara.runs.folder import MarkedItems

IN_A_ROW = 3

REMEDIES: Mapping[str, str] = {
    "Ollama": "give Ollama a larger `num_ctx`, by OLLAMA_CONTEXT_LENGTH or `PARAMETER num_ctx` in a Modelfile",
    "llama.cpp": "start llama.cpp with a larger `-c`, which its `-np` slots share, and without `--context-shift`",
    "LM Studio": "raise the context length in the model's settings in LM Studio",
    "vLLM": "start vLLM with a larger `--max-model-len`",
    "SGLang": "start SGLang with a larger `--context-length`",
}
"""What to do about a window that is too small, by the program that serves the model."""
OTHER_REMEDY = "ask its keeper for a larger window, or give shorter lengths"


@dataclass
class Window:
    """What the server of a run read of the prompts so far."""

    software: str = ""
    address: str = "the server"
    counts: PromptCounts = field(default_factory=PromptCounts)
    beyond: set[str] = field(default_factory=set[str])
    """The items that were not asked because the server would cut their prompts."""
    stale: "MarkedItems | set[str]" = field(default_factory=set[str])
    """The items whose replies in the cache do not count, as the server cut their prompts."""
    _unproved: dict[str, dict[str, Sequence[PromptCount]]] = field(default_factory=dict)
    """The prompts of items that were not found to be cut, by their kind."""
    _in_a_row: Counter[int] = field(default_factory=Counter[int])
    _closed: int | None = None
    """The length from which nothing more is asked."""
    _has_warned: bool = False

    def admit(self, id: str, length: int) -> None:
        """Raise `NotAskedError` if the server cuts prompts of this length."""
        if self._closed is not None and length >= self._closed:
            self.beyond.add(id)
            raise NotAskedError(f"{NOT_ASKED}the server cuts prompts of {write_length(self._closed)}")

    def add(self, id: str, length: int, prompts: Sequence[PromptCount]) -> None:
        """Add the prompts of the requests for an item, and judge them."""
        for prompt in prompts:
            self.counts.add(prompt)
        cut = [prompt for prompt in prompts if self.counts.is_cut(prompt)]
        if cut:
            self.stale.add(id)
            self._judge_again(cut[0].kind)
        else:
            self.stale.discard(id)
            for prompt in prompts[:1]:
                self._unproved.setdefault(prompt.kind, {})[id] = prompts
        self._in_a_row[length] = self._in_a_row[length] + 1 if cut else 0
        if cut and not self._has_warned:
            self._has_warned = True
            logger.warning(f"{describe_cut(self.address, cut[0].sent, cut[0].counted)}: {remedy(self.software)}")
        if self._in_a_row[length] >= IN_A_ROW:
            self._closed = min(length, self._closed or length)

    def _judge_again(self, kind: str) -> None:
        """Judge items that came before the first proof."""
        for id, prompts in self._unproved.pop(kind, {}).items():
            if any(self.counts.is_cut(prompt) for prompt in prompts):
                self.stale.add(id)


def describe_cut(address: str, sent: int, counted: int) -> str:
    """Return what a server did with a prompt."""
    return f"{address} cut a prompt and did not say so: it counted {counted:,} tokens where {sent:,} were sent"


def remedy(software: str) -> str:
    """Return what to do about a server that cuts prompts."""
    return next((words for name, words in REMEDIES.items() if software.startswith(name)), OTHER_REMEDY)


def describe_shortened(results: Sequence[Result], window: Window) -> str:
    """Return how many prompts of a run were cut, and what to do. Empty if none was."""
    cut, unsent = [result for result in results if result.status == "shortened"], len(window.beyond)
    if not cut and not unsent:
        return ""
    first = min(cut, key=lambda result: result.length, default=None)
    example = f", such as {first.input_tokens or 0:,} tokens of {first.tokens:,}" if first and not first.reading else ""
    rest = f", and {count(unsent, 'prompt')} of these lengths {_was(unsent)} not sent" if unsent else ""
    return (
        f"{window.address} cut {count(len(cut), 'prompt')} and did not say so{example}{rest}: these are no answers "
        f"of the model (`shortened`); {remedy(window.software)}, and the same command asks again"
    )


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


# --- the window of the running run ---

_WINDOWS: list[Window] = []
"""The window of the running run. Solvers need it, and Inspect makes solvers."""


@contextmanager
def watching(window: Window) -> Iterator[None]:
    _WINDOWS.append(window)
    try:
        yield
    finally:
        _WINDOWS.remove(window)


def admit(id: str, length: int) -> None:
    for window in _WINDOWS[-1:]:
        window.admit(id, length)


def add(id: str, metadata: Mapping[str, Any], output: ModelOutput, reading: Mapping[str, Any] | None) -> None:
    """Report the requests for an item.

    Args:
        metadata: The metadata of its sample.
    """
    if metadata["tokenizer"] == "words" or output.stop_reason == "model_length":
        return
    steps = steps_of(reading) if reading else [(metadata["tokens"], count_input(output))]
    task, length = task_of(metadata["task"], metadata["part"]), metadata["length"]
    prompts = [*filter(None, prompt_counts(task, metadata["instance_id"], not length, steps))]
    for window in _WINDOWS[-1:]:
        window.add(id, length, prompts)


# --- what was cut is asked again ---


def withdraw(folder: Path, replies: Sequence[LoggedReply]) -> None:
    """Remove replies to cut prompts from the logs of a run, so that their items are asked again."""
    withdrawn = {(reply.result.subject, reply.result.id) for reply in replies}
    for path in logs(folder) if withdrawn else ():
        results = [reply.result for reply in replies_in(path)]
        if ids := {result.id for result in results if (result.subject, result.id) in withdrawn}:
            _remove_replies(path, ids)


def _remove_replies(path: Path, ids: Collection[str]) -> None:
    log = read_eval_log(str(path))
    error = EvalError(message=f"{NOT_ASKED}the server cut its prompt before", traceback="", traceback_ansi="")
    for sample in log.samples or ():
        if str(sample.id) in ids:
            sample.error, sample.scores, sample.output = error, None, ModelOutput()
    log.status, log.error, log.results = "error", error, None
    write_eval_log(log, str(path))

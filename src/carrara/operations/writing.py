"""Ask a model for pieces, as Michelangelo's authors did for MRCR's conversations.

    Write a cheerful poem about penguins in a gothic style. Give nothing but the poem itself, …

A reply that cannot be a piece (empty, a refusal, cut off, a repetition, a turn of a conversation) is rejected, and
asked for again a few times. Missing pieces are reported with the reason.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio
from inspect_ai.model import GenerateConfig, Model, ModelOutput
from rich.console import Console

from carrara.answers.reply_text import without_reasoning
from carrara.generators.append_file import BankFile, open_bank_file
from carrara.generators.bank import tidy
from carrara.generators.forms import DraftKey
from carrara.items.grading import declines
from carrara.items.prompt import fingerprint
from carrara.operations.write_config import WriteConfig
from carrara.runs import progress
from carrara.runs.by_reference import PromptReference, ReferencedAPI
from carrara.runs.provider import MODELS
from carrara.servers.probe import check_server
from carrara.servers.providers import make_model
from carrara.servers.redact import shorten
from carrara.servers.response import ending
from carrara.servers.retry import RetryTrouble, attempts
from carrara.types import Message
from carrara.util.errors import UsageError

AGAIN = 3
"""The number of times that a piece is asked for again."""
MOST_AT_ONCE = 100
"""The number of parallel requests, within which Inspect finds out how many a server can handle."""
_LETTERS_A_TOKEN = 4
_WORDS_A_TOKEN = 0.6
_CHATS = ("smollm2",)
"""Carrara's own models that can write."""


class Slot(NamedTuple):
    """One of the drafts for a key."""

    key: DraftKey
    number: int

    def __str__(self) -> str:
        return f"{self.key}, draft {self.number + 1}"


class Missing(NamedTuple):
    """A piece that the model did not deliver."""

    key: DraftKey
    why: str


@dataclass(frozen=True)
class DraftResult:
    """The outcome of writing."""

    pieces: int
    """The number of pieces in the file for the keys of the command."""
    new: int
    missing: list[Missing]


def write(config: WriteConfig, console: Console | None = None) -> DraftResult:
    """Have a model write the pieces that the file lacks."""
    _check(config)
    with open_bank_file(config.out) as bank:
        open_slots = [Slot(key, n) for key in config.keys for n in range(bank.count[key], config.n)]
        missing: list[Missing] = []
        if open_slots:
            missing = _write_missing(config, bank, open_slots, console)
        pieces = sum(bank.count[key] for key in config.keys)
        return DraftResult(pieces, len(open_slots) - len(missing), missing)


def request(key: DraftKey, max_tokens: int) -> str:
    """Return the prompt for a piece.

    >>> request(DraftKey("riddle", "bees"), 512)
    'Write a riddle about bees. Give nothing but the riddle itself, without a word before or after it, in plain text \
and at most 300 words.'
    """
    most_words = max(10, int(_WORDS_A_TOKEN * max_tokens) // 10 * 10)
    return (
        f"Write {key.with_article}. Give nothing but the {key.format} itself, without a word before or after it, in "
        f"plain text and at most {most_words} words."
    )


def _check(config: WriteConfig) -> None:
    provider, _, name = config.model.partition("/")
    if config.embedded and name in MODELS and name not in _CHATS:
        raise UsageError(
            f"{config.model} answers tasks and cannot write: name a model that can, such as carrara/smollm2"
        )
    if config.embedded and config.base_url:
        raise UsageError(f"{config.model} runs here and has no address: leave `base_url` out")
    if provider.endswith("-completions"):
        raise UsageError(
            f"{provider} completes plain text, and pieces are asked for in a chat: name a provider that chats"
        )


def _write_missing(
    config: WriteConfig, bank: BankFile, open_slots: Sequence[Slot], console: Console | None
) -> list[Missing]:
    """Ask for the missing pieces, and return those that the model did not deliver."""
    model = make_model(config.model, config.base_url, config.model_args)
    check_server(config.model, config.base_url, config.model_args)
    total = len(config.keys) * config.n
    with progress.progress(
        total, dict.fromkeys(map(str, open_slots), 0), _about(config, total, open_slots), console
    ) as run_progress:
        writer = _Writer(config, bank, model, run_progress)
        try:
            anyio.run(writer.all, open_slots)
        except BaseExceptionGroup as group:
            raise _first(group) from None
    return writer.missing


def _about(config: WriteConfig, total: int, open_slots: Sequence[Slot]) -> str:
    """Return a description of the requests and their greatest cost."""
    pieces = f"{total:,} pieces" if len(open_slots) == total else f"{len(open_slots):,} of {total:,} pieces"
    sent = sum(len(request(slot.key, config.max_tokens)) for slot in open_slots) // _LETTERS_A_TOKEN
    return (
        f"{pieces} for {len(config.keys):,} keys, to be written by {config.model}: about {sent:,} tokens of requests, "
        f"at most {len(open_slots) * config.max_tokens:,} of replies ({config.max_tokens:,} each), and more if some "
        f"are asked for again"
    )


class _Writer:
    """Ask for the missing pieces."""

    def __init__(self, config: WriteConfig, bank: BankFile, model: Model, run_progress: progress.RunProgress) -> None:
        self.config, self.bank, self.model, self.run_progress = config, bank, model, run_progress
        self.missing: list[Missing] = []
        self.requests: dict[str, Message] = {}
        # As in a run: failed attempts are shown, and no error contains a key.
        model.api = ReferencedAPI(model, lambda reference: [self.requests[reference["id"]]], progress)
        self.at_once = config.connections or (model.api.max_connections() if config.embedded else None)

    async def all(self, open_slots: Sequence[Slot]) -> None:
        slots = iter(open_slots)
        try:
            async with anyio.create_task_group() as group:
                for _ in range(min(len(open_slots), self.at_once or MOST_AT_ONCE)):
                    group.start_soon(self._some, slots)
        finally:
            with anyio.CancelScope(shield=True):
                await self.model.api.aclose()

    async def _some(self, slots: Iterator[Slot]) -> None:
        for slot in slots:
            # Inspect keeps the replies of a task until the task ends. So each slot is a task of its own.
            async with anyio.create_task_group() as alone:
                alone.start_soon(self._write_slot, slot)

    async def _write_slot(self, slot: Slot) -> None:
        reason = await self._piece(slot)
        if reason is None:
            self.run_progress.on_answer(str(slot))
        else:
            self.missing.append(Missing(slot.key, reason))
            self.run_progress.on_failure(str(slot))

    async def _piece(self, slot: Slot) -> str | None:
        """Add a piece to the bank, or return why it is missing."""
        last_reason = ""
        for _ in range(1 + AGAIN):
            try:
                with attempts():
                    output = await self._reply(slot)
            except Exception as error:
                return f"the request failed: {_words(error)}"
            text = tidy(without_reasoning(output.completion))
            reason = self._failure(output, text) or self.bank.add(slot.key, text, str(self.model))
            if reason is None:
                return None
            last_reason = reason
        return f"{last_reason} ({1 + AGAIN} replies)"

    async def _reply(self, slot: Slot) -> ModelOutput:
        message = Message("user", request(slot.key, self.config.max_tokens))
        self.requests[str(slot)] = message
        reference = PromptReference(str(slot), fingerprint([message]), message.content)
        return await self.model.generate(
            [reference.message()],
            config=GenerateConfig(
                max_tokens=self.config.max_tokens,
                temperature=self.config.temperature,
                max_connections=self.at_once,
                # The embedded model would give the same reply again; other models draw by themselves.
                seed=secrets.randbelow(1 << 31) if self.config.embedded else None,
            ),
        )

    def _failure(self, output: ModelOutput, text: str) -> str | None:
        """Return why a reply cannot be a piece, for reasons other than its text."""
        match ending(output):
            case "filtered":
                return "the provider withheld it"
            case "called":
                return "the model called a tool"
            case "truncated":
                return f"it was cut off at {self.config.max_tokens:,} tokens: `max_tokens` gives more"
            case "overflow":
                return "the request is longer than the model's context"
        if not text:
            return "there was no text" + (" but thinking" if output.completion.strip() else "")
        return "the model declined" if declines(text) else None


def _words(error: Exception) -> str:
    """Return the message of an error on one line."""
    trouble = getattr(error, "trouble", None)
    words = trouble.words if isinstance(trouble, RetryTrouble) else shorten(str(error) or type(error).__name__)
    return " ".join(words.split())


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner

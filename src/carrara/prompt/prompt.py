"""Prompts: a woven context in its frame, as messages, with where every update stands.

`Prompt` is a recipe that renders: hash and spans come from one stream of parts, and a prompt of ten million tokens is
never held unless somebody asks for its text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple, overload

from carrara.core.types import Frame, Message, Role, Unit
from carrara.prompt.measure import Measure, assemble, puzzle
from carrara.prompt.weave import Weave

HELD = 1 << 16
"""Characters that are held before they go into a hash."""


class Part(NamedTuple):
    """A stretch of one message."""

    message: int
    role: Role
    text: str
    update: int | None = None
    piece: bool = False
    """Whether it is a piece of the context, rather than frame or joint."""
    tokens: int = 0
    """What it adds, with the joint and label before it."""


class Span(NamedTuple):
    """Where one piece of an update stands: characters of a message's content, tokens of the prompt as sent."""

    update: int
    message: int
    start: int
    end: int
    token_start: int
    token_end: int
    needed: bool


class Survey(NamedTuple):
    """What one pass over a prompt tells."""

    tokens: int
    characters: int
    sha256: str
    spans: Sequence[Span]


def fingerprint(messages: Iterable[Message]) -> str:
    """The hash that `Survey` has for a prompt with these messages."""
    digest = sha256()
    parts = (Part(number, message.role, message.content) for number, message in enumerate(messages))
    for _ in hashed(parts, digest):
        pass
    return digest.hexdigest()


def _opened(role: Role) -> str:
    """What stands before a message's content in a hash."""
    return f"\x1e{role}\x1f"


def hashed(parts: Iterable[Part], digest: Any) -> Iterator[Part]:
    """Parts as they pass, and into a hash, which is that of `fingerprint` when all have passed: little text is held."""
    message, held, size = -1, list[str](), 0
    for part in parts:
        if part.message != message:
            held.append(_opened(part.role))
            message = part.message
        held.append(part.text)
        size += len(part.text)
        if size > HELD:
            digest.update("".join(held).encode())
            held, size = [], 0
        yield part
    digest.update("".join(held).encode())


def _uncounted(unit: Unit) -> int:
    return 0


class _Spans(Sequence[Span]):
    """The spans of a prompt, found at the first look: there may be a quarter of a million."""

    def __init__(self, prompt: "Prompt") -> None:
        self._prompt = prompt

    @cached_property
    def _found(self) -> Sequence[Span]:
        return self._prompt._of_text().spans

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> Span: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Span]: ...
    def __getitem__(self, place: int | slice) -> Span | Sequence[Span]:
        return self._found[place]

    def __iter__(self) -> Iterator[Span]:
        return iter(self._found)


@dataclass(frozen=True)
class Prompt:
    frame: Frame
    weave: Weave
    measure: Measure
    needs: Sequence[int]
    tokens: int
    """As sent."""

    def parts(self, counted: bool = True) -> Iterator[Part]:
        """All that it says. What parts cost is left out where nobody asks: it takes longer than the rest."""
        frame, number = self.frame, 0
        cost = self.measure.cost if counted else _uncounted
        if not frame.turns:
            yield Part(0, "user", frame.before)
            for number, piece in enumerate(self.weave):
                if number:
                    yield Part(0, "user", frame.joint)
                if label := frame.labels.get(piece.role):
                    yield Part(0, "user", label)
                yield Part(0, "user", piece.text, piece.update, True, cost((piece,)))
            yield Part(0, "user", frame.after)
            return
        for number, piece in enumerate(self.weave):
            if number == 0 and frame.before:
                yield Part(0, piece.role, frame.before)
            yield Part(number, piece.role, piece.text, piece.update, True, cost((piece,)))
        yield Part(number + 1, "user", frame.after)

    def messages(self) -> list[Message]:
        return assemble(self.frame, self.weave)

    @property
    def text(self) -> str:
        """The contents of all messages, one after the other: to be read by people."""
        return "\n\n".join(message.content for message in self.messages())

    def survey(self) -> Survey:
        """Length, hash and spans in one pass. The hash covers roles and contents."""
        if self.frame.turns:
            return self._of_parts()
        return self._of_text() if self.weave.has_filler else self._of_puzzle()

    def _of_puzzle(self) -> Survey:
        """Where the context is the structure. Its spans are found when somebody looks at them."""
        [message] = puzzle(self.frame, self.weave.instance)
        found = fingerprint([message])
        return Survey(self.tokens, len(message.content), found, _Spans(self))

    def _of_text(self) -> Survey:
        """Where all is one message, of a piece for each word perhaps: without two parts for each of them."""
        frame, cost, joint_tokens = self.frame, self.measure.cost, self.measure.joint
        needs, labels, joint = frozenset(self.needs), frame.labels, frame.joint
        digest = sha256(f"{_opened('user')}{frame.before}".encode())
        spans, held = list[Span](), list[str]()
        place, hashed_to, tokens, before = len(frame.before), len(frame.before), self.measure.before, ""
        for piece in self.weave:
            text, _, update, taken = piece
            if labels:
                before += labels.get(piece.role, "")
            start = place + len(before)
            place = start + len(text)
            after = tokens + (cost((piece,)) if taken is None else taken)
            if update is not None:
                spans.append(Span(update, 0, start, place, tokens + joint_tokens, after, update in needs))
            held += before, text
            tokens, before = after, joint
            if place - hashed_to > HELD:
                digest.update("".join(held).encode())
                held, hashed_to = [], place
        digest.update("".join([*held, frame.after]).encode())
        return Survey(self.tokens, place + len(frame.after), digest.hexdigest(), tuple(spans))

    def _of_parts(self) -> Survey:
        digest = sha256()
        spans = []
        message, start, characters = -1, 0, 0
        needs = frozenset(self.needs)
        tokens = self.measure.before
        for part in hashed(self.parts(), digest):
            if part.message != message:
                message, start = part.message, 0
            if part.update is not None:
                end = start + len(part.text)
                own = tokens + self.measure.joint
                spans.append(Span(part.update, message, start, end, own, tokens + part.tokens, part.update in needs))
            start += len(part.text)
            characters += len(part.text)
            tokens += part.tokens
        return Survey(self.tokens, characters, digest.hexdigest(), tuple(spans))

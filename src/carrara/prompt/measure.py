"""Token counts that add up.

A unit's cost is what it adds between two other units, joint included. With the tokenizers in use these costs sum to the
count of the whole (measured on millions of sentences), because a joint, or what follows it, starts a new token; so a
prompt's length is the count of its puzzle plus the costs of its filler. That is probed when a tokenizer first meets a
task's units, and where it fails the weaver counts whole prompts instead.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from carrara.core.types import Frame, Instance, Message, Piece, Role, Style, Unit
from carrara.tokens.base import Tokenizer, count_chat, count_plain

_PROBED: dict[tuple[str, str, str], bool] = {}
_COSTS: dict[tuple[str, str, str, bool], dict[tuple[Role, str], int]] = {}
_CACHED = 500_000
MANY = 64
"""Pieces of a unit from which on they are counted together."""


@dataclass(frozen=True)
class Measure:
    """What things cost in one frame, by one tokenizer."""

    tokenizer: Tokenizer
    style: Style
    frame: Frame
    instance: Instance
    lead: str
    """A piece such as stands before and after another, with its label."""
    puzzle: int
    """Tokens of the prompt without filler."""
    _cache: dict[tuple[Role, str], int] = field(repr=False)

    @staticmethod
    def of(
        tokenizer: Tokenizer,
        style: Style,
        frame: Frame,
        instance: Instance,
        tokens: int | None = None,
    ) -> "Measure":
        """Return the measure of an instance in a frame. `tokens` are those of its prompt without filler, if known."""
        last = instance.last
        lead = frame.labels.get(last.role, "") + last.text if last else "A."
        key = (tokenizer.name, lead[:1] + lead[-1:], frame.joint, frame.turns)
        cache = _COSTS.setdefault(key, {})
        if len(cache) > _CACHED:
            cache.clear()
        if tokens is None:
            tokens = count(tokenizer, style, puzzle(frame, instance))
        return Measure(tokenizer, style, frame, instance, lead, tokens, cache)

    @cached_property
    def before(self) -> int:
        """Tokens of the prompt before its first piece, as if a joint stood there too."""
        return self.puzzle - self.cost(tuple(self.instance.pieces)) - self._after()

    @cached_property
    def joint(self) -> int:
        """Tokens of a joint that are not part of what stands before or after it."""
        last = self.instance.last
        return 0 if self.frame.turns or not last else max(0, self.cost((last,)) - self.tokenizer.count(self.lead))

    def cost(self, unit: Unit) -> int:
        """Tokens that a unit adds among others, by what its pieces add."""
        total, cache = 0, self._cache
        if len(unit) > MANY and not self.frame.turns:
            self._count_together(unit)
        for piece in unit:
            known = piece.tokens
            if known is None:
                known = cache.get((piece.role, piece.text))
            if known is None:
                known = cache[piece.role, piece.text] = self._added(piece.text, piece.role)
            total += known
        return total

    def _added(self, text: str, role: Role) -> int:
        if self.frame.turns:
            return count_chat(self.tokenizer, [*_turns(role), Message(role, text)]) - self._without_turn[role]
        text = self.frame.labels.get(role, "") + text
        return self.tokenizer.count(self._around + text + self.frame.joint + self.lead) - self._without

    def _count_together(self, unit: Unit) -> None:
        cache, labels, ending = self._cache, self.frame.labels, self.frame.joint + self.lead
        new = {(role, text): labels.get(role, "") + text for text, role, _, known in unit if known is None}
        new = {name: f"{self._around}{text}{ending}" for name, text in new.items() if name not in cache}
        counts = self.tokenizer.count_many(list(new.values()))
        cache.update(zip(new, (counted - self._without for counted in counts), strict=True))

    @cached_property
    def _around(self) -> str:
        return self.lead + self.frame.joint

    @cached_property
    def _without(self) -> int:
        """Tokens where nothing stands between two pieces."""
        return self.tokenizer.count(self._around + self.lead)

    @cached_property
    def _without_turn(self) -> Mapping[Role, int]:
        """Tokens of the turns behind which one of a role is counted."""
        return {role: count_chat(self.tokenizer, _turns(role)) for role in ("user", "assistant")}

    def _after(self) -> int:
        """Tokens of the prompt behind its last piece."""
        if self.frame.turns:
            return self._added(self.frame.after, "user")
        with_it, without = self.tokenizer.count_many([self.lead + self.frame.after, self.lead])
        ending = count(self.tokenizer, self.style, [Message("user", "A")]) - self.tokenizer.count("A")
        opening = self._opening()
        return with_it - without + ending - opening

    def _opening(self) -> int:
        """Tokens that the chat format puts before the first message's content."""
        if self.style == "base":
            return self.tokenizer.opening
        if self.tokenizer.chat is None:
            return 0
        mark = "A"
        total = 0
        for segment in self.tokenizer.chat.segments([Message("user", mark)]):
            if segment.special:
                total += 1
            elif segment.text.endswith(mark):
                return total + self.tokenizer.count(segment.text) - self.tokenizer.count(mark)
            else:
                total += self.tokenizer.count(segment.text)
        return total

    def additive(self, task: str, units: Callable[[], Sequence[Unit]], fixed: Sequence[Piece]) -> bool:
        """Whether costs sum to counts for this tokenizer and task; probed once.

        They never do where the first or last piece has no joint at its outer side: what stands there decides.
        """
        if not self._joined(fixed):
            return False
        key = (self.tokenizer.name, task, self.frame.joint)
        if key not in _PROBED:
            pieces = [piece for unit in units() for piece in unit]
            whole = count(self.tokenizer, self.style, assemble(self.frame, [*fixed, *pieces]))
            _PROBED[key] = whole == self.puzzle + self.cost(tuple(pieces))
        return _PROBED[key]

    def _joined(self, fixed: Sequence[Piece]) -> bool:
        """Whether any piece can be the first and the last, and costs what it does elsewhere."""
        frame = self.frame
        opened = bool(fixed) and fixed[0].update is None
        return frame.turns or ((opened or frame.before.endswith(frame.joint)) and frame.after.startswith(frame.joint))


def _turns(role: Role) -> list[Message]:
    """Formats differ in what they make of two turns of one speaker: a turn follows the other's."""
    turns = [Message("user", "A"), Message("assistant", "B")]
    return [*turns, Message("user", "A")] if role == "assistant" else turns


def assemble(frame: Frame, pieces: Iterable[Piece]) -> list[Message]:
    """The messages of a prompt with just these pieces."""
    if not frame.turns:
        labels = frame.labels
        texts = [labels.get(piece.role, "") + piece.text for piece in pieces] if labels else [p.text for p in pieces]
        text = frame.joint.join(texts)
        return [Message("user", frame.before + text + frame.after)]
    messages = [Message(piece.role, piece.text) for piece in pieces]
    if messages and frame.before:
        messages[0] = Message(messages[0].role, frame.before + messages[0].content)
    return [*messages, Message("user", frame.after)]


def puzzle(frame: Frame, instance: Instance) -> list[Message]:
    """Return the messages of a prompt without filler."""
    if frame.turns or frame.labels:
        return assemble(frame, instance.pieces)
    return [Message("user", frame.before + frame.joint.join(instance.texts) + frame.after)]


def count(tokenizer: Tokenizer, style: Style, messages: Sequence[Message]) -> int:
    """Tokens of a prompt as sent: a conversation in the model's chat format, or plain text."""
    if style == "base":
        return count_plain(tokenizer, "\n\n".join(message.content for message in messages))
    return count_chat(tokenizer, messages)

"""Prompts: a packed context in its template, as messages, with the positions of all facts and the cost of all parts.

`Prompt` renders on demand: hash and spans come from one stream of parts, and a prompt of ten million tokens is held in
memory only if its text is requested.

`Measure` has token counts that add up. A group costs the tokens that it adds between two others, with its separator.
With the tokenizers in use, these costs sum to the count of the whole, because a separator, or the text after it, starts
a new token. This was measured on millions of sentences. So a prompt's length is the count of its puzzle plus the costs
of its filler. It is tested when a tokenizer first meets a task's groups. If it fails, whole prompts are counted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, NamedTuple, overload

from carrara.items.packing import Packing
from carrara.tokenizers.base import Tokenizer, count_chat, count_plain
from carrara.types import Instance, Message, PromptTemplate, Role, Segment, SegmentGroup, Style

HASHED_CHARACTERS = 1 << 16
"""The characters that are collected before they are hashed."""
_PROBED: dict[tuple[str, str, str], bool] = {}
_COSTS: dict[tuple[str, str, str, bool, bool], dict[tuple[Role, str], int]] = {}
_CACHED = 500_000
_TYPICAL = 1000
"""The number with which a segment of a numbered list is counted. Such prompts are counted whole in the end."""
MANY = 64
"""The number of segments above which those of a group are counted together."""


def assemble(template: PromptTemplate, segments: Iterable[Segment]) -> list[Message]:
    """Return the messages of a prompt with only these segments."""
    if not template.turns:
        text = template.separator.join(_texts(template, segments))
        return [Message("user", template.before + text + template.after), *template.history]
    messages = [Message(template.role_of(segment), segment.text) for segment in segments]
    if messages and template.before:
        messages[0] = Message(messages[0].role, template.before + messages[0].content)
    return [*messages, Message("user", template.after), *template.history]


def _texts(template: PromptTemplate, segments: Iterable[Segment]) -> list[str]:
    """Return the texts of segments in text form, each with its label and its number."""
    labels, numbering = template.labels, template.numbering
    texts = [labels.get(p.role, "") + p.text for p in segments] if labels else [p.text for p in segments]
    return [numbering.format(n=n) + text for n, text in enumerate(texts, 1)] if numbering else texts


def assemble_bare(template: PromptTemplate, instance: Instance) -> list[Message]:
    """Return the messages of a prompt without filler."""
    if template.turns or template.labels or template.numbering:
        return assemble(template, instance.segments)
    text = template.before + template.separator.join(instance.texts) + template.after
    return [Message("user", text), *template.history]


def count(tokenizer: Tokenizer, style: Style, messages: Sequence[Message]) -> int:
    """Return the tokens of a prompt as sent: a conversation in the model's chat format, or plain text."""
    if style == "base":
        return count_plain(tokenizer, "\n\n".join(message.content for message in messages))
    return count_chat(tokenizer, messages)


# --- what it costs ---


@dataclass(frozen=True)
class Measure:
    """The costs of text in one template, by one tokenizer."""

    tokenizer: Tokenizer
    style: Style
    template: PromptTemplate
    instance: Instance
    lead: str
    """A segment that stands for those before and after another, with its label."""
    bare_tokens: int
    """Tokens of the prompt without filler."""
    _cache: dict[tuple[Role, str], int] = field(repr=False)

    @staticmethod
    def of(
        tokenizer: Tokenizer,
        style: Style,
        template: PromptTemplate,
        instance: Instance,
        tokens: int | None = None,
    ) -> "Measure":
        """Return the measure of an instance in a template.

        `tokens` are those of its prompt without filler, if known.
        """
        last = instance.last
        lead = template.labels.get(last.role, "") + last.text if last else "A."
        joint = template.separator + template.numbering
        key = (tokenizer.name, lead[:1] + lead[-1:], joint, template.turns, template.calls)
        cache = _COSTS.setdefault(key, {})
        if len(cache) > _CACHED:
            cache.clear()
        if tokens is None:
            tokens = count(tokenizer, style, assemble_bare(template, instance))
        return Measure(tokenizer, style, template, instance, lead, tokens, cache)

    @cached_property
    def before(self) -> int:
        """The tokens of the prompt before its first segment, as if a separator stood there too."""
        return self.bare_tokens - self.cost(tuple(self.instance.segments)) - self._after()

    @cached_property
    def separator(self) -> int:
        """The tokens of a separator that do not belong to the text before or after it."""
        last = self.instance.last
        return 0 if self.template.turns or not last else max(0, self.cost((last,)) - self.tokenizer.count(self.lead))

    def cost(self, group: SegmentGroup) -> int:
        """Return the tokens that a group adds among others: the sum over its segments."""
        total, cache = 0, self._cache
        if len(group) > MANY and not self.template.turns:
            self._count_together(group)
        for segment in group:
            known = segment.tokens
            if known is None:
                known = cache.get((segment.role, segment.text))
            if known is None:
                known = cache[segment.role, segment.text] = self._cost_of(segment)
            total += known
        return total

    def _cost_of(self, segment: Segment) -> int:
        if self.template.turns:
            role = self.template.role_of(segment)
            turns = [*_turns(role), Message(role, segment.text)]
            return count_chat(self.tokenizer, turns) - self._without_turn[role]
        text = self._number + self.template.labels.get(segment.role, "") + segment.text
        return self.tokenizer.count(self._around + text + self.template.separator + self.lead) - self._without

    def _count_together(self, group: SegmentGroup) -> None:
        cache, labels, ending = self._cache, self.template.labels, self.template.separator + self.lead
        new = {
            (role, text): self._number + labels.get(role, "") + text for text, role, _, known in group if known is None
        }
        new = {name: f"{self._around}{text}{ending}" for name, text in new.items() if name not in cache}
        counts = self.tokenizer.count_many(list(new.values()))
        cache.update(zip(new, (counted - self._without for counted in counts), strict=True))

    @cached_property
    def _number(self) -> str:
        return self.template.numbering.format(n=_TYPICAL)

    @cached_property
    def _around(self) -> str:
        return self.lead + self.template.separator

    @cached_property
    def _without(self) -> int:
        """The tokens between two segments without a separator."""
        return self.tokenizer.count(self._around + self.lead)

    @cached_property
    def _without_turn(self) -> Mapping[Role, int]:
        """The tokens of the turns after which a turn of a role is counted."""
        roles: Sequence[Role] = ("user", "assistant", *(("call", "tool") if self.template.calls else ()))
        return {role: count_chat(self.tokenizer, _turns(role)) for role in roles}

    def _after(self) -> int:
        """Return the tokens of the prompt after its last segment."""
        if self.template.history:
            messages = [Message("user", "A"), *self.template.history]
            history = count(self.tokenizer, self.style, messages) - count(self.tokenizer, self.style, messages[:1])
            return history + self._after_in_message()
        return self._after_in_message()

    def _after_in_message(self) -> int:
        if self.template.turns:
            return self._cost_of(Segment(self.template.after))
        with_it, without = self.tokenizer.count_many([self.lead + self.template.after, self.lead])
        ending = count(self.tokenizer, self.style, [Message("user", "A")]) - self.tokenizer.count("A")
        opening = self.opening()
        return with_it - without + ending - opening

    def opening(self) -> int:
        """Return the tokens that the chat format puts before the first message's content."""
        if self.style == "base":
            return self.tokenizer.opening
        if self.tokenizer.chat is None:
            return 0
        mark = "A"
        total = 0
        for segment in self.tokenizer.chat.parts([Message("user", mark)]):
            if segment.special:
                total += 1
            elif segment.text.endswith(mark):
                return total + self.tokenizer.count(segment.text) - self.tokenizer.count(mark)
            else:
                total += self.tokenizer.count(segment.text)
        return total

    def additive(self, task: str, groups: Callable[[], Sequence[SegmentGroup]], fixed: Sequence[Segment]) -> bool:
        """Return whether costs sum to counts for this tokenizer and task, which is tested once.

        They never do if the first or last segment has no separator at its outer side, because then its neighbour
        decides, or in a numbered list.
        """
        if self.template.numbering or not self._is_uniform(fixed):
            return False
        key = (self.tokenizer.name, task, self.template.separator)
        if key not in _PROBED:
            segments = [segment for group in groups() for segment in group]
            total = count(self.tokenizer, self.style, assemble(self.template, [*fixed, *segments]))
            _PROBED[key] = total == self.bare_tokens + self.cost(tuple(segments))
        return _PROBED[key]

    def _is_uniform(self, fixed: Sequence[Segment]) -> bool:
        """Return whether any segment can be the first and the last with the cost that it has elsewhere.

        If segments follow each other without a separator, the last character of one may be in a token with the next.
        So the first one has to stand after such a character too.
        """
        template = self.template
        opened = bool(fixed) and fixed[0].fact is None
        edge = template.separator or self.lead[-1:]
        return template.turns or (
            (opened or template.before.endswith(edge)) and template.after.startswith(template.separator)
        )


def _turns(role: Role) -> list[Message]:
    """Return turns that a turn of this role can follow. Formats treat two turns of one speaker differently."""
    turns = [Message("user", "A"), Message("assistant", "B")]
    if role == "user":
        return turns
    turns.append(Message("user", "A"))
    return [*turns, Message("call", "bcdfgh a.a {}")] if role == "tool" else turns


# --- what it says ---


class PromptPart(NamedTuple):
    """A stretch of text in one message."""

    message: int
    role: Role
    text: str
    fact: int | None = None
    segment: bool = False
    """Whether it is a segment of the context, not template or separator."""
    tokens: int = 0
    """The tokens that it adds, with the separator and label before it."""


Kind = Literal["template", "filler", "needed", "fact"]


class Stretch(NamedTuple):
    """A stretch of text in one message, with its kind."""

    message: int
    role: Role
    text: str
    kind: Kind
    """The kind: `needed` is a fact of the evidence, `fact` any other fact."""


class Span(NamedTuple):
    """The position of one segment of a fact: characters of a message's content, and tokens of the prompt as sent."""

    fact: int
    message: int
    start: int
    end: int
    token_start: int
    token_end: int
    needed: bool


class FollowUps(NamedTuple):
    """The messages that follow a prompt."""

    messages: int
    """Their number."""
    tokens: int
    """Their tokens together."""


class Survey(NamedTuple):
    """The measurements from one pass over a prompt."""

    tokens: int
    characters: int
    sha256: str
    spans: Sequence[Span]


def fingerprint(messages: Iterable[Message]) -> str:
    """Return the hash that `Survey` has for a prompt with these messages."""
    digest = sha256()
    parts = (PromptPart(number, message.role, message.content) for number, message in enumerate(messages))
    for _ in hash_parts(parts, digest):
        pass
    return digest.hexdigest()


def _message_start(role: Role) -> str:
    """Return the bytes before a message's content in a hash."""
    return f"\x1e{role}\x1f"


def hash_parts(parts: Iterable[PromptPart], digest: Any) -> Iterator[PromptPart]:
    """Yield parts as they pass, and add them to a hash.

    At the end it equals that of `fingerprint`. Little text is held in memory.
    """
    message, held, size = -1, list[str](), 0
    for part in parts:
        if part.message != message:
            held.append(_message_start(part.role))
            message = part.message
        held.append(part.text)
        size += len(part.text)
        if size > HASHED_CHARACTERS:
            digest.update("".join(held).encode())
            held, size = [], 0
        yield part
    digest.update("".join(held).encode())


def _uncounted_tokens(group: SegmentGroup) -> int:
    return 0


class _Spans(Sequence[Span]):
    """The spans of a prompt, found at the first access, because there may be a quarter of a million."""

    def __init__(self, prompt: "Prompt") -> None:
        self._prompt = prompt

    @cached_property
    def _spans(self) -> Sequence[Span]:
        return self._prompt._survey_text().spans

    def __len__(self) -> int:
        return len(self._spans)

    @overload
    def __getitem__(self, place: int) -> Span: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Span]: ...
    def __getitem__(self, place: int | slice) -> Span | Sequence[Span]:
        return self._spans[place]

    def __iter__(self) -> Iterator[Span]:
        return iter(self._spans)


@dataclass(frozen=True)
class Prompt:
    """A packed context in its template."""

    template: PromptTemplate
    packing: Packing
    measure: Measure
    evidence: Sequence[int]
    tokens: int
    """The messages as sent."""

    def parts(self, counted: bool = True) -> Iterator[PromptPart]:
        """Yield all parts. Without `counted`, their costs are left out, because they take longer than the rest."""
        template, number = self.template, 0
        cost = self.measure.cost if counted else _uncounted_tokens
        if not template.turns:
            yield PromptPart(0, "user", template.before)
            for number, segment in enumerate(self.packing):
                if number:
                    yield PromptPart(0, "user", template.separator)
                if mark := template.numbering.format(n=number + 1) + template.labels.get(segment.role, ""):
                    yield PromptPart(0, "user", mark)
                yield PromptPart(0, "user", segment.text, segment.fact, True, cost((segment,)))
            yield PromptPart(0, "user", template.after)
            yield from self._history_parts(1)
            return
        for number, segment in enumerate(self.packing):
            role = template.role_of(segment)
            if number == 0 and template.before:
                yield PromptPart(0, role, template.before)
            yield PromptPart(number, role, segment.text, segment.fact, True, cost((segment,)))
        yield PromptPart(number + 1, "user", template.after)
        yield from self._history_parts(number + 2)

    def _history_parts(self, first: int) -> Iterator[PromptPart]:
        for number, (role, content) in enumerate(self.template.history, first):
            yield PromptPart(number, role, content)

    def stretches(self) -> Iterator[Stretch]:
        """Yield the parts for display, each with its kind."""
        evidence = frozenset(self.evidence)
        for part in self.parts():
            if part.fact is not None:
                kind: Kind = "needed" if part.fact in evidence else "fact"
            else:
                kind = "filler" if part.segment else "template"
            yield Stretch(part.message, part.role, part.text, kind)

    def messages(self) -> list[Message]:
        return assemble(self.template, self.packing)

    @property
    def follow_ups(self) -> FollowUps:
        """The messages that follow the prompt. A chat format may add a few tokens less to each than are counted."""
        texts = self.template.follow_ups
        return FollowUps(len(texts), sum(count_chat(self.measure.tokenizer, [Message("user", text)]) for text in texts))

    @property
    def text(self) -> str:
        """The contents of all messages in a row, for people."""
        return "\n\n".join(message.content for message in self.messages())

    def survey(self) -> Survey:
        """Return length, hash and spans from one pass. The hash covers roles and contents."""
        if self.template.turns:
            return self._survey_parts()
        return self._survey_text() if self.packing.has_filler else self._survey_bare()

    def _survey_bare(self) -> Survey:
        """Return the survey of a prompt whose context is the structure. Its spans are found on access."""
        messages = assemble_bare(self.template, self.packing.instance)
        characters = sum(len(message.content) for message in messages)
        return Survey(self.tokens, characters, fingerprint(messages), _Spans(self))

    def _survey_text(self) -> Survey:
        """Return the survey of a context in one message without two parts for each of its segments, such as words."""
        template, cost, joint_tokens = self.template, self.measure.cost, self.measure.separator
        evidence, labels, separator = frozenset(self.evidence), template.labels, template.separator
        numbering = template.numbering
        digest = sha256(f"{_message_start('user')}{template.before}".encode())
        spans, held = list[Span](), list[str]()
        place, hashed_to, tokens, before = len(template.before), len(template.before), self.measure.before, ""
        for number, segment in enumerate(self.packing, 1):
            text, _, fact, known_tokens = segment
            if numbering:
                before += numbering.format(n=number)
            if labels:
                before += labels.get(segment.role, "")
            start = place + len(before)
            place = start + len(text)
            after = tokens + (cost((segment,)) if known_tokens is None else known_tokens)
            if fact is not None:
                spans.append(Span(fact, 0, start, place, tokens + joint_tokens, after, fact in evidence))
            held += before, text
            tokens, before = after, separator
            if place - hashed_to > HASHED_CHARACTERS:
                digest.update("".join(held).encode())
                held, hashed_to = [], place
        history = [_message_start(role) + content for role, content in template.history]
        digest.update("".join([*held, template.after, *history]).encode())
        characters = place + len(template.after) + sum(len(content) for _, content in template.history)
        return Survey(self.tokens, characters, digest.hexdigest(), tuple(spans))

    def _survey_parts(self) -> Survey:
        digest = sha256()
        spans = []
        message, start, characters = -1, 0, 0
        evidence = frozenset(self.evidence)
        tokens = self.measure.before
        for part in hash_parts(self.parts(), digest):
            if part.message != message:
                message, start = part.message, 0
            if part.fact is not None:
                end = start + len(part.text)
                text_start = tokens + self.measure.separator
                spans.append(
                    Span(part.fact, message, start, end, text_start, tokens + part.tokens, part.fact in evidence)
                )
            start += len(part.text)
            characters += len(part.text)
            tokens += part.tokens
        return Survey(self.tokens, characters, digest.hexdigest(), tuple(spans))

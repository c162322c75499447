"""The context of an item as one text, with the positions of its segments and of the facts that its question needs.

    ReaderContext(item).text             the text between the instructions and the question
    ReaderContext(item).passages(4096)   the same text in passages of whole sentences, each of at most 4,096 tokens

The turns of a conversation become paragraphs that begin with the name of the speaker. Nothing here is held for longer
than the item is asked, except in a small cache.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from carrara.corpora.chunks import TextSplitter
from carrara.items.item import Item, item_of
from carrara.items.layout import BETWEEN_TURNS, SPEAKERS, Layout, layout_of, splitter_of
from carrara.items.prompt import assemble
from carrara.readers.context_file import ContextFile
from carrara.tokenizers import get
from carrara.types import Message, Segment

BEGINNING = 20
"""The most characters by which a turn is looked up."""


class Turns:
    """The turns of a context."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._by_beginning = dict[str, list[int]]()
        """The numbers of the turns by their first characters, the longest first."""
        for number in sorted(range(len(layout.starts)), key=lambda n: layout.starts[n] - layout.ends[n]):
            start, end = layout.starts[number], layout.ends[number]
            self._by_beginning.setdefault(layout.text[start : min(end, start + BEGINNING)], []).append(number)
        self._sizes = sorted({len(beginning) for beginning in self._by_beginning}, reverse=True)

    def find(self, text: str) -> list[Segment] | None:
        """Return the turns that a text consists of. None if it has anything else."""
        layout, segments, place = self._layout, list[Segment](), 0
        text = text.strip()
        while place < len(text):
            known = (n for size in self._sizes for n in self._by_beginning.get(text[place : place + size], ()))
            turns = ((n, layout.text[layout.starts[n] : layout.ends[n]]) for n in known)
            number, turn = next(((n, turn) for n, turn in turns if text.startswith(turn, place)), (-1, ""))
            if not turn:
                return None
            role = layout.roles[number]
            segments.append(Segment(turn.removeprefix(SPEAKERS[role]), role))
            place += len(turn)
            while text[place : place + 1].isspace():
                place += 1
        return segments


_WORD = re.compile(r"\S+")
_OPEN = re.compile(r"<\w+>\s*\Z")
"""The mark at the start of the context, with which the text before it ends."""
_CLOSE = re.compile(r"\A\s*</\w+>")
"""The mark at the end of the context, with which the text after it begins."""

Part = str | Sequence[int]
"""A part of a message: a text, or the positions of the first character and the end of a passage of the context."""
WHOLE_CONTEXT = (0, 1 << 60)
"""The positions of the whole context, whatever its length."""
SHORT = 60
"""The characters of a passage that may stand in a log. A shorter passage may occur elsewhere, too."""


class Passage(str):
    """A part of a context: a text that knows its position.

    Attributes:
        start: The position of its first character in the context.
        end: The position after its last character.
    """

    start: int
    end: int

    @staticmethod
    def of(context: str, start: int, end: int) -> "Passage":
        passage = Passage(context[start:end])
        passage.start, passage.end = start, end
        return passage


class NeededFact(NamedTuple):
    """A fact that the answer depends on."""

    number: int
    start: int
    """The position of its first character in the context."""
    end: int


class ReaderContext:
    """The context of an item, as a reader receives it.

    Args:
        item: The item.

    Examples:
        >>> import carrara
        >>> context = ReaderContext(carrara.item("qa1", length="1k"))
        >>> [passage.start for passage in context.passages(512)]
        [0, 2270]
    """

    def __init__(self, item: Item) -> None:
        self.id = item.id
        """The id of the item."""
        self._item = item
        self._passed = dict[tuple[int, int], Passage]()
        """The passages that were handed out, by which their texts are found in messages."""

    @property
    def text(self) -> str:
        """The whole text."""
        return self._layout.text

    @property
    def file(self) -> ContextFile:
        """The whole text as a file, for agents that read files."""
        return ContextFile.of(self._item)

    @cached_property
    def tokens(self) -> int:
        """The tokens of the text, by the tokenizer of the item."""
        return sum(self._layout.tokens)

    @property
    def prompt_tokens(self) -> int:
        """The tokens of the item's whole prompt."""
        return self._item.prompt.tokens

    @property
    def tokens_around(self) -> int:
        """The tokens of the item's prompt around its context."""
        return max(0, self.prompt_tokens - self.tokens)

    @property
    def context_id(self) -> str:
        """An id that all questions on this context share."""
        return self._item.item_id.context_id

    @property
    def questions(self) -> int:
        """The number of questions on this context."""
        return len(self._item.context.questions)

    @property
    def is_conversation(self) -> bool:
        """True if the text consists of the turns of a conversation."""
        return self._item.prompt.template.turns

    @property
    def ask(self) -> str:
        """The question alone."""
        return self._item.question.ask

    @property
    def instructions(self) -> str:
        """The text before the context in the prompt. Some tasks have the rules for the answer there."""
        return _OPEN.sub("", self._item.prompt.template.before).strip()

    @property
    def question(self) -> str:
        """The text after the context in the prompt: the question. Some tasks have the rules for the answer there."""
        return _CLOSE.sub("", self._item.prompt.template.after).strip()

    @property
    def separator(self) -> str:
        """The text between two segments."""
        template = self._item.prompt.template
        return BETWEEN_TURNS if template.turns else template.separator

    @property
    def _layout(self) -> Layout:
        return layout_of(self._shared_id)

    @cached_property
    def _shared_id(self) -> str:
        """The id of the first question on the context."""
        return str(replace(self._item.item_id, question=0))

    @property
    def _splitter(self) -> TextSplitter:
        return splitter_of(self._shared_id)

    @cached_property
    def _turns(self) -> Turns:
        return Turns(self._layout)

    def count(self, text: str) -> int:
        """Return the tokens of a text, by the tokenizer of the item.

        Args:
            text: The text.

        Returns:
            The number of tokens.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> context.count("Where is she?")
            4
        """
        return get(self._item.item_id.tokenizer).count(text)

    def clip(self, text: str, tokens: int) -> str:
        """Return the beginning of a text, up to a word, with at most this many tokens.

        Args:
            text: The text.
            tokens: The most tokens.

        Returns:
            The text, or its beginning.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> context.clip("one two three four", 2)
            'one two'
        """
        if self.count(text) <= tokens:
            return text
        ends = [match.end() for match in _WORD.finditer(text)]
        fits = bisect_right(ends, tokens, key=lambda end: self.count(text[:end]))
        return text[: ends[fits - 1]] if fits else ""

    def passage(self, start: int, end: int) -> Passage:
        """Return the characters from `start` to `end - 1`.

        Args:
            start: The position of the first character.
            end: The position after the last one.

        Returns:
            The passage.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> context.passage(0, 4)
            'Dani'
        """
        text = self.text
        start = min(max(0, start), len(text))
        passage = Passage.of(text, start, min(max(start, end), len(text)))
        self._passed[passage.start, passage.end] = passage
        return passage

    def around(self, start: int, end: int, characters: int) -> Passage:
        """Return a passage with some characters on each side, up to whole words.

        Args:
            start: The position of the first character.
            end: The position after the last one.
            characters: The characters on each side.

        Returns:
            The passage.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> context.around(10, 14, 8)
            'went back to'
        """
        text = self.text
        first, last = max(0, start - characters), min(len(text), end + characters)
        if first and (space := text.find(" ", first, start)) >= 0:
            first = space + 1
        if last < len(text) and (space := text.rfind(" ", end, last)) >= 0:
            last = space
        return self.passage(first, last)

    def from_position(self, start: int, tokens: int) -> Passage:
        """Return the passage that begins at a position, with at most this many tokens.

        Args:
            start: The position of the first character.
            tokens: The most tokens.

        Returns:
            The passage. It ends as those of `passages` do.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> context.from_position(15, 8)
            'k to the bathroom.'
        """
        return self.passage(*self._splitter.passage(start, tokens))

    def passages(self, tokens: int) -> list[Passage]:
        """Return the text in passages of whole sentences or lines, by their tokens alone.

        Passages are those of a text splitter, which does not know what is a fact. So a fact of several sentences may be
        divided between two of them.

        Args:
            tokens: The most tokens of a passage. A sentence that is longer is divided between clauses or words.

        Returns:
            The passages, in order. Together they have the whole text.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> [passage.end for passage in context.passages(30)]
            [121, 244]
        """
        return [self.passage(start, end) for start, end in self._splitter.passages(tokens)]

    @cached_property
    def needed(self) -> list[NeededFact]:
        """The facts that the answer depends on, in order. Only the perfect retriever and the analysis may read them."""
        question, facts = self._item.question, self._layout.facts
        numbers = {*question.evidence, *question.support}
        return [NeededFact(number, *facts[number]) for number in sorted(numbers) if number in facts]

    @cached_property
    def private(self) -> list[NeededFact]:
        """The facts that a memory must not keep, in order. Only the analysis may read them."""
        facts = self._layout.facts
        numbers = self._item.context.instance.private
        return [NeededFact(number, *facts[number]) for number in sorted(numbers) if number in facts]

    @cached_property
    def opening(self) -> tuple[int, int]:
        """The position of the text before all facts and filler, such as the value that they change."""
        segments = len(self._item.context.instance.start)
        return (self._layout.starts[0], self._layout.ends[segments - 1]) if segments else (0, 0)

    def whole_segments(self, start: int, end: int) -> list[str]:
        """Return the sentences, entries or lines that are whole between two positions. Only proofs may read them.

        Args:
            start: The first position.
            end: The position after the last one.

        Returns:
            Their texts, in order.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> len(context.whole_segments(0, len(context.text))) >= len(context.needed)
            True
        """
        layout = self._layout
        first, last = bisect_left(layout.starts, start), bisect_right(layout.ends, end)
        return [layout.text[layout.starts[number] : layout.ends[number]] for number in range(first, last)]

    @cached_property
    def supporting(self) -> list[NeededFact]:
        """The facts that a retriever has to find: those that a published task names, or else the needed ones."""
        facts = self._layout.facts
        if not self._item.question.support:
            return self.needed
        return [NeededFact(number, *facts[number]) for number in sorted(self._item.question.support)]

    def render(self, parts: Iterable[Part]) -> str:
        """Return the text of parts.

        Args:
            parts: Texts, and positions of passages.

        Returns:
            Their texts, joined.

        Examples:
            >>> import carrara
            >>> ReaderContext(carrara.item("qa1")).render(["Notes: ", (0, 4)])
            'Notes: Dani'
        """
        return "".join(map(self.render_part, parts))

    def render_part(self, part: Part) -> str:
        """Return the text of a part.

        Args:
            part: A text, or the positions of a passage.

        Returns:
            The text.

        Examples:
            >>> import carrara
            >>> ReaderContext(carrara.item("qa1")).render_part((0, 4))
            'Dani'
        """
        return part if isinstance(part, str) else self.text[part[0] : part[1]]

    @property
    def passed(self) -> list[Passage]:
        """The passages that were handed out."""
        return list(self._passed.values())

    def parts(self, text: str) -> list[Part]:
        """Return the parts of a text. Passages that were handed out become their positions.

        Args:
            text: Any text.

        Returns:
            Its parts, in order.

        Examples:
            >>> import carrara
            >>> context = ReaderContext(carrara.item("qa1"))
            >>> context.parts(f"Read this: {context.passages(30)[0]}")
            ['Read this: ', [0, 121]]
        """
        parts: list[Part] = [text]
        if len(text) >= len(self.text) > SHORT:
            parts = _divide(parts, self.text, 0)
        for passage in sorted(self._passed.values(), key=len, reverse=True):
            if len(passage) > SHORT:
                parts = _divide(parts, passage, passage.start)
        return parts

    def prompt(self, parts: Sequence[Part]) -> list[Message]:
        """Return the item's prompt with these parts in place of its context.

        Args:
            parts: Texts, and positions of passages.

        Returns:
            The messages.

        Examples:
            >>> import carrara
            >>> [message] = ReaderContext(carrara.item("qa1")).prompt(["Mary is there."])
            >>> "<context> Mary is there. </context>" in message.content
            True
        """
        template = self._item.prompt.template
        if not template.turns:
            return [Message("user", template.before + self.render(parts) + template.after), *template.history]
        context = self.render(parts)
        # A part of a context with calls of tools stays a text, because APIs refuse a call without its result.
        if not template.calls and (turns := self._turns.find(context)):
            return assemble(template, turns)
        text = template.before + context + BETWEEN_TURNS + template.after
        return [Message("user", text), *template.history]


def _divide(parts: Sequence[Part], passage: str, start: int) -> list[Part]:
    """Return parts with the positions of a passage wherever its text stands."""
    divided: list[Part] = []
    for part in parts:
        if not isinstance(part, str) or passage not in part:
            divided.append(part)
            continue
        for number, text in enumerate(part.split(passage)):
            if number:
                divided.append([start, start + len(passage)])
            if text:
                divided.append(text)
    return divided


def context_of(id: str) -> ReaderContext:
    """Return the context of an item."""
    return ReaderContext(item_of(id))

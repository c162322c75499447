"""The context of an item as a text file, for agents that read files. Each sentence is a line.

    file = ContextFile.of(item)
    file.text                          the file, with one sentence or list entry on a line
    file.prompt(file.text)             the item's prompt, as messages
    file.about("context.txt")          what an agent has to know about the file
    file.instruction("context.txt")    the item's prompt with the name of the file in place of the context

A line end stands in for the space between two sentences or two entries of a list. Sentences are those of the text as
it is written, whatever is a fact or filler in it, and a very long one has several lines. A context that has line ends
of its own is not changed, and a conversation becomes paragraphs that begin with the speaker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from carrara.corpora.chunks import by_sentences
from carrara.items.grading import grade
from carrara.items.item import Item, check_single
from carrara.items.layout import BETWEEN_TURNS, SPEAKERS
from carrara.types import Message, Role
from carrara.util.errors import RunError, UsageError

LINE = 1000
"""The most characters of a line, if they have a space. A sentence that is longer has several lines."""
_ROLES: dict[str, Role] = {speaker: role for role, speaker in SPEAKERS.items()}
_SPEAKER = re.compile(rf"^({'|'.join(_ROLES)})", re.MULTILINE)


@dataclass(frozen=True)
class ContextFile:
    """A context as a text file, and the prompt around it."""

    item: Item
    text: str
    """The text of the file, without the end of its last line."""
    is_wrapped: bool
    """Whether line ends stand in for spaces."""

    @staticmethod
    def of(item: Item) -> "ContextFile":
        """Return the context of an item as a file.

        Raises:
            UsageError: The item is a text to complete, or a conversation that goes on after the model's reply.
            RunError: The prompt cannot be made from the file again.

        Examples:
            >>> import carrara
            >>> ContextFile.of(carrara.item("qa1", index=3)).lines[:2]
            ['Daniel moved to the bathroom.', 'Sandra moved to the kitchen.']
        """
        if item.item_id.style == "base":
            raise UsageError("an agent follows instructions, and the style `base` has none: give `style=chat`")
        check_single(item, "a file")
        if item.prompt.template.turns:
            file = ContextFile(item, BETWEEN_TURNS.join(_paragraphs(item)), False)
        else:
            wrapped = _wrapped(item)
            file = ContextFile(item, _context(item), False) if wrapped is None else ContextFile(item, wrapped, True)
        if file.prompt(file.text) != item.messages():
            raise RunError(f"{item.id} cannot be written as a file of which its prompt can be made again: leave it out")
        return file

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file."""
        return self.text.split("\n")

    @property
    def content(self) -> str:
        """The bytes of the file, as text."""
        return self.text + "\n"

    def prompt(self, text: str) -> list[Message]:
        """Return the item's prompt with a text in place of its context."""
        template = self.item.prompt.template
        if not template.turns:
            context = text.replace("\n", " ") if self.is_wrapped else text
            return [Message("user", template.before + context + self._after), *template.history]
        messages = list(_turns(text))
        if messages:
            messages[0] = Message(messages[0].role, template.before + messages[0].content)
        return [*messages, Message("user", template.after), *template.history]

    def about(self, path: str) -> str:
        """Return the sentences that tell an agent where the text is.

        Examples:
            >>> import carrara
            >>> ContextFile.of(carrara.item("qa1")).about("context.txt")[:70]
            'The text is the file `context.txt`. It has 8 lines and 244 characters.'
        """
        size = f"{len(self.lines):,} lines and {len(self.text):,} characters"
        wrapped = " In the file, a line end stands for a space." if self.is_wrapped else ""
        return (
            f"The text is the file `{path}`. It has {size}.{wrapped} "
            "The text stands between the instructions and the question below."
        )

    def instruction(self, path: str) -> str:
        """Return the item's prompt with the name of the file in place of its context."""
        template = self.item.prompt.template
        gap = "\n\n" if template.turns else ""
        further = [f"\n\n{message.role.capitalize()}: {message.content}" for message in template.history]
        return "".join([template.before, f"[The text is the file {path}.]", gap, self._after, *further])

    def solve(self, text: str) -> str:
        """Return the reply of the task's solver, which reads a text in place of the context.

        Raises:
            UndecidableError: The text does not decide the question.
        """
        return self.item.task.write(self.item.solve(self.prompt(text)))

    def answer(self) -> str:
        """Return the right answer, as the solver reads it from the file.

        Raises:
            RunError: The answer of the solver is not the right one.
        """
        item = self.item
        reply = self.solve(self.content.removesuffix("\n"))
        if grade(item.task, item.question, reply).score < 1:
            raise RunError(f"{item.id}: the task's solver reads a wrong answer from the file: please report it")
        return reply

    @property
    def _after(self) -> str:
        template = self.item.prompt.template
        return template.after[template.closing :]


def _context(item: Item) -> str:
    """Return the context as it stands in the prompt."""
    template = item.prompt.template
    [message, *_] = item.messages()
    return message.content[len(template.before) : len(message.content) - len(template.after) + template.closing]


def _wrapped(item: Item) -> str | None:
    """Return the context with line ends in place of spaces between sentences or entries. None: it has others."""
    separator, context = item.prompt.template.separator, _context(item)
    if not separator.endswith(" ") or "\n" in context:
        return None
    if separator != " ":
        return context.replace(separator, f"{separator[:-1]}\n")
    ends = [end for end in _line_ends(context) if context[end : end + 1] == " "]
    starts = [0, *(end + 1 for end in ends)]
    return "\n".join(context[start:end] for start, end in zip(starts, [*ends, len(context)], strict=True))


def _line_ends(text: str) -> Iterator[int]:
    """Yield the ends of the sentences of a text, and in very long ones ends of words."""
    for sentence in by_sentences(text):
        start = sentence.start
        while sentence.end - start > LINE and (end := text.rfind(" ", start, start + LINE)) > start:
            yield end
            start = end + 1
        yield sentence.end


def _paragraphs(item: Item) -> Iterator[str]:
    for part in item.prompt.parts(counted=False):
        if part.segment:
            yield SPEAKERS[part.role] + part.text


def _turns(text: str) -> Iterator[Message]:
    """Yield the turns that stand in a text. Text before the first speaker is left out."""
    places = list(_SPEAKER.finditer(text))
    ends = [*(place.start() for place in places[1:]), len(text)]
    for place, end in zip(places, ends, strict=True):
        yield Message(_ROLES[place[1]], text[place.end() : end].rstrip("\n"))

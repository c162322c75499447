"""How the reference model `carrara/oracle` reads: perfect notes, perfect searches, and perfect code.

It knows which facts an answer needs, as a perfect note-taker would. It answers from nothing but the text that it was
sent, so that a reader that loses a fact has a wrong answer.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from carrara.items.item import Item
from carrara.readers.context import ReaderContext
from carrara.readers.notes import CLOSE, CLOSE_PART, OPEN, OPEN_PART
from carrara.readers.repl.reader import HIDDEN, Repl
from carrara.types import UndecidableError

_FRAME = re.compile(
    r"\A\[\d+\] |\n(?:The text goes on at \d+\.|This is the end of the text\.)\Z"
    r"|\n\nPlease continue working on this task [^\n]*\Z"
)
"""The text that the tool `read` puts around a page, and Inspect after a summary."""


class ReadCall(NamedTuple):
    """A call of the tool `read`."""

    start: int
    tokens: int


def reply_to(item: Item, prompt: str, earlier: Sequence[str] = ()) -> str:
    """Return the answer to a prompt that ends with the item's question, and else notes.

    Args:
        earlier: The texts that the conversation has before the prompt, which then has no text of its own.
    """
    context = ReaderContext(item)
    if prompt.rstrip().endswith(context.question):
        return answer_from(item, earlier or [prompt])
    return _notes_on(context, earlier[:-1], earlier[-1].strip()) if earlier else take_notes(item, prompt)


def take_notes(item: Item, prompt: str) -> str:
    """Return the notes after a passage: the needed facts of the notes so far and of the passage.

    The beginning of a fact that goes on in the next passage stands at their end.
    """
    notes = prompt.rpartition(OPEN)[2].partition(CLOSE)[0]
    passage = prompt.rpartition(OPEN_PART)[2].partition(CLOSE_PART)[0].strip()
    return _notes_on(ReaderContext(item), [notes], passage)


def next_reads(item: Item, calls: int, page: int) -> list[ReadCall]:
    """Return the calls that show all needed facts, as far as the number of calls allows."""
    context, shown = ReaderContext(item), 0
    reads = list[ReadCall]()
    for start, end in _needed_spans(context):
        while end > shown and len(reads) < calls:  # a fact may be longer than a page
            reads.append(ReadCall(max(start, shown), page))
            shown = context.from_position(reads[-1].start, page).end
    return reads


def writes_code(prompt: str) -> bool:
    """Return whether a prompt is the first message of the reader `repl`."""
    return HIDDEN in prompt


def next_block(item: Item, previous: int) -> str:
    """Return the block of code that prints more of the needed facts. Empty if all are printed, or no block is left.

    Args:
        previous: The number of blocks so far.
    """
    context = ReaderContext(item)
    pages, left = list[list[tuple[int, int]]](), 0
    for start, end in _needed_spans(context):
        tokens = context.count(context.text[start:end]) + 1  # and the end of the line
        if tokens > left:
            pages.append([])
            left = Repl.page
        pages[-1].append((start, end))
        left -= tokens
    if previous >= min(len(pages), Repl.blocks):
        return ""
    return f"```python\nfor start, end in {pages[previous]}:\n    print(context[start:end])\n```"


def answer_from(item: Item, texts: Iterable[str]) -> str:
    """Return the answer that texts decide, such as the pages that were read."""
    context = ReaderContext(item)
    try:
        return item.task.write(item.solve(context.prompt([_present(context, texts)])))
    except UndecidableError as reason:
        return f"The text does not say: {reason}"


def _needed_spans(context: ReaderContext) -> list[tuple[int, int]]:
    opening = [context.opening] if context.opening[1] else []
    return [*opening, *((fact.start, fact.end) for fact in context.needed)]


def _present(context: ReaderContext, texts: Iterable[str]) -> str:
    """Return the needed facts that stand in texts, in order. A fact may begin in one text and end in the next."""
    whole = _with_single_spaces(texts)
    facts = (context.text[start:end] for start, end in _needed_spans(context))
    return context.separator.join(fact for fact in facts if _with_single_spaces([fact]) in whole)


def _notes_on(context: ReaderContext, earlier: Sequence[str], passage: str) -> str:
    """Return the needed facts of earlier texts and of a passage, and the beginning of one that goes on after it."""
    return "\n".join(filter(None, [_present(context, [*earlier, passage]), _begun(context, earlier, passage)]))


def _begun(context: ReaderContext, earlier: Sequence[str], passage: str) -> str:
    """Return the part of a needed fact that was read if the fact goes on after the passage. Empty if none does."""
    place = context.text.find(passage) + len(passage)
    parts = (context.text[start:place] for start, end in _needed_spans(context) if start < place < end)
    whole = _with_single_spaces([*earlier, passage])
    return next((part for part in parts if _with_single_spaces([part]) in whole), "")


def _with_single_spaces(texts: Iterable[str]) -> str:
    return " ".join(word for text in texts for word in _FRAME.sub("", text).split())

"""Labels of the facts that an answer needs, for training with dense rewards.

    evidence  [{"fact": 3, "start": 5210, "end": 5240, "token_start": 1188, "token_end": 1195}]
    chunks    [{"start": 61, "end": 2502, "needed": False}, {"start": 2503, "end": 5240, "needed": True}]

`evidence` has the positions of each needed fact in the prompt: characters of the text, and tokens of it without the
chat template. The fact -1 is the text before all facts that they build on, if there is one.

`chunks` divides the context into passages of whole sentences or lines of at most N tokens. It ignores facts, so a fact
of several sentences may be divided among chunks. A reader that takes notes should update them at the needed chunks, and
can stop after the last one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from carrara.items.item import Item
from carrara.readers.context import Passage, ReaderContext
from carrara.types import Message, UndecidableError
from carrara.util.errors import UsageError

Row = Callable[[Item], Mapping[str, Any]]
"""A function that makes a row of an item."""

OPENING = -1
"""The number of the text that facts change or refer to, such as a list's first value. It begins the context."""
COLUMNS: Mapping[str, Any] = {
    "evidence": [{"fact": "int32", "start": "int64", "end": "int64", "token_start": "int64", "token_end": "int64"}],
    "chunks": [{"start": "int64", "end": "int64", "needed": "bool_"}],
}
"""The types of the columns, as `shards.type_of` reads them."""
MEANING = {
    "evidence": "the needed facts: characters of the prompt, and its tokens without a chat template",
    "chunks": "the context in chunks of whole sentences: characters of the prompt, and whether a fact there is needed",
}


@dataclass(frozen=True)
class EvidenceLabels:
    """The columns that label evidence.

    Examples:
        >>> import carrara
        >>> item = carrara.item("qa1", length="1k", tokenizer="gpt2")
        >>> [chunk["needed"] for chunk in EvidenceLabels(chunk=256).row(item)["chunks"]]
        [False, False, False, True]
    """

    chunk: int
    """The most tokens of a chunk. A sentence that is longer is divided."""

    def row(self, item: Item) -> dict[str, Any]:
        """Return the columns of an item.

        The task's solver has to find the right answer in the needed chunks alone. `carrara audit` proves the rest:
        without any one fact of the evidence, the answer changes or cannot be found.

        Raises:
            UsageError: The context is a conversation, or the needed chunks do not decide the answer.
        """
        prompt, task = item.prompt, item.item_id.task
        if prompt.template.is_conversation:
            raise UsageError(
                f"the context of {task} is a conversation, which is not divided into chunks: leave the task out, or "
                "leave out `chunk`"
            )
        if not item.task.evidence_decides:
            raise UsageError(
                f"an answer of {task} depends on the whole context, not on single facts of it: leave the task out, or "
                "leave out `chunk`"
            )
        context, text = ReaderContext(item), prompt.messages()[0].content
        first, count = text.index(context.text, len(prompt.template.before)), prompt.measure.tokenizer.count
        evidence, chunks = list[dict[str, int]](), list[dict[str, Any]]()
        facts = [*([(OPENING, *context.opening)] if any(context.opening) else []), *context.needed]
        for number, start, end in facts:
            before, upto = text[: first + start].rstrip(" "), text[: first + end]
            tokens = {"token_start": count(before), "token_end": count(upto)}
            evidence.append({"fact": number, "start": len(upto) - (end - start), "end": len(upto), **tokens})
        passages = context.passages(self.chunk)
        needed = [any(start < chunk.end and chunk.start < end for _, start, end in facts) for chunk in passages]
        for chunk, is_needed in zip(passages, needed, strict=True):
            chunks.append({"start": first + chunk.start, "end": first + chunk.end, "needed": is_needed})
        if not _is_decided(item, context, passages, needed):
            raise UsageError(
                f"the needed chunks of {item.id} do not decide its answer without the rest: leave {task} out, or leave "
                "out `chunk`"
            )
        return {"evidence": evidence, "chunks": chunks}


def _is_decided(item: Item, context: ReaderContext, chunks: Sequence[Passage], needed: Sequence[bool]) -> bool:
    """Return whether the solver finds the right answer in the needed chunks alone.

    It reads the segments that are whole in chunks in a row: what is left of one that goes on elsewhere is no fact.
    """
    template, segments = item.prompt.template, list[str]()
    for is_needed, run in groupby(zip(needed, chunks, strict=True), key=itemgetter(0)):
        if is_needed:
            row = [chunk for _, chunk in run]
            segments += context.whole_segments(row[0].start, row[-1].end)
    try:
        answer = item.solve([Message("user", template.before + template.separator.join(segments) + template.after)])
    except UndecidableError:
        return False
    return bool(answer == item.question.gold)


@dataclass(frozen=True)
class _LabelledRow:
    """A function that makes a row with labels. It can be sent to other processes."""

    row: Row
    labels: EvidenceLabels

    def __call__(self, item: Item) -> Mapping[str, Any]:
        return {**self.row(item), **self.labels.row(item)}


def with_labels(row: Row, chunk: int | None) -> Row:
    """Return a function that adds the columns of the evidence to a row, unless no size of chunks is given."""
    return _LabelledRow(row, EvidenceLabels(chunk)) if chunk else row

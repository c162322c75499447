"""The results of operations, which print as text and have values for JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


class Printed:
    """A result that prints as text."""

    code = 0
    """The exit code of the command."""
    notes: Sequence[str] = ()
    """Sentences that the command prints to stderr after the text."""

    def lines(self) -> Iterable[str]:
        """Return the lines of the text.

        Examples:
            >>> Text(["one line"]).lines()
            ['one line']
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(self.lines())


class Recorded(Printed):
    """A result that also has values for JSON."""

    def record(self) -> Any:
        """Return the values for JSON.

        Examples:
            >>> Record(["1 of 2"], values={"n": 2}).record()
            {'n': 2}
        """
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Text(Printed):
    """A result that is a text alone."""

    text: Sequence[str]
    code: int = 0
    notes: Sequence[str] = ()

    def lines(self) -> Sequence[str]:
        """Return the lines of the text."""
        return self.text


@dataclass(frozen=True, repr=False)
class Record(Text, Recorded):
    """A text with the values that it shows."""

    values: Any = None

    def record(self) -> Any:
        """Return the values for JSON."""
        return self.values


def is_page(head: bytes) -> bool:
    """Return whether a file begins like a page that Carrara wrote."""
    return b'name="generator" content="carrara' in head


def is_eval_results(head: bytes) -> bool:
    """Return whether a file begins like the entries for a model's repository that `carrara report` wrote."""
    return head.startswith(b'[\n {\n  "dataset": {') and b'"task_id": ' in head


def is_scores(head: bytes) -> bool:
    """Return whether a file begins like the lines that `carrara score` wrote."""
    replies = head.startswith(b'{"id": ') and b'"score": ' in head
    rows = head.startswith(b'{"line": ') and b'"paper": ' in head  # scores of published predictions
    return b'"task": ' in head and (replies or rows)


def is_items(head: bytes) -> bool:
    """Return whether a file begins like the lines that `carrara generate` wrote."""
    return head.startswith((b'{"id": "', b'{"messages": [')) and (b'"context_id": ' in head or b'"role": ' in head)

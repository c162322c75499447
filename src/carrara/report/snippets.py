"""Data for reports beside the replies: snippets of their prompts, and the shortcuts that the audit found.

A snippet is the beginning of a prompt, each fact of the evidence with the text around it, and the end of the prompt.
"""

from collections.abc import Iterable
from typing import Literal

from carrara.constants import READER
from carrara.items.grading import grade
from carrara.items.item import item_of
from carrara.items.item_id import ItemId
from carrara.items.prompt import Stretch
from carrara.items.registry import load
from carrara.report.failures import Fragment, Snippet
from carrara.results.baselines import ShortcutFinding
from carrara.results.effective import SOLVED
from carrara.results.result import Result, Subject
from carrara.util.errors import CarraraError
from carrara.verify.shortcuts.findings import read_findings

HEAD, AROUND, END = 200, 120, 400
"""Characters at the beginning of the prompt, on each side of a fact of the evidence, and at its end."""
FACTS = 12
"""The number of facts of the evidence that are shown. Further facts count as other text."""
WRITTEN = 1000
"""The most characters of a fact that are shown."""
READ = 100_000
"""The longest reply that is read again for the rule that found its answer. A million characters take seconds."""
LONGEST, TOGETHER = 256 << 10, 4 << 20
"""The most tokens of a prompt, and of all prompts of one page, that are rendered for it."""


class SnippetFinder:
    """A function that returns the snippet of a reply by rendering its item, up to `TOGETHER` tokens in all."""

    def __init__(self) -> None:
        self._tokens_left = TOGETHER
        self._seen: dict[tuple[Subject, str], Snippet | None] = {}

    def __call__(self, result: Result) -> Snippet | None:
        key = result.subject, result.id
        if key not in self._seen:
            self._seen[key] = self._look(result)
        return self._seen[key]

    def _look(self, result: Result) -> Snippet | None:
        try:
            item = item_of(result.id)
            short = len(result.reply) <= READ
            read = (grade(item.task, item.question, result.reply).rule or "") if short else ""
            if READER in result.settings or result.length > min(LONGEST, self._tokens_left):
                return Snippet((), read)
            self._tokens_left -= result.length
            return Snippet(tuple(fragments(item.prompt.stretches())), read)
        except (CarraraError, OSError):  # an item of another version, or of files that are not here
            return None


def fragments(parts: Iterable[Stretch]) -> list[Fragment]:
    """
    >>> parts = [Stretch(0, "user", "a" * 500, "filler"), Stretch(0, "user", "Eve sits.", "needed"),
    ...          Stretch(0, "user", "b" * 900, "filler")]
    >>> [(fragment.kind, len(fragment.text)) for fragment in fragments(parts)]
    [('text', 200), ('gap', 20), ('text', 120), ('needed', 9), ('text', 120), ('gap', 20), ('text', 400)]
    """
    cutter = _Cutter()
    message = 0
    for part in parts:
        if part.message != message:
            cutter.skip("\n\n")
            message = part.message
        if part.kind == "needed" and cutter.shown < FACTS:
            cutter.show(part.text)
        else:
            cutter.skip(part.text)
    return cutter.end()


class _Cutter:
    """A cutter of a text that is passed in pieces. It stores only the text that is shown."""

    def __init__(self) -> None:
        self.shown = 0
        self._fragments = list[Fragment]()
        self._room = HEAD
        self._end, self._skipped = "", 0

    def skip(self, text: str) -> None:
        if self._room:
            self._add(text[: self._room], "text")
            text, self._room = text[self._room :], max(0, self._room - len(text))
        self._skipped += len(text)
        self._end = (self._end + text[-END:])[-END:]

    def show(self, text: str) -> None:
        self._close(AROUND)
        self.shown += 1
        cut = f"{text[:WRITTEN]}…" if len(text) > WRITTEN else text
        self._add(cut, "needed")
        self._room = AROUND

    def end(self) -> list[Fragment]:
        self._close(END)
        return self._fragments

    def _close(self, characters: int) -> None:
        """Write the number of characters left out, and the last of them."""
        last = self._end[-characters:]
        if gap := self._skipped - len(last):
            self._add(f" … {gap:,} characters … ", "gap")
        self._add(last, "text")
        self._end, self._skipped = "", 0

    def _add(self, text: str, kind: Literal["text", "needed", "gap"]) -> None:
        if not text:
            return
        if self._fragments and self._fragments[-1].kind == kind == "text":
            text = self._fragments.pop().text + text
        self._fragments.append(Fragment(text, kind))


def find_shortcuts(results: Iterable[Result]) -> list[ShortcutFinding]:
    """Return the audit's findings for the tasks of the results, if the tasks still have the same version."""
    tasks = {(item_id.task, item_id.version) for item_id in (ItemId.parse(result.id) for result in results)}
    findings = ((task, read_findings().get(f"{task}@{version}")) for task, version in sorted(tasks))
    return [
        ShortcutFinding(
            task,
            load(task).capability,
            finding.best.name,
            finding.best.score,
            finding.best.chance_level,
            finding.best.declared,
            finding.reach,
            declared.score if (declared := finding.best_declared(SOLVED)) else None,
            load(task).guesser,
        )
        for task, finding in findings
        if finding is not None
    ]

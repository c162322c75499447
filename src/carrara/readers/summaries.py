"""The reader `summaries`: the model answers from a summary of the context that another program wrote.

    summaries:my.jsonl              lines {"id": "…", "summary": "…"}, with the ids of contexts or of items
    summaries:my.txt,size=20%       one text, for a run with one context

The log has what the summary kept of the needed facts, as of one round of compaction (rounds.py).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from carrara.items.item_id import ItemId
from carrara.readers.context import ReaderContext
from carrara.readers.reader import Estimate, Exchange, Reader, ReaderModel, Reading, Round
from carrara.readers.sizes import Size
from carrara.util.errors import UsageError, os_error_text
from carrara.util.unicode import replace_surrogates

LARGEST = 256 << 20
"""The most bytes of a file of summaries."""
LINES = (".jsonl", ".ndjson", ".json")
"""The ends of the names of files with a summary a line. Others are one summary."""
DIGITS = 12
"""The digits of the hash of a file that are part of the reader's name."""


@dataclass(frozen=True)
class Summaries(Reader):
    """The model answers from the summaries of a file."""

    file: str = ""
    size: str = ""
    """What a summary may have: a share of the context's tokens, such as 20%, or tokens. Empty: any number."""
    sha256: str = ""
    """The beginning of the hash of the file, so that a run does not go on with other summaries."""

    name = "summaries"

    def __post_init__(self) -> None:
        if not self.file:
            raise UsageError("the reader summaries names a file: write summaries:my.jsonl")
        _ = self._most
        digest = _read(self.file).sha256
        if self.sha256 and self.sha256 != digest:
            raise UsageError(f"{self.file} is not the file of summaries with sha256={self.sha256}: leave sha256= out")
        object.__setattr__(self, "sha256", digest)

    @classmethod
    def parse(cls, options: str) -> "Summaries":
        file, _, settings = options.partition(",")
        return cls(file.strip(), **cls.parse_settings(settings, {"size": "", "sha256": ""}))

    def __str__(self) -> str:
        return f"{self.name}:{self.file},{self.write_settings(['size', 'sha256'])}"

    def check_items(self, ids: Iterable[str]) -> None:
        summaries = _read(self.file)
        contexts = {context_id_of(id) for id in ids}
        if summaries.one is not None and len(contexts) > 1:
            raise UsageError(
                f"{self.file} is one summary, and the run has {len(contexts)} contexts: write lines with an id and a "
                "summary to a .jsonl file, or run one instance at one length"
            )
        lacking = sorted({context_id_of(id) for id in ids if summaries.of(id) is None})
        if lacking:
            raise UsageError(
                f"{self.file} has no summary of {len(lacking)} of {len(contexts)} contexts, such as {lacking[0]}: add "
                "them, or run fewer"
            )

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        summary = _read(self.file).of(context.id)
        assert summary is not None
        reply = await model.answer(summary)
        before, after = context.tokens, context.count(summary)
        budget = self._most.of(before) if self._most else None
        end = len(context.text)
        return Reading(
            reply,
            earlier=[Exchange([(0, end)], summary)],
            rounds=[Round(context.parts(summary), end, before, after, budget)],
        )

    def estimate(self, prompt: int, around: int, answer: int) -> Estimate:
        summaries = _read(self.file)
        return Estimate(1, around + summaries.characters // summaries.count // 4, answer)

    @property
    def _most(self) -> Size | None:
        return Size.parse(self.name, self.size)


def context_id_of(id: str) -> str:
    """Return the id of an item's context."""
    return ItemId.parse(id).context_id


@dataclass(frozen=True)
class _File:
    """The summaries of a file."""

    sha256: str
    by_id: Mapping[str, str]
    one: str | None
    """The summary of any context, if the file is one text."""

    @property
    def count(self) -> int:
        return len(self.by_id) or 1

    @property
    def characters(self) -> int:
        return len(self.one or "") + sum(map(len, self.by_id.values()))

    def of(self, id: str) -> str | None:
        """Return the summary for an item: its own, or that of its context."""
        own = self.by_id.get(id)
        return self.by_id.get(context_id_of(id), self.one) if own is None else own


def _read(file: str) -> _File:
    """Return the summaries of a file, which is read once.

    Raises:
        UsageError: It is no file of summaries.
    """
    try:
        status = Path(file).stat()
        if status.st_size > LARGEST:
            raise UsageError(
                f"{file} has more than {LARGEST >> 20} MB: divide it, and run the parts one after the other"
            )
        return _read_version(file, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UsageError(f"the reader summaries: {os_error_text(error)}") from None


@lru_cache(maxsize=4)
def _read_version(file: str, time: int, size: int) -> _File:
    data = Path(file).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 (at byte {error.start:,}): save it as UTF-8") from None
    digest = sha256(data).hexdigest()[:DIGITS]
    if not file.lower().endswith(LINES):
        return _File(digest, {}, text.strip())
    by_id = dict[str, str]()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            id, summary = _parse(line, f"line {number:,} of {file}")
            if id in by_id:
                raise UsageError(f"line {number:,} of {file} has a second summary of {id}: leave one out")
            by_id[id] = summary
    if not by_id:
        raise UsageError(f'{file} has no summaries: write lines such as {{"id": "…", "summary": "…"}}')
    return _File(digest, by_id, None)


def _parse(line: str, place: str) -> tuple[str, str]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    id, summary = (entry.get("id"), entry.get("summary")) if isinstance(entry, dict) else (None, None)
    if not isinstance(id, str) or not isinstance(summary, str):
        raise UsageError(f'{place} is no summary: write {{"id": "…", "summary": "…"}} on one line')
    return id, replace_surrogates(summary)

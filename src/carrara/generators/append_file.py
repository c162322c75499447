"""A bank file that grows: each piece is appended as a line when it arrives.

    {"format": "poem", "topic": "penguins", "style": "", "mood": "", "text": "Ode to …", "model": "openai/gpt-4o"}

A line is complete or missing. A kill may leave half of the last one, which is removed when the file is opened again. So
the file is all that is needed to resume.
"""

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrara.generators.bank import entries, flaw, gist
from carrara.generators.forms import DraftKey
from carrara.util.errors import RunError, UsageError
from carrara.util.files import regular
from carrara.util.log import logger


class BankFile:
    """A file of a bank, open for appending."""

    def __init__(self, path: Path, file: int) -> None:
        self.path, self._file = path, file
        drafts = entries(path)
        self.count = Counter(key for key, _ in drafts)
        """The number of pieces for each key."""
        self._known = {gist(text) for _, text in drafts}

    def add(self, key: DraftKey, text: str, model: str) -> str | None:
        """Append a piece, or return why it cannot be one."""
        if wrong := flaw(text):
            return wrong
        if (same := gist(text)) in self._known:
            return "it repeats an earlier piece"
        self._append(json.dumps({**key._asdict(), "text": text, "model": model}, ensure_ascii=False) + "\n")
        self._known.add(same)
        self.count[key] += 1
        return None

    def _append(self, line: str) -> None:
        data, before = line.encode(), os.fstat(self._file).st_size
        try:
            written = os.write(self._file, data)
        except OSError as error:
            written, why = 0, error.strerror
        else:
            why = "its disk is full"
        if written < len(data):
            os.ftruncate(self._file, before)
            raise RunError(f"{self.path} takes no more ({why}): make room, and the same command goes on")


@contextmanager
def open_bank_file(path: Path) -> Iterator[BankFile]:
    """Open a bank for appending, with a lock. A new file is removed again if nothing is written."""
    if path.suffix == ".json":
        raise UsageError(f"`out={path}`: pieces are written as lines, so call it {path.with_suffix('.jsonl')}")
    if os.path.exists(path) and not os.path.isdir(path):
        regular(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise UsageError(f"`out={path}` cannot be written to ({error.strerror}): give another file") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(
                f"another `carrara corpus write` is at work on {path}: wait for it, or give another `out`"
            ) from None
        try:
            _repair(path, file)
            yield BankFile(path, file)
        finally:
            if os.fstat(file).st_size == 0:
                path.unlink(missing_ok=True)
    finally:
        os.close(file)


def _repair(path: Path, file: int) -> None:
    """End the last line, or remove it if it was not written to its end."""
    head, newline, last = path.read_bytes().rpartition(b"\n")
    if not last.strip():
        return
    try:
        json.loads(last)
    except ValueError:
        os.ftruncate(file, len(head) + len(newline))
        logger.warning(
            f"the last line of {path} was not written to its end, and is removed: its piece is asked for again"
        )
    else:
        os.write(file, b"\n")

"""Published files that tests compare with: packed in `tests/data/`, whose NOTICE.md says from where they are."""

import atexit
import lzma
import os
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

DATA = Path(__file__).parent / "data"
BOOKS = Path(os.environ.get("CARRARA_BOOKS") or DATA / "books")
"""Twenty novels from Project Gutenberg, which are too large for the repository."""

needs_books = pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not here: CARRARA_BOOKS names their folder")


@cache
def official() -> Path:
    """A folder with bAbI's training files."""
    return _unpacked("babi")


@cache
def predictions() -> Path:
    """A folder with published replies to BABILong's questions."""
    return _unpacked("babilong_predictions")


def minerva_cases() -> bytes:
    """Answers with the scores that Minerva's published scorer gives them."""
    return lzma.decompress((DATA / "minerva_metric_cases.json.xz").read_bytes())


def _unpacked(name: str) -> Path:
    folder = TemporaryDirectory(prefix="carrara-")
    atexit.register(folder.cleanup)
    with tarfile.open(DATA / f"{name}.tar.xz") as packed:
        packed.extractall(folder.name, filter="data")
    return Path(folder.name)

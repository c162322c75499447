"""Published files that tests compare with. They are not in the repository: CARRARA_PUBLISHED names a folder with them.

It has `babi/` (bAbI 1.2, English training files), `babilong_predictions/` (published replies of Phi-3-mini-128k),
`minerva_metric_cases.json` (answers with the published scorer's scores) and `books/` (twenty novels, plain text).
"""

import os
from pathlib import Path

import pytest

_HERE = os.environ.get("CARRARA_PUBLISHED")
BOOKS = Path(_HERE or "nowhere") / "books"

needs_books = pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not here: CARRARA_PUBLISHED names a folder")


def official() -> Path:
    """A folder with bAbI's training files."""
    return _published("babi")


def predictions() -> Path:
    """A folder with published replies to BABILong's questions."""
    return _published("babilong_predictions")


def minerva_cases() -> bytes:
    """Answers with the scores that Minerva's published scorer gives them."""
    return _published("minerva_metric_cases.json").read_bytes()


def _published(name: str) -> Path:
    path = Path(_HERE or "nowhere") / name
    if not path.exists():
        pytest.skip(f"published files are not here: CARRARA_PUBLISHED names a folder with {name}")
    return path

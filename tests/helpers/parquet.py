"""Tests of Parquet files are skipped where pyarrow is not installed."""

import pytest

FORMATS = {"datasets", "verl", "kvpress"}
"""The exports that write Parquet files."""


def require_parquet(*words: str) -> None:
    """Skip the test if pyarrow is missing and the words, if any, name a format that needs it."""
    if not words or FORMATS & {*words} or "--parquet" in words:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed: `make env-all` installs it")

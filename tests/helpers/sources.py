"""The packages that the project's data come from, where they are installed."""

from pathlib import Path

import pytest
from tools import data


def source(package: str, relative: str) -> Path:
    try:
        return data.source(package, relative)
    except data.Absent as absent:
        pytest.skip(str(absent))

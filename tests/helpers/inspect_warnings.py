"""Warnings of Inspect AI that are not ours."""

import pytest

LEFT_OPEN = pytest.mark.filterwarnings(
    # streams that Inspect leaves open at the end of an evaluation, and Python comes upon later
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

"""What a stranger's log says of a reader is checked like all else in it."""

from dataclasses import replace

import pytest

from carrara.results.result import FactTrace, ReadingCost, Result
from carrara.runs.replies import _check

FACT = FactTrace(0, 0.5, "used")
RESULT = Result(
    id="suite/one@1/test-0-0.0/0/chat/gpt2",
    task="suite/one",
    version=1,
    model="m",
    length=0,
    tokens=9,
    tokenizer="gpt2",
    context_id="c",
    instance_id="i",
    status="ok",
    score=1.0,
    chance_level=0.0,
    reading=ReadingCost(1, 9),
    facts=(FACT,),
)


def test_a_reading_as_a_run_writes_it_is_accepted() -> None:
    _check(RESULT)


@pytest.mark.parametrize(
    "change",
    [
        {"facts": (replace(FACT, place="x"),)},  # type: ignore[arg-type]
        {"facts": (replace(FACT, place=7.0),)},
        {"facts": (replace(FACT, call="x"),)},  # type: ignore[arg-type]
        {"facts": (replace(FACT, text=5),)},  # type: ignore[arg-type]
        {"reading": ReadingCost("x", 1)},  # type: ignore[arg-type]
        {"reading": ReadingCost(-1, 1)},
        {"money": "x"},
    ],
)
def test_another_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"place|range|validation error"):
        _check(replace(RESULT, **change))  # type: ignore[arg-type]

"""The twenty tests by the numbers that bAbI gave them."""

from functools import cache
from importlib import import_module
from typing import Any

from carrara.tasks.babilong._babilong import Babilong

TASKS = range(1, 21)


@cache
def numbered(number: int) -> Babilong[Any]:
    test = import_module(f"carrara.tasks.babilong.qa{number}").task
    assert isinstance(test, Babilong)
    return test

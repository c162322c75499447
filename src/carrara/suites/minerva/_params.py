"""Parameters that several tests have, and what they may be."""

from collections.abc import Sequence
from typing import Literal

Label = Literal["yes", "no"]
To = Literal["word", "nothing"]

MOST = 1000


def check_shares(name: str, shares: Sequence[float]) -> None:
    if not shares or not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"{name} goes from 0 to 1")


def check_numbers(name: str, numbers: Sequence[int], least: int, most: int = MOST) -> None:
    if not numbers or not all(least <= number <= most for number in numbers):
        raise ValueError(f"{name} goes from {least} to {most}")

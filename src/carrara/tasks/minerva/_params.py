"""Parameters that several tests have, and what they may be."""

from collections.abc import Sequence
from typing import Literal

Label = Literal["yes", "no"]
To = Literal["word", "nothing"]

MOST, MOST_ITEMS = 1000, 1_000_000


def check_shares(name: str, shares: Sequence[float]) -> None:
    if not shares or not all(0 <= share <= 1 for share in shares):
        odd = ", ".join(f"{share:g}" for share in shares if not 0 <= share <= 1)
        raise ValueError(f"{name} goes from 0 to 1{f', not {odd}' if odd else ''}")


def check_numbers(name: str, numbers: Sequence[int], least: int, most: int = MOST) -> None:
    if not numbers or not all(least <= number <= most for number in numbers):
        odd = ", ".join(str(number) for number in numbers if not least <= number <= most)
        raise ValueError(f"{name} goes from {least} to {most}{f', not {odd}' if odd else ''}")


def labelled(name: str, size: int, of: Sequence[int]) -> dict[str, str]:
    """A label for the size of a world, where there are several."""
    return {name: str(size)} if len(of) > 1 else {}

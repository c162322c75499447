"""Prices of tokens, from a table that users maintain, because prices change.

    ["openai/gpt-4o"]
    input = 2.5
    output = 10
    cached = 1.25

Money for a million tokens, in any currency. The tokens of a prompt that a server has cached cost `cached`, if the table
has it.
"""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from carrara.util.errors import UsageError, nearest
from carrara.util.files import SMALL, content

MILLION = 1_000_000


class Price(NamedTuple):
    """The price of a million tokens."""

    input: float
    output: float
    cached: float | None = None

    def of(self, sent: float, repeated: float, written: float) -> float:
        """Return the cost. `repeated` are the sent tokens that the server has just read."""
        known = self.input if self.cached is None else self.cached
        return ((sent - repeated) * self.input + repeated * known + written * self.output) / MILLION


def read_price(text: str) -> Price:
    """
    >>> read_price("2.5,10,1.25").of(1_000_000, 500_000, 100_000)
    2.875
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or any(not 0 <= number < float("inf") for number in numbers):
        raise UsageError(f"{text!r} is no price: give money for a million tokens, input,output or input,output,cached")
    return Price(*numbers)


def price_of(price: "str | Price | Sequence[float] | None", model: str) -> Price | None:
    """Return the price of a model.

    Args:
        price: `IN,OUT[,CACHED]`, the name of a TOML file of prices by model, or numbers.
    """
    if price is None or price == "":
        return None
    if isinstance(price, str):
        return read_prices(Path(price), [model])[model] if price.endswith(".toml") else read_price(price)
    if isinstance(price, Price):
        return price
    return read_price(",".join(map(str, price)) if isinstance(price, Iterable) else str(price))


def read_prices(path: Path, models: Sequence[str]) -> dict[str, Price]:
    """Return the prices of several models."""
    try:
        table = tomllib.loads(content(path, SMALL).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"the prices {path} cannot be read: {error}") from None
    prices = {}
    for model in models:
        row = table.get(model)
        if row is None:
            raise UsageError(
                f"{path} has no price of {model}{nearest(model, table)}; it has {', '.join(table) or 'none'}"
            )
        prices[model] = _price(path, model, row)
    return prices


def _price(path: Path, model: str, row: object) -> Price:
    numbers = {name: row[name] for name in Price._fields if name in row} if isinstance(row, dict) else {}
    fit = all(isinstance(number, int | float) and number >= 0 for number in numbers.values())
    if not fit or not numbers.keys() >= {"input", "output"}:
        raise UsageError(f"{path} gives {model} no numbers `input`, `output` and, if there is one, `cached`")
    return Price(**numbers)

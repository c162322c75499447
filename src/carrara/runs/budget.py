"""The budget of a run: tokens, money or time. No request is sent that would exceed it.

    5Mtok, 800ktok    tokens of prompts and replies, of all requests of this model in the folder
    20usd, 3.5eur     money, by a given price, of the same requests
    30min, 2h         time, of this command

An item that is not asked for this reason leaves no result. The run is then PARTIAL, and the same command with a greater
budget goes on. Requests under way reserve their expected usage, so that parallel requests do not exceed the budget.
"""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from carrara.constants import NOT_ASKED
from carrara.results.result import Result
from carrara.runs.prices import Price
from carrara.util.errors import UsageError

_TOKENS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_SECONDS = {"s": 1, "min": 60, "h": 3600}


class NotAskedError(Exception):
    """Raised in place of a request that is not to be made. The item leaves no result."""


class BudgetExhaustedError(NotAskedError):
    """Raised in place of a request that would exceed the budget."""


class Budget(NamedTuple):
    kind: Literal["tokens", "money", "time"]
    most: float
    text: str

    def written(self, part: float) -> str:
        """Return an amount with its unit.

        >>> read_budget("20usd").written(0.5), read_budget("5Mtok").written(10_000)
        ('0.5 usd', '10,000 tokens')
        """
        currency = self.text.strip().lstrip("0123456789. ")
        units = {"tokens": f"{part:,.0f} tokens", "money": f"{part:,.4g} {currency}", "time": f"{part:,.0f} s"}
        return units[self.kind]

    def __str__(self) -> str:
        return self.text


def read_budget(text: str) -> Budget:
    """
    >>> read_budget("5Mtok"), read_budget("20usd").kind, read_budget("30min").most
    (Budget(kind='tokens', most=5000000.0, text='5Mtok'), 'money', 1800.0)
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z€$£]+)", text.strip())
    number, unit = (float(match[1]), match[2]) if match else (0.0, "")
    if 0 < number < 1e15:
        if unit.endswith("tok") and unit[:-3] in _TOKENS:
            return Budget("tokens", number * _TOKENS[unit[:-3]], text)
        if unit in _SECONDS:
            return Budget("time", number * _SECONDS[unit], text)
        if not unit.lower().endswith(("tok", "token", "tokens")) and unit not in ("k", "M", "G", "m"):
            return Budget("money", number, text)
    raise UsageError(f"{text!r} is no budget: give tokens, money or time, such as 5Mtok, 20usd or 30min")


@dataclass
class Meter:
    budget: Budget | None = None
    price: Price | None = None
    known: frozenset[str] = frozenset()
    """Items whose replies exist already, and which are not asked."""
    before: float = 0.0
    """The part of the budget that earlier commands used."""
    tokens: int = 0
    """Tokens of prompts and replies in this command."""
    money: float = 0.0
    expected: float | None = None
    """The cost of all remaining items, if there is a price and every answer has the least possible length."""
    unasked: int = 0
    _under_way: float = 0.0
    _replies: int = 0
    _written: int = 0
    _begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.budget and self.budget.kind == "money" and not self.price:
            raise UsageError(f"`budget={self.budget}` is money, and no price is known: give `price`, or tokens (5Mtok)")

    def count_earlier(self, results: Iterable[Result]) -> None:
        """Count the usage of earlier commands."""
        for result in results:
            if result.status != "error":
                self.before += self._amount(
                    result.tokens if result.input_tokens is None else result.input_tokens, 0, result.output_tokens or 0
                )

    @property
    def used(self) -> float:
        """The used part of the budget."""
        if not self.budget:
            return 0.0
        if self.budget.kind == "time":
            return time.monotonic() - self._begun
        return self.before + (self.money if self.budget.kind == "money" else self.tokens)

    def expected_usage(self, prompt: int, answer: int) -> float:
        """Return the expected usage of a request.

        Its reply is as long as those before, or as long as the answer requires.
        """
        return self._amount(prompt, 0, round(self._written / self._replies) if self._replies else answer)

    def _amount(self, sent: int, repeated: int, written: int) -> float:
        if not self.budget or self.budget.kind == "time":
            return 0.0
        if self.budget.kind == "money" and self.price:
            return self.price.of(sent, repeated, written)
        return float(sent + written)

    @contextmanager
    def asking(self, id: str, prompt: int, answer: int) -> Iterator["ItemBudget"]:
        """Reserve for the requests of an item. Raise if the budget has no room for them.

        Args:
            answer: The tokens of its replies, if no reply was measured yet.
        """
        if id in self.known:
            yield ItemBudget(None)
            return
        expected_usage = self.expected_usage(prompt, answer)
        self.check(expected_usage)
        item = ItemBudget(self, expected_usage)
        self._under_way += expected_usage
        try:
            yield item
        finally:
            self._under_way -= item.reserved

    def check(self, expected_usage: float) -> None:
        """Raise `BudgetExhaustedError` if the budget has no room for a part of it, beside what is reserved."""
        if self.budget and self.used + self._under_way + expected_usage > self.budget.most:
            raise BudgetExhaustedError(f"{NOT_ASKED}the budget of {self.budget} has no room for it")

    def spend(self, sent: int, cached: int, written: int, reserved: float) -> float:
        """Count a reply. Return how much of a reservation is left."""
        self.tokens += sent + written
        self._replies += 1
        self._written += written
        if self.price:
            self.money += self.price.of(sent, cached, written)
        left = max(0.0, reserved - self._amount(sent, cached, written))
        self._under_way += left - reserved
        return left

    def describe(self) -> str:
        """Return the usage so far, for the progress display."""
        spent = max(1e-9, time.monotonic() - self._begun)
        pace = f"{self.tokens / spent:,.0f} tokens/s" if self.tokens else ""
        return " · ".join(filter(None, (pace, f"cost {self.money:,.2f}" if self.money else "")))


@dataclass
class ItemBudget:
    """The part of a run's budget that is reserved for one item."""

    meter: Meter | None
    """The run's meter. None: the item is not counted."""
    reserved: float = 0.0
    money: float | None = None
    """The money that the calls for the item have cost. None: no price is known."""

    def check(self, prompt: int) -> None:
        """Raise `BudgetExhaustedError` if the budget has no room for one more request, beside what is reserved."""
        if self.meter:
            self.meter.check(max(0.0, self.meter.expected_usage(prompt, 0) - self.reserved))

    def spend(self, sent: int, cached: int, written: int) -> None:
        """Count the reply to a request."""
        if self.meter:
            self.reserved = self.meter.spend(sent, cached, written, self.reserved)
            if self.meter.price:
                self.money = (self.money or 0.0) + self.meter.price.of(sent, cached, written)


_METERS: list[Meter] = []
"""The meter of the running run. Solvers need it, and Inspect makes solvers."""


@contextmanager
def metering(meter: Meter) -> Iterator[None]:
    _METERS.append(meter)
    try:
        yield
    finally:
        _METERS.remove(meter)


def current() -> Meter:
    return _METERS[-1] if _METERS else Meter()

"""Replace all: the whole context, with one word replaced, or left out, wherever it comes.

From Minerva (Table 1). One item of ten words:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/replace", params={"items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
acanthopodous, bibliomancy, botuliform, wagnerist, nervimuscular, poe, tableclothy, nosepiece, stainierite,
botuliform
<BLANKLINE>
Instruction:
Repeat the context, but leave out the word "botuliform" wherever it occurs. Reply with one line and nothing
else, in this form: FINAL ANSWER: <the result in the same form, separated by commas>

Every word is a fact. A copy of the context is right about all other words, and the new word repeated over and over is
right about the rest. The score counts how far a reply goes beyond both.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Literal

from carrara.answers import Copy, Words
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._edit import ITEMS, draw_items, edit_answer
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number, split_items
from carrara.types import UNSIZED, LengthBudget
from carrara.util.errors import ExhaustedError

BLOCK = 10
"""The number of items in a row that have each density exactly."""


class Replace(Minerva):
    version, title, capability = 5, "Replace all", "copying while replacing a word"
    category, answer = "recall and edit", Copy()
    ask = {
        "word": (
            'Repeat the context, but wherever it has the word "{x}", write "{y}" instead.',
            'Copy the words of the context and change every "{x}" to "{y}".',
        ),
        "nothing": (
            'Repeat the context, but leave out the word "{x}" wherever it occurs.',
            'Copy the words of the context without any "{x}".',
        ),
    }
    known_shortcuts = {"strings": "Half of the questions leave out a word, and all other words are the answer."}
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    density: Sweep[float] = Sweep(0.2, 0.4, 0.6, 0.8)
    """The share of the context that is the word to be replaced, taken in turn: tenths."""
    to: Sweep[Literal["word", "nothing"]] = Sweep("word", "nothing")
    """The replacement, taken in turn."""
    items: int = field(default=ITEMS, metadata=UNSIZED)
    """The number of words at length 0."""

    def check(self) -> None:
        if self.density * BLOCK not in range(1, BLOCK):
            raise ValueError("density goes from 0.1 to 0.9 in tenths")
        check_number("items", self.items, BLOCK, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        words = rng.stream("words")
        draw = vocabulary.supply(self.words, words)
        x, y = vocabulary.some(draw, 2)
        items = draw_items(budget, MixedWords(x, round(self.density * BLOCK), draw, words), self.items)
        evidence = None
        if self.to == "nothing":
            y, evidence = "", [n for n, item in enumerate(items) if item != x]
        return Instance(
            facts=items,
            gold=edit_answer(items, _replace(items, x, y), y),
            evidence=evidence,
            ask=self.to,
            names={"x": x, "y": y},
            labels={"density": f"{self.density:g}", "to": self.to},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        return Words(tuple(_replace(split_items(context), names["x"], names.get("y", ""))))

    def paper_task_of(self, labels: Mapping[str, str]) -> str:
        return "replace_all" if labels["to"] == "word" else "replace_all_x_to_null"


def _replace(items: list[str], x: str, y: str) -> list[str]:
    return [y if item == x else item for item in items if y or item != x]


class MixedWords(vocabulary.Drawing):
    """Words among which `x` comes so many times in every ten."""

    def __init__(self, x: str, times: int, draw: Callable[[], str], rng: Rng) -> None:
        self._always, self._others, self._draw, self._rng = [x] * times, BLOCK - times, draw, rng
        self._waiting: list[str] = []

    def __call__(self) -> str:
        if not self._waiting:
            self._draw_block()
        return self._waiting.pop(0)

    def several(self, n: int) -> list[str]:
        with suppress(ExhaustedError):
            while len(self._waiting) < n:
                self._draw_block()
        items, self._waiting = self._waiting[:n], self._waiting[n:]
        return items

    def _draw_block(self) -> None:
        block = self._always + vocabulary.some(self._draw, self._others)
        self._rng.shuffle(block)
        self._waiting += reversed(block)

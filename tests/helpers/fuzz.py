"""Replies that no model gives, or only a broken one: what readers must survive.

    Case("sync/graph", 0, 7).reply          # the test, the seed and a number are all that it takes to see a reply again

A reply is drawn for a question of its test. Half of them are near to a right answer, or made of the prompt's own words,
because a reader goes furthest into those; the rest is numbers of any size, markup that is not closed, runs, brackets,
letters of all scripts, bytes. Most are short, and one in some thousands is hundreds of thousands of characters long.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from carrara.items import registry
from carrara.items.item import Item, contexts
from carrara.items.item_id import ItemId
from carrara.params import build, canonical
from carrara.util.errors import LengthError
from tests.helpers.fuzz_parts import ALIKE, AROUND, BRACKETS, CLAIMS, NUMBERS, RUNS, SIGNS

INSTANCES = 12
"""Of each task and length: parameters that hold several values are dealt to instances in turn."""
LENGTHS = (0, 2048, 4096)
TOKENIZER = "gpt2"
LONGEST = 1_000_000
DEEP = 100_000
"""Brackets in brackets."""
_SIZES = ((0.92, 8), (0.99, 40), (0.999, 400), (0.9999, 4_000), (0.99998, 40_000), (1.0, 200_000))
"""Up to which share of all replies, up to how many parts: a part has some five characters."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A question, with its prompt at hand: to render it takes longer than to read most replies."""

    item: Item
    gold: str
    text: str
    words: Sequence[str]


@cache
def questions(task: str) -> Sequence[Asked]:
    """The questions that replies are drawn for."""
    found = [item for items in _items(task, INSTANCES) for item in items]
    return [Asked(item, item.gold, item.text, item.text.split()) for item in found]


@cache
def perfect() -> Sequence[str]:
    """Right answers to the questions of one instance of each test."""
    return [item.gold for task in registry.names() for item in next(_items(task, 1))]


def _items(task_name: str, instances: int) -> Iterator[Sequence[Item]]:
    """The questions of some instances, for each length that has room for them."""
    task = registry.load(task_name)
    params = canonical(build(task, task_name, {}))
    for length in LENGTHS:
        first = ItemId(task_name, task.version, params, "test", 0, 0, 0, length, "chat", "", TOKENIZER)
        try:
            made = list(contexts(first, instances, warn=lambda _: None))
        except LengthError:
            continue  # this puzzle is longer
        yield [item for context in made for item in context.items]


@dataclass(frozen=True)
class Case:
    task: str
    seed: int
    number: int

    @property
    def asked(self) -> Asked:
        all_ = questions(self.task)
        return all_[self.number % len(all_)]

    @property
    def reply(self) -> str:
        rng = Random(f"{self.seed} {self.task} {self.number}")
        share = rng.random()
        most = next(most for upto, most in _SIZES if share <= upto)
        return _Drawn(rng, self.asked, rng.randint(0, most)).reply()[:LONGEST]


class _Drawn:
    """Draws a reply of about so many parts."""

    def __init__(self, rng: Random, asked: Asked, parts: int) -> None:
        self.rng, self.gold, self.text, self.words, self.parts = rng, asked.gold, asked.text, asked.words, parts

    def reply(self) -> str:
        kinds: list[Callable[[], str]] = (
            [self.near] * 5 + [self.claims] * 3 + [self.of_the_prompt] * 3 + [self.soup] * 3
        )
        kinds += [self.number, self.garbled, self.letters, self.run, self.nested, self.json, self.table, self.other]
        if self.rng.random() < 0.7:
            return self.recased(self.rng.choice(kinds)())
        self.parts = self.parts // 3 + 1
        separator = self.rng.choice(["", " ", "\n", "\n\n", ". ", ", "])
        return separator.join(self.rng.choice(kinds)() for _ in range(self.rng.randint(2, 4)))

    def recased(self, text: str) -> str:
        """Now and then with signs that patterns which ignore case take for other letters."""
        return text.translate(ALIKE) if self.rng.random() < 0.03 else text

    def near(self) -> str:
        """A right answer, wrapped, said again, or with some signs others than they were."""
        gold = self.gold if self.rng.random() < 0.8 else self.one()
        said = self.changed(gold).join(self.rng.choice(AROUND).split("_"))
        times = self.rng.choice([1, 1, 1, 1, 2, 1 + self.parts // 8])
        return self.rng.choice([" ", "\n", ". ", ""]).join([said] * times)

    def claims(self) -> str:
        """Sentences about the prompt's words, as a model that argues writes them."""
        return self.rng.choice([" ", "\n", "\n\n"]).join(
            "".join(self.thing() if part == "_" else part for part in self.rng.choice(CLAIMS))
            for _ in range(1 + self.parts // 6)
        )

    def thing(self) -> str:
        return self.rng.choice([self.gold, self.one(), " ".join(self.rng.choices(self.words or SIGNS, k=3))])

    def changed(self, text: str) -> str:
        signs = list(text)
        for _ in range(self.rng.choice([0, 0, 1, 2, 1 + self.parts // 4])):
            at = self.rng.randint(0, len(signs))
            upto = at + self.rng.choice([0, 0, 1, 1, 5])
            signs[at:upto] = self.rng.choice([[], [self.one()], signs[at : at + 9] * 2])
        text = "".join(signs)
        return self.rng.choice([text] * 5 + [text.upper(), text.lower(), text[::-1], text.swapcase()])

    def one(self) -> str:
        pools: list[Sequence[str]] = [SIGNS, SIGNS, NUMBERS, self.words or SIGNS]
        return self.rng.choice(self.rng.choice(pools))

    def of_the_prompt(self) -> str:
        text = self.text
        if self.rng.random() < 0.5:
            separator = self.rng.choice([" ", ", ", "\n", "\n- ", " and ", " -> ", "; ", ": ", "|"])
            return separator.join(self.rng.choice(self.words or SIGNS) for _ in range(self.parts))
        at = self.rng.randint(0, len(text))
        return (text[at:] + text * (self.parts // 400))[: 5 * self.parts]

    def soup(self) -> str:
        return "".join(self.one() for _ in range(self.parts))

    def number(self) -> str:
        digits = self.rng.choice(["9", "1", "0", "٣", "３", "1234567890", "1,000,", "1_", "0.", "-1", "1e"])
        separator = self.rng.choice(["", " ", ",", ", ", "-", "/", ".", "\n", " + ", " = "])
        long = digits * self.rng.choice([1, self.parts, 5000 // len(digits)])
        return separator.join([*self.rng.choices(NUMBERS, k=1 + self.parts // 3), long])

    def garbled(self) -> str:
        """Bytes that are no text."""
        data = self.rng.randbytes(5 * self.parts)
        if self.rng.random() < 0.3:
            return data.decode("latin-1")
        return data.decode("utf-8", self.rng.choice(["replace", "surrogateescape"]))

    def letters(self) -> str:
        top = self.rng.choice([0x250, 0x2000, 0xFFFF, 0x10FFFF])
        return "".join(chr(self.rng.randint(0, top)) for _ in range(2 * self.parts))

    def run(self) -> str:
        unit: str = self.rng.choice(RUNS)
        if self.rng.random() < 0.5:
            unit = "".join(self.one() for _ in range(self.rng.randint(2, 5)))
        run = unit * (1 + 5 * self.parts // len(unit))
        return self.edge() + run + self.edge()

    def edge(self) -> str:
        return self.rng.choice(["", self.one(), self.gold])

    def nested(self) -> str:
        brackets = self.rng.choice(BRACKETS)
        depth = DEEP if self.rng.random() < 0.005 else self.parts
        return brackets[0] * depth + self.gold + brackets[1] * self.rng.choice([0, depth, depth // 2])

    def json(self) -> str:
        value: object = self.gold
        for _ in range(self.rng.randint(0, min(self.parts, 60))):
            around: list[object] = [[value], [value, self.one()], {self.one(): value}, {"answer": value}, [self.one()]]
            value = self.rng.choice(around)
        written = json.dumps(value, ensure_ascii=self.rng.random() < 0.5)
        return written[: self.rng.randint(0, len(written))] if self.rng.random() < 0.3 else written

    def table(self) -> str:
        columns = self.rng.randint(1, 5)
        rows = [[self.one() for _ in range(columns)] for _ in range(1 + self.parts // columns)]
        rows[1:1] = [["---"] * columns]
        separator = self.rng.choice(["|", " | ", "\t", ",", ";"])
        return "\n".join(separator.join(row) for row in rows)

    def other(self) -> str:
        """What is right elsewhere."""
        return self.rng.choice(perfect())

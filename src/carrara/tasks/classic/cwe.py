"""Common words: which ten words of a long list occur more often than all others.

From RULER (arXiv:2404.06654), section 3. One item without filler and example:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> few = {"examples": "0", "words": "2", "often": "4", "rarely": "1"}
>>> for line in make("classic/cwe", params=few).text.split("\\n"):
...     print(fill(line, 110))
The text below is a list of words. A few of them come up again and again, the rest rarely.
<BLANKLINE>
<text> shallow-prism mellow-mill new-page new-page hard-stove new-page hard-stove hard-stove new-page dim-kite
damp-stair hard-stove </text>
<BLANKLINE>
Which 2 of its words occur most often? Reply with one line and nothing else: FINAL ANSWER: followed by those
words, separated by commas.

The hidden structure is how often a word occurs. The updates are the common words, thirty times each, among some rare
ones; the filler is more rare words, which occur three times at most however long it is, so it changes no answer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from carrara.answers.contract import asks_for
from carrara.core.keys import Dice, Key
from carrara.core.types import PRESENTS, Filler, Piece, Question, Room, Tap, World
from carrara.tasks.classic import _counting, _reading
from carrara.tasks.classic._answers import Values, ruler
from carrara.tasks.classic._classic import Classic, wording
from carrara.tasks.classic._examples import Worked, check, worked
from carrara.tasks.classic._values import NAME
from carrara.tasks.classic._words import names

RIVALS = 2
"""Rare words in the puzzle itself, for each common one: at length 0, too, naming all words gains nothing."""
WAITING = 4096
"""Rare words that are kept to come again."""


@dataclass(frozen=True)
class Params:
    words: int = 10
    """Common words, all of which are asked for."""
    often: int = 30
    """How often each of them occurs."""
    rarely: int = 3
    """How often any other word occurs at most."""
    examples: int = field(default=1, metadata=PRESENTS)
    """Worked examples: short lists, in which common words occur three times and others once."""

    def __post_init__(self) -> None:
        if not (1 <= self.words <= 100 and self.often <= 1000):
            raise ValueError("words go from 1 to 100, and often to 1000")
        if not 1 <= self.rarely <= self.often - 2:
            raise ValueError("rarely goes from 1 to two less than often")
        check(self.examples)


@dataclass(frozen=True)
class Counts:
    """The hidden structure."""

    common: tuple[str, ...]
    rare: tuple[str, ...]
    examples: tuple[Worked, ...]


class CommonWords(Classic[Params, Counts, tuple[str, ...]]):
    version = 2
    title = "Common words"
    capability = "counting words over a whole list"
    parameters = Params
    inherent = {
        "strings": "Which words are said oftenest is what is asked; and without filler they are mostly said first.",
        "learned": "Which words are said oftenest is what is asked.",
        "part": "Without filler, a tenth of the list shows what comes often.",
    }
    guesser = "context candidates"
    answers = Values(NAME)
    asked = re.compile(r"\bWhich ([0-9]+) of (?:its|the) words\b")
    wording = wording(
        "The text below is a list of words. A few of them come up again and again, the rest rarely.",
        examples=True,
        several=asks_for("those words, separated by commas"),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Counts]:
        dice = key.dice("words")
        drawn = NAME.distinct(dice, params.words * (1 + RIVALS))
        common, rare = drawn[: params.words], drawn[params.words :]
        order = dice.shuffled([*common * params.often, *rare * params.rarely])
        small = replace(params, often=3, rarely=1, examples=0)
        return World(
            structure=Counts(common, rare, worked(self, key, small, params.examples)),
            updates=tuple((Piece(word, update=i),) for i, word in enumerate(order)),
            filler=_rare_words(frozenset(drawn), params.rarely),
            timeless=True,
        )

    def questions(self, world: World[Counts], key: Key, params: Params) -> Sequence[Question[tuple[str, ...]]]:
        common, rare = world.structure.common, world.structure.rare
        gold = tuple(sorted(common))
        return [
            Question(
                ask=f"Which {len(common)} of its words occur most often?",
                gold=gold,
                needs=(),  # no single occurrence decides
                chance_level=_reading.blind(len(common) + len(rare), len(common)),
                budget=self.answers.budget(gold),
            )
        ]

    def examples(self, world: World[Counts]) -> Sequence[Worked]:
        return world.structure.examples

    def answer(self, text: str, asked: str) -> tuple[str, ...]:
        return _counting.most_frequent(text.split(), int(asked))

    def guess(self, dice: Dice, world: World[Counts], question: Question[tuple[str, ...]]) -> tuple[str, ...]:
        """As many as are asked for, of all the words in the puzzle."""
        return tuple(sorted(dice.sample(world.structure.common + world.structure.rare, len(question.gold))))

    def published(self, reply: str, question: Question[tuple[str, ...]]) -> Mapping[str, float]:
        return ruler(reply, question.gold)


def _rare_words(taken: frozenset[str], rarely: int) -> Filler:
    """Words without end, none of them more than so many times."""

    def open_tap(dice: Dice, tokenizer: str) -> Tap:
        fresh = (word for word in names(dice) if word not in taken)
        waiting: list[str] = []
        """What may come again, as many times as it stands here."""

        def tap(gap: int) -> tuple[Piece, ...]:
            if waiting and dice.chance(0.5):
                return (Piece(_drawn(dice, waiting)),)
            word = next(fresh)
            waiting.extend([word] * (rarely - 1))
            while len(waiting) > WAITING:
                _drawn(dice, waiting)
            return (Piece(word),)

        return tap

    return open_tap


def _drawn(dice: Dice, words: list[str]) -> str:
    """One of some words, taken out."""
    at = dice.below(len(words))
    words[at], words[-1] = words[-1], words[at]
    return words.pop()


task = CommonWords()

"""Frequent words: which three coded words occur most often, where each rank is rarer by a power law.

From RULER (arXiv:2404.06654), section 3. One item without filler:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("classic/fwe").text.split("\\n"):
...     print(fill(line, 110))
The text below is in coded words. Dots stand for what does not matter.
<BLANKLINE>
<text> qjbnqr qjbnqr ... ... zhdvgg ... ... vsxfkd mrzknn ... ... ... ... ... ... ... zhfhjq ... zbsllq ...
... ddhghf qjbnqr xnbzgz ... ... fqksmg zhdvgg jmqxsk ... ... ... qjbnqr cndksh ... ... ... qjbnqr fqksmg
qjbnqr ... qjbnqr ... zhdvgg wcnxwz ... ... ... ... ... jhbdpz zhdvgg ... psffmx ... ... ... ... ... ...
jlnbgc slfxvk ... slfxvk ... ... zhdvgg qjbnqr ... ... ... qjbnqr ... qjbnqr fqksmg ... ... qjbnqr ... ...
scvdfl fqksmg ... ... ... ... lsbntc qjbnqr ... ... ... qjbnqr psffmx ... zhdvgg qjbnqr ... bxglgk </text>
<BLANKLINE>
Which 3 coded words occur most often? Reply with one line and nothing else: FINAL ANSWER: followed by those
words, separated by commas.

The hidden structure is how often a word occurs: the word of rank k as often as k to the power of -2, the first of which
is written as dots and means nothing. The updates are a short text with that law. So is the filler, which is made of
units: one that has the word of some rank has all those of the ranks before it too. Whatever units are taken, no word
gets more of them than one of a higher rank, so filler changes no answer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrara.answers.contract import asks_for
from carrara.core.keys import Dice, Key
from carrara.core.types import Filler, Piece, Question, Room, Tap, World
from carrara.tasks.classic import _counting, _reading
from carrara.tasks.classic._answers import Values, ruler
from carrara.tasks.classic._classic import Classic, wording
from carrara.tasks.classic._values import letters
from carrara.tasks.classic._words import codes

LETTERS = 6
CODED = letters("word", LETTERS, str.lower)
DOTS = "..."
ASKED = 3
RANKS = 20
"""Ranks that have a word of their own, the dots included. What would be rarer are words that come once."""


@dataclass(frozen=True)
class Params:
    alpha: float = 2.0
    """The power of the law: the greater, the rarer are later ranks."""

    def __post_init__(self) -> None:
        if not 1.5 <= self.alpha <= 3.5:
            raise ValueError("alpha goes from 1.5 to 3.5")

    def counts(self) -> list[int]:
        """How often each rank occurs in the puzzle: as few as leave no doubt which are the asked ones."""
        first = 1
        while True:
            counts = [max(1, round(first * share)) for share in self.shares()]
            if counts[ASKED] - counts[ASKED + 1] >= 2:
                return counts
            first += 1

    def shares(self) -> list[float]:
        """How often each rank occurs for one of the first."""
        return [rank**-self.alpha for rank in range(1, RANKS + 1)]

    def beyond(self) -> float:
        """How often all later ranks occur together for one of the first (the sum as an integral)."""
        return float((RANKS + 0.5) ** (1 - self.alpha) / (self.alpha - 1))


@dataclass(frozen=True)
class Ranks:
    """The hidden structure: coded words from the second rank on."""

    coded: tuple[str, ...]


class FrequentWords(Classic[Params, Ranks, tuple[str, ...]]):
    version = 2
    title = "Frequent words"
    capability = "telling how often words occur in a whole text"
    parameters = Params
    inherent = {
        "strings": "Which words are said oftenest is what is asked; and what is said oftenest is mostly said first.",
        "learned": "Which words are said oftenest is what is asked.",
        "part": "The three words are far more frequent than others: a tenth shows it, as in the published test.",
    }
    guesser = "context candidates"
    answers = Values(CODED)
    asked = re.compile(r"\bWhich ([0-9]+) coded words\b")
    wording = wording(
        "The text below is in coded words. Dots stand for what does not matter.",
        several=asks_for("those words, separated by commas"),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Ranks]:
        dice = key.dice("words")
        coded = CODED.distinct(dice, RANKS - 1)
        counted = zip((DOTS, *coded), params.counts(), strict=True)
        order = dice.shuffled([word for word, count in counted for _ in range(count)])
        return World(
            structure=Ranks(coded),
            updates=tuple((Piece(word, update=i),) for i, word in enumerate(order)),
            filler=_nested(coded, params),
            timeless=True,
        )

    def questions(self, world: World[Ranks], key: Key, params: Params) -> Sequence[Question[tuple[str, ...]]]:
        gold = tuple(sorted(world.structure.coded[:ASKED]))
        return [
            Question(
                ask=f"Which {ASKED} coded words occur most often?",
                gold=gold,
                needs=(),  # no single occurrence decides
                chance_level=_reading.blind(len(world.structure.coded), ASKED),
                budget=self.answers.budget(gold),
            )
        ]

    def answer(self, text: str, asked: str) -> tuple[str, ...]:
        return _counting.most_frequent((word for word in text.split() if word != DOTS), int(asked))

    def guess(self, dice: Dice, world: World[Ranks], question: Question[tuple[str, ...]]) -> tuple[str, ...]:
        """As many as are asked for, of all the words in the puzzle."""
        return tuple(sorted(dice.sample(world.structure.coded, ASKED)))

    def published(self, reply: str, question: Question[tuple[str, ...]]) -> Mapping[str, float]:
        return ruler(reply, question.gold)


def _nested(coded: Sequence[str], params: Params) -> Filler:
    """Units of dots and the words of the ranks up to a drawn one, with a word now and then that comes only once."""
    shares, beyond = params.shares(), params.beyond()

    def open_tap(dice: Dice, tokenizer: str) -> Tap:
        fresh = (word for word in codes(dice, LETTERS) if word not in coded)

        def tap(gap: int) -> tuple[Piece, ...]:
            luck = dice.random()
            upto = sum(luck < share for share in shares)
            words = [DOTS, *coded[: upto - 1]]
            if dice.chance(beyond):
                words.append(next(fresh))
            return tuple(map(Piece, dice.shuffled(words)))

        return tap

    return open_tap


task = FrequentWords()

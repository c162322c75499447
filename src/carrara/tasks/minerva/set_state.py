"""Set: the words that an agent has, after drawing and discarding.

From Minerva (Table 1, stateful processing). One item of four steps:

>>> from textwrap import fill
>>> from carrara.prompt.items import make
>>> for line in make("minerva/set_state", params={"size": "5", "steps": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
The agent draws: platina, autositic, scalpellus, polytrochal, eunectes
The agent discards: matzoon, unscrupulousness, polytrochal
The agent draws: wyliecoat, scalpellus
The agent discards: sorbitol, unruffled, wyliecoat
<BLANKLINE>
Instruction:
The context tells, in order, which words an agent draws and discards. Drawing a word that the agent has
already, or discarding one that it does not have, changes nothing. Which words does the agent have in the end?
End your reply with a line such as: FINAL ANSWER: word1, word2, word3

The steps are the updates. Most words of a hand stay for long, the others come and go. Some words are drawn that the
agent has already, and some discarded that it does not have, which changes nothing: otherwise the words that are named
an odd number of times would be the answer, without any order (`paper=true`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product

from carrara.answers.listing import FinalSet, Words
from carrara.core.keys import Dice, Key
from carrara.core.types import UNSIZED, Room, Undecidable, World
from carrara.parts import state
from carrara.parts.asking import PHRASING, WORDS, check_phrasing, wording
from carrara.parts.layout import Told
from carrara.parts.state import Step, Table
from carrara.tasks.minerva._minerva import Minerva
from carrara.tasks.minerva._params import MOST_ITEMS, check_numbers, labelled
from carrara.text import vocabulary
from carrara.text.turns import in_turn

KEPT = 0.75
"""The share of a hand that stays for long."""
IDLE = 0.4
"""How likely a word that is passing is drawn once more, and one that is gone discarded."""
AGAIN = 1.0
"""How often, on average, a word that stays is drawn again while as many words are drawn as were before."""
FORGOTTEN = 64
"""Words that are gone, and may be discarded once more."""


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    size: tuple[int, ...] = (5, 10, 15, 20)
    """The most words that the agent has at a time, taken in turn."""
    steps: tuple[int, ...] = field(default=(100,), metadata=UNSIZED)
    """Steps where no length is asked for, taken in turn: even numbers, for the last one discards."""
    paper: bool = False
    """Whether nothing is drawn twice and all that is discarded was there, as in the paper: then the words that are
    named an odd number of times are the answer, and most of them were drawn just before the end."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("size", self.size, 2)
        check_numbers("steps", self.steps, 2, MOST_ITEMS)
        if any(steps % 2 for steps in self.steps):
            raise ValueError("steps is an even number: draws and discards alternate")
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Drawn:
    lines: tuple[str, ...]
    final: tuple[str, ...]
    every: tuple[str, ...]
    decisive: tuple[int, ...]
    """The steps without which the agent would have other words."""
    part: str
    labels: Mapping[str, str]


class SetState(Minerva[Params, Drawn, Words]):
    version = 4
    title = "Set"
    capability = "keeping track of a set"
    category = "stateful processing"
    parameters = Params
    sized = True
    answers = FinalSet()
    joint = "\n"
    published_as = "set_state"
    inherent = {"part": "A tenth of the context tells of a tenth of the words, and its end of those that come and go."}
    wording = wording(
        answers,
        "The context tells, in order, which words an agent draws and discards. Which words does the agent have in the "
        "end?",
        "Follow the actions of the agent in the context from the first to the last, and list the words that are left.",
        steady=(
            "The context tells, in order, which words an agent draws and discards. Drawing a word that the agent has "
            "already, or discarding one that it does not have, changes nothing. Which words does the agent have in the "
            "end?",
            "Follow the actions of the agent in the context from the first to the last: it never has a word twice, and "
            "to discard one that it does not have is of no effect. List the words that are left.",
        ),
    )

    def world(self, key: Key, params: Params, room: Room | None) -> World[Drawn]:
        size, number = in_turn(key, "size", list(product(params.size, params.steps)))
        draw = vocabulary.drawn(params.words, key)
        steps, words = state.told(
            (_published if params.paper else _steady)(size, key.dice("steps")),
            draw,
            _say,
            number,
            room,
            lambda n: n % 2 == 0,
        )
        [held] = state.hands(steps, 1)
        every = dict.fromkeys(words[n] for step in steps for n in step.mentioned)
        lines = tuple(_say(step, words) for step in steps)
        final = tuple(words[n] for n in held)
        labels = {"size": str(size), **labelled("steps", number, params.steps)}
        part = "ask" if params.paper else "steady"
        return World(Drawn(lines, final, tuple(every), _decisive(steps), part, labels), Told(lines))

    def asks(self, hidden: Drawn) -> str:
        return hidden.part

    def fields(self, hidden: Drawn) -> Mapping[str, str]:
        return {}

    def gold(self, hidden: Drawn) -> Words:
        return Words(hidden.final, {"every word": hidden.every}, ordered=False)

    def needs(self, world: World[Drawn]) -> Sequence[int]:
        return world.structure.decisive

    def answer(self, context: str, asked: str) -> Words:
        held = state.read(context, lenient=True)
        if not held:
            raise Undecidable("nobody does anything")
        [words] = held.values()
        return Words(tuple(words))


def _decisive(steps: Sequence[Step]) -> tuple[int, ...]:
    """Those that are the last to name some word, and change where it is."""
    last: dict[int, int] = {}
    changes: dict[int, bool] = {}
    has: dict[int, bool] = {}
    for n, step in enumerate(steps):
        for word in step.words:
            drawn = step.verb == "draws"
            last[word], changes[word], has[word] = n, has.get(word, False) != drawn, drawn
    return tuple(sorted({n for word, n in last.items() if changes[word]}))


def _published(size: int, dice: Dice) -> Iterator[Step]:
    """Draws and discards in turn: at first as many words as may be held, then up to as many, and never all away."""
    table = Table(1)
    yield table.draw(0, size, dice)
    while True:
        yield table.discard(0, dice.between(1, len(table.hands[0]) // 2), dice)
        yield table.draw(0, dice.between(1, size - len(table.hands[0])), dice)


def _steady(size: int, dice: Dice) -> Iterator[Step]:
    """The same, where most words of the hand stay, each as likely drawn early as late (a reservoir); the others pass.

    Among the words that are drawn are some that are there, and among those that are discarded some that are gone or
    never were: so neither how often a word is named tells where it is, nor the end of the context what there is.
    """
    keep = min(size - 1, round(KEPT * size))
    kept, passing, gone = list[int](), list[int](), list[int]()
    new, drawn = count(), 0
    while True:
        words = [next(new) for _ in range(dice.between(1, size - keep - len(passing)) if drawn else size)]
        again = [word for word in kept if dice.random() * drawn < AGAIN * len(words)]
        for word in words:
            drawn += 1
            if len(kept) < keep:
                kept.append(word)
            elif dice.random() * drawn < keep:
                place = dice.below(keep)
                passing.append(kept[place])
                kept[place] = word
            else:
                passing.append(word)
        again += [word for word in passing if word not in words and dice.chance(IDLE)]
        yield Step(0, "draws", tuple(dice.shuffled([*words, *again])))
        left = dice.below(size - keep)
        dice.shuffle(passing)
        away, passing = passing[left:], passing[:left]
        never = [next(new) for _ in range(dice.between(0 if away else 1, 2))]
        before = [word for word in dice.sample(gone, min(2, len(gone))) if dice.chance(IDLE)]
        yield Step(0, "discards", tuple(dice.shuffled([*away, *never, *before])))
        gone = (gone + away)[-FORGOTTEN:]


def _say(step: Step, words: Sequence[str]) -> str:
    return f"The agent {step.verb}: {', '.join(words[n] for n in step.words)}"


task = SetState()

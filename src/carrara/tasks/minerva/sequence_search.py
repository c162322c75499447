"""Sequence search: is a sequence of words in the context?

From Minerva (Table 1, string search). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/sequence_search", params={"size": "4"}).text.splitlines():
...     print(fill(line, 110))
Context:
presubstitution, enkerchief, profitableness, eneas, aristocratism, redtail, craniota
<BLANKLINE>
Instruction:
Do the words "profitableness, enkerchief, eneas, aristocratism" appear in the context, in this order and with
no other word between them? Reply with one line and nothing else, in this form: FINAL ANSWER: <yes or no>

The facts are a sequence and a single word elsewhere. Where the answer is yes, the question asks for that sequence.
Where it is no, the sequence of the question takes one of these forms in turn:

- `order`: two neighbours have changed places;
- `gap`: a word of the context is left out, so that its neighbours do not stand side by side there;
- `moved`: one word is the single one from elsewhere;
- `absent`: the context does not have one of the words;
- `wrap`: the last words of the context come first, and then its first ones.

So all words that are asked for may be there without their sequence.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import product
from typing import Literal, get_args

from carrara.answers import YesNo
from carrara.generators import vocabulary
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.sweeps import sweep_values
from carrara.tasks.minerva._task import WORDS, Label, Minerva, check_number, split_items
from carrara.types import ANSWER, Segment

Wrong = Literal["order", "gap", "moved", "absent", "wrap"]
WRONG: tuple[Wrong, ...] = get_args(Wrong)


class SequenceSearch(Minerva):
    version, title, capability = 6, "Sequence search", "finding a sequence of words"
    category, paper_task = "search", "string_search_sequence"
    answer = YesNo()
    ask = (
        'Do the words "{sequence}" appear in the context, in this order and with no other word between them?',
        'Look through the words in the context and say whether the sequence "{sequence}" appears there unbroken.',
    )
    known_shortcuts = {
        "what is named stands side by side": "Whether a string stands in the text is what is asked.",
        "what is named stands close by": "A gap is only one of five things that may be wrong.",
        "what is named comes in that order": "A gap is only one of five things that may be wrong.",
        "what is named comes last in that order": "A gap is only one of five things that may be wrong.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    size: Sweep[int] = Sweep(8, 16, 32, 64)
    """Words of the sequence, taken in turn."""
    gold: Sweep[Label] = Sweep("yes", "no")
    """The right answer, taken in turn: yes if the sequence is there."""
    wrong: tuple[Wrong, ...] = WRONG
    """The difference between an absent sequence and one of the context, taken in turn."""

    def check(self) -> None:
        check_number("size", self.size, 2)
        if not self.wrong or len(set(self.wrong)) < len(self.wrong):
            raise ValueError(f"wrong is one or several of {', '.join(WRONG)}")

    def generate(self, rng: Rng) -> Instance:
        size, cells = self.size, list(product(sweep_values(self, "size"), sweep_values(self, "gold")))
        draw = vocabulary.draw_words(self.words, rng.key)
        first, last, moved, extra, *sequence = drawn = vocabulary.some(draw, 4 + size)
        wrong = in_turn(rng.key, "wrong", self.wrong, every=len(cells)) if self.gold == "no" else ""
        asked, opening, ending = list(sequence), [first], [last]
        stream = rng.key.rng("changed", cells.index((size, self.gold)))
        place = stream.below(size - 1)
        match wrong:
            case "order":
                asked[place : place + 2] = asked[place + 1], asked[place]
            case "gap":
                sequence.insert(1 + place, extra)
            case "moved":
                asked[stream.below(size)] = moved
            case "absent":
                asked[stream.below(size)] = extra
            case "wrap":
                asked = vocabulary.some(draw, size)
                drawn += asked
                ending, opening = asked[: place + 1], asked[place + 1 :]
        return Instance(
            opening=tuple(map(Segment, opening)),
            facts=[tuple(Segment(word, fact=0) for word in sequence), (Segment(moved, fact=1),)],
            ending=self.separator + ", ".join(ending),
            filler=vocabulary.filler(self.words, drawn),
            unordered=True,
            gold=self.gold,
            names={"sequence": ", ".join(asked)},
            evidence=() if wrong else (0,),
            labels={"size": str(size), ANSWER: f"no, {wrong}" if wrong else "yes"},
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        sought, items = split_items(names["sequence"]), split_items(context)
        places = (place for place, item in enumerate(items) if item == sought[0])
        return "yes" if any(items[place : place + len(sought)] == sought for place in places) else "no"

"""Common words: which ten words of a long list occur more often than all others.

From RULER (arXiv:2404.06654), section 3. One item without filler and example:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> few = {"examples": "0", "words": "2", "often": "4", "rarely": "1"}
>>> for line in make("classic/cwe", params=few).text.split("\\n"):
...     print(fill(line, 110))
The text below is a list of words. A few of them occur again and again, the rest rarely.
<BLANKLINE>
<text> gentle-spoon lucky-fork lucky-fork lucky-fork gentle-spoon foreign-coat silver-canvas lucky-fork
gentle-spoon early-kettle gentle-spoon yellow-hill </text>
<BLANKLINE>
Which 2 words in the list occur most often? Reply with one line and nothing else, in this form: FINAL ANSWER:
<those words, separated by commas>

The facts are the common words, thirty times each, and some rare ones. The filler consists of more rare words. None of
them occurs more than three times, however long the filler is, so it changes no answer.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from carrara.answers import asks_for
from carrara.task import Instance, Rng
from carrara.tasks.classic._answers import Values, guess_score
from carrara.tasks.classic._task import EXAMPLE, Classic, Structure, check_examples, draw_examples
from carrara.tasks.classic._values import NAME
from carrara.tasks.classic._words import ENGLISH, most_frequent
from carrara.types import PRESENTS, Filler, FillerStream, Question, Segment, SegmentGroup

RIVALS = 2
"""Rare words among the facts, for each common one: naming all words gains nothing, even at length 0."""
WAITING = 4096
"""The most occurrences of rare words that wait to be placed."""


class CommonWords(Classic):
    version, title, capability = 4, "Common words", "counting words over a whole list"
    guesser = "context candidates"
    answer = Values(NAME)
    evidence_decides = False
    instruction = "The text below is a list of words. A few of them occur again and again, the rest rarely."
    example = EXAMPLE
    details = {"numbering": ""}
    optional_fields = {**Classic.optional_fields, "rule": frozenset(("count",))}
    ask = "Which {count} words in the list occur most often?"
    rule = asks_for("those words, separated by commas")
    known_shortcuts = {
        "strings": "Which words are said oftenest is what is asked; and without filler they are mostly said first.",
        "learned": "Which words are said oftenest is what is asked.",
        "part": "Without filler, a tenth of the list shows what comes often.",
    }
    words: int = 10
    """Common words; the answer is all of them."""
    often: int = 30
    """How often each of them occurs."""
    rarely: int = 3
    """How often any other word occurs at most."""
    examples: int = field(default=1, metadata=PRESENTS)
    """Worked examples: short lists, in which common words occur three times and others once."""

    def check(self) -> None:
        if not (1 <= self.words <= 100 and self.often <= 1000):
            raise ValueError("words go from 1 to 100, and often to 1000")
        if not 1 <= self.rarely <= self.often - 2:
            raise ValueError("rarely goes from 1 to two less than often")
        check_examples(self.examples)

    def generate(self, rng: Rng) -> Instance:
        word_rng = rng.stream("words")
        drawn_words = NAME.distinct(word_rng, self.words * (1 + RIVALS))
        common, rare = drawn_words[: self.words], drawn_words[self.words :]
        return Instance(
            facts=word_rng.shuffled([*common * self.often, *rare * self.rarely]),
            gold=tuple(sorted(common)),
            names={"count": str(self.words)},
            evidence=(),  # no single occurrence decides
            filler=_rare_words(frozenset(drawn_words), self.rarely),
            chance_level=guess_score(len(drawn_words), self.words),
            unordered=True,
            structure=Structure(
                lambda: draw_examples(replace(self, often=3, rarely=1, examples=0), rng.key, self.examples)
            ),
        )

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        words = (word for word in context.split() if not word.rstrip(".").isdigit())
        return most_frequent(words, int(names["count"]))

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> tuple[str, ...]:
        """Draw as many of the words in the facts as the question asks for."""
        words = [segment.text for [segment] in instance.chunks]
        return tuple(sorted(rng.sample(sorted(set(words)), self.words)))


def _rare_words(taken: frozenset[str], rarely: int) -> Filler:
    """Return an endless stream of words that repeats none of them more than `rarely` times."""

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        fresh = (word for word in ENGLISH.endless(rng) if word not in taken)
        waiting: list[SegmentGroup] = []
        """Further occurrences of words that have come."""

        def stream(gap: int) -> SegmentGroup:
            if waiting and rng.chance(0.5):
                return _pop_random(rng, waiting)
            group = (Segment(next(fresh)),)
            waiting.extend([group] * (rarely - 1))
            while len(waiting) > WAITING:
                _pop_random(rng, waiting)
            return group

        return stream

    return open_filler


def _pop_random(rng: Rng, groups: list[SegmentGroup]) -> SegmentGroup:
    """Remove a random group and return it."""
    at = rng.below(len(groups))
    group, groups[at] = groups[at], groups[-1]
    groups.pop()
    return group

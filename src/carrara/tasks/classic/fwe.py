"""Frequent words: which three coded words occur most often, where each rank is rarer by a power law.

From RULER (arXiv:2404.06654), section 3. One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("classic/fwe").text.split("\\n"):
...     print(fill(line, 110))
The text below consists of coded words. Ignore the dots.
<BLANKLINE>
<text> dcgjvg pbcgjq bvhrgx mtqgtf cxhrkf wfcprj lpxbvc swfcwj krrdmw ... nxsngz jmlvql kswlrb hvmwld nxdqkm
vdgkww zlwsns fqkqdx lcnmrz pjzzpd ... mtqgtf ... swfcwj ... ... swfcwj ... mtqgtf ... ... ... ... fqkqdx ...
cxhrkf kswlrb ... ... krrdmw ... hvmwld ... ... ... fqkqdx pjzzpd pbcgjq ... nxsngz vdgkww ... ... ... lcnmrz
krrdmw ... ... jmlvql ... nxdqkm ... ... ... krrdmw krrdmw ... ... krrdmw ... fqkqdx ... mtqgtf krrdmw ... ...
krrdmw ... ... ... ... ... krrdmw mtqgtf ... ... zlwsns ... ... bvhrgx ... krrdmw ... krrdmw ... krrdmw ...
wfcprj ... fqkqdx ... krrdmw krrdmw ... ... krrdmw ... fqkqdx ... vdgkww ... fqkqdx lpxbvc ... ... ... dcgjvg
... wfcprj mtqgtf pbcgjq vdgkww cxhrkf lpxbvc ... nxsngz kswlrb lcnmrz jmlvql bvhrgx fqkqdx dcgjvg nxdqkm
swfcwj hvmwld pjzzpd zlwsns krrdmw </text>
<BLANKLINE>
Which 3 coded words occur most often? Reply with one line and nothing else, in this form: FINAL ANSWER: <those
words, separated by commas>

The frequency of a word follows a power law: the word of rank k occurs in proportion to k to the power of -2. The first
rank is written as dots and does not count. The text begins and ends with one word of each rank, in a drawn order, so
that its first and last words say nothing. The facts are a short text with these frequencies. The filler has them too.
It consists of chunks: a chunk with the word of one rank also has the words of all ranks before it. So no selection of
chunks makes a word more frequent than one of a higher rank, and filler changes no answer.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from carrara.answers import asks_for
from carrara.task import Instance, Rng
from carrara.tasks.classic._answers import Values, guess_score
from carrara.tasks.classic._task import Classic
from carrara.tasks.classic._values import letters
from carrara.tasks.classic._words import codes, most_frequent
from carrara.types import Filler, FillerStream, Question, Segment

LETTERS = 6
CODED = letters("word", LETTERS, str.lower)
DOTS = "..."
ASKED = 3
RANKS = 20
"""Ranks with a word of their own, including the dots. Rarer words occur once."""


class FrequentWords(Classic):
    version, title, capability = 4, "Frequent words", "finding the most frequent words of a text"
    guesser = "context candidates"
    answer = Values(CODED)
    evidence_decides = False
    instruction = "The text below consists of coded words. Ignore the dots."
    ask = "Which {count} coded words occur most often?"
    rule = asks_for("those words, separated by commas")
    optional_fields = {"ask": frozenset(("count",))}
    known_shortcuts = {
        "the words said oftenest": "Which words are said oftenest is what is asked.",
        "learned": "Which words are said oftenest is what is asked.",
        "part": "The three words are far more frequent than others: a tenth shows it, as in the published task.",
        "typography": "Where more words stand between two dots, one of them is likelier to be a frequent one.",
    }
    alpha: float = 2.0
    """The exponent of the power law: with a greater one, later ranks are rarer."""

    def check(self) -> None:
        if not 1.5 <= self.alpha <= 3.5:
            raise ValueError("alpha goes from 1.5 to 3.5")

    def generate(self, rng: Rng) -> Instance:
        word_rng = rng.stream("words")
        coded = CODED.distinct(word_rng, RANKS - 1)
        ranked = (DOTS, *coded)
        word_counts = zip(ranked, _counts(self.alpha), strict=True)
        middle = word_rng.shuffled([word for word, count in word_counts for _ in range(count)])
        places = rng.stream("places")
        return Instance(
            facts=[*word_rng.shuffled(ranked), *middle, *word_rng.shuffled(ranked)],
            gold=tuple(sorted(coded[:ASKED])),
            names={"count": str(ASKED)},
            evidence=(),  # no single occurrence decides
            filler=_nested_filler(coded, self.alpha),
            chance_level=guess_score(len(coded), ASKED),
            depths=(*(0.0,) * RANKS, *sorted(places.random() for _ in middle), *(1.0,) * RANKS),
            unordered=True,
        )

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        return most_frequent((word for word in context.split() if word != DOTS), ASKED)

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> tuple[str, ...]:
        """Draw as many of the words in the facts as the question asks for."""
        words = {segment.text for [segment] in instance.chunks} - {DOTS}
        return tuple(sorted(rng.sample(sorted(words), ASKED)))


def _shares(alpha: float) -> list[float]:
    """Return the frequency of each rank, relative to that of the first."""
    return [rank**-alpha for rank in range(1, RANKS + 1)]


@cache
def _counts(alpha: float) -> list[int]:
    """Return how often each rank occurs in the facts: the smallest counts that separate the answer from the rest."""
    first = 1
    while True:
        counts = [max(1, round(first * share)) for share in _shares(alpha)]
        if counts[ASKED] - counts[ASKED + 1] >= 2:
            return counts
        first += 1


def _nested_filler(coded: Sequence[str], alpha: float) -> Filler:
    """Return chunks with the words of all ranks up to a drawn one; some also have a word that occurs once."""
    segments = tuple(map(Segment, (DOTS, *coded)))
    rising = _shares(alpha)[::-1]
    # How often all later ranks occur together: the sum as an integral.
    later_share = (RANKS + 0.5) ** (1 - alpha) / (alpha - 1)

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        fresh = (word for word in codes(rng, LETTERS) if word not in coded)

        def stream(gap: int) -> tuple[Segment, ...]:
            ranks = RANKS - bisect_right(rising, rng.random())
            group = segments[:ranks]
            if rng.chance(later_share):
                group = (*group, Segment(next(fresh)))
            return group if len(group) == 1 else tuple(rng.shuffled(group))

        return stream

    return open_filler

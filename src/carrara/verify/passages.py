"""Whether the parts into which readers cut contexts give facts away, by where they end or by their sizes.

All readers cut the text of a context by the same code, which sees no facts (corpora/chunks.py):

    passages    those of `notes`, `compact`, `memory` and `context.passages`, and the chunks of exported labels
    pages       what `read` of `search` and of agents returns, from a position that the model chooses
    windows     those of `retrieval:chunks:N`

In each context, one character of one needed fact is drawn. If parts end at facts no more often than at other places,
its place in its part is uniform. A fact may have one place in every context, such as the last. So the text is rotated
first: it begins at a character that is drawn, and what stood before that follows at its end. One fact a context is
drawn, because the facts of one context are not independent.

The sizes of parts with a needed fact are distributed as those of other parts. The last part of a text is left out,
because it is what remains. Both are tests of Kolmogorov and Smirnov.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from carrara.corpora.chunks import TextSplitter, by_tokens
from carrara.items.item import Item
from carrara.items.layout import lay_out
from carrara.rng import Rng

SIZE = 512
"""The most tokens of a part."""
PARTS = 4
"""The least number of parts of a context. Shorter contexts are left out."""
ENOUGH = 30
"""The least number of places, or of sizes of each kind, that are tested."""
UNLIKELY = 0.001
"""The probability of a deviation by chance, below which it is a breach."""
MATTERS = SIZE // 50
"""The tokens by which sizes have to differ, too, to be a breach: smaller differences come from words, not from cuts."""
TRIES = 8
"""The number of positions from which a page without a needed fact is searched for."""

Span = tuple[int, int]
WAYS = ("passages", "pages", "windows")


@dataclass(frozen=True)
class PartsResult:
    """The places of needed facts in one kind of parts, and the sizes of these parts."""

    way: str
    contexts: int
    """The number of contexts, in each of which one fact was drawn."""
    tenths: list[int]
    """The number of facts in each tenth of their parts."""
    place_probability: float
    """The probability that the places deviate so much from uniform ones by chance."""
    tokens_with: float | None
    """The mean tokens of parts with a needed fact. None: there are too few, or too few others."""
    tokens_without: float | None
    """The mean tokens of parts without any."""
    size_distance: float | None
    """The tokens by which the sizes of the two kinds differ, in the mean over their quantiles (Wasserstein)."""
    size_probability: float | None
    """The probability that sizes differ so much by chance."""

    @property
    def breaches(self) -> list[str]:
        """The findings that show where facts are, in sentences."""
        breaches = list[str]()
        if self.place_probability < UNLIKELY:
            breaches.append(
                f"needed facts stand too often in some tenths of {self.way}: {self.tenths} "
                f"(p={self.place_probability:.1g})"
            )
        is_unlikely = self.size_probability is not None and self.size_probability < UNLIKELY
        if is_unlikely and self.size_distance is not None and self.size_distance > MATTERS:
            breaches.append(
                f"{self.way} with a needed fact have {self.tokens_with:.0f} tokens, others {self.tokens_without:.0f} "
                f"(p={self.size_probability:.1g})"
            )
        return breaches


@dataclass
class _Sample:
    """The measurements of one kind of parts. Each list has at most one number for each context."""

    places: list[float] = field(default_factory=list[float])
    """The place of a needed fact in its part, from 0 to 1."""
    sizes_with: list[int] = field(default_factory=list[int])
    """The tokens of a part with a needed fact."""
    sizes_without: list[int] = field(default_factory=list[int])
    """The tokens of a part without any."""

    def add(
        self,
        splitter: TextSplitter,
        parts: Sequence[Span],
        others: Sequence[Span],
        character: int,
        facts: Sequence[Span],
    ) -> None:
        """Measure the part that has a character of a fact, and another one that has no fact.

        Args:
            splitter: Counts the tokens of the text.
            parts: The parts, in order.
            others: Parts among which one without a fact is searched for.
            character: The position of the character.
            facts: The positions of the needed facts.
        """

        def size(start: int, end: int) -> int:
            return splitter.tokens_before(end) - splitter.tokens_before(start)

        start, end = next(part for part in parts if character < part[1])
        self.places.append(size(start, character) / max(1, size(start, end)))
        last = len(splitter.text.rstrip())
        if end < last:
            self.sizes_with.append(size(start, end))
        without_fact = [
            (start, end)
            for start, end in others
            if end < last and not any(fact[0] < end and start < fact[1] for fact in facts)
        ]
        self.sizes_without += [size(*part) for part in without_fact[:1]]

    def summarize(self, way: str) -> PartsResult:
        from scipy.stats import ks_2samp, kstest, wasserstein_distance

        numbers = [min(9, int(10 * place)) for place in self.places]
        sizes = self.sizes_with, self.sizes_without
        is_compared = min(map(len, sizes)) >= ENOUGH
        return PartsResult(
            way,
            len(self.places),
            [numbers.count(tenth) for tenth in range(10)],
            float(kstest(self.places, "uniform").pvalue),
            fmean(self.sizes_with) if is_compared else None,
            fmean(self.sizes_without) if is_compared else None,
            float(wasserstein_distance(*sizes)) if is_compared else None,
            float(ks_2samp(*sizes, method="asymp").pvalue) if is_compared else None,
        )


class PartsCheck:
    """Measures the parts of contexts, added one context after the other.

    One test in a thousand fails by chance. So the audit counts a breach only if the same way of cutting has one in a
    second draw, too. It prints the figures of the first draw.

    Args:
        size: The most tokens of a part.
    """

    def __init__(self, size: int = SIZE, draw: int = 0) -> None:
        self._size, self.draw = size, draw
        self._samples = [_Sample() for _ in WAYS]

    def take(self, item: Item) -> None:
        """Measure the parts of an item's context, if it is long enough."""
        layout, tokenizer = lay_out(item.prompt), item.prompt.measure.tokenizer
        numbers = {*item.question.evidence, *item.question.support} or layout.facts.keys()
        facts = [layout.facts[number] for number in sorted(numbers) if number in layout.facts]
        if facts and sum(layout.tokens) >= PARTS * self._size:
            rng = item.item_id.key.rng("parts", item.item_id.question, self.draw)
            text, facts = rotate(layout.text, facts, rng.below(len(layout.text)))
            windows = [(start, end) for _, start, end in by_tokens(text, self._size, tokenizer)]
            self.add(TextSplitter(text, tokenizer), windows, facts, rng)

    def add(self, splitter: TextSplitter, windows: Sequence[Span], facts: Sequence[Span], rng: Rng) -> None:
        """Measure the parts of a text.

        Args:
            splitter: Cuts the text into passages and pages.
            windows: The other parts.
            facts: The positions of the needed facts.
            rng: Draws the fact, and where pages begin.
        """
        passages = splitter.passages(self._size)
        character = _draw_character(rng.choice(facts), splitter.text, rng)
        typical = passages[-1][0] // max(1, len(passages) - 1)
        start, pages = character - rng.below(typical), list[Span]()
        while character >= typical and (not pages or pages[-1][1] <= character):
            pages.append(splitter.passage(pages[-1][1] if pages else start, self._size))
        starts = [rng.below(len(splitter.text)) for _ in range(TRIES)]
        other_pages = [splitter.passage(start, self._size) for start in starts]
        ways = (passages, rng.shuffled(passages)), (pages, other_pages), (windows, rng.shuffled(windows))
        for sample, (parts, others) in zip(self._samples, ways, strict=True):
            if parts:  # else the text before the character is shorter than a page
                sample.add(splitter, parts, others, character, facts)

    def results(self) -> list[PartsResult]:
        """Return what was measured. Empty if too few contexts are long enough."""
        pairs = zip(WAYS, self._samples, strict=True)
        return [sample.summarize(way) for way, sample in pairs if len(sample.places) >= ENOUGH]


def rotate(text: str, facts: Sequence[Span], first: int) -> tuple[str, list[Span]]:
    """Return a text that begins at another character, on whose last line the rest follows, and the facts there.

    >>> rotate("It rains. Mary sleeps.", [(0, 9), (10, 22)], 15)
    ('sleeps.\\nIt rains. Mary ', [(8, 17), (18, 23), (0, 7)])
    """
    behind = len(text) - first + 1
    halves = [half for start, end in facts for half in ((start, min(end, first)), (max(start, first), end))]
    return f"{text[first:]}\n{text[:first]}", [
        (start - first, end - first) if start >= first else (start + behind, end + behind)
        for start, end in halves
        if start < end
    ]


def _draw_character(fact: Span, text: str, rng: Rng) -> int:
    """Return the position of a character of a fact that is no white space."""
    return rng.choice([place for place in range(*fact) if not text[place].isspace()])

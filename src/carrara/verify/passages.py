"""Whether the passages into which contexts are cut give facts away: by where they end, or by their sizes.

All readers cut the text of a context by the same code, which sees no facts (corpora/chunks.py):

    passages    those of `notes`, `compact`, `memory` and `context.passages`, and the chunks of exported labels
    pages       what `read` of `search` and of agents returns, from a position that the model chooses
    windows     those of `retrieval:chunks:N`

In each context, one character of one needed fact is drawn. Its place in its part is compared with its place in windows
of equal size, which are cut from the same position without regard to words and sentences. If the two are distributed
alike, a part ends at a fact no more often than chance has it. Where facts stand at a few depths, or always last, both
places are as uneven as the depths. One fact a context is drawn, because the facts of one context are not independent.

The sizes, in tokens, of parts with a needed fact and without one are compared in the same way. The last part of a text
is left out, because it is what remains.
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
"""The least number of places, or of sizes of each kind, that are compared."""
UNLIKELY = 0.001
"""The probability of a difference by chance, below which it is a breach."""
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
    """The probability that places differ so much from those in windows of equal size by chance."""
    uniform_probability: float
    """The probability that places differ so much from uniform ones by chance. Depths of facts may have it low."""
    tokens_with: float | None
    """The mean tokens of parts with a needed fact. None: there are too few, or too few others."""
    tokens_without: float | None
    """The mean tokens of parts without any."""
    size_probability: float | None
    """The probability that sizes differ so much by chance."""

    @property
    def breaches(self) -> list[str]:
        """What gives facts away, in sentences."""
        breaches = list[str]()
        if self.place_probability < UNLIKELY:
            breaches.append(
                f"needed facts stand too often in some tenths of {self.way}: {self.tenths} "
                f"(p={self.place_probability:.1g})"
            )
        if self.size_probability is not None and self.size_probability < UNLIKELY:
            breaches.append(
                f"{self.way} with a needed fact have {self.tokens_with:.0f} tokens, others {self.tokens_without:.0f} "
                f"(p={self.size_probability:.1g})"
            )
        return breaches


@dataclass
class _Sample:
    """What was measured of one kind of parts, one number a context in each list."""

    places: list[float] = field(default_factory=list[float])
    """The place of a needed fact in its part, from 0 to 1."""
    blind_places: list[float] = field(default_factory=list[float])
    """Its place in windows of equal size."""
    sizes_with: list[int] = field(default_factory=list[int])
    """The tokens of a part with a needed fact."""
    sizes_without: list[int] = field(default_factory=list[int])
    """The tokens of a part without any."""

    def summarize(self, way: str) -> PartsResult:
        from scipy.stats import ks_2samp, kstest  # both are tests of Kolmogorov and Smirnov

        numbers = [min(9, int(10 * place)) for place in self.places]
        is_compared = min(len(self.sizes_with), len(self.sizes_without)) >= ENOUGH
        return PartsResult(
            way,
            len(self.places),
            [numbers.count(tenth) for tenth in range(10)],
            float(ks_2samp(self.places, self.blind_places).pvalue),
            float(kstest(self.places, "uniform").pvalue),
            fmean(self.sizes_with) if is_compared else None,
            fmean(self.sizes_without) if is_compared else None,
            float(ks_2samp(self.sizes_with, self.sizes_without).pvalue) if is_compared else None,
        )


class PartsCheck:
    """Measures the parts of contexts, added one context after the other.

    Args:
        size: The most tokens of a part.
    """

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._samples = [_Sample() for _ in WAYS]

    def take(self, item: Item) -> None:
        """Measure the parts of an item's context."""
        layout, tokenizer = lay_out(item.prompt), item.prompt.measure.tokenizer
        numbers = {*item.question.evidence, *item.question.support} or layout.facts.keys()
        facts = [layout.facts[number] for number in sorted(numbers) if number in layout.facts]
        if facts and sum(layout.tokens) >= PARTS * self._size:
            windows = [(start, end) for _, start, end in by_tokens(layout.text, self._size, tokenizer)]
            rng = item.item_id.key.rng("parts", item.item_id.question)
            self.add(TextSplitter(layout.text, tokenizer), windows, facts, rng)

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
        for sample, parts in zip(self._samples, (passages, None, windows), strict=True):
            if parts is None:
                start = max(0, character - rng.below(len(splitter.text) // len(passages)))
                part = splitter.passage(start, self._size)
                while part[1] <= character:
                    part = splitter.passage(part[1], self._size)
            else:
                start, part = 0, next(part for part in parts if character < part[1])
            ruler = _Ruler(splitter, start, parts or passages)
            sample.places.append(ruler.place(character, part))
            sample.blind_places.append(ruler.blind_place(character))
            if ruler.is_full(part):
                sample.sizes_with.append(ruler.size(part))
            others = (
                (splitter.passage(rng.below(len(splitter.text)), self._size) for _ in range(TRIES))
                if parts is None
                else rng.shuffled(parts)
            )
            other = next((other for other in others if ruler.is_full(other) and not _has_any(other, facts)), None)
            if other is not None:
                sample.sizes_without.append(ruler.size(other))

    def results(self) -> list[PartsResult]:
        """Return what was measured. Empty if too few contexts are long enough."""
        pairs = zip(WAYS, self._samples, strict=True)
        return [sample.summarize(way) for way, sample in pairs if len(sample.places) >= ENOUGH]


class _Ruler:
    """Measures parts of a text, in tokens.

    Args:
        splitter: Counts the tokens.
        start: The position from which the text is cut.
        parts: Parts of the whole text, whose mean size the windows of equal size have.
    """

    def __init__(self, splitter: TextSplitter, start: int, parts: Sequence[Span]) -> None:
        self._count, self._start, self._end = splitter.tokens_before, start, parts[-1][1]
        self._step = self._count(parts[-1][0]) / max(1, len(parts) - 1)

    def size(self, part: Span) -> int:
        return self._count(part[1]) - self._count(part[0])

    def is_full(self, part: Span) -> bool:
        """Return whether a part is not the last of the text."""
        return part[1] < self._end

    def place(self, character: int, part: Span) -> float:
        """Return the place of a character in its part, from 0 to 1."""
        return self.size((part[0], character)) / max(1, self.size(part))

    def blind_place(self, character: int) -> float:
        """Return its place in windows of equal size. The last one is what remains."""
        tokens, whole = self.size((self._start, character)), self.size((self._start, self._end))
        before = int(tokens / self._step) * self._step
        return (tokens - before) / max(1.0, min(self._step, whole - before))


def _draw_character(fact: Span, text: str, rng: Rng) -> int:
    """Return the position of a character of a fact that is no white space."""
    while True:
        character = rng.between(fact[0], fact[1] - 1)
        if not text[character].isspace():
            return character


def _has_any(part: Span, facts: Sequence[Span]) -> bool:
    return any(start < part[1] and part[0] < end for start, end in facts)

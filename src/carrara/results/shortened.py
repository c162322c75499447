"""Prompts that a server cut without saying so: it counted fewer tokens than were sent.

A count may differ from ours for reasons that are no fault. A chat template or a gateway adds the same number of tokens
to each prompt; another tokenizer changes the count by about the same share. So the counts of shorter prompts of the
same task tell what to expect of a longer one. These prove a cut:

    the same tokenizer (counts differ by a constant)    tokens are lacking
    another tokenizer                                   the count grows at less than half the rate of shorter prompts
    one length alone                                    the count is below a quarter of ours, or below half and the same
                                                        for three prompts
    a cut at a longer prompt                            the counts of shorter prompts are the same as its count

A prompt of at least this size that was counted with more tokens proves the contrary: some servers leave out what they
have in their cache.
"""

from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from carrara.results.result import Result, Subject

LEAST = 512
"""The tokens of the smallest prompt that is judged, and of the smallest one that a server makes of a longer one. A
smaller count leaves out what is in a cache."""
NOISE = 64
"""Tokens that may be lacking without proof."""
LACKING, LACKING_ONE_SIZE, LACKING_BARE = 0.05, 0.2, 0.4
"""The share of tokens that must be lacking where the same tokenizer counts: known from prompts of two sizes, of one, or
only from small ones without filler."""
GROWTH, GROWTH_BARE = 0.5, 0.35
"""The rate of growth that proves a cut, as a share of that of shorter prompts; and if those have no filler, which may
be another kind of text."""
ALONE, ALONE_EQUAL, BARE_EQUAL = 0.25, 0.5, 0.6
"""The share of our count that proves a cut where there is no shorter prompt; if several counts are equal; and if so
where there are small prompts without filler."""
EQUAL, SPREAD = 3, 2
"""So many counts within so many tokens of each other are equal."""
SAME = 8
"""Tokens by which the excess of prompts may vary if the same tokenizer counts."""
SHORTER, LONGER = 0.8, 1.1
"""The sizes, relative to a prompt's, up to which another prompt is shorter, and from which it is longer."""
APART = 1.5
"""The ratio of sizes from which equal counts are a proof even beside longer prompts with greater counts."""
KEPT = 8
"""Counts of each task and size that are kept while a run goes on. More add no evidence."""


Step = tuple[int, int]
"""The tokens of a request's prompt, by our count and by the server's. 0: not known."""


class PromptCount(NamedTuple):
    """One prompt, by our count and by its server's."""

    task: str
    bare: bool
    """Whether the prompt has no filler."""
    sent: int
    counted: int


@dataclass
class PromptCounts:
    """The counts of one server with one tokenizer."""

    kept: dict[str, list[PromptCount]] = field(default_factory=dict[str, list[PromptCount]])

    def add(self, count: PromptCount) -> None:
        """Add a count, unless there are enough of its size."""
        known = self.kept.setdefault(count.task, [])
        alike = sum(other.sent == count.sent and abs(other.counted - count.counted) <= SPREAD for other in known)
        if alike < KEPT:
            known.append(count)

    def is_cut(self, count: PromptCount) -> bool:
        """Return whether the counts so far prove that a prompt was cut."""
        known = self.kept.get(count.task, [])
        return count in cut_prompts(known if count in known else [*known, count])


def cut_prompts(counts: Sequence[PromptCount]) -> set[PromptCount]:
    """Return the prompts of one task that the server cut."""
    ordered = sorted(set(counts), key=lambda count: (count.sent, -count.counted))
    others = _Others(ordered, counts)
    whole, cut = _Whole(), set[PromptCount]()
    for count in ordered:
        if _may_be_cut(count) and whole.proves(count, others.equal(count)) and not others.disprove(count):
            cut.add(count)
        else:
            whole.add(count)
    stopped = {
        count
        for count in ordered
        if _may_be_cut(count) and others.equal(count) >= EQUAL and whole.lacking(count) > LACKING * count.sent
    }
    return cut | {count for count in stopped if _stopped_with(count, cut)}


def _may_be_cut(count: PromptCount) -> bool:
    return count.sent >= LEAST and count.counted >= LEAST


class _Others:
    """All prompts of a task, the shortest first."""

    def __init__(self, ordered: Sequence[PromptCount], counts: Iterable[PromptCount]) -> None:
        self._ordered = ordered
        self._sizes = [count.sent for count in ordered]
        most = accumulate(reversed(ordered), lambda most, count: max(most, count.counted), initial=0)
        self._greatest = [*most][::-1]
        """The greatest count of each prompt and those after it."""
        self._sizes_of: dict[int, list[int]] = {}
        """The sizes of the prompts with each count."""
        for count in counts:
            self._sizes_of.setdefault(count.counted, []).append(count.sent)

    def equal(self, count: PromptCount) -> int:
        """Return how many prompts have about the same count."""
        return len(self._equal_sizes(count))

    def disprove(self, count: PromptCount) -> bool:
        """Return whether a prompt of the same size, or a longer one, was counted with more tokens.

        Equal counts of several sizes are a proof beside longer prompts, as the server may have got a larger window.
        """
        more = count.counted + max(NOISE, LACKING * count.counted)
        longer = bisect_left(self._sizes, LONGER * count.sent)
        equal = self._equal_sizes(count)
        if self._greatest[longer] > more and not (len(equal) >= EQUAL and max(equal) > APART * min(equal)):
            return True
        same_size = self._ordered[bisect_left(self._sizes, count.sent / LONGER) : longer]
        return any(other.counted > more for other in same_size)

    def _equal_sizes(self, count: PromptCount) -> list[int]:
        near = range(count.counted - SPREAD, count.counted + SPREAD + 1)
        return [size for counted in near for size in self._sizes_of.get(counted, ())]


class _Whole:
    """The prompts so far that were not cut, the shortest first."""

    def __init__(self) -> None:
        self._prompts: list[PromptCount] = []
        self._sizes: list[int] = []
        self._first_filled: PromptCount | None = None
        self._excess: list[tuple[int, int]] = []
        """The least and the greatest excess up to each prompt."""

    def add(self, count: PromptCount) -> None:
        excess = count.counted - count.sent
        least, greatest = self._excess[-1] if self._excess else (excess, excess)
        if not count.bare:
            self._first_filled = self._first_filled or count
        self._prompts.append(count)
        self._sizes.append(count.sent)
        self._excess.append((min(least, excess), max(greatest, excess)))

    def proves(self, count: PromptCount, equal: int) -> bool:
        """Return whether a prompt has fewer tokens than shorter ones let expect.

        Args:
            equal: The number of prompts with this count.
        """
        number = self._shorter(count)
        if not number:
            share = count.counted / count.sent
            return share < ALONE or (share < ALONE_EQUAL and equal >= EQUAL)
        shortest, longest = self._prompts[0], self._prompts[number - 1]
        least, greatest = self._excess[number - 1]
        is_small = longest.bare and longest.sent < LEAST
        if least >= 0 and greatest - least <= SAME:
            several_sizes = longest.sent >= LEAST and shortest.sent <= SHORTER * longest.sent
            if several_sizes or greatest <= max(2 * NOISE, LACKING * longest.sent):
                share = LACKING if several_sizes else LACKING_BARE if is_small else LACKING_ONE_SIZE
                return count.sent + least - count.counted > max(NOISE, share * count.sent)
        if is_small:
            share = count.counted / count.sent / min(1.0, longest.counted / longest.sent)
            return share < ALONE or (share < BARE_EQUAL and equal >= EQUAL)
        expected = self._rate(longest) * (count.sent - longest.sent)
        growth = count.counted - longest.counted
        return growth < expected * (GROWTH_BARE if longest.bare else GROWTH) and expected - growth > NOISE

    def lacking(self, count: PromptCount) -> float:
        """Return how many tokens a prompt has fewer than expected; at most 0 if that is noise."""
        number, expected = self._shorter(count), float(count.sent)
        if number and not self._prompts[number - 1].bare:
            longest = self._prompts[number - 1]
            expected = longest.counted + self._rate(longest) * (count.sent - longest.sent)
        return expected - count.counted - NOISE

    def _rate(self, longest: PromptCount) -> float:
        """Return the server's tokens for each of ours, up to a prompt.

        Text that the server adds is not in it, as far as two sizes show. Prompts without filler may be another text.
        """
        filled = self._first_filled or longest
        if longest.sent >= 2 * filled.sent:
            return max(0.0, _slope(filled, longest))
        mean, bare = longest.counted / longest.sent, self._prompts[0]
        return min(mean, max(0.0, _slope(bare, longest))) if longest.sent >= 2 * bare.sent else mean

    def _shorter(self, count: PromptCount) -> int:
        """Return the number of prompts that are shorter."""
        return bisect_left(self._sizes, SHORTER * count.sent)


def _slope(short: PromptCount, long: PromptCount) -> float:
    return (long.counted - short.counted) / (long.sent - short.sent)


def _stopped_with(count: PromptCount, cut: Collection[PromptCount]) -> bool:
    """Return whether a prompt has the same count as a longer one that was cut."""
    return any(abs(count.counted - longer.counted) <= SPREAD and longer.sent > LONGER * count.sent for longer in cut)


def series_of_counts(result: Result) -> tuple[Subject, str, str]:
    """Return what results have in common whose counts can be compared: the model, who answered, and the tokenizer."""
    return result.subject, result.answered_by, result.tokenizer


def shortened(results: Sequence[tuple[Result, Sequence[Step]]]) -> list[set[int]]:
    """Return for each result the numbers of its requests whose prompts the server cut.

    A result that was made by one request has the number 0.
    """
    counts = [list(counts_of(result, steps)) for result, steps in results]
    groups: dict[Hashable, list[PromptCount]] = {}
    for (result, _), own in zip(results, counts, strict=True):
        groups.setdefault((series_of_counts(result), result.task), []).extend(filter(None, own))
    cut = {key: cut_prompts(group) for key, group in groups.items()}
    return [
        {number for number, count in enumerate(own) if count in cut[series_of_counts(result), result.task]}
        for (result, _), own in zip(results, counts, strict=True)
    ]


def counts_of(result: Result, steps: Sequence[Step]) -> Iterator[PromptCount | None]:
    """Yield the counts of each request that was made for a result. None: there is no count to compare.

    Args:
        steps: The requests, if a reader made them.
    """
    if result.tokenizer == "words" or result.status in ("error", "overflow"):
        return
    if result.reading is None:
        steps = [(result.tokens, result.input_tokens or 0)]
    for sent, counted in steps:
        yield PromptCount(result.task, not result.length, sent, counted) if sent and counted else None

"""Prompts that a server cut without saying so: it counted fewer tokens than were sent.

A count may differ from ours for reasons that are no fault. A chat template or a gateway adds the same number of tokens
to each prompt; another tokenizer changes the count by about the same share. So the counts of shorter prompts of the
same task tell what to expect of a longer one. These prove a cut:

    the same tokenizer (counts differ by a constant)    tokens are lacking
    another tokenizer                                   the count grows at less than half the rate of shorter prompts
    no shorter prompt with filler                       the count is a cap and a fifth is lacking, or nine tenths are
                                                        lacking (`_Others.is_cap` says what a cap is)
    a cut at a longer prompt                            the counts of shorter prompts are the same as its count

Without a shorter prompt of the same filler, a small share is no proof: a text in Chinese has a third of the tokens by
another tokenizer, and one in Hindi a seventh.

A prompt of at least this size that was counted with more tokens proves the contrary: some servers leave out what they
have in their cache.
"""

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

from carrara.results.result import Result, Subject

LEAST = 512
"""The tokens of the smallest prompt that is judged, and of the smallest one that a server makes of a longer one. A
smaller count leaves out what is in a cache."""
NOISE = 64
"""Tokens that may be lacking without proof."""
LACKING, LACKING_ONE_SIZE = 0.05, 0.2
"""The share of tokens that must be lacking where the same tokenizer counts: known from prompts of two sizes, or of
one."""
GROWTH = 0.5
"""The rate of growth that proves a cut, as a share of that of shorter prompts."""
ALONE, ALONE_CAP = 0.1, 0.8
"""The share of our count below which it proves a cut where there is no shorter prompt with filler; and if the count is
a cap."""
EQUAL, SPREAD = 3, 2
"""So many counts within so many tokens of each other are equal."""
ROUND, BESIDE_ROUND = 1024, (0, 2, 1023)
"""Windows are multiples of this. What is kept may be 2 tokens more (half of Ollama's) or 1 less."""
SAME = 8
"""Tokens by which the excess of prompts may vary if the same tokenizer counts."""
SHORTER, LONGER = 0.8, 1.1
"""The sizes, relative to a prompt's, up to which another prompt is shorter, and from which it is longer."""
APART = 1.5
"""The ratio of sizes from which equal counts are a proof even beside longer prompts with greater counts."""
KEPT = 8
"""Counts of each kind of prompt and size that are kept while a run goes on. More add little evidence."""
ADDED = 0.25, 1.25
"""The least and the greatest share of the tokens that a request has beyond the one before it which a server counts that
leaves out what it has in its cache."""


Step = tuple[int, int]
"""The tokens of a request's prompt, by our count and by the server's. 0: not known."""


class PromptCount(NamedTuple):
    """One prompt, by our count and by its server's."""

    kind: str
    """What prompts have in common whose texts are alike: the task with its parameters."""
    bare: bool
    """Whether the prompt has no filler."""
    sent: int
    counted: int


@dataclass
class PromptCounts:
    """The counts of one server with one tokenizer."""

    kept: dict[str, dict[int, list[PromptCount]]] = field(default_factory=dict[str, dict[int, list[PromptCount]]])
    """Counts by the kind of prompt, and by size."""

    def add(self, count: PromptCount) -> None:
        """Add a count. If there are enough of its size, it replaces another only if it is the greatest."""
        known = self.kept.setdefault(count.kind, {}).setdefault(_size(count.sent), [])
        if len(known) < KEPT:
            known.append(count)
        elif count.counted > max(other.counted for other in known):
            known[-1] = count

    def is_cut(self, count: PromptCount) -> bool:
        """Return whether the counts so far prove that a prompt was cut."""
        if not _may_be_cut(count):
            return False
        known = [other for alike in self.kept.get(count.kind, {}).values() for other in alike]
        return count in cut_prompts(known if count in known else [*known, count])


def cut_prompts(counts: Sequence[PromptCount]) -> set[PromptCount]:
    """Return the prompts of one kind that the server cut."""
    ordered = sorted(set(counts), key=lambda count: (count.sent, -count.counted))
    others = _Others(ordered, counts)
    whole, cut = _Whole(), set[PromptCount]()
    for count in ordered:
        if _may_be_cut(count) and whole.proves(count, others) and not others.disprove(count):
            cut.add(count)
        else:
            whole.add(count)
    longest = dict[int, int]()
    for count in cut:
        longest[count.counted] = max(longest.get(count.counted, 0), count.sent)
    stopped = {
        count
        for count in ordered
        if _may_be_cut(count)
        and max(longest.get(counted, 0) for counted in _near(count.counted)) > LONGER * count.sent
        and others.equal(count).number >= EQUAL
        and whole.lacking(count) > LACKING * count.sent
    }
    return cut | stopped


def _may_be_cut(count: PromptCount) -> bool:
    return count.sent >= LEAST and count.counted >= LEAST


def _size(sent: int) -> int:
    """Return a number that is the same, or the next one, for prompts of about the same size."""
    return int(math.log(sent) / math.log(LONGER))


def _near(counted: int) -> range:
    """Return the counts that are equal to one."""
    return range(counted - SPREAD, counted + SPREAD + 1)


class _Equal(NamedTuple):
    """Prompts with the same count."""

    number: int
    shortest: int
    longest: int


class _Others:
    """All prompts of a kind, the shortest first."""

    def __init__(self, ordered: Sequence[PromptCount], counts: Iterable[PromptCount]) -> None:
        self._sizes = [count.sent for count in ordered]
        most = accumulate(reversed(ordered), lambda most, count: max(most, count.counted), initial=0)
        self._greatest = [*most][::-1]
        """The greatest count of each prompt and those after it."""
        self._greatest_of_size = dict[int, int]()
        for count in ordered:
            size = _size(count.sent)
            self._greatest_of_size[size] = max(self._greatest_of_size.get(size, 0), count.counted)
        self._equal = dict[int, _Equal]()
        for count in counts:
            number, shortest, longest = self._equal.get(count.counted, (0, count.sent, count.sent))
            self._equal[count.counted] = _Equal(number + 1, min(shortest, count.sent), max(longest, count.sent))

    def equal(self, count: PromptCount) -> _Equal:
        """Return the prompts that have about the same count."""
        found = [self._equal[counted] for counted in _near(count.counted) if counted in self._equal]
        numbers, shortest, longest = zip(*found, strict=True)
        return _Equal(sum(numbers), min(shortest), max(longest))

    def is_cap(self, count: PromptCount) -> bool:
        """Return whether several prompts have a count that those of no other text have.

        The count is that of prompts of several sizes; or it is a round number, and the greatest of its size.
        """
        if self._has_several_sizes(count):
            return True
        is_round = count.counted % ROUND in BESIDE_ROUND
        return is_round and self._equal[count.counted].number >= EQUAL and self._most_alike(count) <= count.counted

    def disprove(self, count: PromptCount) -> bool:
        """Return whether a prompt of about the same size, or a longer one, was counted with more tokens.

        Equal counts of several sizes are a proof beside longer prompts, as the server may have got a larger window.
        """
        more = count.counted + max(NOISE, LACKING * count.counted)
        if self._most_alike(count) > more:
            return True
        longer = bisect_left(self._sizes, LONGER * count.sent)
        return self._greatest[longer] > more and not self._has_several_sizes(count)

    def _has_several_sizes(self, count: PromptCount) -> bool:
        equal = self.equal(count)
        return equal.number >= EQUAL and equal.longest > APART * equal.shortest

    def _most_alike(self, count: PromptCount) -> int:
        """Return the greatest count of a prompt of about the same size."""
        size = _size(count.sent)
        return max(self._greatest_of_size.get(near, 0) for near in (size - 1, size, size + 1))


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

    def proves(self, count: PromptCount, others: _Others) -> bool:
        """Return whether a prompt has fewer tokens than shorter ones let expect."""
        number = self._shorter(count)
        longest = self._prompts[number - 1] if number else None
        if longest is None or longest.bare:  # the filler may be another kind of text
            rate = min(1.0, longest.counted / longest.sent) if longest else 1.0
            share = count.counted / count.sent / rate
            return share < ALONE or (share < ALONE_CAP and others.is_cap(count))
        shortest = self._prompts[0]
        least, greatest = self._excess[number - 1]
        if least >= 0 and greatest - least <= SAME:
            several_sizes = longest.sent >= LEAST and shortest.sent <= SHORTER * longest.sent
            if several_sizes or greatest <= max(2 * NOISE, LACKING * longest.sent):
                share_lacking = LACKING if several_sizes else LACKING_ONE_SIZE
                return count.sent + least - count.counted > max(NOISE, share_lacking * count.sent)
        expected = self._rate(longest) * (count.sent - longest.sent)
        growth = count.counted - longest.counted
        return growth < GROWTH * expected and expected - growth > NOISE

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


def series_of_counts(result: Result) -> tuple[Subject, str, str]:
    """Return what results have in common whose counts can be compared: the model, who answered, and the tokenizer."""
    return result.subject, result.answered_by, result.tokenizer


def shortened(results: Sequence[tuple[Result, Sequence[Step]]]) -> list[set[int]]:
    """Return for each result the numbers of its requests whose prompts the server cut."""
    counts = [list(counts_of(result, steps)) for result, steps in results]
    groups: dict[Hashable, list[PromptCount]] = {}
    for (result, _), own in zip(results, counts, strict=True):
        for count in filter(None, own):
            groups.setdefault((series_of_counts(result), count.kind), []).append(count)
    cut = {key: cut_prompts(group) for key, group in groups.items()}
    return [
        {number for number, count in enumerate(own) if count and count in cut[series_of_counts(result), count.kind]}
        for (result, _), own in zip(results, counts, strict=True)
    ]


def counts_of(result: Result, steps: Sequence[Step]) -> Iterator[PromptCount | None]:
    """Yield the counts of each request that was made for a result. None: there is no count to compare.

    Args:
        steps: The requests.
    """
    if result.tokenizer != "words" and result.status not in ("error", "overflow"):
        yield from prompt_counts(result.task, result.instance_id, not result.length, steps)


def prompt_counts(task: str, instance_id: str, bare: bool, steps: Sequence[Step]) -> list[PromptCount | None]:
    """Return the counts of each request that was made for an item. None: there is no count to compare.

    Args:
        instance_id: The id of the item's instance, which has the parameters of its task.
    """
    kind = f"{task} {instance_id.rpartition('/')[0]}"
    uncached = _uncached_steps(steps)
    return [
        PromptCount(kind, bare, sent, counted) if sent and counted and number not in uncached else None
        for number, (sent, counted) in enumerate(steps)
    ]


def _uncached_steps(steps: Sequence[Step]) -> set[int]:
    """Return the numbers of requests that were counted without what the request before had: it was in a cache.

    The messages of an agent, or of a conversation, grow with each request. A server that leaves out its cache counts
    what is new in each.
    """
    longer = [number for number, (before, after) in enumerate(pairwise(steps), 1) if after[0] > before[0] > 0]
    few, many = ADDED
    uncached = set[int]()
    for number in longer:
        sent, counted = steps[number]
        added = sent - steps[number - 1][0]
        if few * added <= counted <= many * added + NOISE:
            uncached.add(number)
    return uncached if 2 * len(uncached) > len(longer) else set()

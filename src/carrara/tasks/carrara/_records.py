"""Records of a date, a user and a sentence about a thing, and how many of them are drawn of each kind.

>>> record = Record("birds", "kqwztb", "March")
>>> record.write(12, "I dreamt about herons."), record.write(12, "I dreamt about herons.", labelled=True)
('12 March | kqwztb | I dreamt about herons.', '12 March | kqwztb | kind: birds | I dreamt about herons.')
>>> list(read_records("12 March | kqwztb | I dreamt about herons."))
[Record(kind='birds', user='kqwztb', month='March')]
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from carrara.generators.fitting import pick
from carrara.generators.kinds import KINDS, kind_of
from carrara.generators.people import CITIES, MONTHS
from carrara.rng import Rng
from carrara.types import LengthBudget
from carrara.util.errors import LengthError

DAYS = 28
"""The days of each month that records have."""
SENTENCES = (
    "I dreamt about {thing} last night.",
    "My neighbour asked me about {thing}.",
    "I read a long essay about {thing} before breakfast.",
    "My sister and I argued about {thing}.",
    "I gave a talk about {thing} in {city}.",
    "I looked up some facts about {thing}.",
    "An uncle in {city} sent me pictures of {thing}.",
    "I heard a joke about {thing} on the way to {city}.",
    "Nobody in {city} knows more about {thing} than my brother.",
    "I began a poem about {thing} and gave up.",
    "A stranger in {city} told me a long story about {thing}.",
    "I asked around in {city} for a book about {thing}.",
    "All evening we talked about {thing}.",
    "I wrote to an old friend about {thing}.",
)
"""The sentences of users. Only the thing says something about the kind of a record."""
SPARE = 48
"""Records that may be written otherwise, beside one for each token that is missing."""
OTHERWISE = 7
"""The other ways in which such a record is tried."""

_RECORD = re.compile(rf"^[0-9]+ ({'|'.join(MONTHS)}) \| ([a-z]+) \| (?:kind: [a-z ]+ \| )?(.+)$", re.MULTILINE)


class Record(NamedTuple):
    kind: str
    user: str
    month: str

    def write(self, day: int, sentence: str, labelled: bool = False) -> str:
        kind = f"kind: {self.kind} | " if labelled else ""
        return f"{day} {self.month} | {self.user} | {kind}{sentence}"

    def draw(self, rng: Rng, labelled: bool) -> str:
        """Return the record with a drawn day and sentence."""
        sentence = rng.choice(SENTENCES).format(thing=rng.choice(KINDS[self.kind]), city=rng.choice(CITIES))
        return self.write(rng.between(1, DAYS), sentence, labelled)


def read_records(context: str) -> Iterator[Record]:
    """Yield the records of a text. The kind is that of the thing in the sentence."""
    for month, user, sentence in _RECORD.findall(context):
        yield Record(kind_of(sentence), user, month)


def deal(
    rng: Rng,
    kinds: Mapping[str, int],
    users: Sequence[str],
    users_of: Mapping[str, Sequence[str]],
    months_of: Mapping[str, Sequence[str]],
) -> list[Record]:
    """Return records in a drawn order, so many of each kind. All users and all months have about as many of them.

    Some kinds have given users or months. The other records are dealt to make up for them.
    """
    total = sum(kinds.values())
    users_left, months_left = _rest(rng, users, total, users_of), _rest(rng, MONTHS, total, months_of)
    records = list[Record]()
    for kind, number in kinds.items():
        own_users = users_of.get(kind) or [next(users_left) for _ in range(number)]
        own_months = months_of.get(kind) or [next(months_left) for _ in range(number)]
        pairs = zip(rng.shuffled(own_users), rng.shuffled(own_months), strict=True)
        records += [Record(kind, user, month) for user, month in pairs]
    rng.shuffle(records)
    return records


def _rest(rng: Rng, values: Sequence[str], total: int, taken: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Return values in a drawn order. Together with the taken ones all values are about equally frequent."""
    counts = Counter(value for taken_values in taken.values() for value in taken_values)
    even = spread(rng, total, values)
    rest = [value for value in values for _ in range(even[value] - counts[value])]
    return iter(rng.shuffled(rest))


def spread(rng: Rng, total: int, values: Sequence[str]) -> dict[str, int]:
    """Return how often each value occurs if they share a total evenly. Some occur once more than others.

    >>> sorted(spread(Rng("spread"), 8, "abc").values())
    [2, 3, 3]
    """
    each, more = divmod(total, len(values))
    extra = {*rng.sample(range(len(values)), more)}
    return {value: each + (n in extra) for n, value in enumerate(values)}


def rank(rng: Rng, total: int, groups: int, lead: float, least: bool = False) -> list[int]:
    """Return the sizes of groups, none of them empty. The first group is the largest, or the smallest.

    Other differences are those of an even draw. The total is at least twice the number of groups.

    Args:
        rng: Random numbers.
        total: The sum of the sizes.
        groups: The number of groups.
        lead: The distance from the first to the next, in square roots of the next. It is one or more, and less where
            there is no room for it.
        least: Whether the first is the smallest.

    >>> rank(Rng("rank"), 100, 4, 1.0), rank(Rng("rank"), 100, 4, 1.0, least=True)
    ([32, 22, 20, 26], [20, 27, 28, 25])
    """
    draws = Counter(rng.below(groups) for _ in range(total - groups))
    first, *others = sorted((1 + draws[n] for n in range(groups)), reverse=not least)
    rng.shuffle(others)
    return [*_move_ahead(first, others, lead, least)]


def _move_ahead(first: int, others: list[int], lead: float, least: bool) -> Iterator[int]:
    """Yield the sizes after some members have moved to another group, so that the first is far enough ahead."""
    while True:
        low, high = (others.index(size) for size in (min(others), max(others)))
        rival = others[low if least else high]
        if abs(first - rival) >= max(1, round(lead * sqrt(rival))):
            break
        if not least and rival > 1:
            first, others[high] = first + 1, rival - 1
        elif least and others[high] > rival + 1:
            others[low], others[high] = rival + 1, others[high] - 1
        elif least and first > 1:
            first, others[low] = first - 1, rival + 1
        else:
            break
    yield first
    yield from others


def write_exactly(rng: Rng, records: Sequence[Record], budget: LengthBudget, labelled: bool) -> list[str]:
    """Return records as lines that have exactly the tokens of a budget. Some get another sentence or day for that.

    Raises:
        LengthError: No way of writing them has these tokens.
    """
    lines = [record.draw(rng, labelled) for record in records]
    rest = budget.budget - sum(budget.costs(lines, "\n"))
    places = rng.sample(range(len(records)), min(len(records), SPARE + abs(rest)))
    ways = [[lines[n], *(records[n].draw(rng, labelled) for _ in range(OTHERWISE))] for n in places]
    costs = budget.costs([line for record_lines in ways for line in record_lines], "\n")
    options = [costs[n : n + OTHERWISE + 1] for n in range(0, len(costs), OTHERWISE + 1)]
    least = [min(slot_costs) for slot_costs in options]
    above = [[cost - low for cost in slot_costs] for slot_costs, low in zip(options, least, strict=True)]
    chosen = pick(above, rest + sum(slot_costs[0] for slot_costs in above))
    if chosen is None:
        raise LengthError(f"nothing makes up its last {rest} tokens", part="no records make up its length")
    for n, record_lines, way in zip(places, ways, chosen, strict=True):
        lines[n] = record_lines[way]
    return lines


def estimate_number(rng: Rng, records: Iterable[Record], budget: LengthBudget, labelled: bool) -> int:
    """Return how many records like these have about the tokens of a budget."""
    costs = budget.costs([record.draw(rng, labelled) for record in records], "\n")
    return max(0, budget.budget) * len(costs) // sum(costs)

"""Lines of words behind a label, such as `List 1: oak, elm`: how words are dealt among them, and how they are read."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from carrara.generators import vocabulary
from carrara.generators.fitting import fill
from carrara.rng import Rng
from carrara.tasks.minerva._task import split_items
from carrara.types import Filler, LengthBudget, UndecidableError
from carrara.util.errors import LengthError

_LINE = re.compile(r"^(\w+ \w+): (.+)$", re.MULTILINE)


class Needle(NamedTuple):
    """A word that is asked about, in one of the lists, at a share of the way through it."""

    word: str
    list: int
    share: float


def list_name(n: int) -> str:
    """Return the label of a list, counted from 0."""
    return f"List {n + 1}"


def write_line(label: str, words: Sequence[str]) -> str:
    """Return a label with its words, as one line of the context."""
    return f"{label}: {', '.join(words)}"


def write_lists(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of numbered lists."""
    return [write_line(list_name(n), words) for n, words in enumerate(lists)]


def role_name(n: int) -> str:
    """Return the label of a role, counted from 0."""
    return f"Role {n + 1}"


def write_roles(lines: Sequence[Sequence[str]], roles: int) -> list[str]:
    """Return the lines of so many roles, which take turns."""
    return [write_line(role_name(n % roles), words) for n, words in enumerate(lines)]


def read_lines(context: str) -> list[tuple[str, list[str]]]:
    """Return the label and the words of each line.

    >>> read_lines("List 1: oak, elm\\nList 2: ash")
    [('List 1', ['oak', 'elm']), ('List 2', ['ash'])]
    """
    return [(label, split_items(words)) for label, words in _LINE.findall(context)]


def share_line_name(context: str, first: str, second: str) -> bool:
    """Return whether two words stand behind the same label. Raises UndecidableError where one stands in no line."""
    label_of = {word: label for label, words in read_lines(context) for word in words}
    if first not in label_of or second not in label_of:
        raise UndecidableError("one of the words is in no line")
    return label_of[first] == label_of[second]


def deal_words(
    budget: LengthBudget | None,
    draw: vocabulary.Draw,
    items: int,
    lists: int,
    needles: Sequence[Needle],
    description: str,
    least: int = 2,
) -> list[list[str]]:
    """Return lists of words with needles among them.

    No list has two words more than another, so that the length of a list tells nothing about what is in it.

    Args:
        budget: The tokens that all lists take together; None at length 0.
        items: The number of words where there is no budget.
        description: Names the lists in an error message.
        least: The fewest words of a list.

    Raises:
        LengthError: The budget is too small.
    """
    needle_counts = Counter(needle.list for needle in needles)
    wanted = sum(max(least, needle_counts[n]) for n in range(lists)) - len(needles)
    if budget is None:
        words = vocabulary.some(draw, max(items - len(needles), wanted))
    else:
        words = fill(budget, draw) if budget.budget > 0 else []
    if len(words) < wanted:
        raise LengthError(
            f"{description} leaves room for {len(words)} words beside the {len(needles)} asked for, and takes {wanted}",
            part=f"{description} leaves too little room for words",
        )
    unused = iter(words)
    dealt = [list(islice(unused, size)) for size in _sizes(len(words) + len(needles), lists, needle_counts)]
    for needle in needles:
        needle_list = dealt[needle.list]
        needle_list.insert(int(needle.share * (len(needle_list) + 1)), needle.word)
    return dealt


def _sizes(words: int, lists: int, needle_counts: Mapping[int, int]) -> list[int]:
    """Return how many words each list gets beside its needles."""
    sizes = [(n + 1) * words // lists - n * words // lists for n in range(lists)]
    for n, needles in needle_counts.items():
        while sizes[n] < needles:  # where lists have one word each, a list with two needles takes one from another
            donors = [donor for donor in range(lists) if donor != n and sizes[donor] > needle_counts.get(donor, 0)]
            sizes[n] += 1
            sizes[max(donors, key=sizes.__getitem__)] -= 1
    return [size - needle_counts.get(n, 0) for n, size in enumerate(sizes)]


def write_pair(word: str, partner: str) -> str:
    """Return a pair as it stands in the context."""
    return f"{word}: {partner}"


def read_pairs(context: str) -> dict[str, str]:
    """Return the partner of each word of a context.

    >>> read_pairs("oak: elm, ash: yew")
    {'oak': 'elm', 'ash': 'yew'}
    """
    return {word: partner for item in split_items(context) for word, _, partner in [item.partition(": ")]}


def pair_filler(words: str, without: Collection[str]) -> Filler:
    """Return a stream of other pairs, without some words.

    No first word comes twice. A partner may, because a long context needs more words than the dictionary has.
    """
    taken = frozenset(without)

    def add_partner(word: str, rng: Rng) -> str:
        while (partner := vocabulary.any_word(words, rng)) in taken or partner == word:
            pass
        return write_pair(word, partner)

    return vocabulary.filler(words, taken, add_partner)

"""Where needed facts stand in the parts into which readers cut contexts, and whether their sizes tell.

    python -m benchmarks.passages [TASKS] [-n 200] [--length 8k] [--size 1024]

The first table is the audit's check (`carrara.verify.passages`) of each task and each way of cutting: the places of
needed facts in their parts, in tenths, with the probability that uniform ones deviate so much by chance; and the tokens
of parts with a needed fact and of others, with the same probability.

The second table has the contexts as readers get them, from their first character on. `first` and `last` are shares of
needed facts that begin or end a passage, and of other sentences that do. `line` is the share that has lines of the
agent's file to itself: each sentence has, but for those that the text does not end.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from carrara.corpora.chunks import by_sentences
from carrara.items import registry
from carrara.items.item import Item, contexts, make
from carrara.readers.context import ReaderContext
from carrara.readers.context_file import ContextFile
from carrara.util.errors import CarraraError, LengthError
from carrara.util.quantities import read_lengths
from carrara.util.table import table
from carrara.verify.passages import UNLIKELY, PartsCheck, PartsResult

TOKENIZER = "gpt2"


def items_of(task: str, length: int, count: int) -> Iterator[Item]:
    """Yield the first items of a task's contexts. There are none if the task has no such length."""
    try:
        first = make(task, length=length, tokenizer=TOKENIZER).item_id
    except LengthError:
        return
    for context in islice(contexts(first, count, warn=lambda said: None), count):
        yield context.items[0]


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else ""


def percent(probability: float | None) -> str:
    return "" if probability is None else f"{probability:.3f}"


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    print("\n".join(table(columns, rows)))


class Ends:
    """How often needed facts and other sentences begin and end passages, and have lines to themselves."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._counts = Counter[str]()

    def take(self, item: Item) -> None:
        context = ReaderContext(item)
        passages = context.passages(self._size)
        starts, ends = {one.start for one in passages}, {one.end for one in passages}
        needed = [(fact.start, fact.end) for fact in context.needed]
        others = [
            (start, end)
            for _, start, end in by_sentences(context.text)
            if not any(start < fact[1] and fact[0] < end for fact in needed)
        ]
        lines = self._lines(item)
        for kind, spans in (("needed", needed), ("others", others)):
            self._counts[kind] += len(spans)
            self._counts[f"{kind} first"] += sum(start in starts for start, _ in spans)
            self._counts[f"{kind} last"] += sum(end in ends for _, end in spans)
            self._counts[f"{kind} line"] += sum(context.text[start:end] in lines for start, end in spans)

    def _lines(self, item: Item) -> set[str]:
        try:
            file = ContextFile.of(item)
        except CarraraError:  # a conversation that goes on
            return set()
        return set(file.lines) if file.is_wrapped else set()

    def row(self) -> list[str]:
        kinds = [(kind, self._counts[kind]) for kind in ("needed", "others")]
        return [
            share(self._counts[f"{kind} {what}"], whole) for what in ("first", "last", "line") for kind, whole in kinds
        ]


def measured(
    task: str, length: int, count: int, size: int, ends: Ends | None = None, draw: int = 0
) -> list[PartsResult]:
    check = PartsCheck(size, draw)
    for item in items_of(task, length, count):
        check.take(item)
        if ends is not None:
            ends.take(item)
    return check.results()


def row(task: str, result: PartsResult) -> list[str]:
    sizes = ["" if size is None else f"{size:.0f}" for size in (result.tokens_with, result.tokens_without)]
    places = " ".join(map(str, result.tenths)), percent(result.place_probability)
    return [task, result.way, str(result.contexts), *places, *sizes, percent(result.size_probability)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="?", default="all")
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--length", default="8k")
    parser.add_argument("--size", type=int, default=1024)
    given = parser.parse_args()
    [length] = read_lengths(given.length)
    checked, ended, breaches = list[list[str]](), list[list[str]](), list[str]()
    for task in registry.select(given.tasks):
        ends = Ends(given.size)
        results = measured(task, length, given.n, given.size, ends)
        checked += [row(task, result) for result in results]
        ended.append([task, *ends.row()])
        if any(result.breaches for result in results):
            again = {result.way: result for result in measured(task, length, given.n, given.size, draw=1)}
            for result in results:
                second = again[result.way].breaches or "in a second draw not"
                breaches += [f"{task}: {breach}; {second}" for breach in result.breaches]
    print(f"Parts of {given.size:,} tokens at most, in contexts of {given.length}\n")
    print_table(["task", "way", "contexts", "facts in tenths of parts", "p", "tokens with", "without", "p"], checked)
    print("\nFrom the first character on: needed facts, and other sentences\n")
    print_table(["task", "first", "others", "last", "others", "line", "others"], ended)
    rare = sum(float(row[4]) < 0.01 for row in checked)
    print(f"\n{len(checked)} tests of places, {rare} with p < .01; breaches (p < {UNLIKELY}): {len(breaches)}")
    for breach in breaches:
        print(breach)


if __name__ == "__main__":
    main()

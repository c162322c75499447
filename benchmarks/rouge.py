"""ROUGE-L: how fast the longest common subsequence is found, beside the table that ROUGE is defined by.

    python -m benchmarks.rouge

Two kinds of words: all different, as in Minerva's contexts of words, and a thousand that come again, as in those of
numbers. Two kinds of answer: the same words in any order, and all in order but every tenth.
"""

import time
from collections.abc import Callable, Sequence
from random import Random

from carrara.answers.sequences import common

SIZES = (1000, 3000, 30_000)
TABLE = 3000
"""The longest that the table is filled for: at the next size it would take a minute or more."""

Words = list[str]


def main() -> None:
    random = Random("rouge")
    print(f"{'words':>7}  {'kind':14}  {'answer':17}  {'bits':>10}  {'table':>10}  ratio")
    for size in SIZES:
        for kind, gold in (
            ("all different", [str(n) for n in range(size)]),
            ("a thousand", [str(random.randrange(1000)) for _ in range(size)]),
        ):
            answers = {
                "in any order": random.sample(gold, size),
                "every tenth left": [word for n, word in enumerate(gold) if n % 10],
            }
            for name, answer in answers.items():
                found, fast = _best(common, answer, gold)
                shown = f"{size:7,}  {kind:14}  {name:17}  {1e3 * fast:7.2f} ms"
                if size <= TABLE:
                    plain, slow = _best(table, answer, gold, times=1)
                    assert plain == found, (size, kind, name)
                    shown += f"  {1e3 * slow:7.0f} ms  {slow / fast:5.0f}"
                print(shown)


def table(one: Sequence[str], other: Sequence[str]) -> int:
    """The definition, row by row."""
    above = [0] * (len(other) + 1)
    for item in one:
        row = [0]
        for place, its in enumerate(other):
            row.append(above[place] + 1 if item == its else max(above[place + 1], row[place]))
        above = row
    return above[-1]


def _best(work: Callable[[Words, Words], int], answer: Words, gold: Words, times: int = 5) -> tuple[int, float]:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        found = work(answer, gold)
        taken.append(time.perf_counter() - start)
    return found, min(taken)


if __name__ == "__main__":
    main()

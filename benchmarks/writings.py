"""The built-in writer: whether its drafts for one key differ, how alike they are, and how fast it is.

    python -m benchmarks.writings [DRAFTS]

A million drafts of each of the two shortest forms are compared by hash. How alike drafts for one key are is difflib's
ratio, with the default that drops the common letters of long texts, as published metrics have it, and without.
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import mean

from cydifflib import SequenceMatcher

from carrara.generators.forms import FORMATS, DraftKey, moods, styles, topics, write
from carrara.rng import Rng, digest

SHORTEST = ("tweet", "riddle")
DRAFTS = 1_000_000
KEYS = 60
EACH = 4


def main(drafts: int) -> None:
    for form in SHORTEST:
        key, rng = DraftKey(form, "penguins"), Rng("different", form)
        start = time.perf_counter()
        different = len({digest(write(key, rng)) for _ in range(drafts)})
        taken = time.perf_counter() - start
        print(f"{different:,} of {drafts:,} drafts of {key.with_article} differ; {taken / drafts * 1e6:.0f} µs each")
    print("\nmean ratio of two drafts for one key\n              autojunk  without")
    means = [(_alike(form, True), _alike(form, False)) for form in FORMATS]
    for form, (junk, without) in zip(FORMATS, means, strict=True):
        print(f"{form:13}    {junk:.3f}    {without:.3f}")
    junk, without = (mean(column) for column in zip(*means, strict=True))
    print(f"{'all':13}    {junk:.3f}    {without:.3f}")


def _alike(form: str, autojunk: bool) -> float:
    return float(mean(_ratios(form, lambda one, other: SequenceMatcher(None, one, other, autojunk).ratio())))


def _ratios(form: str, ratio: Callable[[str, str], float]) -> Iterator[float]:
    for n in range(KEYS):
        rng = Rng("alike", form, n)
        key = DraftKey(form, rng.choice(topics()), rng.choice(("", *styles())), rng.choice(("", *moods())))
        yield from (ratio(*pair) for pair in combinations([write(key, rng) for _ in range(EACH)], 2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DRAFTS)

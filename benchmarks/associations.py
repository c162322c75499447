"""Where rankings by common words and by embeddings place the needle of carrara/associations among all sentences.

    python -m benchmarks.associations [ITEMS WITHOUT FILLER] [ITEMS AT 8K]

A place is the share of the other sentences that are ranked below the needle, where an equal rank counts half: 1 is the
top, and 0.5 is chance. The interval counts items about the same value as one observation. `found` is the share of items
whose needle is the first of all sentences. As a control, `same words` has the place by MiniLM if the question repeats
the phrase of the needle in place of the value.
"""

import math
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from carrara.items.item import Item, make
from carrara.readers.retrieval import endpoint
from carrara.readers.retrieval.index import BM25
from carrara.tasks.carrara.associations import DOMAINS, SCENES, STEPS, Domain, find_definitions
from carrara.util.quantities import write_length
from carrara.util.table import table

COLUMNS = ("domain", "steps", "length", "items", "sentences", "BM25", "MiniLM", "95 % interval", "found", "same words")


class Places(NamedTuple):
    """The places of one needle."""

    value: str
    sentences: int
    bm25: float
    minilm: float
    same_words: float


def place(scores: Sequence[float], needle: int) -> float:
    """Return the share of the other scores that are lower, where equal ones count half.

    >>> place([0.0, 2.0, 1.0], 2), place([0.0, 0.0, 0.0], 1)
    (0.5, 0.5)
    """
    own = scores[needle]
    others = [*scores[:needle], *scores[needle + 1 :]]
    return fmean((own > other) + 0.5 * (own == other) for other in others)


def find_places(item: Item, domain: Domain, steps: int, model: endpoint.MiniLM) -> Places:
    context, _ = item.task.read_prompt(item.messages(), item.task.wording)
    sentences, instance = re.split(r"(?<=\.) ", context), item.context.instance
    [needle] = (n for n, sentence in enumerate(sentences) if item.gold in sentence)
    scene, value = instance.ask, instance.names["value"]
    [definition] = (one for one in find_definitions(domain, steps) if one.scene_name == scene)
    phrase = max((one for one in definition.phrases[value] if one in sentences[needle]), key=len)
    question, same_words = (SCENES[scene].question.format(value=words) for words in (value, phrase))
    *vectors, asked, control = model.embed([*sentences, question, same_words])
    by_words = dict(BM25(sentences).best(question, len(sentences)))
    return Places(
        f"{scene}: {value}",
        len(sentences),
        place([by_words.get(n, 0.0) for n in range(len(sentences))], needle),
        place([float(one @ asked) for one in vectors], needle),
        place([float(one @ control) for one in vectors], needle),
    )


def interval(found: Sequence[Places]) -> tuple[float, float]:
    """Return the ends of the 95 % interval of the mean place by MiniLM, clustered by value."""
    mean = fmean(one.minilm for one in found)
    sums: Mapping[str, list[float]] = defaultdict(list)
    for one in found:
        sums[one.value].append(one.minilm - mean)
    squares = sum(math.fsum(each) ** 2 for each in sums.values())
    half = 1.96 * math.sqrt(squares * len(sums) / (len(sums) - 1)) / len(found)
    return mean - half, mean + half


def _row(domain: Domain, steps: int, length: int, items: int, model: endpoint.MiniLM) -> Sequence[str]:
    params = {"domain": domain, "steps": str(steps)}
    found = [
        find_places(make("carrara/associations", index=n, length=length, params=params), domain, steps, model)
        for n in range(items)
    ]
    low, high = interval(found)
    return (
        domain,
        str(steps),
        write_length(length),
        str(items),
        f"{fmean(one.sentences for one in found):.0f}",
        f"{fmean(one.bm25 for one in found):.3f}",
        f"{fmean(one.minilm for one in found):.3f}",
        f"{low:.3f}-{high:.3f}",
        f"{fmean(one.minilm == 1.0 for one in found):.3f}",
        f"{fmean(one.same_words for one in found):.3f}",
    )


def main(items: int, items_at_8k: int) -> None:
    model = endpoint.load()
    rows = [
        _row(domain, steps, length, count, model)
        for length, count in ((0, items), (8192, items_at_8k))
        for domain in DOMAINS
        for steps in STEPS
    ]
    print(*table(COLUMNS, rows), sep="\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3])) if len(sys.argv) > 2 else main(1000, 20)

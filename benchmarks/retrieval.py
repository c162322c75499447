"""What retrieval finds of the facts that BABILong's questions need, and what it costs.

    python -m benchmarks.retrieval [ITEMS] [LENGTHS] [TEST …]

For each test, way to cut and way to rank: the share of items whose supporting facts are all among the five parts that
were found (BABILong's measure, figure 3a), and in brackets the share of facts. Texts are embedded into an empty store,
so that it is seen what the store saves: the same items asked again, and how many texts there were for each embedded.
"""

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

from carrara.items.item import Item, make
from carrara.readers.retrieval import FoundParts, Index, Recall, Retrieval
from carrara.readers.retrieval.index import embedder, store_file
from carrara.readers.spans import Span
from carrara.util.quantities import read_lengths, write_length

TASKS = ("babilong/qa1", "babilong/qa2", "babilong/qa3")
LENGTHS = (4096, 16384, 65536, 131072)
SETTINGS = ("sentences,by=minilm", "chunks:512,by=minilm", "sentences,by=bm25", "chunks:512,by=bm25")


class Asked(NamedTuple):
    context: str
    question: str
    evidence: Sequence[Span]


def asked(item: Item) -> Asked:
    """The context without what stands around it, and where in it the supporting facts are."""
    template, [message] = item.prompt.template, item.messages()
    before, after = len(template.before), len(message.content) - len(template.after)
    evidence = [(s.start - before, s.end - before) for s in item.survey.spans if s.fact in item.question.support]
    return Asked(message.content[before:after], item.question.ask, evidence)


class Tally:
    """What one setting found in the items of one length, and what that took."""

    def __init__(self, setting: str) -> None:
        self.setting = Retrieval.parse(setting)
        self.recalls: list[Recall] = []
        self.first = self.again = 0.0
        self.parts = 0

    def add(self, item: Asked) -> None:
        clock = time.perf_counter()
        found = self._find(item)
        self.first += time.perf_counter() - clock
        clock = time.perf_counter()
        same = self._find(item)
        self.again += time.perf_counter() - clock
        assert found == same, "what was found once is found again"
        assert found.recall is not None
        self.recalls.append(found.recall)

    def _find(self, item: Asked) -> FoundParts:
        index = Index(item.context, self.setting)
        self.parts += len(index.chunks) + 1  # and the question
        return index.find(item.question, item.evidence)

    def __str__(self) -> str:
        n = len(self.recalls)
        complete = sum(recall.complete for recall in self.recalls) / n
        share = sum(recall.share for recall in self.recalls) / n
        return f"{complete:5.0%} ({share:4.0%}){self.first / n:8.2f} s{self.again / n:6.2f} s"


def main(items: int, lengths: Sequence[int], tasks: Sequence[str]) -> None:
    asked_for = 0
    print(f"{items} items a cell; recall of all facts at 5 (of each fact), seconds an item when new and when seen\n")
    print(f"{'':22}" + "".join(f"{setting.replace(',by=', ', '):>32}" for setting in SETTINGS))
    for task in tasks:
        for length in lengths:
            tallies = [Tally(setting) for setting in SETTINGS]
            for index in range(items):
                item = asked(make(task, length=length, index=index, tokenizer="gpt2"))
                for tally in tallies:
                    tally.add(item)
            print(f"{task:14}{write_length(length):>8}" + "".join(f"{tally!s:>32}" for tally in tallies), flush=True)
            asked_for += sum(tally.parts for tally in tallies if tally.setting.by == "minilm") // 2
    path = store_file(embedder("minilm").name)
    with closing(sqlite3.connect(path)) as store:
        [(kept,)] = store.execute("SELECT COUNT(*) FROM vectors")
    print(
        f"\n{asked_for:,} parts and questions, seen once each: {kept:,} embedded, {kept / asked_for:.0%}; "
        f"the store has {path.stat().st_size / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CARRARA_CACHE"] = folder
        main(
            int(given[0]) if given else 10,
            read_lengths(given[1]) if len(given) > 1 else LENGTHS,
            given[2:] or TASKS,
        )

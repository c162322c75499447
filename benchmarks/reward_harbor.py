"""Harbor: score answers that understand nothing, ours beside what tests of Harbor tasks often do; and `grep` alone.

    python -m benchmarks.reward_harbor [REPLIES] [ITEMS] [LENGTH]

The replies are those of `tests/helpers/reward_replies.py`, each written to an answer file that our verifier scores
(`carrara.export.harbor_verifier`). Two tests stand for those that tasks bring along: `contains` is
`grep -q -F GOLD answer.txt`, and `exact` compares the file with the right answer, without white space at its ends. A
star marks a reply that understands nothing and scores above the chance level by more than 0.02.

The second table has what `cp context.txt answer.txt` and `grep` alone score on all tasks. It has three bounds on what
is rare: a word that stands on at most one line in 5, in 10 (as exported) or in 20.
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from tests.helpers.reward_replies import Reply, replies

from carrara.export import harbor
from carrara.export.harbor_verifier import verify
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import item_of, make
from carrara.readers.context_file import ContextFile
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length
from carrara.util.table import table

ABOVE = 0.02
RIGHT = ("gold", "stated", "reasoned", "markup")
"""The kinds of replies that give the right answer."""
BOUNDS = (5, 10, 20)


class Scores(NamedTuple):
    """The scores of one reply."""

    ours: float
    chance_level: float
    contains: float
    exact: float


def scores_of(reply: Reply, folder: Path) -> Scores:
    """Return the scores of a reply, as the answer file of a task."""
    item, answer = item_of(reply.id), folder / "answer.txt"
    (folder / "item.json").write_text(json.dumps({"id": reply.id}), "utf-8")
    answer.write_text(reply.text, "utf-8")
    ours = verify(folder, answer, folder).score
    contains, exact = item.gold in reply.text, item.gold.strip() == reply.text.strip()
    return Scores(ours, item.question.chance_level, float(contains), float(exact))


def reply_rows(given: Sequence[Reply]) -> Iterator[Sequence[str]]:
    """Yield a row for each kind of reply."""
    found = defaultdict[str, list[Scores]](list)
    with tempfile.TemporaryDirectory() as folder:
        for reply in given:
            found[reply.kind].append(scores_of(reply, Path(folder)))
    for kind, scores in found.items():
        ours, chance_level, contains, exact = map(fmean, zip(*scores, strict=True))
        high = kind not in RIGHT and ours > chance_level + ABOVE
        yield [
            kind,
            str(len(scores)),
            f"{ours:.3f}{'*' * high}",
            *(f"{x:.3f}" for x in (chance_level, contains, exact)),
        ]


def grep_rows(items: int, length: int) -> Iterator[Sequence[str]]:
    """Yield a row for each task."""
    for name in registry.names():
        try:
            files = [ContextFile.of(make(name, length=length, index=index)) for index in range(items)]
        except UsageError as error:
            print(f"left out: {error}")
            continue
        cells = list[str]()
        for bound in BOUNDS:
            harbor.RARE = bound
            for around in (0, harbor.AROUND):
                results = [harbor.Grep(file).result(around) for file in files]
                cells += [f"{fmean(one.score for one in results):.2f}", f"{fmean(one.share for one in results):.0%}"]
        chance_level = fmean(file.item.question.chance_level for file in files)
        copy = fmean(grade(file.item.task, file.item.question, file.content).score for file in files)
        lines = fmean(len(file.lines) for file in files)
        yield [name, str(items), f"{lines:.0f}", f"{chance_level:.2f}", f"{copy:.2f}", *cells]


def main(count: int = 440, items: int = 5, length: int = 32768) -> None:
    print("Answer files: ours beside what tests of Harbor tasks often do\n")
    for line in table(["reply", "n", "ours", "chance", "contains", "exact"], reply_rows(replies(count))):
        print(line)
    print(f"\n\nWhat cp and grep alone score at {write_length(length)} tokens, and the share that grep shows\n")
    kinds = [f"{name} 1/{bound}" for bound in BOUNDS for name in ("grep", f"-C {harbor.AROUND}")]
    head = ["task", "n", "lines", "chance", "cp", *(cell for kind in kinds for cell in (kind, "shown"))]
    for line in table(head, list(grep_rows(items, length))):
        print(line)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

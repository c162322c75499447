"""Score replies that understand nothing on published sets: by our rule and by the sets' own.

    python -m benchmarks.gaming_published [ITEMS]

The rows are made up in the documented schema (tests/helpers), because the sets are the user's files. A fifth of
GraphWalks' rows have no right node. Letters of LongBench v2 are drawn evenly, and so are Oolong's answers. To the
replies of benchmarks.gaming come some of the set's own form. A star marks a score of ours that is above the chance
level by more than 0.02 and two standard errors.
"""

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.helpers import nolima_files
from tests.helpers.oolong_rows import SPELLS, drawn_real, drawn_synth
from tests.helpers.published_sets import graphwalks, jsonl, longbench2

from benchmarks.gaming import Scores, replies
from carrara.items.grading import grade
from carrara.items.item import Item, contexts
from carrara.items.item_id import ItemId
from carrara.tasks import published_graphwalks, published_longbench2, published_nolima, published_oolong
from carrara.tasks.published_rows import PublishedFile, remember_files
from carrara.util.table import table

SHORT = (250, 1000)
"""The lengths of NoLiMa's items."""
_NODE = re.compile(r"\b[0-9a-f]{10}\b")


def own_replies(item: Item) -> Mapping[str, str]:
    """Return further replies in the form that the set asks for, by name."""
    if item.item_id.task == published_longbench2.TASK:
        return {"always (A)": "The correct answer is (A)", "the form": "The correct answer is (insert answer here)"}
    match item.item_id.task:
        case published_nolima.NAME:
            return {
                "always the first name": item.question.options[0],
                "two names": " or ".join(item.question.options[:2]),
            }
        case published_oolong.SYNTH:
            return {
                "always 20": "Answer: 20",
                "every comparison": "Answer: more common, less common, or the same frequency",
            }
        case published_oolong.REAL:
            return {"always 60": "\\boxed{60}", "every spell": f"\\boxed{{{', '.join(SPELLS)}}}"}
    nodes = list(dict.fromkeys(_NODE.findall(item.text)))
    return {
        "[]": "Final Answer: []",
        "every node": f"Final Answer: [{', '.join(nodes)}]",
        "unreadable": "I am not sure.",
        "a wrong node": "Final Answer: [0000000000]",
    }


def items_of(files: list[PublishedFile]) -> Iterator[Item]:
    data = remember_files(files)
    for task, length in sorted({(file.task, file.length) for file in files}):
        first = ItemId(task, 1, f"data={data}", "test", 0, 0, 0, length, "chat", "", "o200k")
        yield from (context.items[0] for context in contexts(first, 10**6))


def rows_of(items: Iterator[Item]) -> Iterator[list[str]]:
    scores: dict[tuple[str, str], Scores] = defaultdict(Scores)
    for item in items:
        for name, reply in {**replies(item), **own_replies(item)}.items():
            entry = scores[item.item_id.task, name]
            entry.grades.append(grade(item.task, item.question, reply))
            entry.chance_levels.append(item.question.chance_level)
    for (task, name), entry in sorted(scores.items(), key=lambda pair: pair[0][0]):
        yield [task, name, str(len(entry.grades)), *entry.row()]


def main(items: int = 60) -> None:
    print("Replies that understand nothing on rows in the schema of published sets\n")
    with tempfile.TemporaryDirectory() as folder:
        walks = [graphwalks(n, operation) for operation in published_graphwalks.OPERATIONS for n in range(items)]
        sources = published_graphwalks.FILES.sources(jsonl(Path(folder) / "graphwalks.jsonl", walks))
        questions = [longbench2(n) for n in range(items)]
        others = published_longbench2.FILES.sources(jsonl(Path(folder) / "longbench2.jsonl", questions))
        oolong = Path(folder) / "oolong"
        jsonl(oolong / "synth.jsonl", [drawn_synth(n) for n in range(4 * items)])
        jsonl(oolong / "real.jsonl", [drawn_real(n) for n in range(items)])
        nolima_files.write(Path(folder) / "nolima")
        needles = [file for file in published_nolima.sources(Path(folder) / "nolima") if file.length in SHORT]
        sets = (sources, others, needles, published_oolong.sources(oolong))
        rows = [row for files in sets for row in rows_of(items_of(files))]
    for line in table(["task", "reply", "n", "ours", "chance", "published"], rows):
        print(line)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

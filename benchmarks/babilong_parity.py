"""BABILong by its own scripts and by Carrara: the same prompts, the same questions, and the same score for any reply.

    python -m benchmarks.babilong_parity BABILONG SAMPLES BABI [PREDICTIONS]

BABILONG is a clone of its repository, SAMPLES a folder that its `data/create_tasks.py` wrote (`qa1/4k.json`), BABI the
folder of bAbI's files that it read, and PREDICTIONS one with published replies (`…_qa1_4k.csv`). For each task the
table shows:

- the samples, and how many `published/babilong-…` with BABILong's prompt pack sends as its `get_formatted_input` does,
  byte by byte, to a chat model and to a base model;
- the samples whose facts, question and answer Carrara reads from the story files (`-p stories=BABI`) too. All of the
  facts stand in the sample in their order, and no other one does;
- the replies that BABILong's own metric scores, and how often `scores["paper"]` differs.
"""

import ast
import csv
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from carrara.items.item import make
from carrara.items.prompt_pack import Pack, official_wording
from carrara.tasks.babilong import _published_items
from carrara.tasks.babilong._answers import published_metric
from carrara.tasks.babilong._grammar import find_facts
from carrara.tasks.babilong._story_files import files, read_stories
from carrara.tasks.babilong._task import TASKS, load_task
from carrara.tasks.published_rows import PublishedFile, remember_files
from carrara.types import Style
from carrara.util.table import table

REPLIES = 3000
"""Replies for each task, at least."""
STYLES: tuple[Style, ...] = ("chat", "base")

Row = Mapping[str, str]
Told = tuple[tuple[str, ...], str, str]
"""The facts before a question, the question and its answer."""


class Official(NamedTuple):
    """What BABILong's programs hold."""

    prompts: Mapping[str, Mapping[str, str]]
    write: Any
    labels: Mapping[str, Sequence[str]]
    is_right: Any


def main() -> None:
    code, samples, babi = map(Path, sys.argv[1:4])
    official = _official(code)
    pack = Pack(official_wording("babilong", code))
    sources = _published_items.sources(samples)
    shown = []
    for number in TASKS:
        own = [source for source in sources if source.task == f"babilong/qa{number}"]
        rows = [row for source in own for row in json.loads(source.path.read_text("utf-8"))]
        told = list(_told(babi, number))
        known = sum(any(_is_told(row, one) for one in told) for row in rows)
        replies = list(_replies(rows, official.labels[f"qa{number}"], number))
        labels = load_task(number).official_labels
        differing = sum(
            bool(official.is_right(row["target"], reply, row["question"], official.labels[f"qa{number}"]))
            != published_metric(labels, reply, row["target"], row["question"])
            for row, reply in replies
        )
        equal = [_equal(official, pack, own, number, style) for style in STYLES]
        of = len(rows)
        shown.append(
            (
                f"qa{number}",
                f"{of}",
                *(f"{count} of {of}" for count in equal),
                f"{known} of {of}",
                f"{len(replies):,}",
                f"{differing}",
            )
        )
    heads = ("task", "samples", "chat prompts equal", "base prompts equal", "stories", "replies", "scores that differ")
    print(*table(heads, shown), sep="\n")
    if sys.argv[4:]:
        print("", *_published_replies(official, Path(sys.argv[4])), sep="\n")


def _official(code: Path) -> Official:
    prompts = _run(code / "babilong/prompts.py")
    metrics = _run(code / "babilong/metrics.py")
    return Official(
        prompts["DEFAULT_PROMPTS"], prompts["get_formatted_input"], metrics["TASK_LABELS"], metrics["compare_answers"]
    )


def _run(path: Path) -> dict[str, Any]:
    """Run a program that imports nothing, and return its names."""
    module = ast.parse(path.read_text("utf-8"))
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(module)), path
    found: dict[str, Any] = {}
    exec(compile(module, str(path), "exec"), found)
    return found


def _equal(official: Official, pack: Pack, sources: Sequence[PublishedFile], number: int, style: Style) -> int:
    """Return how many prompts are those of BABILong's own function."""
    data, equal = remember_files(sources), 0
    parts = official.prompts[f"qa{number}"]
    for source in sources:
        for index, row in enumerate(json.loads(source.path.read_text("utf-8"))):
            item = make(
                f"{_published_items.PREFIX}qa{number}",
                length=source.length,
                index=index,
                params={"data": data},
                tokenizer="gpt2",
                style=style,
                pack=pack,
            )
            written = official.write(
                row["input"], row["question"], parts["examples"], parts["instruction"], parts["post_prompt"]
            )
            equal += item.text == written
    return equal


def _told(babi: Path, number: int) -> Iterator[Told]:
    cast = load_task(number).cast
    for task, path in files(babi):
        if task == number:
            for story in read_stories(path, cast):
                for question in story.questions:
                    yield tuple(story.facts[: question.after]), question.text, question.answer


def _is_told(row: Row, told: Told) -> bool:
    """Return whether a sample has these facts in order, this question and answer, and no further fact.

    A fact is looked for as a text, because it may follow a sentence of the background that was cut off.
    """
    facts, question, answer = told
    if (question, answer) != (row["question"].strip(), row["target"]):
        return False
    at = 0
    for fact in facts:
        at = row["input"].find(fact, at) + len(fact)
        if at < len(fact):
            return False
    return set(find_facts(row["input"])) <= set(facts)


def _replies(rows: Sequence[Row], labels: Sequence[str], number: int) -> Iterator[tuple[Row, str]]:
    """Yield replies of all kinds, each with its row: right, wrong, several, empty, and with odd characters."""
    rng, given = random.Random(number), 0
    while given < REPLIES:
        for row in rows:
            one, other = rng.choice(labels), rng.choice(labels)
            words = row["input"].split()
            for reply in (
                row["target"],
                f"The answer is {row['target'].upper()}. Not {other}.",
                f"{one}, {other}",
                f"{row['question']} {row['target']}",
                f"{other} <context> {row['target']}",
                f"x{one}x",
                f"{row['target']}<EXAMPLE>{other}",
                f"Question {one}",
                ",".join(rng.sample(labels, min(len(labels), rng.randint(1, 3)))),
                " ".join(rng.choices(words or ["a"], k=rng.randint(0, 60))),
                rng.choice(["", " ", ".", "\n", "\x00", "\u0130", "None", f".{one}"]),
            ):
                yield row, reply
                given += 1


def _published_replies(official: Official, folder: Path) -> Iterator[str]:
    """Yield a table of published replies, counted by both metrics."""
    rows = []
    for path in sorted(folder.glob("*.csv")):
        number = next(number for number in TASKS if f"_qa{number}_" in path.name)
        own, labels = load_task(number).official_labels, official.labels[f"qa{number}"]
        with path.open(encoding="utf-8", newline="") as file:
            replies = list(csv.DictReader(file))
        theirs = sum(official.is_right(row["target"], row["output"], row["question"], labels) for row in replies)
        ours = sum(published_metric(own, row["output"], row["target"], row["question"]) for row in replies)
        rows.append((path.name, f"{len(replies):,}", f"{theirs}", f"{ours}"))
    yield from table(("published replies", "replies", "right by BABILong", "right by Carrara"), rows)


if __name__ == "__main__":
    main()

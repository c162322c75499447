"""Every reply that is held here, graded again: which verdicts does a change of the readers change?

    python -m benchmarks.replay --out before.jsonl.gz          # at the commit before
    python -m benchmarks.replay --against before.jsonl.gz      # at the one after: each changed verdict, with its reply

The replies are BABILong's published predictions, the scorer's cases of Minerva, those to bAbI questions and to Latent
List that were labelled by hand, the handwritten ones (tests/answers/handwritten) and a fixed sample of the fuzzed ones
(tests/helpers/fuzz.py). A file has one line for each: which it
is, what it answers, its status, answer and scores, and a hash of the reply with its question: where items have become
others, so have fuzzed replies, and those are not compared.
"""

import csv
import gzip
import json
import os
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tests.answers import handwritten
from tests.helpers.fuzz import Case
from tests.tasks.babilong import test_answers as babilong_answers
from tests.tasks.michelangelo import test_latent_list

from carrara.items import registry
from carrara.items.grading import grade
from carrara.task.suite import SuiteTask
from carrara.tasks.minerva import _given
from carrara.types import Question
from carrara.util.parallel import parallel_map

SHARED = Path(os.environ.get("CARRARA_PUBLISHED") or "nowhere")
FUZZED = 20_000
SHOWN = 300
"""Characters of a reply that are shown."""
KEPT = 100
"""Characters of an answer that are kept; a longer one ends in a hash of all of it."""


@dataclass(frozen=True)
class Line:
    source: str
    task: str
    number: int
    """Which reply of its source to its test."""
    hash: str
    """Of the question, what is right, and the reply."""
    status: str
    answer: str | None
    score: float
    scores: Mapping[str, float]
    """The published ones."""

    @property
    def key(self) -> tuple[str, str, int]:
        return self.source, self.task, self.number

    @property
    def verdict(self) -> str:
        if self.answer is None:
            return self.status
        return {0.0: "wrong", 1.0: "right"}.get(self.score, f"{self.score:.3f} right")


@dataclass(frozen=True)
class Replayed:
    line: Line
    shown: str
    """The question, what is right, and how the reply begins."""


def main(words: Sequence[str]) -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a line for each reply, packed by gzip")
    parser.add_argument("--against", type=Path, metavar="FILE", help="list what differs from such a file")
    parser.add_argument("--fuzzed", type=int, default=FUZZED, help="how many fuzzed replies")
    args = parser.parse_args(words)
    before = list(lines(args.against)) if args.against else []
    tasks = registry.names()
    each = -(-args.fuzzed // len(tasks))
    start = time.perf_counter()
    jobs = [*((name, "", 0) for name in (*SOURCES, "minerva cases")), *(("fuzzed", task, each) for task in tasks)]
    replayed = list(chain.from_iterable(parallel_map(replay, jobs)))
    print(f"{len(replayed):,} replies graded in {time.perf_counter() - start:,.0f} s")
    for source, n in Counter(one.line.source for one in replayed).items():
        verdicts = Counter(one.line.verdict.split()[-1] for one in replayed if one.line.source == source)
        print(f"    {source}: {n:,} ({', '.join(f'{name} {n:,}' for name, n in verdicts.most_common())})")
    if args.out:
        with gzip.open(args.out, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(one.line)) + "\n" for one in replayed)
    if args.against:
        compare(before, replayed)
    return 0


def lines(path: Path) -> Iterator[Line]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (Line(**json.loads(line)) for line in file)


def compare(before: Sequence[Line], replayed: Sequence[Replayed]) -> None:
    old = {line.key: line for line in before}
    found = [(old[one.line.key], one) for one in replayed if one.line.key in old]
    same = [(was, one) for was, one in found if was.hash == one.line.hash]
    changed: dict[str, list[tuple[Line, Replayed]]] = {}
    for was, one in same:
        if kind := difference(was, one.line):
            changed.setdefault(kind, []).append((was, one))
    for kind, cases in sorted(changed.items(), key=lambda item: -len(item[1])):
        print(f"\n=== {kind}: {len(cases):,}")
        for was, one in cases:
            print(f"\n{one.line.source} {one.line.task}:{one.line.number}  {was.answer!r} → {one.line.answer!r}")
            if was.scores != one.line.scores:
                print(f"    published scores {was.scores} → {one.line.scores}")
            print(one.shown)
    print(f"\n{len(same):,} compared; {sum(map(len, changed.values())):,} changed", end="")
    print(f"; {len(found) - len(same):,} have another question or reply; {len(replayed) - len(found):,} are new")
    print(f"{len(old) - len(found):,} of the file are not here any more")


def difference(was: Line, now: Line) -> str:
    """How a verdict has changed, in a few words."""
    if was.scores != now.scores:
        return "a published score"
    if was.verdict != now.verdict:
        return f"{was.verdict} → {now.verdict}" if was.score in (0, 1) and now.score in (0, 1) else "another share"
    return "another answer, as wrong" if was.answer != now.answer else ""


def replay(job: tuple[str, str, int]) -> list[Replayed]:
    source, task, n = job
    if source == "minerva cases":
        return list(minerva_cases(source))
    return [kept.graded() for kept in (SOURCES[source](source) if source in SOURCES else fuzzed(task, n))]


class Kept(NamedTuple):
    """A reply that is kept, with what it answers."""

    source: str
    task: SuiteTask
    name: str
    number: int
    """Which reply of its source to its task."""
    question: Question[Any]
    reply: str

    def graded(self) -> Replayed:
        task, question, reply = self.task, self.question, self.reply
        graded, right = grade(task, question, reply), task.write(question.gold)
        line = Line(
            self.source, self.name, self.number, hashed(f"{question.ask}\0{right}\0{reply}"),
            graded.status, kept(graded.answer), graded.score, graded.scores,
        )  # fmt: skip
        return Replayed(line, shown(question.ask, right, reply))


def shown(ask: str, right: str, reply: str) -> str:
    said = reply[:SHOWN] + (f" … ({len(reply):,} characters)" if len(reply) > SHOWN else "")
    said = said.encode("utf-8", "backslashreplace").decode().replace("\n", "\n    | ")
    return f"    {ask[:SHOWN]!a}, right is {right[:SHOWN]!a}\n    | {said}"


def hashed(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def kept(answer: str | None) -> str | None:
    return answer if answer is None or len(answer) <= KEPT else f"{answer[:KEPT]}… {hashed(answer)}"


# --- where replies come from ---


def predictions(source: str) -> Iterator[Kept]:
    folder = SHARED / "babilong_predictions"
    if not folder.exists():
        print(f"{folder} is not here: its predictions are left out")
        return
    for path in sorted(folder.glob("*_qa*_*.csv")):
        task = int(path.name.split("_qa")[1].split("_")[0])
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file)):
                options = babilong_answers.options(task, row["question"])
                question = Question(row["question"], row["target"], (), 0.0, options=options)
                task_name = registry.load(f"babilong/qa{task}")
                yield Kept(source, task_name, f"babilong/qa{task}", number, question, row["output"])


def labelled(source: str) -> Iterator[Kept]:
    number = 0
    for group in babilong_answers.REPLIES:
        task, ask, labels = group["task"], group["question"], group["labels"]
        cast = None if labels == "classic" else babilong_answers.cast_of(labels)
        options = babilong_answers.options(task, ask, cast)
        for reply, answer in group["replies"]:
            number += 1
            question = Question(ask, answer or "", (), 0.0, options=options)
            yield Kept(source, registry.load(f"babilong/qa{task}"), f"babilong/qa{task}", number, question, reply)


def sessions(source: str) -> Iterator[Kept]:
    """The labelled replies to Latent List."""
    for number, (gold, reply, _) in enumerate(test_latent_list.REPLIES):
        yield Kept(source, test_latent_list.TASK, test_latent_list.NAME, number, test_latent_list.asked(gold), reply)


def minerva_cases(source: str) -> Iterator[Replayed]:
    path = SHARED / "minerva_metric_cases.json"
    if not path.exists():
        print(f"{path} is not here: its cases are left out")
        return
    for number, case in enumerate(json.loads(path.read_text("utf-8"))["cases"]):
        graded = _given.grade_row(case["task"], case["reference"], case["answer"])
        status = "unparsed" if graded.answer is None else "ok"
        right = json.dumps(case["reference"])
        line = Line(
            source, f"minerva/{case['task']}", number, hashed(f"{right}\0{case['answer']}"),
            status, kept(graded.answer), graded.score or 0.0, {"paper": graded.paper},
        )  # fmt: skip
        yield Replayed(line, shown(case["kind"], right, case["answer"]))


def by_hand(source: str) -> Iterator[Kept]:
    numbers: Counter[str] = Counter()
    for case in handwritten.cases():
        yield Kept(source, case.asked.task, case.task, numbers[case.task], case.asked.question, case.reply)
        numbers[case.task] += 1


def fuzzed(task: str, n: int) -> Iterator[Kept]:
    for number in range(n):
        case = Case(task, 0, number)
        item = case.asked.item
        yield Kept("fuzzed", item.task, task, number, item.question, case.reply)


SOURCES: Mapping[str, Callable[[str], Iterator[Kept]]] = {
    "predictions": predictions,
    "labelled": labelled,
    "sessions": sessions,
    "handwritten": by_hand,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

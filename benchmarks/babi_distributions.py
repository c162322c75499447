"""Simulated bAbI stories beside the official files, task by task; duplicates and speed.

    python -m benchmarks.babi_distributions [QUESTIONS [TASK ...]]

Each line: a figure of the official file, the same of the simulated stories, the difference that is tolerated
(`tests/helpers/babi.py` says how it is computed) and the difference that there is, in sampling errors.
"""

import sys
import time
from collections.abc import Callable, Sequence

from tests.helpers.babi import LIMIT, against_published, compare, official, simulated, write_story

from carrara.rng import Rng
from carrara.tasks.babilong._story import Story
from carrara.tasks.babilong._task import TASKS


def duplicates(stories: Sequence[Story]) -> tuple[int, int]:
    """How many items there are, and how many of them are some earlier one again: the same facts and question."""
    seen: dict[tuple[tuple[str, ...], str], None] = {}
    items = 0
    for told in stories:
        for question in told.questions:
            items += 1
            seen[told.facts[: question.after], question.text] = None
    return items, items - len(seen)


def _speed(make: Callable[[int], Story]) -> float:
    start = time.process_time()
    for i in range(1000):
        make(i)
    return 1000 / (time.process_time() - start)


def main(arguments: Sequence[str]) -> None:
    questions = int(arguments[0]) if arguments else 10_000
    tasks = [int(task) for task in arguments[1:]] or TASKS
    total = breaches = 0
    for task in tasks:
        here, there = official(task), simulated(task, questions)
        rows = compare(task, here, there) + against_published(task, there)
        print(f"\nqa{task}: {sum(len(s.questions) for s in here)} official questions", end=", ")
        print(f"{sum(len(s.questions) for s in there)} simulated")
        print(f"{'':56}{'official':>10}{'simulated':>11}{'tolerance':>11}{'errors':>8}")
        for row in rows:
            breach = " !" if row.errors > LIMIT else ""
            print(
                f"{row.name:56}{row.official:10.4f}{row.simulated:11.4f}{row.tolerance:11.4f}{row.errors:8.2f}{breach}"
            )
            breaches += row.errors > LIMIT
        total += len(rows)
        ranges = [[min(q.after for s in part for q in s.questions), max(q.after for s in part for q in s.questions)]
                  for part in (here, there)]  # fmt: skip
        items, again = duplicates(there)
        _, again_fresh = duplicates([write_story(task, Rng("fresh", task, i), "fresh") for i in range(len(there))])
        _, again_sound = duplicates(
            [write_story(task, Rng("sound", task, i), "classic", True) for i in range(len(there))]
        )
        random = [row.errors**2 for row in rows if 0 < row.errors < float("inf")]
        print(f"facts before a question: {ranges[0]} officially, {ranges[1]} simulated")
        print(f"duplicates: {duplicates(here)[1]} of {duplicates(here)[0]} officially; of {items} simulated {again}")
        print(f"duplicates with fresh words: {again_fresh}; classic and sound: {again_sound}")
        for vocabulary in ("classic", "fresh"):
            speed = _speed(lambda i, t=task, v=vocabulary: write_story(t, Rng("speed", t, i), v))  # type: ignore[misc]
            print(f"stories a second, {vocabulary}: {speed:.0f}")
        print(
            f"mean squared error: {sum(random) / max(1, len(random)):.2f}, greatest: {max(r.errors for r in rows):.2f}"
        )
    print(f"\n{total} comparisons, {breaches} beyond {LIMIT} sampling errors")


if __name__ == "__main__":
    main(sys.argv[1:])

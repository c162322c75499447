"""How many replies are graded a second on one core, by task and by how the answer stands in the reply.

    python -m benchmarks.read_speed [TASK ...]

The question is there already: no item is made. Each form is a right reply: the line that the prompt asks for, the bare
answer, and a sentence. `copies` is the time for the first form as a multiple of copying as many bytes. The table of all
tasks goes into results/read_speed.txt.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from carrara.items import registry
from carrara.items.grading import grade
from carrara.params import canonical
from carrara.rng import Key
from carrara.splits import draw_owned
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import choose_values
from carrara.types import Question
from carrara.util.table import table

RESULTS = Path(__file__).parents[1] / "results/read_speed.txt"
SECONDS = 0.2
FORMS = ("FINAL ANSWER: {}", "{}", "I have looked for it. The answer is {}.")


def rate(task: SuiteTask, question: Question[Any], reply: str) -> float:
    """Return how many times a second a reply is graded."""
    grade(task, question, reply)
    times, started = 0, time.process_time()
    while (took := time.process_time() - started) < SECONDS:
        for _ in range(20):
            grade(task, question, reply)
        times += 20
    return times / took


def copying(data: bytes) -> float:
    """Return how many times a second bytes are copied."""
    times, buffer, started = 100_000, bytearray(data), time.process_time()
    for _ in range(times):
        bytes(buffer)
    return times / (time.process_time() - started)


def row(name: str) -> list[str]:
    default = registry.load(name)
    key = Key(name, default.version, canonical(default), "test", 0, 0)
    task = choose_values(default, key)
    instance, _ = draw_owned(task, key)
    question = task.questions(instance)[0]
    rates = [rate(task, question, form.format(task.write(question.gold))) for form in FORMS]
    copies = copying(FORMS[0].format(task.write(question.gold)).encode()) / rates[0]
    return [name, *(f"{one:,.0f}" for one in rates), f"{copies:,.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*")
    args = parser.parse_args()
    rows = [row(name) for task in args.tasks or ["all"] for name in registry.select(task)]
    lines = [*table(["task", "answer line", "bare answer", "sentence", "copies"], rows)]
    print("\n".join(lines))
    if not args.tasks:
        RESULTS.write_text("Replies graded a second on one core\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

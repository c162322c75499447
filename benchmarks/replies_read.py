"""How many replies of real models can be read, task by task.

    carrara run all -n 2 --model carrara/gguf:FILE --out FOLDER    # for each model
    python -m benchmarks.replies_read NAME=FOLDER...

The replies are those of ordinary runs without filler, read by the rules of today. Only replies that end by themselves
count: one that is cut off need not have an answer yet. Replies that are not read are listed below the table.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence

import carrara
from carrara.result import NEVER_ASKED, Result
from carrara.rl.reward import score_completion
from carrara.util.table import table

ALL = "all tasks"
SHOWN = 160
"""The characters that are shown of a reply."""


def complete_replies(folder: str) -> list[Result]:
    """Return the replies of a run that end by themselves, read anew."""
    results = [result for result in carrara.read(folder) if result.status not in (*NEVER_ASKED, "truncated")]
    return [score_completion(result.id, result.reply) for result in results]


def share(results: Sequence[Result]) -> str:
    """Return how many replies are read, of how many."""
    read = sum(result.status == "ok" for result in results)
    return f"{read} of {len(results)}" if results else "-"


def report(models: dict[str, list[Result]]) -> list[str]:
    """Return the lines of the table, and of the replies that are not read."""
    by_task: dict[str, dict[str, list[Result]]] = defaultdict(lambda: {model: [] for model in models})
    for model, results in models.items():
        for result in results:
            by_task[result.task][model].append(result)
    rows = [[task, *(share(results) for results in by_model.values())] for task, by_model in sorted(by_task.items())]
    rows.append([ALL, *(share(results) for results in models.values())])
    shares = [sum(result.status == "ok" for result in results) / len(results) for results in models.values()]
    rows.append(["", *(f"{value:.3f}" for value in shares)])
    unread = [
        [model, result.task, result.status, repr(result.reply[:SHOWN]), result.gold[:SHOWN]]
        for model, results in models.items()
        for result in results
        if result.status != "ok"
    ]
    heads = ["model", "task", "status", "reply", "right"]
    return [*table(["task", *models], rows), "", "Replies that are not read", "", *table(heads, unread)]


def main() -> None:
    folders = dict(named.split("=", 1) for named in sys.argv[1:])
    print("\n".join(report({model: complete_replies(folder) for model, folder in folders.items()})))


if __name__ == "__main__":
    main()

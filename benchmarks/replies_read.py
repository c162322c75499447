"""The share of replies that are read, by task and model, from folders of runs.

    carrara run all -n 2 --model carrara/gguf:FILE --max-tokens 400 --out FOLDER
    python -m benchmarks.replies_read FOLDER [FOLDER …]

Only replies that end by themselves count, not those that are cut off at the limit.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from carrara.results.result import Result
from carrara.runs.replies import read_results
from carrara.util.table import table

UNFINISHED = ("truncated", "overflow", "error")
"""The statuses of replies that did not end by themselves."""


def share(results: Sequence[Result]) -> str:
    ended = [result for result in results if result.status not in UNFINISHED]
    read = sum(result.status == "ok" for result in ended)
    return f"{read} of {len(ended)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="folders of runs, each of one model")
    models = {folder.name: read_results(folder) for folder in parser.parse_args().folders}
    tasks = sorted({result.task for results in models.values() for result in results})
    rows = [
        [task, *(share([result for result in results if result.task == task]) for results in models.values())]
        for task in tasks
    ]
    rows.append(["all", *map(share, models.values())])
    rows.append(
        ["cut off", *(str(sum(result.status in UNFINISHED for result in results)) for results in models.values())]
    )
    print("\n".join(table(["task", *models], rows)))


if __name__ == "__main__":
    main()

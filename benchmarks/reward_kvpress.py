"""Score replies that understand nothing in kvpress: ours beside kvpress' own metrics for the same replies.

    python -m benchmarks.reward_kvpress EVALUATION [ITEMS] [LENGTH]

EVALUATION is the folder `evaluation` of a clone of kvpress, whose functions are called:

- `RULER`: `calculate_metrics` of its RULER, the share of the right values that occur anywhere in the reply,
- `LooGLE`: `get_rouge_score` of its LooGLE, the recall of ROUGE-L,
- `InfiniteBench`: `get_score_one_kv_retrieval`, whether the right value is a word of the reply, for `json_kv` alone.

The interpreter needs kvpress with its extra `eval`. Every column is a mean from 0 to 1.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.gaming import replies
from carrara.answers.extraction import FINAL
from carrara.export.kvpress_scores import calculate_metrics
from carrara.items.item import Item, make
from carrara.results.result import task_of
from carrara.util.quantities import read_length
from carrara.util.table import table

TASKS = ("classic/niah", "classic/json_kv", "classic/vt", "classic/cwe", "classic/hops", "babilong/qa1")


def rows_of(items: Sequence[Item]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of kvpress with each reply, by the name of the reply."""
    found = defaultdict(list)
    for item in items:
        right = f"{FINAL} {item.gold}"
        kinds = {"the right answer": right, "and then retracted": f"{right}\nWait, that is wrong. I do not know."}
        for kind, reply in {**kinds, **replies(item)}.items():
            task = task_of(item.item_id.task, item.question.part)
            found[kind].append(
                {"id": item.id, "task": task, "answer": item.gold.split(", "), "predicted_answer": reply}
            )
    return found


def _metrics(evaluation: Path, name: str) -> Any:
    """Return a module of kvpress, whose package has the name of this one."""
    spec = spec_from_file_location(f"kvpress_{name}", evaluation / "benchmarks" / name / "calculate_metrics.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(evaluation: str, count: str = "10", length: str = "2k") -> None:
    frame: Any = import_module("pandas").DataFrame
    ruler, loogle, infinite = (_metrics(Path(evaluation), name) for name in ("ruler", "loogle", "infinite_bench"))
    lines = []
    for task in TASKS:
        items = [make(task, length=read_length(length), index=index) for index in range(int(count))]
        for kind, rows in rows_of(items).items():
            own = calculate_metrics(frame(rows))["mean"]
            (matched,) = ruler.calculate_metrics(frame(rows)).values()
            rouge = [
                loogle.get_rouge_score(", ".join(row["answer"]), row["predicted_answer"] or "-")["rouge-l"]
                for row in rows
            ]
            words = [infinite.get_score_one_kv_retrieval(row["predicted_answer"], row["answer"], "") for row in rows]
            scores = [own["score"], own["chance_level"], matched["string_match"] / 100, fmean(rouge)]
            lines.append(
                [task, kind, *(f"{score:.3f}" for score in scores), f"{fmean(words):.3f}" if "kv" in task else ""]
            )
    print(f"Replies that understand nothing, {count} items each at {length} tokens")
    for line in table(["task", "reply", "ours", "chance", "RULER", "LooGLE", "InfiniteBench"], lines):
        print(line)
    print("Most variants of niah ask for all numbers of the text: a list of them is right (results/gaming.txt).")


if __name__ == "__main__":
    main(*sys.argv[1:])

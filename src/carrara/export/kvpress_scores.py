"""The scores of replies in kvpress' evaluation: a function for its `SCORER_REGISTRY`, by the ids of the rows.

from carrara.export.kvpress_scores import calculate_metrics
SCORER_REGISTRY["carrara"] = calculate_metrics
"""

from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

from carrara.export.reward import reply_of, score_completion
from carrara.items.item import questions_of
from carrara.items.item_id import ItemId
from carrara.results.result import Result
from carrara.util.errors import UsageError

Metrics = dict[str, dict[str, float]]
"""The measures of each task by their names, and those of `mean`."""


def calculate_metrics(df: Any) -> Metrics:
    """Return the scores of the replies in a table of kvpress, by task, and their mean.

    Args:
        df: A table with the columns `id`, as `carrara export kvpress` writes it, and `predicted_answer`. A reply that
            is no text, such as None or NaN, counts as empty.

    Returns:
        For each task the mean `score` from 0 to 1, `answers_read`, the share of replies from which an answer was read,
        the `chance_level`, and the number `n` of replies. `mean` is the mean of the tasks. If the rows have several
        lengths, each length has its own names, such as `classic/niah, 4k` and `mean, 4k`.

    Raises:
        UsageError: A column is missing, or an id names no item.

    Examples:
        >>> import carrara
        >>> first, second = carrara.item("qa1"), carrara.item("niah")
        >>> table = {"id": [first.id, second.id], "predicted_answer": [first.gold, "I do not know."]}
        >>> metrics = calculate_metrics(table)
        >>> metrics["babilong/qa1"]["score"], metrics["mean"]["score"]
        (1.0, 0.5)
    """
    for column in ("id", "predicted_answer"):
        if column not in df:
            raise UsageError(f"the table has no column `{column}`: give rows of `carrara export kvpress` with replies")
    graded = [score_reply(id, reply) for id, reply in zip(df["id"], df["predicted_answer"], strict=True)]
    sizes = dict.fromkeys(ItemId.parse(result.id).size() for result in graded)
    metrics: Metrics = {}
    for size in sizes:
        tasks: dict[str, list[Result]] = {}
        for result in graded:
            if ItemId.parse(result.id).size() == size:
                tasks.setdefault(result.task, []).append(result)
        suffix = f", {size}" if len(sizes) > 1 else ""
        by_task = {f"{task}{suffix}": _summary(results) for task, results in sorted(tasks.items())}
        metrics |= by_task
        metrics[f"mean{suffix}"] = {
            **{
                name: fmean(metrics_of_task[name] for metrics_of_task in by_task.values())
                for name in ("score", "answers_read", "chance_level")
            },
            "n": sum(metrics_of_task["n"] for metrics_of_task in by_task.values()),
        }
    return metrics


def score_reply(id: str, reply: object) -> Result:
    """Return the scored reply of a row.

    kvpress has no stop texts, so the reply of a base model goes on to its most tokens. It counts up to the first one.
    """
    text = reply_of(reply)
    for stop in _stops(id):
        text = text.partition(stop)[0]
    return score_completion(id, text)


@lru_cache(maxsize=4096)
def _stops(id: str) -> tuple[str, ...]:
    """Return the texts at which the answer of a base model ends."""
    item_id = ItemId.parse(id)
    if item_id.style == "chat":
        return ()
    task, _, instance, questions = questions_of(item_id)
    return task.prompt(instance, questions[item_id.question], task.wording, "base").stop


def _summary(results: Sequence[Result]) -> dict[str, float]:
    return {
        "score": fmean(result.score for result in results),
        "answers_read": fmean(result.status == "ok" for result in results),
        "chance_level": fmean(result.chance_level for result in results),
        "n": len(results),
    }

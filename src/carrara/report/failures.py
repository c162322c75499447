"""Select replies to read: failures of each kind, and items that all models fail, which may be hard or wrong.

A caller that can build items passes a `FindSnippet`, and a reply then has the evidence of its prompt with the text
around it. Without one, the page shows the excerpt that each reply has.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from carrara.answers.status import NEVER_ASKED
from carrara.report.readers import Trace, traces_of
from carrara.report.style import SeriesStyle, Styles
from carrara.results import series_of
from carrara.results.result import Result
from carrara.results.scores import headline
from carrara.results.series import item_id_of
from carrara.util.sanitize import clip, short, visible

SHOWN, SHOWN_ITEMS = 60, 12
"""The number of replies that are shown, and of items that no model solves."""
ANSWERS = 8
"""The number of replies to one item that are shown."""
REPLY = 2000
"""The most characters of a reply, and of a prompt's excerpt."""
FIELD = 1000
"""The most characters of any other text."""
HALF = 0.5
"""A lower score is a failure."""
_SURE = 0.999
"""The highest mean that is used, so that a cell without failures does not make a failure impossible."""


class Fragment(NamedTuple):
    text: str
    kind: Literal["text", "needed", "gap"]
    """The kind of the text: `needed` is a fact of the evidence; `gap` says how much is left out."""


class Snippet(NamedTuple):
    prompt: tuple[Fragment, ...]
    """The parts of the prompt. Empty if it cannot be shown."""
    read: str
    """The rule by which the answer was read. Empty if none was read."""


FindSnippet = Callable[[Result], Snippet | None]


@dataclass(frozen=True)
class Failure:
    """A reply that is not ok, or not fully right, prepared for the page."""

    style: SeriesStyle
    task: str
    length: int
    status: str
    score: str
    published: str
    """The paper scores, with their names."""
    chance_level: str
    labels: str
    ask: str
    gold: str
    answer: str | None
    read: str
    """The rule by which the answer was read, if known."""
    error_type: str
    """The error type, if its task has error types."""
    error: str | None
    brief: str
    """One line with the question, the right answer and the answer."""
    reply: str
    prompt: tuple[Fragment, ...]
    """The evidence with the text around it, if the item can be built."""
    excerpt: str
    traces: tuple[Trace, ...]
    """What became of the needed facts, if a reader shortened the context."""
    more_facts: int
    """The number of needed facts that are not shown."""
    id: str


def is_failure(result: Result) -> bool:
    return result.status != "ok" or headline(result) < 1


def failures(
    results: Sequence[Result], styles: Styles, find_snippet: FindSnippet | None = None
) -> tuple[list[Failure], int]:
    """Return a sample of failures, and the number of all failures.

    The sample takes turns between all tasks, series, statuses and lengths, and the lowest scores of each first.
    """
    series_for = series_of(results)
    cells: dict[tuple[str, str, int, int], list[Result]] = {}
    for result in results:
        if is_failure(result):
            cell = (result.status, result.task, styles[series_for(result)].number, result.length)
            cells.setdefault(cell, []).append(result)
    queues = [sorted(cells[key], key=lambda r: (headline(r), r.id)) for key in sorted(cells, key=_cell_order)]
    total = sum(map(len, queues))
    sample: list[Result] = []
    depth = 0
    while len(sample) < min(SHOWN, total):
        layer = [queue[depth] for queue in queues if depth < len(queue)]
        room = SHOWN - len(sample)
        # If not all cells fit, take them at even steps, so that no task or length is left out.
        sample += [layer[i * len(layer) // room] for i in range(room)] if len(layer) > room else layer
        depth += 1
    sample.sort(key=lambda r: (r.status != "ok", r.task, styles[series_for(r)].number, r.length, r.id))
    return [failure(result, styles[series_for(result)], find_snippet) for result in sample], total


def _cell_order(cell: tuple[str, str, int, int]) -> tuple[bool, str, str, int, int]:
    status, task, number, length = cell
    return status == "ok", status, task, length, number


def failure(result: Result, style: SeriesStyle, find_snippet: FindSnippet | None = None) -> Failure:
    snippet, traces = find_snippet(result) if find_snippet else None, traces_of(result)
    return Failure(
        style=style,
        task=short(result.task),
        length=result.length,
        status=result.status,
        score=f"{headline(result):.2f}",
        published=", ".join(f"{short(name, 30)} {score:.2f}" for name, score in result.scores.items()),
        chance_level=f"{result.chance_level:.2f}",
        labels=" · ".join(f"{short(name, 40)} {short(value, 40)}" for name, value in list(result.labels.items())[:12]),
        ask=_cut(result.ask, FIELD),
        gold=_cut(result.gold, FIELD),
        answer=None if result.answer is None else _cut(result.answer, FIELD),
        read=snippet.read if snippet else "",
        error_type=_cut(": ".join(filter(None, (result.error_type, result.detail))), FIELD),
        error=None if result.error is None else _cut(result.error, FIELD),
        brief=_brief(result),
        reply=_cut(result.reply, REPLY),
        prompt=tuple(part._replace(text=visible(part.text)) for part in snippet.prompt) if snippet else (),
        excerpt=_cut(result.excerpt, REPLY),
        traces=traces,
        more_facts=len(result.facts) - len(traces),
        id=_cut(result.id, FIELD),
    )


def _brief(result: Result) -> str:
    if result.error is not None:
        return short(result.error, 160)
    answer = "no answer" if result.answer is None else short(result.answer, 60)
    return f"{short(result.ask, 60)} → {answer}, not {short(result.gold, 60)}"


def _cut(text: str, limit: int) -> str:
    return visible(clip(text, limit))


@dataclass(frozen=True)
class UnsolvedItem:
    """An item that all models fail, with the reply of the best of these models."""

    item: Failure
    replies: tuple[Failure, ...]
    """The reply of each model, the best model first."""
    more: int
    """The number of replies that are not shown."""


def sample_unsolved(
    results: Sequence[Result], styles: Styles, find_snippet: FindSnippet | None = None
) -> tuple[list[UnsolvedItem], int]:
    """Return some of the items that no model solves, and the number of all such items."""
    series_for = series_of(results)
    unsolved = unsolved_items(results)
    shown = []
    for replies in unsolved[:SHOWN_ITEMS]:
        ordered = sorted(replies, key=lambda reply: styles[series_for(reply)].number)
        item = failure(ordered[0], styles[series_for(ordered[0])], find_snippet)
        answers = tuple(failure(reply, styles[series_for(reply)]) for reply in ordered[:ANSWERS])
        shown.append(UnsolvedItem(item, answers, len(ordered) - len(answers)))
    return shown, len(unsolved)


def unsolved_items(results: Sequence[Result]) -> list[list[Result]]:
    """Return the replies to each item that at least two models were asked and all failed, the most surprising first.

    If all models fail an item in a cell that they mostly answer, the item may be wrong.
    """
    series_for = series_of(results)
    answered = [result for result in results if result.status not in NEVER_ASKED]
    items: dict[tuple[str, str, int, int], dict[object, Result]] = {}
    cells: dict[tuple[str, int, object], list[float]] = {}
    for result in answered:
        model = series_for(result)
        cells.setdefault((result.task, result.length, model), []).append(headline(result))
        items.setdefault((result.task, result.instance_id, _question(result.id), result.length), {})[model] = result

    def surprise(key: tuple[str, str, int, int]) -> float:
        """Return the log probability that all models fail, if each fails as often as at this length of the task."""
        task, _, _, length = key
        means = (math.fsum(scores) / len(scores) for model in items[key] for scores in [cells[task, length, model]])
        return math.fsum(math.log(1 - min(_SURE, mean)) for mean in means)

    failed = [
        key
        for key, replies in items.items()
        if len(replies) > 1 and all(headline(result) < HALF for result in replies.values())
    ]
    return [list(items[key].values()) for key in sorted(failed, key=lambda key: (surprise(key), key))]


def _question(id: str) -> int:
    item_id = item_id_of(id)
    return item_id.question if item_id else 0

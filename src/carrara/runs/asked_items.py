"""The items that a submission has to answer, and the results of each model on exactly these.

A model counts tokens with its own tokenizer, so items are compared without the tokenizer and the style of their ids.
An item without a reply counts as wrong. Otherwise a submission could improve by leaving replies out.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from carrara.items.item import context_of, questions_of, weight
from carrara.items.item_id import ItemId
from carrara.results.result import NO_REPLY, Result, Subject, task_of
from carrara.util.errors import CarraraError, LengthError, UsageError
from carrara.util.files import SMALL, content

MOST = 200_000
"""The most items of a list, or of a run manifest."""
LONGEST, TOGETHER = 1 << 20, 16 << 20
"""Tokens of one item, and of all items of a submission, that are made to see whether they can be asked."""


class Answered(NamedTuple):
    """The results of a submission on the items that were asked."""

    results: list[Result]
    """A result for each item and model. An item without a reply is wrong."""
    missing: int
    """Items without a reply."""
    others: int
    """Replies to items that were not asked, and further replies to one item. They do not count."""


def key_of(item_id: ItemId) -> ItemId:
    """Return an id without what belongs to the model: its tokenizer and its style."""
    return replace(item_id, style="chat", tokenizer="any")


def read_items(path: Path) -> list[ItemId]:
    """Return the items of a file of item ids, as `carrara generate` writes it.

    Raises:
        UsageError: It is no such file, or has too many items.
    """
    data = content(path, SMALL)
    try:
        rows = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
        ids = [ItemId.parse(row["id"]) for row in rows]
        if not ids:
            raise ValueError("it has no line")
    except (UsageError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is not a file of item ids, as `carrara generate` writes it ({error})") from None
    if len(ids) > MOST:
        raise UsageError(f"{path} has {len(ids):,} items: give at most {MOST:,}")
    return ids


class Allowance:
    """The tokens that may still be spent on making items to learn about them.

    Args:
        tokens: Tokens of all items together. Items beyond are taken to be like those that the submission answers.
    """

    def __init__(self, tokens: int = TOGETHER) -> None:
        self._left = tokens
        self._last: ItemId | None = None

    def spend(self, item_id: ItemId, tokens: int) -> bool:
        """Return whether an item of this size may be made, and count it. Further questions on it cost nothing."""
        instance = replace(item_id, question=0)
        if instance == self._last:
            return True
        if tokens > min(self._left, LONGEST):
            return False
        self._left, self._last = self._left - tokens, instance
        return True


def _can_be_asked(item_id: ItemId, allowance: Allowance) -> bool:
    """Return whether an item can be made at its length. An item that cannot be made here counts as one that can."""
    try:
        if allowance.spend(item_id, max(item_id.length, weight(item_id))):
            context_of(replace(item_id, question=0))
    except LengthError:
        return False
    except (CarraraError, OSError):
        pass
    return True


def match_results(results: Sequence[Result], asked: Iterable[ItemId], allowance: Allowance | None = None) -> Answered:
    """Return the results of each model on the items that were asked.

    Args:
        results: The results of a submission. If several of a model answer one item, the first one counts.
    """
    keys = dict.fromkeys(map(key_of, asked))
    by_subject: dict[Subject, dict[ItemId, Result]] = {}
    for result in results:
        key = key_of(ItemId.parse(result.id))
        if key in keys:
            by_subject.setdefault(result.subject, {}).setdefault(key, result)
    answered, missing, allowance = list[Result](), 0, allowance or Allowance()
    for results_by_key in by_subject.values():
        wrong_results = _WrongResults(results_by_key, allowance)
        for key in keys:
            known = results_by_key.get(key)
            if known and known.status != "error":
                answered.append(known)
            elif known or _can_be_asked(wrong_results.item_id(key), allowance):
                answered.append(wrong_results.result(key))
                missing += 1
    answering = sum(map(len, by_subject.values()))
    return Answered(answered, missing, len(results) - answering)


class _WrongResults:
    """Wrong results for items without a reply, with the style, tokenizer and settings of the model's other results."""

    def __init__(self, results_by_key: Mapping[ItemId, Result], allowance: Allowance) -> None:
        self._allowance = allowance
        self._first = next(iter(results_by_key.values()))
        ids = [ItemId.parse(result.id) for result in results_by_key.values()]
        (self._style, self._tokenizer), _ = Counter((id.style, id.tokenizer) for id in ids).most_common(1)[0]
        self._tasks = {replace(key, index=0): result.task for key, result in results_by_key.items()}
        levels: dict[str, list[float]] = {}
        for result in results_by_key.values():
            levels.setdefault(result.task, []).append(result.chance_level)
        self._levels = {task: fmean(task_levels) for task, task_levels in levels.items()}

    def item_id(self, key: ItemId) -> ItemId:
        """Return the id of an item as most of the model's ids are."""
        return replace(key, style=self._style, tokenizer=self._tokenizer)

    def result(self, key: ItemId) -> Result:
        item_id = self.item_id(key)
        posed = _question(item_id, self._allowance)
        task = posed[0] if posed else self._tasks.get(replace(key, index=0), item_id.task)
        level = posed[1] if posed else self._levels.get(task, 0.0)
        return wrong_result(item_id, self._first.subject, task, key.length, level)


def _question(item_id: ItemId, allowance: Allowance) -> tuple[str, float] | None:
    """Return the name of the task that an item's results have, and its chance level. None if it cannot be made here."""
    try:
        if not allowance.spend(item_id, weight(item_id)):
            return None
        question = questions_of(item_id).questions[item_id.question]
    except (CarraraError, OSError, IndexError):
        return None
    return task_of(item_id.task, question.part), question.chance_level


def wrong_result(item_id: ItemId, subject: Subject, task: str, length: int, chance_level: float) -> Result:
    """Return the result of an item that has no reply."""
    model, settings = subject
    return Result(
        id=str(item_id),
        task=task,
        version=item_id.version,
        model=model,
        length=length,
        tokens=length,
        tokenizer=item_id.tokenizer,
        context_id=item_id.context_id,
        instance_id=item_id.instance_id,
        arrange=item_id.arrange,
        status="empty",
        score=0.0,
        chance_level=chance_level,
        error=NO_REPLY,
        settings=dict(settings),
    )

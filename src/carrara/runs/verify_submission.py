"""Verification of results from somebody else: check ids, replies and the manifest against each other.

A folder is *verified*, *partly verified* (something cannot be made again here, or was too much) or *refused*.

| check | on |
|--|--|
| an id names an item; task, length, right answer, chance level and labels beside it are its own | every cheap reply |
| the reply is graded again, and comes to the status and scores that are stated | every cheap reply |
| the prompt is rendered again, and has the hash that was kept with the reply | a random sample |
| the plan declares whole ranges of items; a gap is one that cannot be asked | every range |

A reply that was planned and is not there, or is a failed request, counts as wrong: otherwise a folder could improve by
leaving replies out. A reply that was not planned does not count. The sample is drawn anew each time, so that a sender
cannot know it. Replies to tasks of another version than the one here cannot be compared, and count as missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from random import SystemRandom
from statistics import fmean
from typing import Any

from inspect_ai.model import ModelOutput

from carrara.constants import REQUEST
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import context_of, no_question, questions_of, weight
from carrara.items.item_id import ItemId
from carrara.items.prompt import fingerprint
from carrara.items.selection import APART
from carrara.params import read_canonical
from carrara.readers.prompts import prompt_of
from carrara.results.result import WITHIN, ItemSource, Result, Subject, task_of
from carrara.runs import manifest
from carrara.runs.asked_items import Answered, hold, wrong_result
from carrara.runs.manifest import ManifestEntry
from carrara.runs.reading_record import status_of
from carrara.runs.replies import LoggedReply, read_replies
from carrara.servers.response import ending
from carrara.task import Task
from carrara.tokenizers import permission
from carrara.types import Question
from carrara.util.errors import CarraraError, LengthError, UsageError

LONGEST, TOGETHER = 1 << 20, 8 << 20
"""Tokens of one prompt, and of all prompts of a folder, that are rendered for the check."""
INSTANCES = 64 << 20
"""The total weight, in tokens, of the instances whose replies are graded again."""
MOST = 200_000
"""The most items that a manifest may declare."""
GAPS = 200
"""The most items that a manifest may leave out. Each has to be one that cannot be asked."""
SUBMISSION = "submission"
"""The setting with the name of the folder or file. It keeps results of two submissions apart that name one model."""
SAME = 1e-6
"""Scores that differ by less count as equal, because logs store rounded numbers."""


@dataclass(frozen=True)
class Submission:
    """The part of a submitted folder that counts."""

    results: list[Result]
    """The planned items in the versions of this installation. An item without a reply is wrong."""
    source: ItemSource


@dataclass
class Check:
    """The outcome of a check of several things."""

    same: int = 0
    other: int = 0
    unknown: int = 0
    """Items that cannot be made, because a file that their id names is not on this machine."""
    left: int = 0
    """Items that were too many to check."""

    def add(self, same: bool) -> None:
        self.same += same
        self.other += not same

    @property
    def summary(self) -> str:
        """Return the outcome as text for the page."""
        found = self.same + self.other
        parts = [f"{self.same:,} of {found:,} the same" if found else "none was checked"]
        parts += [f"{self.unknown:,} cannot be made here"] if self.unknown else []
        parts += [f"{self.left:,} too long to check"] if self.left else []
        return ", ".join(parts)

    def fault(self, what: str) -> str:
        return f"{self.other:,} of {self.same + self.other:,} {what}" if self.other else ""


@dataclass
class Checks:
    ids: Check = field(default_factory=Check)
    scores: Check = field(default_factory=Check)
    prompts: Check = field(default_factory=Check)


def verify(folder: Path, sample: int, asked: Sequence[ItemId] | None = None, name: str = "") -> Submission:
    """Verify the results of a folder.

    Args:
        folder: Where `carrara run --out` wrote.
        sample: How many prompts are rendered again.
        asked: The items that every submission has to answer. By default those of the folder's manifest.
        name: The name of the folder for people. It is by default its own.

    Raises:
        UsageError: There is no folder.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no directory {folder}; give one that `carrara run --out DIR` wrote to")
    name = name or folder.resolve().name
    try:
        replies = read_replies(folder, whole=True)
    except CarraraError as error:
        return refuse(name, str(error))
    if not replies:
        return refuse(name, "it has no results")
    checks = Checks()
    checks.ids.other = sum(not _is_id(reply.result.id) for reply in replies)
    current = [reply for reply in replies if _is_current(reply.result)]
    results = [reply.result for reply in current]
    SystemRandom().shuffle(current)
    _grade_again(current, checks)
    render_again(current, sample, checks.prompts)
    damaged = list[str]()
    if asked is None:
        plan = manifest.read(folder, damaged.append)
        answered = _planned_results(results, plan)
        plan_fault = _plan_fault(plan) if not damaged else "its plan has rows that no run wrote"
    else:
        answered = hold(results, asked)
        plan_fault = nothing_asked(answered) if current else ""
    models = sorted({reply.result.model for reply in replies})
    faults = [
        "its tasks are of other versions than those here" if not current else "",
        checks.ids.fault("replies are not to the items that their ids name"),
        checks.prompts.fault("prompts are not what their ids say"),
        checks.scores.fault("scores are not what their replies come to"),
        plan_fault,
        _nothing(current, checks.scores),
    ]
    doubts = [
        f"{checks.scores.unknown:,} replies name what is not on this machine" if checks.scores.unknown else "",
        f"{checks.scores.left:,} replies are too long to check" if checks.scores.left else "",
        "no prompt was rendered again" if not checks.prompts.same else "",
    ]
    return Submission(
        [replace(result, settings={**result.settings, SUBMISSION: name}) for result in answered.results],
        ItemSource(
            name=name,
            replies=len(replies),
            models=", ".join(models[:3]) + (f" and {len(models) - 3} more" if len(models) > 3 else ""),
            asked=len(answered.results),
            lacking=max(answered.missing, len(replies) - len(current)) if asked is None else answered.missing,
            prompts=checks.prompts.summary,
            scores=checks.scores.summary,
            fault="; ".join(filter(None, faults)),
            doubt="; ".join(filter(None, doubts)),
        ),
    )


def nothing_asked(answered: Answered) -> str:
    """Return the fault of a submission that answers none of the items that were asked."""
    return "" if answered.results else f"none of its {answered.others:,} replies is to an item that was asked"


def _nothing(current: Sequence[LoggedReply], scores: Check) -> str:
    """Report why no reply could be graded again, if none was."""
    if not current or scores.same + scores.other:
        return ""
    failed = all(reply.result.status == "error" for reply in current)
    return f"all of its {len(current):,} requests failed" if failed else "nothing of it can be made again here"


def refuse(name: str, fault: str, models: str = "") -> Submission:
    """Return a submission of which nothing counts."""
    checked = "none was checked"
    return Submission([], ItemSource(name, 0, models, 0, prompts=checked, scores=checked, fault=fault))


def _is_id(id: str) -> bool:
    try:
        ItemId.parse(id)
    except UsageError:
        return False
    return True


def _is_current(result: Result) -> bool:
    return _is_id(result.id) and is_known(ItemId.parse(result.id))


def is_known(item_id: ItemId) -> bool:
    """Return whether the task of an item is here, in the same version."""
    try:
        return item_id.version == registry.load(item_id.task).version
    except CarraraError:
        return False


def is_outside(item_id: ItemId) -> bool:
    """Return whether an item needs a file from outside the package: a text, a list, a prompt pack or a tokenizer."""
    fields = registry.load(item_id.task).__dataclass_fields__
    opened = any("built_in" in fields[name].metadata for name in read_canonical(item_id.params) if name in fields)
    return bool(item_id.pack) or opened or not permission.is_allowed(item_id.tokenizer)


def _grade_again(replies: Sequence[LoggedReply], checks: Checks) -> None:
    """Check each reply against its id and its scores, up to a total weight of the instances."""
    left = INSTANCES
    for reply in replies:
        result, item_id = reply.result, ItemId.parse(reply.result.id)
        if weight(item_id) > min(left, LONGEST):  # a single long instance must not keep others from being checked
            checks.scores.left += 1
            continue
        left -= weight(item_id)
        try:
            posed = questions_of(item_id)
            if item_id.question >= len(posed.questions):
                raise UsageError(no_question(item_id, len(posed.questions)))
            question = posed.questions[item_id.question]
        except (CarraraError, OSError):
            if is_outside(item_id):
                checks.scores.unknown += 1
            else:
                checks.ids.add(False)
            continue
        checks.ids.add(_is_item(result, item_id, posed.task, question))
        if result.status != "error":
            checks.scores.add(_is_same_score(reply, posed.task, question))


def _is_length(length: int, settings: Mapping[str, str], item_id: ItemId) -> bool:
    """Return whether a stated length is that of the item.

    With `within`, up to half of it may be reserved for the answer.
    """
    if WITHIN in settings and item_id.length:
        return item_id.length <= length <= max(2 * item_id.length, item_id.length + 4096)
    return item_id.length == length


def _is_item(result: Result, item_id: ItemId, task: Task, question: Question[Any]) -> bool:
    """Return whether the fields of a result are those that its id determines."""
    stated = (result.task, result.gold, dict(result.labels), result.category)
    named = (task_of(item_id.task, question.part), task.write(question.gold), dict(question.labels), task.category)
    same_chance = abs(result.chance_level - question.chance_level) < SAME
    return stated == named and same_chance and _is_length(result.length, result.settings, item_id)


def _is_same_score(reply: LoggedReply, task: Task, question: Question[Any]) -> bool:
    try:
        output = ModelOutput.model_validate(reply.output)
        ended = ending(output)
        found = grade(task, question, output.completion, "ok" if ended == "answered" else ended)
    except ValueError:  # an output without a reply has no score
        return False
    result = reply.result
    kept = {"": result.score, **result.scores}
    scores = {"": found.score, **found.scores}
    same = all(abs(kept.get(name, 0.0) - score) < SAME for name, score in scores.items())
    return same and status_of(found.status, reply.reading or {}) == result.status


def render_again(replies: Sequence[LoggedReply], sample: int, check: Check) -> None:
    """Render the prompts of the first replies again. The caller draws their order."""
    known = [reply for reply in replies if reply.sha256]
    left = TOGETHER
    for reply in known[:sample]:
        item_id = ItemId.parse(reply.result.id)
        if item_id.length > min(left, LONGEST):
            check.left += 1
            continue
        left -= item_id.length
        try:
            wanted = {"id": reply.result.id, REQUEST: reply.request}
            check.add(fingerprint(prompt_of(wanted)) == reply.sha256)
        except (CarraraError, OSError):
            if is_outside(item_id):
                check.unknown += 1
            else:
                check.add(False)


def _plan_fault(plan: Sequence[ManifestEntry]) -> str:
    """Report errors in the manifest of a folder."""
    if not plan:
        return "no plan.json declares which items it was to hold"
    if sum(map(len, plan)) > MOST:
        return f"its plan declares more than {MOST:,} items"
    skipped = 0
    for entry in plan:
        if fault := _row_fault(entry):
            return f"its plan declares what cannot be asked: {fault}"
        for index in _gaps(entry):
            skipped += 1
            if skipped > GAPS:
                return f"its plan leaves out more than {GAPS} items between those that it declares"
            first = ItemId.parse(entry.of)
            try:
                if first.length > LONGEST:
                    return f"its plan leaves out {entry.task} {index} at {entry.length:,} tokens, too many to check"
                context_of(replace(first, index=index, question=0))
            except LengthError:
                continue
            except (CarraraError, OSError) as error:
                return f"its plan declares what cannot be asked: {error}"
            return f"its plan leaves out {entry.task} {index} at {entry.length:,} tokens, which can be asked"
    return ""


def _row_fault(entry: ManifestEntry) -> str:
    """Report rows of a manifest whose task or length is not that of their items."""
    try:
        first = replace(ItemId.parse(entry.of), question=entry.question)
        if not _is_length(entry.length, entry.settings, first):
            return f"{first} has not {entry.length:,} tokens"
        if not is_known(first):
            return ""  # its items count as missing
        if weight(first) > LONGEST:
            return f"{first} is too long to check"
        if entry.task.partition(":")[0] != first.task:
            return f"{first} is not an item of {entry.task}"
        if is_outside(first):
            return ""
        if entry.task != task_of(first.task, questions_of(first).questions[first.question].part):
            return f"{first} is not an item of {entry.task}"
    except (LengthError, OSError):
        return ""
    except CarraraError as error:
        return str(error)
    return ""


def _gaps(entry: ManifestEntry) -> Iterator[int]:
    """Yield the items that a manifest leaves out: before its first range, and between its ranges."""
    ranges = sorted(entry.instances)
    for start, _ in ranges[:1]:
        yield from range(start - start % APART, start)
    for (_, end), (start, _) in pairwise(ranges):
        yield from range(end, start)


def _planned_results(results: Sequence[Result], plan: Sequence[ManifestEntry]) -> Answered:
    """Return a result for each planned item. An item without a reply is wrong.

    Without a valid manifest, all results are returned. The folder is then refused, and counts only if the user says so.
    """
    if not plan or sum(map(len, plan)) > MOST:
        return Answered(list(results), 0, 0)
    by_item: dict[tuple[Subject, str], Result] = {(result.subject, result.id): result for result in results}
    levels: dict[str, list[float]] = {}
    for result in by_item.values():
        levels.setdefault(result.task, []).append(result.chance_level)
    found, missing = list[Result](), 0
    for entry in plan:
        try:
            first = replace(ItemId.parse(entry.of), question=entry.question)
        except UsageError:
            continue
        for start, end in entry.instances:
            for index in range(start, end):
                item_id = replace(first, index=index)
                there = by_item.get((entry.subject, str(item_id)))
                if there is None or there.status == "error":
                    missing += 1
                    level = fmean(levels.get(entry.task, [0.0]))
                    there = wrong_result(item_id, entry.subject, entry.task, entry.length, level)
                found.append(there)
    return Answered(found, missing, len(by_item) + missing - len(found))

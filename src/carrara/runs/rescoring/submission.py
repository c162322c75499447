"""Verification of a file of replies from somebody else: JSON Lines, as `carrara score` reads or writes them.

    {"id": …, "reply": …, "model": …}                          a reply; its score is made here
    {"id": …, "reply": …, "model": …, "score": …, "sha256": …}  with the score and the prompt that are claimed

Each model of the file is a submission of its own: *verified*, *partly verified* or *refused*, like a folder of a run
(verify_submission.py). All replies are graded here, and a claim that differs refuses the model. Lines that cannot be
scored count as no replies. The items that a file had to answer are given, or they are those that its ids imply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import SystemRandom
from typing import Any

from carrara.items.item import weight
from carrara.items.item_id import ItemId
from carrara.results.result import ItemSource, Result
from carrara.runs.asked_items import MOST, Allowance, Answered, hold, implied_items, key_of
from carrara.runs.replies import LoggedReply
from carrara.runs.rescoring.job import Troubles
from carrara.runs.rescoring.lines import Lines
from carrara.runs.rescoring.scored import Scorer, ScorerConfig, Trouble, fit, parse
from carrara.runs.verify_submission import (
    INSTANCES,
    LONGEST,
    SAME,
    SUBMISSION,
    Check,
    Submission,
    is_known,
    nothing_asked,
    refuse,
    render_again,
)
from carrara.util.errors import CarraraError, UsageError
from carrara.util.files import Limit, open_binary
from carrara.util.quantities import count

FILE = Limit(256 << 20, "send a file for each model")
"""The most bytes of a file, which is held in memory."""
MODELS = 100
"""The most models of a file."""
SHA256 = "sha256"
CLAIMS: Sequence[str] = ("score", "scores", "task")
"""Fields that say what a reply comes to."""
GRADING = ("unparsed", "empty", "refused")
"""Statuses that grading gives to plain replies."""

Row = dict[str, Any]


@dataclass
class _Model:
    """The lines of one model, and what was found about them."""

    kept: dict[str, tuple[int, bytes]] = field(default_factory=dict[str, tuple[int, bytes]])
    """The first line of each id, with its number. What is parsed may take a hundred times the memory."""
    lines: int = 0
    results: list[Result] = field(default_factory=list[Result])
    """The replies that could be graded, in the order of the file."""
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    """The hashes of prompts that are stated, by the id of the item."""
    troubles: Troubles = field(default_factory=Troubles)
    claims: Check = field(default_factory=Check)
    prompts: Check = field(default_factory=Check)
    left: int = 0
    """Replies to items that are too long to grade."""


def verify_file(path: Path, sample: int, asked: Sequence[ItemId] | None = None, name: str = "") -> list[Submission]:
    """Verify the results of a file, which may have several models.

    Args:
        path: A file of lines with an id, a reply and a model.
        sample: How many prompts of each model are rendered again, of those whose hash is stated.
        asked: The items that every submission has to answer. By default those that the ids of a model imply.
        name: The name of the file for people. It is by default its own.

    Returns:
        A submission for each model, or one that says why the file is refused.
    """
    name = name or path.name
    unnamed = Troubles()
    try:
        models = _read(path, unnamed)
    except CarraraError as error:
        return [refuse(name, str(error))]
    if not models:
        return [refuse(name, f"it has no replies{_and_why(unnamed)}")]
    if len(models) > MODELS:
        return [refuse(name, f"it names {len(models):,} models, more than {MODELS}")]
    try:
        counts = _grade(models, name)
    except (CarraraError, OSError) as error:
        return [refuse(name, f"its replies cannot be graded here: {error}")]
    found, left, allowance = [], MOST, Allowance()
    for model, own in models.items():
        try:
            items = asked or implied_items([ItemId.parse(one.id) for one in own.results], counts, left, allowance)
        except UsageError as error:
            found.append(refuse(name, str(error), model))
            continue
        left -= 0 if asked else max(0, len(items) - len(own.results))
        answered = hold(own.results, items, allowance)
        found.append(_submission(name, model, own, unnamed, sample, answered, is_declared=asked is not None))
    return found


def _read(path: Path, unnamed: Troubles) -> dict[str, _Model]:
    """Return the lines by model. `unnamed` collects the problems of lines that belong to no model."""
    models: dict[str, _Model] = {}
    with open_binary(path, FILE) as file:
        lines = Lines(file, False)
        for batch in lines.batches():
            lines.ends.popleft()
            for number, line in batch:
                row = parse(line)
                if isinstance(row, Trouble):
                    unnamed.add(number, row)
                    continue
                model = path.stem if row.get("model") is None else row["model"]
                if not isinstance(model, str) or not fit(model):
                    unnamed.add(number, Trouble("model", "a line has no name of a model: give a text of one line"))
                    continue
                own = models.setdefault(model, _Model())
                own.lines += 1
                if row["id"] in own.kept:
                    own.troubles.add(number, Trouble("again", f"{row['id']} has a line before, and the first counts"))
                else:
                    own.kept[row["id"]] = number, line or b""
    return models


def _grade(models: Mapping[str, _Model], source: str) -> dict[ItemId, int]:
    """Grade all replies. Return the number of questions on each instance, by the key of its first question.

    Replies to one instance are graded together, so that it is built once.
    """
    scorer, left, seen, counts = Scorer(ScorerConfig(source)), INSTANCES, set[str](), dict[ItemId, int]()
    graded: dict[str, dict[int, Result]] = {model: {} for model in models}
    for id, model in sorted((id, model) for model, own in models.items() for id in own.kept):
        own = models[model]
        number, line = own.kept[id]
        try:
            item_id = ItemId.parse(id)
            size = weight(item_id) if is_known(item_id) else 0
        except CarraraError:
            size = 0  # the scorer says what is wrong
        else:
            instance = f"{item_id.instance_id}/{size}"
            if instance in seen:
                size = 0
            elif size > min(left, LONGEST):
                own.left += 1
                continue
            seen.add(instance)
            left -= size
        row = parse(line)
        if isinstance(row, Trouble):
            own.troubles.add(number, row)
            continue
        found = _score(scorer, {**row, "model": model})
        if isinstance(found, Trouble):
            own.troubles.add(number, found)
            continue
        graded[model][number] = replace(found, settings={SUBMISSION: source})
        item_id = ItemId.parse(found.id)
        counts[key_of(replace(item_id, question=0))] = scorer.count_questions(item_id)
        if row.get(SHA256) is not None:
            own.hashes[id] = str(row[SHA256])
        if _has_claims(row):
            own.claims.add(_is_so(row, found))
    for model, own in models.items():
        own.results = [result for _, result in sorted(graded[model].items())]
    return counts


def _score(scorer: Scorer, row: Row) -> Result | Trouble:
    """Score a line. If it was scored before, its status may be one that grading gave to a plain reply."""
    found = scorer.row(row)
    if _has_claims(row) and row.get("status") in GRADING and isinstance(found, Result) and not _is_so(row, found):
        plain = scorer.row({**row, "status": "ok"})
        if isinstance(plain, Result) and plain.status == row["status"]:
            return plain
    return found


def _has_claims(row: Row) -> bool:
    return any(name in row for name in CLAIMS)


def _is_so(claims: Mapping[str, Any], found: Result) -> bool:
    """Return whether what a line says about its reply is what the reply comes to."""
    scores = claims.get("scores", {})
    if claims.get("task", found.task) != found.task or not isinstance(scores, Mapping):
        return False
    stated = {"": claims.get("score", found.score), **scores}
    here = {"": found.score, **found.scores}
    return all(name in here and _is_same(value, here[name]) for name, value in stated.items())


def _is_same(stated: Any, score: float) -> bool:
    if isinstance(stated, bool) or not isinstance(stated, int | float) or not 0 <= stated <= 1:
        return False
    return abs(stated - score) < SAME


def _submission(
    name: str, model: str, own: _Model, unnamed: Troubles, sample: int, answered: Answered, is_declared: bool
) -> Submission:
    _render_again(own, sample)
    faults = [
        f"none of its {count(own.lines, 'line')} can be scored{_and_why(own.troubles)}" if not own.results else "",
        own.claims.fault("scores are not what their replies come to"),
        own.prompts.fault("prompts are not what their ids say"),
        nothing_asked(answered) if own.results else "",
    ]
    doubts = [
        f"{answered.missing:,} of {len(answered.results):,} items have no reply, and count as wrong"
        if answered.missing
        else "",
        f"{own.left:,} replies are too long to grade, and count as none" if own.left else "",
        _and_why(own.troubles, f"{count(own.troubles.lines, 'line')} count as no reply"),
        _and_why(unnamed, f"{count(unnamed.lines, 'line')} of the file cannot be read"),
        "" if own.prompts.same or own.prompts.other else "no prompt was rendered again",
        "" if is_declared else "it is not known which items were asked",
    ]
    graded = f"{len(own.results):,} graded here"
    return Submission(
        answered.results,
        ItemSource(
            name=name,
            replies=own.lines,
            models=model,
            asked=len(answered.results),
            lacking=answered.missing,
            prompts=own.prompts.summary,
            scores=f"{graded}; stated: {own.claims.summary}" if own.claims.same + own.claims.other else graded,
            fault="; ".join(filter(None, faults)),
            doubt="; ".join(filter(None, doubts)),
        ),
    )


def _and_why(troubles: Troubles, what: str = "") -> str:
    """Return a sentence about lines that do not count, with their first problem. Empty if there are none."""
    first = troubles.first()
    return f"{what} ({first})" if first else ""


def _render_again(own: _Model, sample: int) -> None:
    """Render some of the prompts whose hash is stated."""
    hashes = own.hashes
    stated = [LoggedReply(result, {}, hashes[result.id], "") for result in own.results if result.id in hashes]
    SystemRandom().shuffle(stated)
    render_again(stated, sample, own.prompts)

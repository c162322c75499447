"""Submissions to a leaderboard: folders of runs and files of replies, whose replies are graded again here.

    {"id": …, "reply": …, "model": …}   a line of a file, as `carrara score` reads it

Replies of both kinds are graded as `carrara score` grades them, so the scores that are sent do not count. A reply that
cannot be graded here counts as no reply. An item that was asked and has no reply, or a failed request, counts as wrong:
otherwise a submission could improve by leaving replies out. The caller gives the items that were asked. By default they
are those of the folder's run manifest. For a file without such a list they are not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from carrara.items.item_id import ItemId
from carrara.items.rivals import chance_of
from carrara.results.result import WITHIN, ItemSource, Result, Subject
from carrara.runs import manifest
from carrara.runs.asked_items import MOST, Answered, match_results
from carrara.runs.reading_record import recall_of, status_of
from carrara.runs.replies import LoggedReply, read_replies
from carrara.runs.rescoring.job import Troubles
from carrara.runs.rescoring.lines import Lines
from carrara.runs.rescoring.scored import Scorer, ScorerConfig, Trouble, fit, parse
from carrara.util.errors import CarraraError, UsageError
from carrara.util.files import Limit, open_binary
from carrara.util.quantities import count

FILE = Limit(256 << 20, "send a file for each model")
"""The most bytes of a file."""
MODELS = 100
"""The most models of a file."""
SUBMISSION = "submission"
"""The setting with the name of the folder or file. It keeps results of two submissions apart that name one model."""
GRADED_HERE = (
    "task", "status", "score", "chance_level", "category", "labels", "ask", "gold", "answer", "error_type", "detail",
    "tokenizer", "context_id", "instance_id", "arrange",
)  # fmt: skip
"""The fields of a logged result that follow from its id and its reply."""


@dataclass(frozen=True)
class Submission:
    """The results of a folder, or of one model of a file."""

    results: list[Result]
    """The results that count. An item that was asked and has no reply is wrong."""
    source: ItemSource


@dataclass
class _Graded:
    """The replies of a folder, or of one model of a file."""

    replies: int = 0
    results: list[Result] = field(default_factory=list[Result])
    """The results of replies that could be graded, and of failed requests."""
    ids: set[str] = field(default_factory=set[str])
    troubles: Troubles = field(default_factory=Troubles)
    """Why the others could not be graded."""

    def add(self, number: int, outcome: Result | Trouble) -> None:
        if isinstance(outcome, Trouble):
            self.troubles.add(number, outcome)
        else:
            self.results.append(outcome)
            self.ids.add(outcome.id)


def read_submission(
    path: Path, asked: Sequence[ItemId] | None = None, name: str = "", prompts: Path | None = None
) -> list[Submission]:
    """Grade the replies of a folder, or of a file, which may have several models.

    Args:
        path: Where `carrara run --out` wrote, or a file of lines with an id, a reply and a model.
        asked: The items that every submission has to answer. By default those of the folder's manifest.
        name: The name of the folder or file for people. It is by default its own.

    Returns:
        A submission for the folder, or one for each model of the file. If it cannot be read, the reason is its fault.
    """
    name = name or path.resolve().name
    scorer = Scorer(ScorerConfig(path.stem, prompts))
    try:
        if path.is_dir():
            return [_read_folder(path, asked, name, scorer)]
        return _read_file(path, asked, name, scorer)
    except (CarraraError, OSError) as error:
        return [Submission([], ItemSource(name, fault=str(error)))]


def _read_folder(folder: Path, asked: Sequence[ItemId] | None, name: str, scorer: Scorer) -> Submission:
    replies = read_replies(folder)
    if not replies:
        raise UsageError("it has no results")
    graded = _Graded(len(replies))
    for number, reply in enumerate(replies, 1):
        graded.add(number, _grade_again(reply, scorer))
    if asked is not None:
        answered = match_results(graded.results, asked)
    elif planned := _planned_items(folder):
        by_subject: dict[Subject, list[Result]] = {}
        for result in graded.results:
            by_subject.setdefault(result.subject, []).append(result)
        parts = [
            match_results(results, planned[subject]) if subject in planned else Answered(results, 0, 0)
            for subject, results in by_subject.items()
        ]
        results = [result for part in parts for result in part.results]
        answered = Answered(results, sum(part.missing for part in parts), sum(part.others for part in parts))
    else:
        answered = Answered(graded.results, 0, 0)
    models = sorted({reply.result.model for reply in replies})
    more = f" and {len(models) - 3} more" if len(models) > 3 else ""
    return _submission(name, ", ".join(models[:3]) + more, graded, answered, numbered="reply")


def _planned_items(folder: Path) -> dict[Subject, list[ItemId]]:
    entries = manifest.read(folder)
    if sum(map(len, entries)) > MOST:
        raise UsageError(f"its plan declares more than {MOST:,} items")
    planned: dict[Subject, list[ItemId]] = {}
    for entry in entries:
        first = replace(ItemId.parse(entry.of), question=entry.question)
        planned.setdefault(entry.subject, []).extend(
            replace(first, index=index) for start, end in entry.instances for index in range(start, end)
        )
    return planned


def _grade_again(reply: LoggedReply, scorer: Scorer) -> Result | Trouble:
    """Grade a reply of a log. The status by which it ended is the log's, and so is what it cost."""
    logged, record = reply.result, reply.reading or {}
    if logged.status == "error":
        return logged
    ended = logged.status if logged.status in ("called", "filtered", "truncated", "overflow", "shortened") else "ok"
    outcome = scorer.row({"id": logged.id, "reply": logged.reply, "status": ended})
    if isinstance(outcome, Trouble):
        return outcome
    graded_fields = {field: getattr(outcome, field) for field in GRADED_HERE}
    if logged.likelihood:  # one of several answers was chosen
        count = len(logged.likelihood.options)
        graded_fields["chance_level"] = chance_of(count, logged.likelihood.rivals, outcome.chance_level)
    graded_fields["status"] = status_of(outcome.status, record)
    graded_fields["scores"] = {**recall_of(record), **outcome.scores}
    if WITHIN not in logged.settings:  # otherwise the length includes the room for the answer
        graded_fields["length"] = outcome.length
    return replace(logged, **graded_fields)


def _read_file(path: Path, asked: Sequence[ItemId] | None, name: str, scorer: Scorer) -> list[Submission]:
    models: dict[str, _Graded] = {}
    nameless = Troubles()
    with open_binary(path, FILE) as file:
        lines = Lines(file, False)
        for batch in lines.batches():
            lines.ends.popleft()
            for number, line in batch:
                row = parse(line)
                if isinstance(row, Trouble):
                    nameless.add(number, row)
                    continue
                model = path.stem if row.get("model") is None else row["model"]
                if not isinstance(model, str) or not fit(model):
                    nameless.add(number, Trouble("model", "a line has no name of a model: give a text of one line"))
                    continue
                graded = models.setdefault(model, _Graded())
                if len(models) > MODELS:
                    raise UsageError(f"it names more than {MODELS} models")
                graded.replies += 1
                if row["id"] in graded.ids:
                    again = f"{row['id']} has a line before, and the first that can be scored counts"
                    graded.add(number, Trouble("again", again))
                else:
                    graded.add(number, scorer.row({**row, "model": model}))
    if not models:
        raise UsageError(f"it has no replies{_and_why(nameless)}")
    return [
        _submission(
            name,
            model,
            graded,
            Answered(graded.results, 0, 0) if asked is None else match_results(graded.results, asked),
            _and_why(nameless, f"{count(nameless.lines, 'line')} of the file cannot be read"),
        )
        for model, graded in models.items()
    ]


def _submission(
    name: str, models: str, graded: _Graded, answered: Answered, remark: str = "", numbered: str = "line"
) -> Submission:
    fault = ""
    if not graded.results:
        fault = f"none of its {count(graded.replies, 'reply')} can be graded{_and_why(graded.troubles, '', numbered)}"
    elif all(result.status == "error" for result in graded.results):
        fault = f"all of its {len(graded.results):,} requests failed"
    elif not answered.results:
        fault = f"none of its {len(graded.results):,} replies is to an item that was asked"
    remarks = [
        _and_why(graded.troubles, f"{count(graded.troubles.lines, 'reply')} could not be graded", numbered),
        f"{count(answered.missing, 'item')} without a reply, counted as wrong" if answered.missing else "",
        remark,
    ]
    return Submission(
        []
        if fault
        else [replace(result, settings={**result.settings, SUBMISSION: name}) for result in answered.results],
        ItemSource(
            name=name,
            models=models,
            replies=graded.replies,
            graded=sum(result.status != "error" for result in graded.results),
            asked=len(answered.results),
            lacking=answered.missing,
            fault=fault,
            remarks="; ".join(filter(None, remarks)),
        ),
    )


def _and_why(troubles: Troubles, what: str = "", numbered: str = "line") -> str:
    """Return a sentence about what does not count, with the first problem. Empty if there is none."""
    first = troubles.first(numbered)
    return f"{what} ({first})" if first else ""

"""Score one line of a file, as a `Result` like those of runs, which all other code can read.

A line is an id and a reply, or a line of a batch interface: the answers of OpenAI and vLLM to the requests of `carrara
export batch`. The model's name is not read from the latter: a failed request lacks it, and its reply would count for
another model.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

from carrara.answers.status import Status
from carrara.answers.turn_trace import turns_record
from carrara.items.grading import grade
from carrara.items.item import instance_key, no_question, pose
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack, read_pack
from carrara.items.registry import load
from carrara.results.result import Result, task_of
from carrara.runs.rescoring.lines import LONGEST, Batch
from carrara.task.suite import SuiteTask
from carrara.types import Question
from carrara.util.cache import WeightedCache
from carrara.util.errors import RunError, UsageError
from carrara.util.unicode import replace_surrogates


class Trouble(NamedTuple):
    """Why a line cannot be scored."""

    kind: str
    """The kind of problem. Lines of the same kind are reported together."""
    message: str
    """The problem of this line. The message of the first line of a kind represents all."""


Outcome = tuple[int, Result | Trouble]
"""The number of a line, and its outcome."""

DEEP = Trouble("deep", "nested too deeply: a line holds an id and a reply")
NAME = 200
"""The most characters of a model's name."""
SMALL = 256
"""The least weight of an instance's questions in the cache, in tokens."""
ROOM = 8192 * SMALL
"""The tokens that the cache holds: some eight thousand small instances, or sixteen of 128k tokens."""
ENDED: Mapping[str, Status] = {"length": "truncated", "content_filter": "filtered"}
"""The statuses of replies by their stop reason; with any other it is ok."""


@dataclass(frozen=True)
class ScorerConfig:
    """The settings of scoring."""

    model: str
    """The model of lines that do not name one."""
    prompts: Path | None = None
    """The prompt pack of items whose size depends on their wording."""

    @property
    def pack(self) -> Pack | None:
        return read_pack(self.prompts) if self.prompts else None


class _LineError(Exception):
    """A line that cannot be scored."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.trouble = Trouble(kind, message)


class _Questions(NamedTuple):
    """The task and questions of an instance, as grading needs them."""

    task: SuiteTask
    questions: Sequence[Question[Any]]


class _Instances:
    """A cache of the instances that were used last. Lines on one instance usually come close together."""

    def __init__(self, pack: Pack | None = None) -> None:
        self._pack = pack
        self._cache = WeightedCache(_pose, lambda first, pack: max(SMALL, first.length), ROOM)

    def questions(self, item_id: ItemId) -> _Questions:
        return self._cache(*instance_key(item_id, self._pack if item_id.pack else None))


class Scorer:
    """A scorer of lines that caches the instances that lines share."""

    def __init__(self, config: ScorerConfig) -> None:
        self._model = config.model
        self._instances = _Instances(config.pack)

    def batch(self, batch: Batch) -> list[Outcome]:
        return [(number, self.line(line)) for number, line in batch]

    def line(self, line: bytes | None) -> Result | Trouble:
        row = parse(line)
        return row if isinstance(row, Trouble) else self.row(row)

    def reply(self, id: str, reply: str, status: Status) -> Result:
        """Score a reply that does not come from a line of a file. Raise `UsageError` if it cannot be scored."""
        outcome = self.row({"id": id, "reply": reply, "status": status})
        if isinstance(outcome, Trouble):
            raise UsageError(outcome.message)
        return outcome

    def row(self, row: dict[str, Any]) -> Result | Trouble:
        """Score a line that was parsed by `parse`."""
        try:
            return self._result(row)
        except _LineError as unfit:
            return unfit.trouble
        except RecursionError:
            return DEEP

    def _result(self, row: dict[str, Any]) -> Result:
        reply, status, model = _reply(row), _status(row), _model(row) or self._model
        sent, received = _count(row, "input_tokens"), _count(row, "output_tokens")
        item_id = _item_id(row["id"])
        try:
            task, questions = self._instances.questions(item_id)
        except (RunError, OSError):  # a problem of this machine, not of the line
            raise
        except Exception as error:  # an id may have any text, and a task may run any code
            message = (
                str(error) if isinstance(error, UsageError) else f"{item_id} cannot be built: {_error_name(error)}"
            )
            raise _LineError(f"built {item_id.task}", message) from None
        if item_id.question >= len(questions):
            raise _LineError(f"question {item_id.task}", no_question(item_id, len(questions)))
        question = questions[item_id.question]
        try:
            graded = grade(task, question, reply, status)
        except (RunError, OSError):
            raise
        except Exception as error:  # a reply may have any text
            raise _LineError(
                f"graded {item_id.task}",
                f"the reply to {item_id} is one that {item_id.task} cannot grade ({_error_name(error)}): "
                "please report it",
            ) from None
        return Result(
            id=row["id"],
            task=task_of(item_id.task, question.part),
            version=item_id.version,
            model=model,
            length=item_id.length,
            tokens=_count(row, "tokens") or item_id.length,
            tokenizer=item_id.tokenizer,
            context_id=item_id.context_id,
            instance_id=item_id.instance_id,
            arrange=item_id.arrange,
            status=graded.status,
            score=graded.score,
            chance_level=question.chance_level,
            scores=dict(graded.scores),
            category=task.category,
            labels=dict(question.labels),
            ask=question.ask,
            gold=task.write(question.gold),
            answer=graded.answer,
            reply=reply,
            input_tokens=sent,
            output_tokens=received,
            error_type=graded.error_type.kind if graded.error_type else "",
            detail=graded.error_type.detail if graded.error_type else "",
            turns=tuple(graded.turns),
        )


def output(result: Result, named: bool) -> bytes:
    """Return the output line for a scored line, with its model if the line named one."""
    row = {
        "id": result.id,
        **({"model": result.model} if named else {}),
        "task": result.task,
        "status": result.status,
        "answer": result.answer,
        "score": result.score,
        "scores": dict(result.scores),
        **({"error_type": result.error_type, "detail": result.detail} if result.error_type else {}),
        **turns_record(result.turns),
    }
    return (json.dumps(row) + "\n").encode()  # ASCII: lines may be printed, and a reply has any characters


def parse(line: bytes | None) -> dict[str, Any] | Trouble:
    """Return a line with an id in our format. Its other fields may have any type."""
    try:
        return _read(line)
    except _LineError as unfit:
        return unfit.trouble
    except RecursionError:
        return DEEP


def fit(model: str) -> bool:
    """Return whether a text can be the name of a model."""
    return bool(model.strip()) and model.isprintable() and len(model) <= NAME


def _read(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise _LineError("long", f"longer than {LONGEST >> 20} MB: a line holds an id and a reply")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise _LineError("UTF-8", f"not UTF-8: {error.reason} at byte {error.start}") from None
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _LineError("JSON", f"not a line of JSON: {error}") from None
    if isinstance(row, dict):
        row = _plain(row)
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise _LineError("id", "a line needs an id, as `carrara generate` writes it")
    return row


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a line in our format, whether it is one of ours or of a batch interface.

    >>> _plain({"custom_id": "x", "response": {"status_code": 500, "body": {}}, "error": None})
    {'id': 'x', 'reply': '', 'status': 'error'}
    """
    if not isinstance(row.get("custom_id"), str) or "response" not in row:
        return row
    head = {"id": row["custom_id"]}
    body = _field(row["response"], "body")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    if row.get("error") or choice is None:
        return {**head, "reply": "", "status": "error"}
    message, usage = _field(choice, "message"), _field(body, "usage")
    reply = message.get("content") if message else choice.get("text")
    status = ENDED.get(str(choice.get("finish_reason")), "ok")
    if message.get("refusal") and not reply:
        reply, status = message["refusal"], "refused"
    beside = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
    }
    known = {name: value for name, value in beside.items() if value is not None}
    return {**head, "reply": "" if reply is None else reply, "status": status, **known}


def _field(row: object, name: str) -> dict[str, Any]:
    value = row.get(name) if isinstance(row, dict) else None
    return value if isinstance(value, dict) else {}


def _reply(row: dict[str, Any]) -> str:
    if not isinstance(reply := row.get("reply"), str):
        raise _LineError("reply", f"{row['id'][:200]} needs a reply that is a text")
    return replace_surrogates(reply)


def _status(row: dict[str, Any]) -> Status:
    status = row.get("status", "ok")
    if status not in get_args(Status):
        raise _LineError("status", f"{str(status)[:50]!r} is not a status; there are {', '.join(get_args(Status))}")
    known: Status = status
    return known


def _model(row: dict[str, Any]) -> str:
    model = row.get("model")
    if model is None:
        return ""
    if not isinstance(model, str) or not fit(model):
        raise _LineError("model", f"{str(model)[:NAME]!r} is not the name of a model: give a text of one line, or none")
    return model


def _count(row: dict[str, Any], name: str) -> int | None:
    count = row.get(name)
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 1 << 53:
        raise _LineError(name, f"{name} is {str(count)[:50]!r}, and has to be a whole number, or left out")
    return count


def _item_id(id: str) -> ItemId:
    try:
        item_id = ItemId.parse(id)
    except UsageError as error:
        raise _LineError("item_id", str(error)) from None
    version = _version(item_id.task)
    if isinstance(version, str):
        raise _LineError(f"task {item_id.task}", version)
    if item_id.version != version:
        raise _LineError(
            f"version {item_id.version} {item_id.task}",
            f"an id of version {item_id.version} of {item_id.task}, and this is version {version}: generate the items "
            "anew, or install the release that made them",
        )
    return item_id


@lru_cache(maxsize=1024)
def _version(task: str) -> int | str:
    try:
        return load(task).version
    except UsageError as error:
        return str(error)


def _error_name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _pose(first: ItemId, pack: Pack | None) -> _Questions:
    posed = pose(first, pack)
    return _Questions(posed.task, posed.questions)

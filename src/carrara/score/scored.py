"""One line of a file, as a `Result`: the same as those of runs, so that all that reads these reads it too."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from carrara.answers.grade import grade
from carrara.core.errors import RunError, UsageError
from carrara.core.recipe import Recipe
from carrara.core.result import Result, Status, test_of
from carrara.core.unicode import replace_surrogates
from carrara.prompt.items import no_question
from carrara.prompt.wording import Pack, read_pack
from carrara.registry import load
from carrara.score.batches import plain
from carrara.score.errors import Trouble
from carrara.score.instances import Worlds
from carrara.score.lines import LONGEST, Batch

Outcome = tuple[int, Result | Trouble]
"""A line's number, and what came of it."""

NAME = 200
"""Characters that the name of a model may have."""


@dataclass(frozen=True)
class Way:
    """How lines are scored: what a process that scores has to know."""

    model: str
    """Of lines that name none."""
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


class Scorer:
    """Scores line after line, and keeps the worlds that they share."""

    def __init__(self, way: Way) -> None:
        self._model = way.model
        self._worlds = Worlds(way.pack)

    def batch(self, batch: Batch) -> list[Outcome]:
        return [(number, self.line(line)) for number, line in batch]

    def line(self, line: bytes | None) -> Result | Trouble:
        try:
            return self._result(_read(line))
        except _LineError as unfit:
            return unfit.trouble
        except RecursionError:
            return Trouble("deep", "nested too deeply: a line holds an id and a reply")

    def reply(self, id: str, reply: str, status: Status) -> Result:
        """A reply that is no line of a file. Raises UsageError where it cannot be scored."""
        try:
            return self._result({"id": id, "reply": reply, "status": status})
        except _LineError as unfit:
            raise UsageError(unfit.trouble.message) from None

    def _result(self, row: dict[str, Any]) -> Result:
        reply, status, model = _reply(row), _status(row), _model(row) or self._model
        sent, received = _count(row, "input_tokens"), _count(row, "output_tokens")
        recipe = _recipe(row["id"])
        try:
            task, questions = self._worlds.asked(recipe)
        except (RunError, OSError):  # of this machine, not of the line
            raise
        except Exception as error:  # an id is anybody's text, and tests are anybody's code
            said = str(error) if isinstance(error, UsageError) else f"{recipe} cannot be built: {_named(error)}"
            raise _LineError(f"built {recipe.task}", said) from None
        if recipe.question >= len(questions):
            raise _LineError(f"question {recipe.task}", no_question(recipe, len(questions)))
        question = questions[recipe.question]
        try:
            graded = grade(task, question, reply, status)
        except (RunError, OSError):
            raise
        except Exception as error:  # a reply is anybody's text
            raise _LineError(
                f"graded {recipe.task}",
                f"the reply to {recipe} is one that {recipe.task} cannot grade ({_named(error)}): please report it",
            ) from None
        return Result(
            id=row["id"],
            task=test_of(recipe.task, question.part),
            version=recipe.version,
            model=model,
            length=recipe.length,
            tokens=_count(row, "tokens") or recipe.length,
            tokenizer=recipe.tokenizer,
            context_id=recipe.context_id,
            world_id=recipe.world_id,
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
            fault=graded.fault.kind if graded.fault else "",
            detail=graded.fault.detail if graded.fault else "",
        )


def output(result: Result, named: bool) -> bytes:
    """The line that is written for a scored one, with its model where the line named one."""
    row = {
        "id": result.id,
        **({"model": result.model} if named else {}),
        "task": result.task,
        "status": result.status,
        "answer": result.answer,
        "score": result.score,
        "scores": dict(result.scores),
        **({"fault": result.fault, "detail": result.detail} if result.fault else {}),
    }
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def fit(model: str) -> bool:
    """Whether this can be the name of a model."""
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
        row = plain(row)
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise _LineError("id", "a line needs an id, as `carrara generate` writes it")
    return row


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


def _recipe(id: str) -> Recipe:
    try:
        recipe = Recipe.parse(id)
    except UsageError as error:
        raise _LineError("recipe", str(error)) from None
    version = _version(recipe.task)
    if isinstance(version, str):
        raise _LineError(f"test {recipe.task}", version)
    if recipe.version != version:
        raise _LineError(
            f"version {recipe.version} {recipe.task}",
            f"an id of version {recipe.version} of {recipe.task}, and this is version {version}: generate the items "
            "anew, or install the release that made them",
        )
    return recipe


@lru_cache(maxsize=1024)
def _version(task: str) -> int | str:
    """The version of a test, or why there is no such test."""
    try:
        return load(task).version
    except UsageError as error:
        return str(error)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

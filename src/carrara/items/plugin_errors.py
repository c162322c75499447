"""Errors of tasks that are not part of the package.

The code of such a task may raise anything. `guard_methods` turns its exceptions into a `PluginError`: one sentence with
the file, the exception, and the last lines of the plugin's own files that led to it. The exception itself, with its
traceback, is the cause of the error. An answer of a wrong type is refused too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import getmembers, isfunction
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Any, cast

from carrara.answers.types import AnswerType
from carrara.task import Task
from carrara.task.suite import SuiteTask
from carrara.types import (
    BulkFillerStream,
    Filler,
    FillerStream,
    FiniteFillerStream,
    Instance,
    Question,
    UndecidableError,
)
from carrara.util.errors import CarraraError, InvalidTaskError, PluginError

LONGEST = 300
"""The most characters of an exception's message."""
FRAMES = 3
"""The most lines of the plugin's own files that an error names."""
ALLOWED: dict[str, type[Exception]] = {
    "__post_init__": ValueError,
    "check": ValueError,
    **dict.fromkeys(("solve", "read_prompt"), UndecidableError),
}
"""The exceptions that methods of a task may raise, because callers expect them."""


def not_loaded(file: Path, error: BaseException, where: str = "") -> PluginError:
    """Return the error for a file that cannot be imported. `where` replaces the file's path in the sentence."""
    return PluginError(f"{where or file} cannot be loaded: {_describe(error)}{_lines(error, file)}")


def guard_methods(kind: type[Task], file: Path) -> type[SuiteTask]:
    """Return a subclass of a task whose methods raise `PluginError` for any exception of the plugin's code.

    It has the methods of a `SuiteTask`, too.
    """
    bases = (kind,) if issubclass(kind, SuiteTask) else (kind, SuiteTask)
    namespace: dict[str, Any] = {
        name: _catch_errors(method, file, name)
        for base in bases[::-1]
        for name, method in getmembers(base, isfunction)
        if name in ALLOWED or not name.startswith("_")
    }
    namespace |= {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    namespace["wording"] = kind.wording
    guarded: type[SuiteTask] = type(kind)(kind.__name__, bases, namespace)  # type: ignore[misc]
    guarded.is_sized, guarded.has_sentences = kind.is_sized, kind.has_sentences
    return guarded


def _catch_errors(method: Callable[..., Any], file: Path, name: str = "filler of an Instance") -> Callable[..., Any]:
    """Return a method that raises `PluginError` for any exception, and checks what it returns."""
    allowed, check = (CarraraError, ALLOWED.get(name, CarraraError)), _CHECKS.get(name)

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            returned = method(*args, **kwargs)
            return check(args[0], returned, file) if check else returned
        except allowed:
            raise
        except InvalidTaskError as error:
            raise PluginError(f"the task in {file} is wrong: {error}") from error
        except (Exception, SystemExit) as error:
            frames = _own_frames(error, file)
            function = frames[-1][0].co_qualname.split(".<locals>")[0] if frames else name
            raised = f"{function} raised {_describe(error)}{_lines(error, file)}"
            raise PluginError(f"the task in {file} failed: {raised}") from error

    return call


def _own_frames(error: BaseException, file: Path) -> list[tuple[CodeType, int]]:
    """Return the code and line of each frame in the folder of the plugin, which may have helpers."""
    folder, frames = file.resolve().parent, [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    return [
        (code, line)
        for code, line in frames
        if not code.co_filename.startswith("<") and Path(code.co_filename).resolve().is_relative_to(folder)
    ]


def _lines(error: BaseException, file: Path) -> str:
    """Return the last lines of the plugin that led to an exception, the innermost one first."""
    if isinstance(error, SyntaxError):
        places = [(error.lineno or 0, Path(error.filename or file))]
    else:
        places = [(line, Path(code.co_filename)) for code, line in _own_frames(error, file)[: -FRAMES - 1 : -1]]
    lines = [f"line {line}" + ("" if at.resolve() == file.resolve() else f" of {at}") for line, at in places if line]
    return " in " + ", called in ".join(lines) if lines else ""


def _describe(error: BaseException) -> str:
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    words = re.sub(r"\s+", " ", message).strip()
    cut = words[:LONGEST] + ("…" if len(words) > LONGEST else "")
    return f"{type(error).__name__}{f': {cut}' if cut else ''}"


# --- what methods may return ---


def _with_guarded_filler(instance: Instance, file: Path) -> Instance:
    """Return an instance whose filler, which is drawn much later, is caught too."""

    def open_filler(filler: Filler | None) -> Filler | None:
        if filler is None:
            return None
        opening = _catch_errors(filler, file)

        def open_filler(*args: Any) -> FillerStream:
            stream = opening(*args)
            plain = not isinstance(
                stream, BulkFillerStream | FiniteFillerStream
            )  # those are of the package, and have further methods
            return cast(FillerStream, _catch_errors(stream, file) if plain else stream)

        return open_filler

    return replace(instance, filler=open_filler(instance.filler), fine_filler=open_filler(instance.fine_filler))


def _checked_instance(instance: object) -> Instance:
    if not isinstance(instance, Instance):
        raise InvalidTaskError(f"`generate` returned {describe(instance)}, where a carrara.task.Instance is expected")
    texts: dict[str, Sequence[object]] = {"options": instance.options, "names": list(instance.names.values())}
    if not isinstance(instance.opening, tuple):
        texts["opening"] = [instance.opening]
    if instance.facts and not isinstance(instance.facts[0], tuple):
        texts["facts"] = instance.facts
    for name, values in texts.items():
        if wrong := [value for value in values if not isinstance(value, str)]:
            raise InvalidTaskError(f"`{name}` of an Instance has {describe(wrong[0])}, where a text is expected")
    if unknown := [number for number in instance.evidence or () if not 0 <= number < len(instance.facts)]:
        raise InvalidTaskError(
            f"`evidence` of an Instance names fact {unknown[0]}, and there are {len(instance.facts)} (from 0)"
        )
    return instance


def _checked_sentence(sentence: object) -> str:
    if not isinstance(sentence, str):
        raise InvalidTaskError(f"`filler` returned {describe(sentence)}, where a text is expected")
    return sentence


def _checked_questions(task: SuiteTask, questions: Sequence[Question[Any]]) -> Sequence[Question[Any]]:
    for question in questions:
        _checked_answer(task, question.gold, "the gold answer is")
    return questions


def _checked_answer(task: SuiteTask, answer: object, what: str) -> object:
    answers = getattr(task, "answer", None)
    if isinstance(answers, AnswerType) and not answers.takes(answer):
        raise InvalidTaskError(f"{what} {describe(answer)}, where {type(answers).__name__} expects {answers.noun}")
    return answer


_CHECKS: dict[str, Callable[[SuiteTask, Any, Path], Any]] = {
    "generate_sized": lambda task, instance, file: _with_guarded_filler(_checked_instance(instance), file),
    "filler": lambda task, sentence, file: _checked_sentence(sentence),
    "questions": lambda task, questions, file: _checked_questions(task, questions),
    "solve": lambda task, answer, file: _checked_answer(task, answer, "`solve` returned"),
}
"""The function that checks the result of a method before it is returned, by the name of the method."""

_NOUNS = {str: "the text", int: "the number", float: "the number", list: "the list", tuple: "the tuple"}


def describe(value: object) -> str:
    """Return a value with its type, so that the text '8' and the number 8 differ.

    >>> describe("8"), describe(8), describe(None), describe(True)
    ("the text '8'", 'the number 8', 'None', 'True')
    """
    written = repr(value)
    cut = written[:LONGEST] + ("…" if len(written) > LONGEST else "")
    noun = _NOUNS.get(type(value), "")
    return f"{noun} {cut}" if noun else cut

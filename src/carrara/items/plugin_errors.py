"""Errors of tasks that are not part of the package.

The code of such a task may raise anything. `guard_methods` turns its exceptions into a `PluginError`: one sentence with
the file, the function, the exception and the line. It also refuses an answer of a wrong type.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from traceback import print_exception
from types import TracebackType
from typing import Any, cast

from carrara.answers.types import AnswerType
from carrara.task import Task
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

_METHODS = (
    "check",
    "generate",
    "generate_sized",
    "filler",
    "questions",
    "prompt",
    "solve_prompt",
    "write",
    "read",
    "score",
    "guess",
    "not_answers",
    "trivial_baselines",
    "heuristics",
    "shortcuts",
    "error_type",
    "paper_scores",
    "draws",
    "given_count",
    "is_divided",
)


def not_loaded(file: Path, error: BaseException, where: str = "") -> PluginError:
    """Return the error for a file that cannot be imported. `where` replaces the file's path in the sentence."""
    if isinstance(error, SyntaxError):
        line, at = error.lineno or 0, Path(error.filename or file)
    else:
        _, line, at = _place(error, file)
    return _plugin_error(f"{where or file} cannot be loaded: {_describe(error)}{_line(line, at, file)}", error)


def guard_methods(kind: type[Task], file: Path) -> type[Task]:
    """Return a subclass of a task whose methods raise `PluginError` for any exception of the plugin's code."""
    own: dict[str, Any] = {name: _caught(getattr(kind, name), file) for name in _METHODS}
    own["__post_init__"] = _caught(kind.__post_init__, file, ValueError)
    own["check"] = _caught(kind.check, file, ValueError)
    own["generate_sized"] = _caught(_with_checked_instance(kind.generate_sized, file), file)
    own["filler"] = _caught(_with_checked_sentence(kind.filler), file)
    own["questions"] = _caught(_with_checked_gold(kind.questions), file)
    own["solve_prompt"] = _caught(_with_checked_answer(kind.solve_prompt), file, UndecidableError)
    own |= {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    own["wording"] = kind.wording
    made: type[Task] = type(kind)(kind.__name__, (kind,), own)  # type: ignore[misc]
    made.is_sized, made.has_sentences = kind.is_sized, kind.has_sentences
    return made


def _caught(method: Callable[..., Any], file: Path, *passing: type[Exception]) -> Callable[..., Any]:
    allowed: tuple[type[Exception], ...] = (CarraraError, *passing)

    @wraps(method)
    def call(*args: Any, **given: Any) -> Any:
        try:
            return method(*args, **given)
        except allowed:
            raise
        except InvalidTaskError as error:
            raise PluginError(f"the task in {file} is wrong: {error}") from error
        except (Exception, SystemExit) as error:
            function, line, at = _place(error, file)
            raised = f"{function or method.__name__} raised {_describe(error)}{_line(line, at, file)}"
            raise _plugin_error(f"the task in {file} failed: {raised}", error) from error

    return call


def _plugin_error(sentence: str, error: BaseException) -> PluginError:
    """Return the error to raise. With CARRARA_TRACEBACK=1 the traceback of the plugin's exception goes to stderr."""
    if os.environ.get("CARRARA_TRACEBACK"):
        print_exception(error)
        return PluginError(sentence)
    return PluginError(f"{sentence}; set CARRARA_TRACEBACK=1 to see the traceback")


def _place(error: BaseException, file: Path) -> tuple[str, int, Path]:
    """Return the last function of the plugin in the traceback, the line, and its file, which may be a helper's."""
    found, folder = ("", 0, file), file.resolve().parent
    trace: TracebackType | None = error.__traceback__
    while trace:
        code = trace.tb_frame.f_code
        at = Path(code.co_filename)
        if not code.co_filename.startswith("<") and at.resolve().is_relative_to(folder):
            found = code.co_qualname.split(".<locals>")[0], trace.tb_lineno, at
        trace = trace.tb_next
    return found


def _line(line: int, at: Path, file: Path) -> str:
    if not line:
        return ""
    return f" in line {line}" + ("" if at.resolve() == file.resolve() else f" of {at}")


def _describe(error: BaseException) -> str:
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    words = re.sub(r"\s+", " ", message).strip()
    cut = words[:LONGEST] + ("…" if len(words) > LONGEST else "")
    return f"{type(error).__name__}{f': {cut}' if cut else ''}"


def _with_checked_instance(method: Callable[..., Any], file: Path) -> Callable[..., Any]:
    """Return an instance whose texts are checked, and whose filler, which is drawn much later, is checked too."""

    def open_filler(filler: Filler | None) -> Filler | None:
        if filler is None:
            return None
        opening = _caught(filler, file)

        def open_filler(*args: Any) -> FillerStream:
            stream = opening(*args)
            plain = not isinstance(
                stream, BulkFillerStream | FiniteFillerStream
            )  # those are of the package, and have further methods
            return cast(FillerStream, _caught(stream, file) if plain else stream)

        return open_filler

    @wraps(method)
    def generate_sized(*args: Any) -> Instance:
        made = _checked_instance(method(*args))
        return replace(made, filler=open_filler(made.filler), fine_filler=open_filler(made.fine_filler))

    return generate_sized


def _checked_instance(instance: object) -> Instance:
    if not isinstance(instance, Instance):
        raise InvalidTaskError(f"`generate` returned {describe(instance)}, where a carrara.Instance is expected")
    texts: dict[str, Sequence[object]] = {"options": instance.options, "names": list(instance.names.values())}
    if not isinstance(instance.opening, tuple):
        texts["opening"] = [instance.opening]
    if instance.facts and not isinstance(instance.facts[0], tuple):
        texts["facts"] = instance.facts
    for name, values in texts.items():
        if wrong := [value for value in values if not isinstance(value, str)]:
            raise InvalidTaskError(f"`{name}` of an Instance has {describe(wrong[0])}, where a text is expected")
    if beyond := [one for one in instance.evidence or () if not 0 <= one < len(instance.facts)]:
        raise InvalidTaskError(
            f"`evidence` of an Instance names fact {beyond[0]}, and there are {len(instance.facts)} (from 0)"
        )
    return instance


def _with_checked_sentence(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def filler(*args: Any) -> str:
        if not isinstance(sentence := method(*args), str):
            raise InvalidTaskError(f"`filler` returned {describe(sentence)}, where a text is expected")
        return sentence

    return filler


def _with_checked_gold(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def questions(self: Any, *args: Any) -> Sequence[Question[Any]]:
        asked: Sequence[Question[Any]] = method(self, *args)
        for question in asked:
            _check(self, question.gold, "the gold answer is")
        return asked

    return questions


def _with_checked_answer(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def solve(self: Any, *args: Any) -> Any:
        answer = method(self, *args)
        _check(self, answer, "`solve` returned")
        return answer

    return solve


def _check(task: Any, answer: object, what: str) -> None:
    answers = getattr(task, "answer", None)
    if isinstance(answers, AnswerType) and not answers.takes(answer):
        raise InvalidTaskError(f"{what} {describe(answer)}, where {type(answers).__name__} expects {answers.noun}")


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

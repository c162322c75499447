"""The machine behind Latent List: six operations on a Python list and five views of it.

Written and read here, and never evaluated: prompts and replies are text, and text is not run.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from carrara.answers import AnswerType
from carrara.answers.cues import affirmative_sentences, denies
from carrara.answers.types import find_numbers, read_number
from carrara.types import Question

Kind = Literal["append", "insert", "pop", "remove", "sort", "reverse"]
View = Literal["print", "sum", "min", "max", "len"]
KINDS: tuple[Kind, ...] = get_args(Kind)
VIEWS: tuple[View, ...] = get_args(View)

START = (1, 2, 3, 4, 5, 6)
LOW, HIGH = -4000, 4000

Answer = tuple[int, ...] | int
"""The result of a view: the numbers of a slice for `print`, otherwise one number."""


class Operation(NamedTuple):
    kind: Kind
    args: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"a.{self.kind}({', '.join(map(str, self.args))})"

    @property
    def numbers(self) -> tuple[int, ...]:
        """The list values it names, as opposed to positions."""
        return self.args[-1:] if self.kind in ("append", "insert", "remove") else ()


class Look(NamedTuple):
    """A view with its slice; `len` looks at the whole list."""

    view: View
    start: int = 0
    stop: int = 0

    def __str__(self) -> str:
        return "len(a)" if self.view == "len" else f"{self.view}(a[{self.start}:{self.stop}])"

    def at(self, values: Sequence[int]) -> Answer | None:
        """Return the result for a list. None if Python would raise."""
        part = values[self.start : self.stop]
        match self.view:
            case "len":
                return len(values)
            case "print":
                return tuple(part)
            case "sum":
                return sum(part)
            case "min":
                return min(part, default=None)
            case "max":
                return max(part, default=None)


def perform(operation: Operation, values: list[int]) -> bool:
    """Do an operation as Python would. Return False, and leave the list as it is, where Python would raise."""
    kind, args = operation
    match kind:
        case "append":
            values.append(args[0])
        case "insert":
            values.insert(args[0], args[1])
        case "pop":
            position = args[0] if args else -1
            if not -len(values) <= position < len(values):
                return False
            values.pop(position)
        case "remove":
            if args[0] not in values:
                return False
            values.remove(args[0])
        case "sort":
            values.sort()
        case "reverse":
            values.reverse()
    return True


def run(operations: Iterable[Operation], values: Sequence[int] = START) -> list[int] | None:
    """Return the list after all operations. None where Python would raise."""
    now = list(values)
    return now if all(perform(operation, now) for operation in operations) else None


NUMBER = r"-?[0-9]{1,9}"
_OPERATION = re.compile(rf"a\.({'|'.join(KINDS)})\(((?:{NUMBER}(?:, {NUMBER})?)?)\)")
_LOOK = re.compile(rf"len\(a\)|({'|'.join(VIEWS)})\(a\[({NUMBER}):({NUMBER})\]\)")
_ARITY: dict[Kind, tuple[int, ...]] = {
    "append": (1,),
    "insert": (2,),
    "pop": (0, 1),
    "remove": (1,),
    "sort": (0,),
    "reverse": (0,),
}


def read_operation(text: str) -> Operation | None:
    """
    >>> read_operation("a.insert(2, 325)")
    Operation(kind='insert', args=(2, 325))
    """
    match = _OPERATION.fullmatch(text)
    if not match:
        return None
    kind: Kind = match[1]  # type: ignore[assignment]  # the pattern admits only kinds
    args = tuple(map(int, match[2].split(", "))) if match[2] else ()
    return Operation(kind, args) if len(args) in _ARITY[kind] else None


def read_look(text: str) -> Look | None:
    """
    >>> read_look("sum(a[1:3])")
    Look(view='sum', start=1, stop=3)
    """
    match = _LOOK.fullmatch(text)
    if not match:
        return None
    return Look("len") if match[1] is None else Look(match[1], int(match[2]), int(match[3]))  # type: ignore[arg-type]


# No group is possessive: Python before 3.11.5 does not go back to where an iteration began that fails.
_LIST = re.compile(r"(?<![\w\](])\[\s*+(?:(?:- ?)?[0-9]{1,18}\s*+,\s*+){0,9999}(?:(?:- ?)?[0-9]{1,18}\s*+)?\]")
_INTEGER = re.compile(r"-?[0-9]+")


class Output(AnswerType[Answer]):
    """An answer as Python shows it: a list or a number."""

    label = "Output"
    leads = "=→:"
    steps = True

    def write(self, answer: Answer) -> str:
        return str(list(answer) if isinstance(answer, tuple) else answer)

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        return read_list(text) if isinstance(question.gold, tuple) else read_number(text)

    def find_values(self, text: str, question: Question[Answer]) -> Iterable[Answer]:
        if isinstance(question.gold, tuple):
            return () if denies(text) else map(_numbers, _LIST.findall(text))
        return (number for sentence in affirmative_sentences(text, question) for number in find_numbers(sentence))

    def budget(self, gold: Answer) -> int:
        return 192 if isinstance(gold, tuple) else 32


def read_list(text: str) -> tuple[int, ...] | None:
    """Return the list of whole numbers that a text is.

    >>> read_list("[1, -2,3]"), read_list("1, 2"), read_list("[]")
    ((1, -2, 3), None, ())
    """
    return _numbers(text) if _LIST.fullmatch(text.strip(" .")) else None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, _INTEGER.findall(text.replace("- ", "-"))))

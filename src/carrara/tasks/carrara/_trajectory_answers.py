"""Answers to questions on the log of an agent, how they are wrong, and the replies of heuristics.

>>> from carrara.types import Question
>>> last = Question("Which call was the last?", TrajectoryAnswer("kfdbzt"), (), 0.0)
>>> [TrajectoryAnswerType().read(reply, last).answer.value for reply in ("It was call kfdbzt.", "No call changed it.")]
['kfdbzt', 'none']
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from carrara.answers import AnswerType, asks_for
from carrara.answers.choice import Choice
from carrara.answers.cues import affirmative_sentences
from carrara.answers.types import AROUND, find_numbers, read_number
from carrara.tasks.carrara._nodes import NODE
from carrara.tasks.carrara._tool_histories import Log
from carrara.tasks.carrara._tool_log import NONE, Call
from carrara.types import ErrorType, Question

_ALSO_NONE = (
    "null", "nothing", "no value", "unset", "not set", "never set", "it has none", "it had none", "there is none",
    "no call", "no calls", "no such call", "no call changed it", "no note", "no such note", "none of them",
)  # fmt: skip
_ID = re.compile(r"(?:the )?(?:call |id )*", re.IGNORECASE)
_ZEROS = re.compile(r"(?<=\b[a-z]{6})000\b", re.IGNORECASE)
"""The end of an id where templates write the call as an API takes it."""
_REASON = re.compile(r"(?<=^none)(?: ?\([^()\n]*\)|, (?:because|as|since) [^\n]*)\Z", re.IGNORECASE)
"""Why there is none, after the answer."""
_CALLS = re.compile(r" (?:calls?|changes?)\Z")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d(?: \d\d:\d\d)?")


@dataclass(frozen=True)
class TrajectoryAnswer:
    """A value, the id of a call, `none`, or a number in digits."""

    value: str
    errors: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)
    """In what way each value or id of the text is wrong. Only a gold answer has them."""

    @property
    def is_number(self) -> bool:
        return self.value.isdecimal()


class _Value(Choice):
    """One of the values, or `none`."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        return {**super().synonyms(options), **dict.fromkeys(_ALSO_NONE, NONE)}


_VALUE = _Value()


class TrajectoryAnswerType(AnswerType[TrajectoryAnswer]):
    """A value, the id of a call, or a number of calls. A question without options asks for an id."""

    rule = asks_for("the answer alone")

    def write(self, answer: TrajectoryAnswer) -> str:
        return answer.value

    def parse_value(self, text: str, question: Question[Any]) -> TrajectoryAnswer | None:
        if question.gold.is_number:
            number = read_number(_CALLS.sub("", text.strip(" .")))
            return None if number is None else TrajectoryAnswer(str(number))
        if not question.options:
            name = _ZEROS.sub("", _ID.sub("", text.strip(AROUND), count=1).strip(AROUND))
            if NODE.pattern.fullmatch(name):
                return TrajectoryAnswer(name.lower())
            question = replace(question, options=(NONE,))
        value = _VALUE.parse_value(_REASON.sub("", text.strip(" .")), question)
        return None if value is None else TrajectoryAnswer(value)

    def find_values(self, text: str, question: Question[Any]) -> Iterator[TrajectoryAnswer]:
        sentences = affirmative_sentences(_TIME.sub(" ", text), question)
        if question.gold.is_number:
            yield from (TrajectoryAnswer(str(number)) for sentence in sentences for number in find_numbers(sentence))
        elif question.options:
            yield from map(TrajectoryAnswer, _VALUE.find_values(text, question))
        else:
            yield from (TrajectoryAnswer(name) for part in sentences for name in NODE.find(_ZEROS.sub("", part)))

    def trivial(self, question: Question[Any]) -> Mapping[str, str]:
        return {NONE: NONE, "every choice": ", ".join(question.options)}

    def budget(self, gold: TrajectoryAnswer) -> int:
        return 32


def find_errors(log: Log, others: Sequence[str], ask: str, stay: int) -> Mapping[str, str]:
    """Return the error type of each value or id of a text, which may be right for another question.

    Args:
        log: The calls of the facts.
        others: The values that calls for other things may have.
        ask: The name of the question.
        stay: The number of the right value among those of the thing in question.
    """
    own = [log.calls[place] for place in log.places]
    if ask == "call":
        errors = {call.id: "other thing" for call in log.calls}
        return errors | {call.id: _call_error(call) for call in own}
    errors = dict.fromkeys(others, "other thing")
    errors |= {step.value: "plan" for step in log.steps if step.action == "note"}
    errors |= {step.value: "failed call" for step in log.steps if step.action == "set" and not step.ok}
    errors |= {step.value: "undone value" for step in log.steps if step.undone}
    for step in log.steps:
        if step.action == "set" and step.ok and not step.undone:
            errors[step.value] = _stay_error(step.stay - stay) if ask in ("now", "at") else "value that was set"
    return errors


def _call_error(call: Call) -> str:
    if call.is_change:
        return "earlier change"
    return "failed call" if not call.ok else "plan" if call.action == "note" else "call that shows"


def _stay_error(later_by: int) -> str:
    return f"later by {later_by}" if later_by > 0 else f"stale by {-later_by}"


def error_type(answer: TrajectoryAnswer, gold: TrajectoryAnswer) -> ErrorType | None:
    """Return how an answer is wrong. None: it is right."""
    if answer == gold:
        return None
    if gold.is_number:
        off = int(answer.value) - int(gold.value)
        return ErrorType("too many calls" if off > 0 else "too few calls", f"by {abs(off)}")
    if answer.value == NONE:
        return ErrorType("abstained")
    kind = gold.errors.get(answer.value, "other thing" if NODE.pattern.fullmatch(answer.value) else "not in the log")
    return ErrorType("should have abstained", kind) if gold.value == NONE else ErrorType(kind)


# --- heuristics ---

FOR, OK, SETS, FAILED = (
    "the calls for the thing",
    "the ok calls for the thing",
    "its ok calls with a value",
    "its failed calls",
)
UNDOS = "its ok calls that undo"
NAMING, NOTES, UNTIL = "the calls that name the thing", "the notes about the thing", " up to the time"


_STATE_CALLS = (FOR, OK, SETS)
_KNOWN: Mapping[str, Sequence[str]] = {
    "now": [f"the last value in {group}" for group in _STATE_CALLS],
    "at": [
        f"the {place} value in {group}{until}"
        for place in ("first", "last")
        for group in _STATE_CALLS
        for until in ("", UNTIL)
    ],
    "call": [f"the {place} call in {group}" for place in ("first", "last") for group in (*_STATE_CALLS, UNDOS, NAMING)],
    "failed": [f"the {place} value in {FAILED}" for place in ("first", "last")],
    "pending": [f"the {place} value in {NOTES}" for place in ("first", "last")],
    "count": [f"the number of {group}{UNTIL}" for group in (*_STATE_CALLS, FAILED, NOTES)],
}
"""Heuristics that find what is asked for, except for what their reason names, by the name of the question."""


def declare_shortcuts(kinds: Set[str]) -> Mapping[str, str]:
    """Return the known shortcuts of the questions of some kinds."""
    return dict.fromkeys(
        (name for kind, names in _KNOWN.items() if kind in kinds for name in names),
        "Finding these calls is what is asked, except for undone and cleared values, errors, notes and retries.",
    )


def replies(calls: Sequence[Call], tool: str, thing: str, ask: str, time: Any) -> Mapping[str, str]:
    """Return the replies of readers who look for names and results, and follow no undo, by the name of the heuristic.

    `time` is that of the question.
    """
    naming = [call for call in calls if (call.tool, call.thing) == (tool, thing)]
    own = [call for call in naming if call.action != "note"]
    groups = {
        "the calls": list(calls),
        "the calls of the tool": [call for call in calls if call.tool == tool],
        NAMING: naming,
        FOR: own,
        OK: [call for call in own if call.ok],
        SETS: [call for call in own if call.ok and call.value],
        UNDOS: [call for call in own if call.ok and call.action == "undo"],
        FAILED: [call for call in own if not call.ok],
        NOTES: [call for call in naming if call.action == "note"],
        "the failed calls": [call for call in calls if not call.ok],
        "the calls that undo": [call for call in calls if call.action == "undo"],
    }
    if ask in ("at", "count"):
        groups |= {f"{name}{UNTIL}": [call for call in group if call.time <= time] for name, group in groups.items()}
    if ask == "count":
        return {f"the number of {name}": str(len(group)) for name, group in groups.items()}
    found = {
        name: [call.id for call in group] if ask == "call" else [call.value for call in group if call.value]
        for name, group in groups.items()
    }
    part = "call" if ask == "call" else "value"
    return {
        **{f"the first {part} in {name}": values[0] if values else NONE for name, values in found.items()},
        **{f"the last {part} in {name}": values[-1] if values else NONE for name, values in found.items()},
    }

"""From a reply to a status, an answer and scores: the same for live runs, stored runs and outside replies."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from carrara.answers.contract import own_line
from carrara.answers.turns import heard, spoken
from carrara.core.result import ATTEMPTED, SOUND, Status
from carrara.core.types import Fault, Question

if TYPE_CHECKING:
    from carrara.task import Task

Segment = Literal["its line", "the reply"]
"""The line that was asked for, or the reply as a whole."""


class Stated(NamedTuple):
    """An answer, and by what part of the reply it was read."""

    answer: Any
    segment: Segment


@dataclass(frozen=True)
class Graded:
    status: Status
    answer: str | None
    score: float
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    fault: Fault | None = None
    """In what way an answer that was stated is wrong, where its test tells several apart."""
    segment: Segment | None = None
    """Where the answer stood."""


_REFUSAL = re.compile(
    r"(?:(?:(?:i'm |i am )?(?:so |very |truly )?sorry|i apologi[sz]e|unfortunately|but|as an ai\b[^.,\n]{0,60})"
    r"[\s,.!]{0,3})*+"
    r"i(?: can(?:no|')t|(?:'m| am) (?:unable|not able) to| won't| will not| must| have to)(?: be able to)?"
    r"(?:[.!\s]*\Z|\s(?:decline|refuse|help|assist|comply|fulfil|provide|continue|engage|participate|support"
    r"|do (?:that|this|so)|(?:run|execute)\b))",
    re.IGNORECASE,
)
"""A model that declines. Wonder ('I can't believe ...') and giving up ('I'm unable to determine ...') are not it."""


def declines(text: str) -> bool:
    return _REFUSAL.match(text.replace("’", "'")) is not None


def grade(task: "Task", question: Question[Any], reply: str, status: Status = "ok") -> Graded:
    """Grade a reply. `status` is what is known of it already: 'ok' if nothing is, or why it is not a plain reply.

    A truncated reply is graded too, for comparison with published scores, but it counts 0 in the headline: what it
    would have said is not known. What never became a reply has no published score either.
    """
    if status not in ATTEMPTED:
        return Graded(status, None, 0.0, dict.fromkeys(task.paper_scores("", question), 0.0))
    stated = read(task, question, reply)
    scores = task.paper_scores(reply, question)
    if stated is None:
        refused = status == "ok" and declines(spoken(reply).strip())
        return Graded("refused" if refused else "unparsed" if status == "ok" else status, None, 0.0, scores)
    answer = stated.answer
    score = task.score(answer, question) if status == "ok" else 0.0
    return Graded(status, task.write(answer), score, scores, task.error_type(answer, question), stated.segment)


def read(task: "Task", question: Question[Any], reply: str) -> Stated | None:
    """The answer that a reply states: on the line that was asked for, or else anywhere. None if it states none.

    A line that was asked for and says no answer states none, whatever was said before it; and so do two of them, one
    beside the other, that say different things.
    """
    if task.verbatim:
        return _whole(task, question, reply)
    for said_back in task.not_answers(question):
        reply = reply.replace(said_back, " ")
    return next(filter(None, (_stated(task, question, text) for text in heard(reply, question.ask))), None)


def _whole(task: "Task", question: Question[Any], text: str) -> Stated | None:
    answer = task.parse(text, question)
    return None if answer is None else Stated(answer, "the reply")


def _stated(task: "Task", question: Question[Any], text: str) -> Stated | None:
    own = own_line(text)
    if own is None or not own.says:
        return _whole(task, question, text)
    answer = task.parse(own.segment, question)
    if answer is None or any(task.parse(line, question) not in (None, answer) for line in own.before):
        return None
    return Stated(answer, "its line")


def trivial(task: "Task", question: Question[Any], prompt: str | None = None) -> Mapping[str, Mapping[str, float]]:
    """What those score who do not do the task, by the name of their reply: sound and published, graded like any.

    Such a reply may be a whole context, or the prompt where it is given: this costs about as much as making it.
    """
    said = {**task.trivial_baselines(question), **({"the prompt said back": prompt} if prompt is not None else {})}
    replies = {name: grade(task, question, reply) for name, reply in said.items()}
    return {name: {SOUND: graded.score, **graded.scores} for name, graded in replies.items()}

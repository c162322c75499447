"""Grading: from a reply to its status, answer and scores, for live runs, stored runs and replies from elsewhere."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from carrara.answers.extraction import Extraction, Rule, behind_label
from carrara.answers.impossible import extract_impossible
from carrara.answers.reply_text import without_reasoning
from carrara.answers.status import ATTEMPTED, OWN_SCORE, Status
from carrara.answers.turn_trace import TurnTrace
from carrara.task.suite import SuiteTask
from carrara.types import ErrorType, Question


@dataclass(frozen=True)
class Grade:
    """The grade of a reply: its status, its score, and the answer that was read.

    Examples:
        >>> import carrara
        >>> grade = carrara.item("qa1").grade("Turtles are nice.")
        >>> grade.status, grade.score, grade.answer
        ('unparsed', 0.0, None)
    """

    status: Status
    """`ok`, or why there is no answer to score: `unparsed`, `refused`, …"""
    answer: str | None
    """The answer that was read, written like the perfect reply. None if none was read."""
    score: float
    """The score, from 0 to 1."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """The scores of the same reply by the papers' scorers, by name."""
    error_type: ErrorType | None = None
    """The type of a wrong answer, if its task distinguishes types."""
    rule: Rule | None = None
    """The rule by which the answer was read, such as `answer line`. None if none was read."""
    turns: Sequence[TurnTrace] = ()
    """What the reply of each turn of a conversation is worth, if its task has curves by turn."""


_REFUSAL = re.compile(
    r"(?:(?:(?:i'm |i am )?(?:so |very |truly )?sorry|i apologi[sz]e|unfortunately|but|as an ai\b[^.,\n]{0,60})"
    r"[\s,.!]{0,3})*"
    r"i(?: can(?:no|')t|(?:'m| am) (?:unable|not able) to| won't| will not| must| have to)(?: be able to)?"
    r"(?:[.!\s]*\Z|\s(?:decline|refuse|help|assist|comply|fulfil|provide|continue|engage|participate|support"
    r"|do (?:that|this|so)|(?:run|execute)\b))",
    re.IGNORECASE,
)
"""A pattern of refusals. Surprise ('I can't believe ...') and giving up ('I'm unable to determine ...') are none."""


NOT_POSSIBLE = ErrorType("not a possible answer")


def declines(text: str) -> bool:
    return _REFUSAL.match(text.replace("’", "'")) is not None


def grade(task: SuiteTask, question: Question[Any], reply: str, status: Status = "ok") -> Grade:
    """Grade a reply. `status` is 'ok', or the known reason why it is not a plain reply.

    A truncated reply is graded too, for comparison with published scores, but our score is 0, because its end is
    unknown. A request without a reply has no paper score either.
    """
    if status not in ATTEMPTED:
        return Grade(status, None, 0.0, dict.fromkeys(task.paper_scores("", question), 0.0))
    statement = task.read(reply, question)
    graded = _grade_statement(task, question, reply, status, statement)
    turns = tuple(task.turn_traces(statement, question))
    return replace(graded, turns=turns) if turns else graded


def _grade_statement(
    task: SuiteTask, question: Question[Any], reply: str, status: Status, statement: Extraction | None
) -> Grade:
    scores = task.paper_scores(reply, question)
    if statement is None and status == "ok":
        return _grade_without_answer(task, question, reply, scores)
    if statement is None:
        return Grade(status, None, 0.0, scores)
    answer = statement.answer
    score = task.score(answer, question) if status == "ok" else 0.0
    return Grade(status, task.write(answer), score, scores, task.error_type(answer, question), statement.rule)


def _grade_without_answer(task: SuiteTask, question: Question[Any], reply: str, scores: Mapping[str, float]) -> Grade:
    """Grade a reply in which no possible answer was found: what it states instead is a wrong answer."""
    text = without_reasoning(reply).strip()
    if not text:
        return Grade("empty", None, 0.0, scores)
    if declines(text) or declines(behind_label(text)):
        return Grade("refused", None, 0.0, scores)
    if stated := read_impossible(task, reply, question):
        return Grade("ok", stated.answer, 0.0, scores, NOT_POSSIBLE, stated.rule)
    return Grade("unparsed", None, 0.0, scores)


def read_impossible(task: SuiteTask, reply: str, question: Question[Any]) -> Extraction | None:
    """Return the text that a reply states as its answer, where no possible answer was found in it.

    None if the reply states no answer, or leaves several open.
    """
    label = f"{task.answer.label_of(question)}:"
    rules = [text.partition(label)[2] for part, text in task.wording.items() if not part.startswith("example")]
    return extract_impossible(task.answer, reply, question, task.not_answers(question), rules)


def trivial(task: SuiteTask, question: Question[Any], prompt: str | None = None) -> Mapping[str, Mapping[str, float]]:
    """Return the scores of trivial replies by name: ours and the papers', graded like any reply.

    Such a reply may be a whole context or prompt. Grading it costs about as much as making it.
    """
    replies_by_name = {
        **task.trivial_baselines(question),
        **({"the prompt said back": prompt} if prompt is not None else {}),
    }
    grades = {name: grade(task, question, reply) for name, reply in replies_by_name.items()}
    return {name: {OWN_SCORE: graded.score, **graded.scores} for name, graded in grades.items()}

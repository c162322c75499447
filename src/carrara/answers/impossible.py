"""Answers that are not possible: what a reply states in place of one of the possible answers.

A model that writes `FINAL ANSWER: 12` where a place is requested has answered, and is wrong. A reply that states
nothing clearly, such as `unknown`, several values or a sentence, has no answer.

>>> from carrara.answers import Choice
>>> where = Question("Where is Mary?", "garden", (), 0.0, options=("garden", "kitchen"))
>>> extract_impossible(Choice(), "FINAL ANSWER: 12", where, (), ())
Extraction(answer='12', rule='answer line')
>>> extract_impossible(Choice(), "FINAL ANSWER: not 12", where, (), ())
"""

import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Any

from carrara.answers.cues import NOT_AN_ANSWER, behind_hesitation, denies, is_about_another, is_vague
from carrara.answers.extraction import (
    BOX,
    Extraction,
    Rule,
    announcements,
    answer_line,
    candidates,
    statement,
    without_rule,
)
from carrara.answers.number_words import in_digits
from carrara.answers.reply_text import BLANK_LINE, plain
from carrara.types import Question

if TYPE_CHECKING:
    from carrara.answers.types import AnswerType

_LONGEST_VALUE = 1000
"""The most characters of a text that is read as a value that is none of the possible ones."""
_MOST_WORDS = 5
"""The most words of a value on the answer line that is none of the possible ones. A longer text may be anything."""
_FEW_WORDS = 3
"""The most words of such a value elsewhere in a reply."""
_BETWEEN = re.compile(r"[,;|/\n]| (?:and|or|&) ", re.IGNORECASE)
_PARTS = re.compile(r"[,;:\n\[\]]")
_CLAIM = re.compile(r"^.{1,60}?\b(?:is|was|are|were) (?=\w)", re.IGNORECASE)
_SPEAKS = re.compile(
    r"\b(?:i|i'm|we|you|he|she|it|they|is|are|was|were|be|has|have|had|does|did|will|can|sorry|please|unable"
    r"|many|several|few|some|no|none|nothing|nobody|idea|insufficient|information|error|unsure|uncertain"
    r"|undetermined|unspecified|undefined|n/a|tbd)\b",
    re.IGNORECASE,
)
"""Words of a text that is no value: it makes a statement, says something vague, or gives up."""
_VERDICTS = frozenset(("yes", "no", "true", "false"))
_ANY_VALUE = re.compile(r"[\w .,;'\[\]/|&-]*+")
_ANY_WORD = re.compile(r"\w+(?:[.'-]\w+)*")
_DIGITS = re.compile(r"\d+")


def extract_impossible(
    kind: "AnswerType[Any]", reply: str, question: Question[Any], ignore: Iterable[str], rules: Iterable[str]
) -> Extraction | None:
    """Return the text that a reply states as its answer, if it is none of the possible answers.

    Args:
        kind: The answer type.
        reply: The reply, as it came.
        question: The question.
        ignore: Parts of the prompt that state no answer when a reply repeats them.
        rules: What the prompt says of the text after the label. A reply that repeats these words states nothing.

    Returns:
        The text and the rule that found it. None if the reply states nothing, several things, or a possible answer.
    """
    if kind.verbatim:
        return None
    ignored = list(ignore)
    text = statement(reply, ignored)
    line = answer_line(text, kind.label_of(question), kind.several_lines)
    if line is not None:
        places: dict[Rule, list[str]] = {"answer line": [line]}
    else:
        text = behind_hesitation(text, kind.says_no).strip()
        places = {"boxed": BOX.findall(text), "announced": announcements(text, kind.several_lines), "alone": [text]}
    known = NOT_AN_ANSWER.union(_words(" ".join(rules)))
    for rule, texts in places.items():
        values = {value for text in texts if (value := _impossible_value(kind, text, rule, question, known))}
        if values:
            is_possible = any(answers for _, answers in candidates(kind, reply, question, ignored))
            return None if is_possible or len(values) > 1 else Extraction(values.pop(), rule)
    return None


def _words(text: str) -> set[str]:
    return {*_ANY_WORD.findall(text.casefold())}


def _form(text: str) -> tuple[bool, bool]:
    """Return whether a text has letters, and digits."""
    return any(map(str.isalpha, text)), any(map(str.isdigit, text))


def _is_prose(kind: "AnswerType[Any]", text: str, question: Question[Any]) -> bool:
    """Return whether a text is about a word of the question, or is one where a verdict is requested."""
    words = _words(text) - NOT_AN_ANSWER
    question_words = words & _words(question.ask)
    return bool(question_words) and (kind.says_no or question_words < words)


def _impossible_value(kind: "AnswerType[Any]", text: str, rule: Rule, question: Question[Any], known: Set[str]) -> str:
    """Return the value that a text is, or the values of an answer with several. Empty if it states none clearly.

    Args:
        kind: The answer type.
        text: A text without a possible answer.
        rule: The rule by which the text states an answer.
        question: The question.
        known: Words that are no value.
    """
    text = BLANK_LINE.split(text.strip(), maxsplit=1)[0]
    if len(text) > _LONGEST_VALUE:
        return ""
    text = (without_rule(text) or plain(text)).strip(" .!()\"'\n")
    if not _ANY_VALUE.fullmatch(text) or (_DIGITS.search(text) and not text.isascii()):
        return ""
    if is_line := rule == "answer line":
        text = text if is_about_another(text, question) else _CLAIM.sub("", text)
    elif (rule == "alone" and _form(text) != _form(kind.write(question.gold))) or _is_prose(kind, text, question):
        return ""
    parts = _BETWEEN.split(text) if kind.several_lines else [text]
    most = _MOST_WORDS if is_line else _FEW_WORDS
    if any(not 0 < len(_ANY_WORD.findall(part)) <= most or _BETWEEN.search(part) for part in parts):
        return ""
    if text.casefold() in _VERDICTS:
        return text
    if denies(text) or is_vague(text) or _SPEAKS.search(text):
        return ""
    digits = in_digits(text)
    words = {*_words(digits), *_DIGITS.findall(digits)} - known
    possible = [part for answer in (kind.write(question.gold), *question.options) for part in _PARTS.split(answer)]
    may_be_possible = any(value <= words or words <= value for part in possible if (value := _words(part) - known))
    return text if words and not may_be_possible else ""

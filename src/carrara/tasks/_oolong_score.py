"""The scores of Oolong, restated from its evaluation code (`src/eval/eval_helpers.py`) with its errors.

Dates are read in the forms below. Oolong uses dateutil, which reads these as the same days, and others too.
"""

import re
from ast import literal_eval
from collections.abc import Sequence
from datetime import date, datetime
from itertools import pairwise

from carrara.tasks.table_files import is_text

SHORT = 20
"""The characters below which a reply without a colon is an answer as a whole."""
COMPARISONS = ("more common", "less common", "same frequency")
NUMERIC, DATE = "ANSWER_TYPE.NUMERIC", "ANSWER_TYPE.DATE"
_DATE_FORMS = ("%m/%d/%Y", "%m-%d-%Y", "%Y-%m-%d", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %d %Y")
_GOLD_DATE = "[datetime.date(%Y, %m, %d)]"
_TEXT_BOX, _BOX = re.compile(r"\\boxed\{\\text\{"), re.compile(r"\\boxed\{+")


def score_synth(reply: str, gold: object, answer_type: str) -> float:
    """Return the score of Oolong-synth.

    >>> score_synth("Answer: 7", 5, NUMERIC), score_synth("Date: 03/05/2024", date(2024, 3, 5), DATE)
    (0.5625, 1.0)
    """
    answer = read_synth(reply)
    if answer == str(gold):
        return 1.0
    if answer in COMPARISONS:
        return float(answer in str(gold))
    if answer_type == NUMERIC:
        return score_number(answer, gold)
    return float(answer_type == DATE and read_date(answer) == gold)


def score_number(answer: str, gold: object) -> float:
    """Return 0.75 to the power of the distance; 0 for what is no number."""
    try:
        return float(0.75 ** abs(int(str(gold)) - int(answer)))
    except (ValueError, OverflowError):
        return 0.0


def read_synth(reply: str) -> str:
    """Return what follows the last colon, without stars and brackets; else a short reply, or its last word.

    If a longer text has a comparison, only the comparison counts.
    """
    if ":" not in reply:
        return reply if len(reply) < SHORT else (reply.split() or [""])[-1]
    answer = reply.split(":")[-1].strip().translate(str.maketrans("", "", "*[]"))
    if len(answer) < SHORT:
        return answer
    return next((phrase for phrase in COMPARISONS if phrase in answer), answer)


def score_real(reply: str, gold: str) -> float:
    """Return the score of Oolong-real, which reads the first box, and listed names however many others are listed.

    >>> score_real(r"\\boxed{a, b, c, d}", "a, b"), score_real(r"\\boxed{7}", "5"), score_real("7", "7")
    (1.0, 0.5625, 0.0)
    """
    box = read_box(reply)
    answer = reply if box is None else split_real(box)
    right = split_real(gold)
    match right, answer:
        case int(), int():
            return score_number(str(answer), right)
        case str(), str():
            return float(right.strip().lower() == answer.strip().lower())
        case list(), list():
            return len({*right}.intersection(answer)) / len(right) if right else 0.0
        case _:
            return 0.0


def read_box(reply: str) -> str | None:
    """Return the text of the first box: of one with `\\text`, if there is any. A box ends at the first brace.

    >>> read_box(r"\\boxed{7} or \\boxed{\\text{Fire Bolt}}"), read_box(r"\\boxed{{7}}"), read_box(r"\\boxed{7")
    ('Fire Bolt', '7', None)
    """
    *parts, _ = reply.split("}")
    for part, after in pairwise(parts):
        if not after and (box := _TEXT_BOX.search(part)):
            return part[box.end() :]
    return next((part[box.end() :] for part in parts if (box := _BOX.search(part))), None)


def split_real(text: str) -> int | str | list[str]:
    """Return a number, the parts between commas, or the text.

    >>> split_real("12"), split_real("Fire Bolt, Hex"), split_real("Hex")
    (12, ['Fire Bolt', 'Hex'], 'Hex')
    """
    try:
        return int(text)
    except ValueError:
        return [part.strip() for part in text.split(",") if part.strip()] if "," in text else text


def read_date(text: str) -> date | None:
    """
    >>> read_date("March 5, 2024"), read_date("5")
    (datetime.date(2024, 3, 5), None)
    """
    for form in _DATE_FORMS:
        try:
            return datetime.strptime(text.strip().rstrip("."), form).date()
        except ValueError:
            continue
    return None


def read_gold(text: str) -> Sequence[object]:
    """Return the values of a gold answer, of which Oolong accepts the first. Raise ValueError if it is none.

    >>> read_gold("['ham']"), read_gold("[datetime.date(2024, 3, 5)]")
    (['ham'], [datetime.date(2024, 3, 5)])
    """
    if "datetime" in text:
        return [datetime.strptime(text, _GOLD_DATE).date()]
    try:
        values = literal_eval(text)
    except (SyntaxError, RecursionError, MemoryError, TypeError):
        raise ValueError(text) from None
    if not isinstance(values, list) or not values or not all(isinstance(v, int) or is_text(v) for v in values):
        raise ValueError(text)
    return values

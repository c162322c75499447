"""The line that prompts ask for, and how a reply's answer line is found.

Prompts in our own words ask for one line that all tasks share; a prompt for a base model ends with its beginning.
SYNC keeps the labels of its paper.

>>> asks_for("that number")
'Reply with one line and nothing else: FINAL ANSWER: followed by that number.'
>>> answer_line("It is 4, I think.\\n\\nFinal answer: 5\\nBye.")
' 5'
"""

import re
from collections import deque
from functools import cache

from carrara.answers.cues import denies
from carrara.answers.strip_reasoning import without_reasoning

LABEL = "FINAL ANSWER"
FINAL = f"{LABEL}:"
_SAYS = re.compile(r"\w|\[\s?\]")
_MOST = 20
"""Announcements that are looked at, from the last one on."""
_ANNOUNCED = re.compile(
    r"(?:^|(?<=[.!?] ))[^\w\n]{0,9}(?:[\w']+ ){0,2}?"
    r"(?:answer|response|reply|output|result|solution|conclusion|ai|assistant)\b[*_\"'` \])=]{0,4}:"
    r"|\b(?:answer|output|result) (?:is|must be)\b:?"
    r"|(?:^|(?<=[.!?] ))(?:and )?(?:so|therefore|thus|hence|consequently|in conclusion|in summary)\b[,:]?",
    re.IGNORECASE | re.MULTILINE,
)
_FAR = 200
"""Characters before an announcement that may deny it."""
_END = re.compile(r"(?<=[.!?;])\s|\n|\Z")


def asks_for(what: str) -> str:
    """Return the sentence of a prompt that asks for an answer and nothing else."""
    return f"Reply with one line and nothing else: {FINAL} followed by {what}."


def behind_label(reply: str) -> str:
    """Return what stands on the answer line and below it; the whole reply where it has no such line."""
    text = without_reasoning(reply)
    start = _last(text, LABEL)
    return text[start:].strip() if start is not None and _SAYS.search(text, start) else reply


def answer_line(text: str, label: str = LABEL, several_lines: bool = False) -> str | None:
    """Return what stands behind the last label of a text: the rest of its line, or the next line. None without one.

    Args:
        text: What a reply says.
        label: What the line begins with, without its colon.
        several_lines: Whether the answer may go on over the next lines: then the whole rest is returned.
    """
    start = _last(text, label)
    return None if start is None else _behind(text, start, several_lines)


def announced(text: str, several_lines: bool = False) -> list[str]:
    """Return what stands behind words that announce an answer, such as `Answer:` or `Therefore`."""
    found = [one for one in _ANNOUNCED.finditer(text) if not denies(_sentence_before(text, one.start()))]
    parts = [_behind(text, one.end(), several_lines) for one in found[-_MOST:]]
    return parts if several_lines else [_END.split(part.strip(), maxsplit=1)[0] for part in parts]


def _sentence_before(text: str, end: int) -> str:
    start = max(text.rfind(sign, max(0, end - _FAR), end) for sign in "\n.!?")
    return text[max(start, end - _FAR, 0) : end]


def _last(text: str, label: str) -> int | None:
    """Return where the last label of a text ends."""
    last = deque(_pattern(label).finditer(text), maxlen=1)
    return last[0].end() if last else None


@cache
def _pattern(label: str) -> re.Pattern[str]:
    words = "|".join(one.replace(" ", "[ _]") for one in dict.fromkeys((label, LABEL)))
    return re.compile(
        rf"(?:^[^\w\n]{{0,9}}(?:(?:so|therefore|thus|hence|and|my|the|your)\b,? ){{0,3}}|(?<=[.!?>:] )[*_]{{0,3}})"
        rf"(?:{words})\b[*_\"'` ]{{0,4}}(?:[:：=]| is\b:?|$)",
        re.IGNORECASE | re.MULTILINE,
    )


def _behind(text: str, start: int, several_lines: bool) -> str:
    says = _SAYS.search(text, start)
    if several_lines or says is None:
        return text[start:]
    end = text.find("\n", says.start())
    return text[start : len(text) if end < 0 else end].strip("\n")

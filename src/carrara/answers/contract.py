"""The line that an answer is asked for in, and read from before all else.

Prompts in our own words ask for one line that all tests share, so that nobody has to guess where a reply has its
answer; a prompt for a base model ends with the line's beginning. A paper's own form stays where it is the point
(docs/fidelity.md).

>>> asks_for("that number")
'Reply with one line and nothing else: FINAL ANSWER: followed by that number.'
>>> own_line("It is 4, I think.\\n\\n**Final answer:** 5\\n").segment
'Final answer:** 5\\n'
"""

import re
from typing import NamedTuple

from carrara.answers.evidence import SO
from carrara.answers.turns import spoken

FINAL = "FINAL ANSWER:"

_LABEL = re.compile(
    rf"(?:^[^\w\n]{{0,9}}|(?<=[.!?>] )[*_]{{0,3}})(?:(?:{SO}|and|my|the)\b,? ){{0,3}}"
    r"(?P<label>final[ _]answer\b(?:[*_\"'` ]{0,4}(?:[:：=]| is\b:?)|[*_ ]{0,4}$))",
    re.IGNORECASE | re.MULTILINE,
)
_BULLETED = re.compile(r"\A(?P<label>[^\n]{0,40}?[:=])[ *_]{0,4}(?P<first>[-*•+] [^\n]*\n\s{0,3}[-*•+] )")
"""A list that begins on the line of its label."""
_SAYS = re.compile(r"\w")
_FEW = 200
"""Labels that are looked at, from the last one on."""


def asks_for(what: str) -> str:
    """How a prompt asks for an answer and nothing else."""
    return f"Reply with one line and nothing else: {FINAL} followed by {what}."


def behind_label(reply: str) -> str:
    """What stands on that line and below it, as the reader of another form has it; or the reply."""
    own = own_line(spoken(reply))
    return own.behind.strip() if own and own.says else reply


class OwnLine(NamedTuple):
    """The part of a reply that begins with the line that was asked for."""

    segment: str
    before: tuple[str, ...]
    """What the same words say right before: one line each, so that they stand side by side."""

    @property
    def says(self) -> bool:
        return _SAYS.search(self.behind) is not None

    @property
    def behind(self) -> str:
        """What stands behind the label."""
        label = _LABEL.match(self.segment)
        return self.segment[label.end() :] if label else self.segment


def own_line(text: str) -> OwnLine | None:
    """What a text says from the last such line on; None if it has none."""
    labels = list(_LABEL.finditer(text))[-_FEW:]
    if not labels:
        return None
    *others, last = labels
    before, end = list[str](), last.start()
    for label in reversed(others):
        segment = text[label.start("label") : end].strip()
        if len(segment.splitlines()) > 1:
            break
        before.append(segment)
        end = label.start()
    return OwnLine(_BULLETED.sub("\\g<label>\n\\g<first>", text[last.start("label") :]), tuple(before))

"""Reading the answer out of a reply.

Replies are untrusted: they may be a million characters long, hold markup, name every option, or go on with an example
of their own. Nothing here is evaluated, every pattern is linear, and at most one answer comes out.
"""

import re
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>")
_BOXED = re.compile(r"\\boxed\s*\{([^{}\n]{0,10000})\}")
_MARKS = re.compile(r"\*\*|__|`+|\$+|^\s*(?:>\s|#+\s|[-*]\s)")
_MARKER = re.compile(
    r"\b(?:outputs?|answer|result|prints|shows|returns)\b(?:\s+(?:is|are|be))?\s*(?:[:=]|\bis\b|$)", re.I
)
_LONGEST_LINE = 20_000


def spoken(reply: str) -> str:
    """The reply without its thinking. Thinking that never ends leaves nothing said.

    >>> spoken("<think>is it 3? no</think>It is 4.")
    'It is 4.'
    """
    if "</think" in reply.lower() and "<think" not in reply.lower():  # a template may open the thinking in the prompt
        return re.split(r"</think(?:ing)?>", reply, flags=re.IGNORECASE)[-1]
    return _THINKING.sub("", reply)


def plain(line: str) -> str:
    """A line without emphasis, code marks and tags.

    >>> plain("- **Output:** `[1, 2]`")
    'Output: [1, 2]'
    """
    return _MARKS.sub("", _TAG.sub("", _BOXED.sub(r"\1", line))).strip()


def stated(reply: str, read: Callable[[str], T | None], find: Callable[[str], list[T]]) -> T | None:
    """The one answer that a reply states; None if it states none, or several without saying which.

    `read` takes a text that is nothing but an answer, `find` all answers inside a text. In order of weight: what
    follows the last marker ('Output:', 'the answer is'), a first or last line that is nothing but an answer, the only
    answer anywhere.
    """
    lines = [plain(line) for line in spoken(reply).splitlines() if line.strip() and len(line) < _LONGEST_LINE]
    lines = [line for line in lines if line]
    for i in range(len(lines) - 1, -1, -1):
        marked = None
        for marked in _MARKER.finditer(lines[i]):  # noqa: B007  # the last one counts
            pass
        if marked is None:
            continue
        rest = lines[i][marked.end() :].strip()
        if not rest and i + 1 < len(lines):
            rest = lines[i + 1]
        answers = find(rest)
        if (whole := read(_bare(rest))) is not None:
            return whole
        if len(set(map(repr, answers))) == 1:
            return answers[0]
        if answers:
            return None
    for line in (lines[:1], lines[-1:]):
        if line and (whole := read(_bare(line[0]))) is not None:
            return whole
    answers = [answer for line in lines for answer in find(line)]
    return answers[0] if len(set(map(repr, answers))) == 1 else None


def _bare(text: str) -> str:
    return text.strip().rstrip(".").strip("\"' ")


def first_turn(reply: str, stop: re.Pattern[str]) -> str:
    """The reply up to where a model that completes text starts the next example of its own."""
    found = stop.search(reply)
    return reply[: found.start()] if found and reply[: found.start()].strip() else reply

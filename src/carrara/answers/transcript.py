"""Transcripts: the replies of a model in a conversation as one text, which is scored and logged like any other reply.

Each reply begins on a line of its own with its number, and its further lines are indented:

>>> print(join_replies(["FINAL ANSWER: 12", "12 + 7 = 19\\n[2] FINAL ANSWER: 19"]))
[1] FINAL ANSWER: 12
[2] 12 + 7 = 19
    [2] FINAL ANSWER: 19
"""

import re
from collections.abc import Iterable

INDENT = "\n    "
_NUMBER = re.compile(r"^\[([1-9][0-9]{0,5})\](?: |$)", re.MULTILINE)


def join_replies(replies: Iterable[str]) -> str:
    """Return the transcript of replies.

    Args:
        replies: The replies of a conversation, in order. One that is missing is empty.

    Returns:
        The transcript, from which `split_replies` gets the replies back, without blanks around them.

    Examples:
        >>> join_replies(["12", "19"])
        '[1] 12\\n[2] 19'
    """
    indented = (reply.strip().replace("\n", INDENT) for reply in replies)
    return "\n".join(f"[{n}] {reply}" for n, reply in enumerate(indented, 1))


def split_replies(transcript: str) -> list[str]:
    """Return the replies of a transcript.

    Args:
        transcript: The text. One that does not begin with `[1]` is one reply.

    Returns:
        The replies, in order. A number that is not the next one belongs to the reply in which it stands.

    Examples:
        >>> split_replies("[1] 12\\n[2] 7 + 12\\n    = 19"), split_replies("12")
        (['12', '7 + 12\\n= 19'], ['12'])
    """
    text, numbers = transcript.strip(), list[re.Match[str]]()
    for match in _NUMBER.finditer(text):
        if int(match[1]) == len(numbers) + 1:
            numbers.append(match)
    if not numbers or numbers[0].start():
        return [text]
    ends = [*(match.start() for match in numbers[1:]), len(text)]
    parts = (text[match.end() : end] for match, end in zip(numbers, ends, strict=True))
    return [part.strip().replace(INDENT, "\n") for part in parts]

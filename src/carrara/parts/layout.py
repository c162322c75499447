"""How contexts of words are laid out, and read again: lists, pairs, and lines behind a label."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from carrara.answers.numerals import ORDINALS
from carrara.core.types import Message, Piece, Role, Undecidable

OPEN, INSTRUCT = "Context:", "Instruction:"
"""By what a context and what is asked of it are found."""

_USER: Role = "user"
_piece: Callable[[tuple[str, Role, int, None]], Piece] = partial(tuple.__new__, Piece)
"""A piece of what it has, without the Python by which a named tuple is called."""
_QUOTED = re.compile(r'"([^"\n]*)"')
_ORDINAL = re.compile(r"([0-9]{1,9})(?:st|nd|rd|th)")
_LABELLED = re.compile(r"^(\w+ \w+): (.+)$", re.MULTILINE)


def split_prompt(messages: Sequence[Message]) -> tuple[str, str]:
    """The context of a prompt, and what is asked of it."""
    _, found, rest = messages[-1].content.partition(OPEN)
    context, also, asked = rest.rpartition(INSTRUCT)
    if not (found and also):
        raise Undecidable("no context was found")
    return context.strip(), asked.strip()


def quoted(asked: str, least: int = 1) -> list[str]:
    """The words that a question quotes. A form of words, with a colon in it, is not what it asks about.

    >>> quoted('The context has pairs, such as "word: partner". Is "oak" before "elm"?', 2)
    ['oak', 'elm']
    """
    words = [word for word in _QUOTED.findall(asked) if ":" not in word]
    if len(words) < least:
        raise Undecidable("the question does not quote what it asks about")
    return words


def items_of(context: str) -> list[str]:
    """
    >>> items_of("oak, elm, ash")
    ['oak', 'elm', 'ash']
    """
    return context.split(", ") if context else []


def pair(key: str, value: str) -> str:
    return f"{key}: {value}"


def pairs_of(context: str) -> dict[str, str]:
    """
    >>> pairs_of("oak: elm, ash: yew")
    {'oak': 'elm', 'ash': 'yew'}
    """
    return {key: value for item in items_of(context) for key, _, value in [item.partition(": ")]}


def line(label: str, words: Sequence[str]) -> str:
    return f"{label}: {', '.join(words)}"


def lines_of(context: str) -> list[tuple[str, list[str]]]:
    """
    >>> lines_of("List 1: oak, elm\\nList 2: ash")
    [('List 1', ['oak', 'elm']), ('List 2', ['ash'])]
    """
    return [(label, items_of(words)) for label, words in _LABELLED.findall(context)]


def placed(words: Sequence[str], word: str, share: float) -> list[str]:
    """Words with one more among them, at a share of the way."""
    at = min(len(words), int(share * (len(words) + 1)))
    return [*words[:at], word, *words[at:]]


def ordinal(n: int) -> str:
    """
    >>> ordinal(2), ordinal(11), ordinal(22)
    ('second', '11th', '22nd')
    """
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def read_ordinal(text: str) -> int:
    """
    >>> read_ordinal("second"), read_ordinal("22nd")
    (2, 22)
    """
    if text in ORDINALS:
        return ORDINALS.index(text) + 1
    if found := _ORDINAL.fullmatch(text):
        return int(found[1])
    raise Undecidable(f"{text} is no ordinal")

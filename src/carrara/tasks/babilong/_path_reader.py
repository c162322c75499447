"""Ways of two steps (task 19), as letters or in words.

>>> path("First go south to the kitchen, then west."), path("s, w"), path("The kitchen is south of the garden.")
('s,w', 's,w', None)
"""

import re
from collections.abc import Iterator, Sequence

from carrara.answers.layout import tidy
from carrara.answers.reading import Found, affirmed, agreed, beside, said

_STEP = re.compile(
    r"(?:\b(?P<before>twice|(?:two|2) (?:steps|times))(?: to the)? )?"
    r"(?:(?<![\w-])(?P<way>north|south|east|west)(?:wards?)?(?!-?\w)|(?<!\w)(?<!\w['’])(?<!\w\w-)(?P<letter>[nsew])(?!['’]?\w|-\w\w))"
    r"(?!\s+(?:of|side)\b)"
    r"(?: (?P<after>twice|(?:two|2) (?:steps|times)))?",
    re.IGNORECASE,
)
_ON = re.compile(
    r"(?:[\u2190-\u21ff\u2b00-\u2bff\ufe0f]|[\s,;.>→⇒➔&+/|\"'’“”\[\]()*$`-]"
    r"|\b(?:to|from|at|in|into|reach(?:ing)?|via|through|towards?|until)(?: the)? "
    r"(?!the\b|north|south|east|west)[a-z]+"
    r"(?: (?!(?:and|then|to|from|at|in|into|until|via|through|is|you)\b|north|south|east|west)[a-z]+)?"
    r"|\b(?:and|then|next|after|that|followed|by|go|goes|going|head|heading|move|moving|walk|walking|travel|take|turn"
    r"|continue|finally|first|second|again|you|i|we|need|should|have|will|would|can|must|one|steps?|directions?|to|the"
    r"|there|here|it|which|arriv(?:e|ing)|once|(?:step )?[12][.):])(?!\w)){0,40}+",
    re.IGNORECASE,
)
_FAR = 100


def path(text: str) -> str | None:
    """The way that a text states, however many steps it has."""
    return agreed(said(tidy(text), _read_whole, _find, otherwise=_last))


def _find(text: str) -> Iterator[Found[str]]:
    """Steps that follow each other with nothing between but `then go …`."""
    way: list[str] = []
    start = end = 0
    for match in _STEP.finditer(text):
        near = match.start() - end <= _FAR and _ON.fullmatch(text, end, match.start())
        if way and not near:
            yield Found(start, end, ",".join(way))
            way = []
        start, end = start if way else match.start(), match.end()
        letter = (match["way"] or match["letter"])[0].lower()
        way += [letter, letter] if match["before"] or match["after"] else [letter]
    if way:
        yield Found(start, end, ",".join(way))


def _read_whole(text: str) -> str | None:
    found = next(_find(text), None)
    if found and "," in found.answer and _ON.fullmatch(text, 0, found.start) and _ON.fullmatch(text, found.end):
        return found.answer
    return None


def _last(text: str) -> Sequence[str]:
    """The last way of more than a step; single directions tell where things lie."""
    ways = [found for found in affirmed(text, _find) if "," in found.answer]
    if len(ways) > 1 and beside(text, ways[-2], ways[-1]):
        return [way.answer for way in ways[-2:]]
    return [way.answer for way in ways[-1:]]

"""Sentence patterns that are written from and read by the same line of text.

`{who} (got|took) the {thing}[ there].` has slots in braces, alternatives in parentheses and an optional end in
brackets. One template gives both directions, so that a sentence that can be written can be read.

>>> form = Form("{who} (got|took) the {thing}[ there].", lambda slots: slots["thing"])
>>> form.write(Dice("an example"), who="Mary", thing="green apple")
'Mary took the green apple there.'
>>> form.read("John got the football.")
'football'
>>> form.read("He got the football.") is None
True
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Generic, TypeVar

from carrara.core.keys import Dice

T = TypeVar("T")

_WORD = r"[^\W\d_][\w'’-]*"
# A capital letter does not make a name at the start of a sentence: these are the words that stand there in novels.
_NO_NAME = (
    r"(?!(?:He|She|It|They|We|I|You|One|Who|What|There|Here|This|That|These|Those|The|A|An|And|But|Or|So|Then|Now"
    r"|My|His|Her|Its|Our|Your|Their|Everyone|Everybody|Nobody|Someone|Somebody|Something|Nothing|Everything|All|Both"
    r"|Afterwards|Yesterday)\b)"
)
_NAME = rf"{_NO_NAME}[^\W\d_a-z][\w'’-]*(?: [^\W\d_a-z][\w'’-]*)?"
# Phrases are short and lazy: "the milk there" is milk, and a match costs at most a handful of steps.
_PHRASE = rf"{_WORD}(?: {_WORD}){{0,2}}?"
_SLOTS = {
    "who": _NAME,
    "also": _NAME,
    "to": _NAME,
    "any": rf"{_WORD}(?: {_WORD})?",  # a name in small letters
    "pronoun": "he|she|they",
    "when": "yesterday|this morning|this afternoon|this evening",
    "When": "Yesterday|This morning|This afternoon|This evening",
    "compass": "north|south|east|west",
    "side": "above|below|to the left of|to the right of",
    "kind": _WORD,
    "Kind": _WORD,
    "quality": _WORD,
}
_PARTS = re.compile(r"\{(?P<slot>\w+)\}|\((?P<choice>[^)]*)\)|\[(?P<maybe>[^\]]*)\]|(?P<text>[^{(\[]+)")


class Form(Generic[T]):
    """One template, and what a sentence of its form means."""

    def __init__(self, template: str, meaning: Callable[[Mapping[str, str]], T]) -> None:
        self._parts = [(match.lastgroup or "", match[match.lastgroup or 0]) for match in _PARTS.finditer(template)]
        self._choices = [part.split("|") if kind == "choice" else [] for kind, part in self._parts]
        self._meaning = meaning

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("".join(_regex(kind, part) for kind, part in self._parts))

    def write(self, dice: Dice, maybe: float = 1.0, **slots: str) -> str:
        """A sentence: alternatives uniformly, the optional part with the given probability."""
        out: list[str] = []
        for (kind, part), options in zip(self._parts, self._choices, strict=True):
            if kind == "text":
                out.append(part)
            elif kind == "slot":
                out.append(slots[part])
            elif kind == "choice":
                out.append(dice.choice(options))
            elif maybe == 1.0 or dice.chance(maybe):
                out.append(part)
        return "".join(out)

    def read(self, sentence: str) -> T | None:
        match = self._pattern.fullmatch(sentence)
        return None if match is None else self._meaning(match.groupdict())


def _regex(kind: str, part: str) -> str:
    match kind:
        case "slot":
            return f"(?P<{part}>{_SLOTS.get(part, _PHRASE)})"
        case "choice":
            return f"(?:{'|'.join(re.escape(option) for option in part.split('|'))})"
        case "maybe":
            return f"(?:{re.escape(part)})?"
        case _:
            return re.escape(part)

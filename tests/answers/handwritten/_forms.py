"""How an answer may be written otherwise. One that is a list is told by its commas or its lines."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_PLURALS = {"wolf": "wolves", "mouse": "mice", "sheep": "sheep"}


def parts(text: str) -> Sequence[str]:
    inner = text.strip("[]")
    return inner.split("\n") if "\n" in inner else re.split(r",\s*", inner)


def _each(form: Callable[[int, str], str], separator: str) -> Callable[[str], str]:
    return lambda text: separator.join(form(n, part) for n, part in enumerate(parts(text), 1))


def _and(text: str) -> str:
    *first, last = parts(text)
    return f"{', '.join(first)} and {last}" if first else last


FORMS: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": lambda text: text[:1].upper() + text[1:],
    "plural": lambda text: _PLURALS.get(text, f"{text}s"),
    # numbers
    "thousands": lambda text: f"{int(text):,}",
    "minus": lambda text: text.replace("-", "\N{MINUS SIGN}"),
    "dash": lambda text: text.replace("-", "\N{EN DASH}"),
    "digits": lambda text: text.lstrip("-"),
    "spaced": lambda text: text.replace("-", "- "),
    "word": lambda text: _SMALL[int(text)],
    "more": lambda text: str(int(text) + 1),
    "less": lambda text: str(int(text) - 1),
    # a piece of writing behind its string
    "marker": lambda text: text.partition(" ")[0],
    "draft": lambda text: text.partition(" ")[2],
    "half": lambda text: text[: len(text) // 2],
    # lists
    "bullets": _each(lambda _, part: f"- {part}", "\n"),
    "stars": _each(lambda _, part: f"* **{part}**", "\n"),
    "numbered": _each(lambda n, part: f"{n}. {part}", "\n"),
    "lines": _each(lambda _, part: part, "\n"),
    "tight": _each(lambda _, part: part, ","),
    "semicolons": _each(lambda _, part: part, "; "),
    "blanks": _each(lambda _, part: part, " "),
    "arrows": _each(lambda _, part: part, " → "),
    "hyphens": _each(lambda _, part: part, " -> "),
    "quoted": _each(lambda _, part: f'"{part}"', ", "),
    "ticks": _each(lambda _, part: f"`{part}`", ", "),
    "json": lambda text: json.dumps(parts(text)),
    "and": _and,
    "reversed": lambda text: ", ".join(parts(text)[::-1]),
    "rotated": lambda text: ", ".join([*parts(text)[1:], parts(text)[0]]),
    "short": lambda text: ", ".join(parts(text)[:-1]),
}

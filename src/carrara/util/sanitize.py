r"""Make text from untrusted sources safe to show.

Replies of models may contain anything: markup, control characters, bidirectional overrides, a million characters.
Templates escape markup. This module shows invisible characters and cuts long text.

>>> visible("safe \u202egnp.exe\x00")
'safe ⟦U+202E⟧gnp.exe␀'
>>> clip("a" * 12, 10)
'aaaaaaaaaa… 2 more characters'
"""

import re
import unicodedata
from collections.abc import Iterable

_SUSPECT = re.compile(r"[^\n\t\x20-\x7e\xa1-\xac\xae-\u024f\u0370-\u0482\u048a-\u058f\u3040-\u9fff\uac00-\ud7a3]")
"""A pattern of characters outside the common scripts. Only these are looked up one by one."""
_MARKS = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3})[\u0300-\u036f"
    r"\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
"""The number of combining marks on one letter that no script exceeds. Stacked marks would cover other lines."""


def visible(text: str) -> str:
    """Return the text with a visible sign for each control, format and bidi character, line separator and surrogate."""
    text = _SUSPECT.sub(lambda match: _show(match[0]), text.replace("\r\n", "\n"))
    return _MARKS.sub(r"\1⟦marks⟧", text)


def _show(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    nothing = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code < 0xFDF0  # code points that Unicode leaves unassigned
    if nothing or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"⟦U+{code:04X}⟧"
    return character


def clip(text: str, limit: int) -> str:
    """Return the first characters, and the number of the others."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… {len(text) - limit:,} more characters"


def short(text: str, limit: int = 80) -> str:
    """Return a name on one line, cut at its end."""
    line = " ".join(visible(text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def both_ends(text: str, limit: int) -> str:
    """Return a name on one line, cut in its middle, because similar names often differ only at their ends."""
    line = " ".join(visible(text if len(text) <= limit * 8 else text[: limit * 4] + text[-limit * 4 :]).split())
    end = limit // 2
    return line if len(line) <= limit else f"{line[: limit - 1 - end]}…{line[len(line) - end :]}"


def distinct(names: Iterable[str], limit: int = 80) -> dict[str, str]:
    """Return a short name for each name. Names that are equal after cutting are numbered.

    >>> list(distinct(["plain", "model (temperature=0)", "model (temperature=1)"], 15).values())
    ['plain', 'model (…ture=0)', 'model (…ture=1)']
    >>> list(distinct(["model (a lot, and more)", "model (a bit, and more)"], 15).values())
    ['model… more) #1', 'model… more) #2']
    """
    by_short_name: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        by_short_name.setdefault(both_ends(name, limit), []).append(name)
    shown: dict[str, str] = {}
    for cut, originals in by_short_name.items():
        for n, name in enumerate(originals, 1):
            mark = f" #{n}"
            shown[name] = cut if len(originals) == 1 else both_ends(name, limit - len(mark)) + mark
    return shown

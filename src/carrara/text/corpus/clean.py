"""Text as people keep it, made text as a corpus keeps it: UTF-8, `\\n` line ends, nothing invisible.

White space inside sentences is brought to single spaces later (sentences.py); here only what would otherwise be taken
for text is removed: escape sequences of terminals, control characters, byte-order marks, soft hyphens, spaces of no
width, marks of direction, tags and other signs that nobody sees, private signs that mean nothing elsewhere. They are
removed and not left out with their sentence, because what remains is what somebody reads there.
"""

import re
from typing import NamedTuple

from carrara.core.errors import UsageError

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LINE_ENDS = ("\r\n", "\r", "\x85", "\u2028")
_ESCAPED = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]"  # colours, places: `ESC [31m`
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\n\x07\x1b\x90-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[()*+][0-9A-B]"  # sets of characters
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ue000-\uf8ff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff]"
)
"""Not the joiners (200c, 200d) and the variants (fe00 …), without which some scripts and emoji read otherwise."""
_JOINERS = re.compile("[\u200c\u200d]{4,}")
"""So many that they do not join, but say something of their own."""
_RARE = re.compile("[^\x00-\ufdff\ufe10-\uffff]")
"""What nothing hidden is without; most texts have none of it."""
_HIDDEN = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"  # of Wales
    "|[\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U0010ffff]"
    f"|[{''.join(chr(plane << 16 | last) for plane in range(1, 16) for last in (0xFFFE, 0xFFFF))}]"
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)
"""Tags, which say a whole text unseen but in the flags of countries, and variants of variants, which can too."""
_GUTENBERG = re.compile(r"\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG[^*]{0,400}\*{3}[^\n]*")
_GUTENBERG_END = re.compile(
    r"\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG|^End of (?:the |this )?Project Gutenberg", re.M
)


class Clean(NamedTuple):
    text: str
    removed: int
    """Signs and escape sequences, without a byte-order mark at the beginning, which is no part of any text."""


def decode(data: bytes, where: str, offset: int = 0) -> str:
    """UTF-8, or an error that says which byte of what is not; `offset` is where the data begin there."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        likely = "UTF-16" if data[:2] in _UTF_16 else "WINDOWS-1252"
        raise UsageError(
            f"{where} is not UTF-8: byte {offset + error.start} is 0x{data[error.start]:02x}; "
            f"convert it, for example with `iconv -f {likely} -t UTF-8`"
        ) from None


def clean(text: str) -> Clean:
    """
    >>> clean("\\ufeffA \\x1b[1mline\\r\\nand an\\x00other\\x0c\\rthird")
    Clean(text='A line\\nand another\\x0c\\nthird', removed=2)
    """
    text = text.removeprefix("\ufeff")
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    text = text.replace("\u2029", "\n\n")
    escaped = invisible = joiners = 0
    if _INVISIBLE.search(text):
        text, escaped = _ESCAPED.subn("", text)
        text, invisible = _INVISIBLE.subn("", text)
    if "\u200c" in text or "\u200d" in text:
        text, joiners = _JOINERS.subn("", text)
    before = len(text)
    if _RARE.search(text):
        text = _HIDDEN.sub(lambda found: found["flag"] or "", text)
    return Clean(text, escaped + invisible + joiners + before - len(text))


def without_gutenberg(text: str) -> str:
    """A clean text without what Project Gutenberg puts before and after a book, where it has that."""
    start = _GUTENBERG.search(text)
    end = _GUTENBERG_END.search(text, start.end() if start else 0)
    return text[start.end() if start else 0 : end.start() if end else len(text)]

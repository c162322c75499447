"""Text as people keep it, made text as a corpus keeps it: UTF-8, `\\n` line ends, nothing invisible.

White space inside sentences is brought to single spaces later (sentences.py); here only what would otherwise be taken
for text is removed: byte-order marks, control characters, soft hyphens, spaces of no width, marks of direction.
"""

import re

from carrara.errors import UsageError

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LINE_ENDS = ("\r\n", "\r", "\x85", "\u2028")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
"""Not the joiners (200c, 200d), without which some scripts read otherwise."""
_GUTENBERG = re.compile(r"\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG[^*]{0,400}\*{3}[^\n]*")
_GUTENBERG_END = re.compile(
    r"\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG|^End of (?:the |this )?Project Gutenberg", re.M
)


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


def clean(text: str) -> str:
    """
    >>> clean("\\ufeffA line\\r\\nand an\\x00other\\x0c\\rthird")
    'A line\\nand another\\x0c\\nthird'
    """
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    text = text.replace("\u2029", "\n\n")
    return _INVISIBLE.sub("", text)


def without_gutenberg(text: str) -> str:
    """A clean text without what Project Gutenberg puts before and after a book, where it has that."""
    start = _GUTENBERG.search(text)
    end = _GUTENBERG_END.search(text, start.end() if start else 0)
    return text[start.end() if start else 0 : end.start() if end else len(text)]

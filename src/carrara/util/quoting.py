r"""Quote text for the languages of files and commands: a shell, JSON, YAML, TOML, Python and Markdown.

>>> shell_word("runs/my model"), shell_word("a\nb")
("'runs/my model'", "$'a\\nb'")
>>> quoted('a "b"\n\x9b')
'"a \\"b\\"\\n\\u009b"'
>>> markdown("a <b>\n# c")
'a \\<b\\> \\# c'
"""

import json
import re
import shlex
from typing import Any

from carrara.util.errors import UsageError

_MARKUP = re.compile(r"[\\`*\[\]<>&|#~!]|(?<![^\W_])_|_(?![^\W_])")


def shell_word(text: object) -> str:
    """Return a text as one word of a POSIX shell, on one line."""
    word = str(text)
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_in_dollar_quotes, word.encode(errors="surrogateescape").decode("latin-1"))) + "'"


def _in_dollar_quotes(byte: str) -> str:
    known = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "'": r"\'", "\\": r"\\"}
    return known.get(byte) or (byte if " " <= byte <= "~" else f"\\x{ord(byte):02x}")


def quoted(value: Any, indent: int | None = None) -> str:
    """Return JSON in printable characters. Its texts and lists are also those of YAML, TOML and Python."""
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(c if c.isprintable() or c == "\n" or c > "\uffff" else f"\\u{ord(c):04x}" for c in written)


def markdown(text: str) -> str:
    """Return a text as one line of Markdown without markup."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return _MARKUP.sub(r"\\\g<0>", " ".join(line.split()))


def check_word(name: str, text: str, meaning: str) -> str:
    """Return a text that is written into a file of another program, or raise `UsageError`."""
    if not text.isprintable() or not text.strip():
        raise UsageError(f"`{name}={text!r}` is no {meaning}: give one line of printable characters")
    return text

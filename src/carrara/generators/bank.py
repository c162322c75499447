"""Banks: writings from a file instead of the built-in generator, such as those that a model has written.

    {"format": "poem", "topic": "penguins", "text": "Ode to …"}          a line each, perhaps with style and mood

`carrara corpus write` makes such files. The nested JSON that MRCR v2 publishes (format, topic, style, seed → text) is
read as it is. A bank is kept by the hash of what it says, so that an item's id tells which writings it was made of.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from carrara.answers.reply_text import without_reasoning
from carrara.corpora.sentences import has_marker
from carrara.generators.forms import DraftKey
from carrara.util.cache import cache_file, cache_folder
from carrara.util.errors import UsageError
from carrara.util.files import DATA, content

BUILT_IN = "built-in"
FIELDS = ("format", "topic", "style", "mood", "text")
_SPEAKERS = ("User:", "Model:", "=====")
"""A pattern of lines that a writing must not have, because they begin the turns of a conversation in text form."""

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e001f]")
"""A pattern of escapes and overrides, which no text needs. A space of no width may be in any text."""

Row = tuple[str, Any]
"""The position of an entry for messages, and the entry as it was found."""


@dataclass(frozen=True, eq=False)
class Bank:
    hash: str
    entries: tuple[tuple[DraftKey, str], ...]


def bank_name(text: str) -> str:
    """Return the name of a bank in an id.

    >>> bank_name("built-in")
    'built-in'
    """
    return text if text == BUILT_IN else bank(text).hash


def bank(name: str) -> Bank:
    """Return the bank of a file, or of a hash that is known on this machine."""
    path = Path(name).expanduser()
    if not os.path.exists(path):
        if os.path.isfile(_place(name)):
            return _read_stored(name, str(_place(name)))
        raise UsageError(
            f"there is no file of writings {name!r}, and no bank of this hash was used here before: "
            f"`carrara corpus write` makes one, and {BUILT_IN} needs none"
        )
    rows = [[*key, text] for key, text in entries(path)]
    if not rows:
        raise UsageError(f"the writings {path} are empty: give a line for each, as docs/guides/draft-writings.md shows")
    data = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    hash = blake2b(data, digest_size=8).hexdigest()
    if not _place(hash).is_file():
        with cache_file(_place(hash)) as file:
            file.write(data)
    return _read_stored(hash, str(_place(hash)))


def entries(path: Path) -> list[tuple[DraftKey, str]]:
    """Return the entries of a file, in its order."""
    try:
        file_text = content(path, DATA).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UsageError as error:
        raise UsageError(f"the writings {error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"the writings {path} cannot be read: {error}") from None
    known: dict[str, str] = {}
    drafts = []
    for where, row in _nested_rows(path, file_text) if path.suffix == ".json" else _lines(path, file_text):
        key, text = _entry(row, where)
        if known.setdefault(gist(text), where) != where:
            raise UsageError(
                f"{where} repeats {known[gist(text)]}: a conversation has no writing twice; remove one of them"
            )
        drafts.append((key, text))
    return drafts


def flaw(text: str) -> str | None:
    """Return why a text cannot be a draft in a conversation, or nothing. `it` names the text in the message.

    >>> flaw("Snow on the wing."), flaw("Snow.\\nUser: more"), flaw("<think>Snow?</think>Ice.")
    (None, "it has a line that begins like a turn of a conversation ('User: more')", "it has marks of a model's turns")
    """
    if not any(sign.isalnum() for sign in text):
        return "it has no word"
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        return "it has half a character (a lone surrogate)"
    if strange := next((line for line in text.splitlines() if line.startswith(_SPEAKERS)), None):
        return f"it has a line that begins like a turn of a conversation ({strange[:20]!r})"
    if (
        without_reasoning(text) != text
    ):  # such as <think> and <|im_end|>: a reply that repeats it word for word could not be read
        return "it has marks of a model's turns"
    if has_marker(text):
        return "it has a chat marker, such as <|im_start|> or [INST]"
    if control := _CONTROL.search(text):
        return f"it has a control character ({control[0]!a})"
    return None


def tidy(text: str) -> str:
    """Return a text as drafts are stored: with one kind of line end, and without white space around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def gist(text: str) -> str:
    """Return a key that is equal for texts that differ only in spaces and capitals.

    A conversation has only one of them.
    """
    return " ".join(text.split()).casefold()


@lru_cache(maxsize=8)
def _read_stored(hash: str, place: str) -> Bank:
    rows = [json.loads(line) for line in Path(place).read_text("utf-8").split("\n")]
    return Bank(hash, tuple((DraftKey(*row[:-1]), row[-1]) for row in rows))


def _place(hash: str) -> Path:
    return cache_folder("banks") / f"{hash}.jsonl"


def _lines(path: Path, content: str) -> Iterator[Row]:
    # Not `splitlines`, which ends a line at characters such as U+2028 too: JSON contains them unescaped.
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            where = f"{path}, line {number},"
            try:
                yield where, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{where} is not JSON: {error}") from None


def _nested_rows(path: Path, content: str) -> Iterator[Row]:
    def items_of(level: Any, where: str, expected: str) -> Iterator[tuple[str, Any]]:
        if not isinstance(level, dict):
            raise UsageError(f"{where} is not an object with {expected}: a bank of lines is called .jsonl")
        yield from level.items()

    try:
        formats = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON of formats, topics, styles and seeds: {error}") from None
    for form, topics in items_of(formats, f"{path}", "formats"):
        for topic, styles in items_of(topics, f"{path}, {form},", "topics"):
            for style, drafts in items_of(styles, f"{path}, {form} / {topic},", "styles"):
                for seed, text in items_of(drafts, f"{path}, {form} / {topic} / {style},", "seeds"):
                    where = f"{path}, {form} / {topic} / {style} / {seed},"
                    yield where, {"format": form, "topic": topic, "style": style, "text": text}


def _entry(row: Any, where: str) -> tuple[DraftKey, str]:
    if not isinstance(row, dict):
        raise UsageError(f"{where} is not an object with format, topic and text")
    values = {field: row.get(field) for field in FIELDS}
    for field, value in values.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{where} has a {field} that is no text but {json.dumps(value)[:40]}: mend it")
    *parts, text = (tidy(value or "") for value in values.values())
    key = DraftKey(*parts)
    if missing := [
        field for field, value in (("format", key.format), ("topic", key.topic), ("text", text)) if not value
    ]:
        raise UsageError(f"{where} has no {missing[0]}: fill it in, or remove the entry")
    if broken := next((part for part in parts if "\n" in part), None):
        raise UsageError(f"{where} has a name of more than one line ({broken[:20]!r}): mend it")
    if wrong := flaw(text):
        raise UsageError(f"{where} cannot be part of a conversation: {wrong}; mend it, or remove the entry")
    return key, text

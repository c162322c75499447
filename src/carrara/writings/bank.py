"""Banks: writings from a file instead of the built-in writer, such as those that a model has written.

    {"format": "poem", "topic": "penguins", "text": "Ode to …"}          a line each, perhaps with style and mood

`carrara write` makes such files. The nested JSON that MRCR v2 publishes (format, topic, style, seed → text) is read as
it is. A bank is kept by the hash of what it says, so that an item's id tells which writings it was made of.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from carrara.corpus import cache
from carrara.errors import UsageError
from carrara.writings.writer import Key

BUILT_IN = "built-in"
_SPEAKERS = ("User:", "Model:", "=====")
"""How no line of a writing may begin, for these mark the turns of a conversation that is told as one text."""


@dataclass(frozen=True)
class Bank:
    hash: str
    entries: tuple[tuple[Key, str], ...]

    @cached_property
    def writings(self) -> Mapping[Key, tuple[str, ...]]:
        """By key, in the order of the file."""
        found: dict[Key, list[str]] = {}
        for key, text in self.entries:
            found.setdefault(key, []).append(text)
        return {key: tuple(texts) for key, texts in found.items()}


def named(text: str) -> str:
    """How a bank is written in an id.

    >>> named("built-in")
    'built-in'
    """
    return text if text == BUILT_IN else bank(text).hash


def bank(name: str) -> Bank:
    """The bank of a file, or of a hash that was met before."""
    path = Path(name).expanduser()
    if not path.exists():
        if _place(name).is_file():
            return _kept(name, str(_place(name)))
        raise UsageError(f"there is no file of writings {name!r}: `carrara write` makes one, and {BUILT_IN} needs none")
    rows = [[*key, text] for key, text in _entries(path)]
    data = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    hash = blake2b(data, digest_size=8).hexdigest()
    with cache.whole_file(_place(hash)) as file:
        file.write(data)
    return _kept(hash, str(_place(hash)))


@lru_cache(maxsize=8)
def _kept(hash: str, place: str) -> Bank:
    rows = [json.loads(line) for line in Path(place).read_text("utf-8").splitlines()]
    return Bank(hash, tuple((Key(*row[:-1]), row[-1]) for row in rows))


def _place(hash: str) -> Path:
    return cache.folder("banks") / f"{hash}.jsonl"


def _entries(path: Path) -> Iterator[tuple[Key, str]]:
    try:
        content = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the writings {path} cannot be read: {error}") from None
    rows = _nested(path, content) if path.suffix == ".json" else _lines(path, content)
    known: dict[str, str] = {}
    for where, row in rows:
        key, text = _entry(row, where)
        if known.setdefault(text, where) != where:
            raise UsageError(f"{where} repeats {known[text]}: a conversation has no writing twice; remove one of them")
        yield key, text
    if not known:
        raise UsageError(f"the writings {path} are empty: give a line for each, as docs/writings.md shows")


def _lines(path: Path, content: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            where = f"{path}, line {number},"
            try:
                yield where, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{where} is not JSON: {error}") from None


def _nested(path: Path, content: str) -> Iterator[tuple[str, Any]]:
    try:
        formats = json.loads(content)
        for form, topics in formats.items():
            for topic, styles in topics.items():
                for style, drafts in styles.items():
                    for seed, text in drafts.items():
                        where = f"{path}, {form} / {topic} / {style} / {seed},"
                        yield where, {"format": form, "topic": topic, "style": style, "text": text}
    except (ValueError, RecursionError, AttributeError) as error:
        raise UsageError(f"{path} is not JSON of formats, topics, styles and seeds: {error}") from None


def _entry(row: Any, where: str) -> tuple[Key, str]:
    fields = ("format", "topic", "style", "mood", "text")
    if not isinstance(row, dict):
        raise UsageError(f"{where} is not an object with format, topic and text")
    values = [row.get(field) or "" for field in fields]
    if not all(isinstance(value, str) for value in values):
        raise UsageError(f"{where} has something else than a text among its {', '.join(fields)}")
    form, topic, style, mood, text = (value.strip() for value in values)
    if not form or not topic or not text:
        raise UsageError(f"{where} has no {'format' if not form else 'topic' if not topic else 'text'}: fill it in")
    if strange := next((line for line in text.splitlines() if line.startswith(_SPEAKERS)), None):
        raise UsageError(f"{where} has a line that begins like a turn of a conversation ({strange[:20]!r}): mend it")
    return Key(form, topic, style, mood), text

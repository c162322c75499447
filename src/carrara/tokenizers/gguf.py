"""Models in local GGUF files, `carrara/gguf:PATH`: the metadata of a file, the model's name, identity and tokenizer.

    carrara/gguf:/models/q.gguf                          on the command line
    carrara/gguf:Qwen2.5 0.5B Instruct@3f2a91b0c4d1e5f6  in logs: the file's own name, and a digest of its content
    carrara/gguf:Qwen2.5 0.5B Instruct                   in tables and reports
    gguf:sha256-3f2a91b0c4d1e5f6                         its tokenizer, in the ids of items

No name holds a path, so a run goes on after the file was moved. The cache keeps a copy of the file's header, with its
vocabulary and chat template: items render again without the file.

A file begins with its metadata, keys and values; the weights are not read. The layout (all little-endian) is: `GGUF`,
version, number of tensors, number of keys; then for each key its name, the type of its value, and the value. A string
is its length and its bytes; an array is the type of its elements, their number, and the elements. An array of arrays is
refused, as llama.cpp does. Lengths and numbers in a file are checked before anything is allocated for them.
"""

import mmap
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from typing import Any, TypeAlias

from carrara.util.cache import cache_folder
from carrara.util.errors import UsageError
from carrara.util.files import atomic_path

Scalar: TypeAlias = int | float | bool | str
Value: TypeAlias = Scalar | list[Scalar]

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

MOST_VALUES = 1 << 22
"""The most values in the metadata of a file. The largest vocabularies with merges and scores have 1.5 million."""
MOST_BYTES = 1 << 28
"""The most bytes of the metadata of a file."""

PREFIX = "carrara/gguf:"
_KNOWN = re.compile(r"(?P<name>.*)@(?P<digest>[0-9a-f]{16})", re.DOTALL)
_TOKENIZER = re.compile(r"sha256-(?P<digest>[0-9a-f]{16})")


@dataclass(frozen=True)
class GgufModel:
    """The metadata of a GGUF file about its model."""

    path: Path
    """The file, or the copy of its header."""
    name: str
    """The value of `general.name`, or else the name of the file."""
    digest: str
    """The beginning of the SHA-256 of the file's content."""
    keys: Mapping[str, Value]

    @property
    def full_name(self) -> str:
        """The name in logs without `carrara/`, which differs for two files."""
        return f"gguf:{self.name}@{self.digest}"

    @property
    def tokenizer(self) -> str:
        return f"gguf:sha256-{self.digest}"

    @property
    def has_template(self) -> bool:
        return isinstance(self.keys.get("tokenizer.chat_template"), str)

    @property
    def context_length(self) -> int | None:
        """The tokens that the model was trained for, if the file names them."""
        found = self.keys.get(f"{self.keys.get('general.architecture')}.context_length")
        return found if isinstance(found, int) else None


def gguf_model(model: str) -> GgufModel | None:
    """Return the model in a file from `carrara/gguf:PATH` or a name in a log; None for any other model.

    Raises:
        UsageError: The file is missing, is damaged, or holds no model that writes text.
    """
    if not model.startswith(PREFIX):
        return None
    place = model.removeprefix(PREFIX)
    path = Path(place).expanduser()
    if not place:
        raise UsageError(f"{model} names no file: write {PREFIX}PATH")
    if not path.exists() and (known := _KNOWN.fullmatch(place)):
        digest = known["digest"]
        header = _header(digest)
        return GgufModel(header, known["name"], digest, metadata(header))
    keys = metadata(path)
    _check(path, keys)
    stat = path.stat()
    digest = _digest(path.resolve(), stat.st_size, stat.st_mtime_ns)
    if not (copy := _place(digest)).is_file():
        with atomic_path(copy) as partial:
            partial.write_bytes(header_bytes(path))
    return GgufModel(path, _name(keys, path), digest, keys)


def logged_name(model: str) -> str:
    """Return the name of a model in logs. A local file has a full name; other models keep theirs."""
    file = gguf_model(model)
    return f"carrara/{file.full_name}" if file else model


def split_digest(model: str) -> tuple[str, str]:
    """Split a model's name in a log into the name to show and the digest of its file, if it is a local file.

    >>> split_digest("carrara/gguf:Qwen2.5 0.5B Instruct@3f2a91b0c4d1e5f6")
    ('carrara/gguf:Qwen2.5 0.5B Instruct', '3f2a91b0c4d1e5f6')
    >>> split_digest("openai/gpt-4o")
    ('openai/gpt-4o', '')
    """
    known = _KNOWN.fullmatch(model) if model.startswith(PREFIX) else None
    return (known["name"], known["digest"]) if known else (model, "")


def tokenizer_file(place: str) -> Path:
    """Return the file with the vocabulary of a tokenizer `gguf:PLACE`."""
    known = _TOKENIZER.fullmatch(place)
    return _header(known["digest"]) if known else Path(place).expanduser()


def _place(digest: str) -> Path:
    return cache_folder("gguf") / f"{digest}.gguf"


def _header(digest: str) -> Path:
    path = _place(digest)
    if not path.is_file():
        raise UsageError(
            f"the GGUF file whose SHA-256 begins with {digest} is not known on this machine: name it once, "
            f"`carrara plan TEST --model {PREFIX}PATH`"
        )
    return path


@lru_cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:16]


def _name(keys: Mapping[str, Value], path: Path) -> str:
    """Return the name as one line of printable characters.

    It has no slashes, which separate the parts of models' names.
    """
    given = keys.get("general.name")
    name = "".join(c if c.isprintable() else " " for c in given) if isinstance(given, str) else ""
    return " ".join(name.replace("/", "-").split())[:80].strip() or path.stem


def _check(path: Path, keys: Mapping[str, Value]) -> None:
    architecture = str(keys.get("general.architecture") or "")
    pooling = keys.get(f"{architecture}.pooling_type", 0)
    if "bert" in architecture or pooling or keys.get(f"{architecture}.attention.causal") is False:
        raise UsageError(f"{path} is an embedding model ({architecture}), which writes no text: name a language model")
    if "tokenizer.ggml.tokens" not in keys:
        raise UsageError(f"{path} has no tokenizer.ggml.tokens, so no tokenizer: name the model's first GGUF file")


def metadata(path: Path) -> Mapping[str, Value]:
    """Return every key of a GGUF file with its value."""
    return _read(path)[0]


def header_bytes(path: Path) -> bytes:
    """Return the beginning of a GGUF file up to the end of its metadata, which is a GGUF file without tensors."""
    end = _read(path)[1]
    with path.open("rb") as file:
        return file.read(end)


def _read(path: Path) -> tuple[Mapping[str, Value], int]:
    """Return the metadata of a GGUF file, and the position of its end."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}: name a GGUF file")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file: it does not begin with 'GGUF'")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            reader = _Reader(data)
            try:
                return reader.keys(), reader.at
            except (struct.error, _DamagedFileError) as error:
                raise UsageError(f"the GGUF file {path} is damaged or cut short: fetch it again ({error})") from error


class _DamagedFileError(Exception):
    """Raised for values in a file that are impossible."""


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 4
        self.left = MOST_VALUES

    def keys(self) -> dict[str, Value]:
        version, _tensors, keys = self.numbers("IQQ")
        if version not in (2, 3):
            raise _DamagedFileError(f"it is of version {version}, and versions 2 and 3 are read, little-endian")
        self._take(keys)
        return {self.string(): self.value() for _ in range(keys)}

    def numbers(self, layout: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{layout}", self.data, self.at)
        self.at += struct.calcsize(f"<{layout}")
        if self.at > MOST_BYTES:
            raise _DamagedFileError(f"its metadata has more than {MOST_BYTES:,} bytes")
        return found

    def string(self) -> str:
        length = self.numbers("Q")[0]
        if self.at + length > len(self.data):
            raise _DamagedFileError("a string runs past the end")
        if self.at + length > MOST_BYTES:
            raise _DamagedFileError(f"a string has {length:,} bytes, and all metadata may have {MOST_BYTES:,}")
        text = self.data[self.at : self.at + length]
        self.at += length
        # Vocabularies of some converters contain broken UTF-8 in tokens that are never used.
        return text.decode("utf-8", errors="replace")

    def value(self) -> Value:
        kind = self.numbers("I")[0]
        if kind != _ARRAY:
            return self.string() if kind == _STRING else self.numbers(self._layout(kind))[0]
        element, length = self.numbers("IQ")
        layout = "" if element == _STRING else self._layout(element)
        self._take(length)
        return list(self.numbers(f"{length}{layout}")) if layout else [self.string() for _ in range(length)]

    def _layout(self, kind: int) -> str:
        if kind == _ARRAY:
            raise _DamagedFileError("it has an array of arrays")
        if kind not in _NUMBERS:
            raise _DamagedFileError(f"it has a value of type {kind}")
        return _NUMBERS[kind]

    def _take(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise _DamagedFileError(
                f"it says that it has {values:,} values more, and all metadata may have {MOST_VALUES:,}"
            )

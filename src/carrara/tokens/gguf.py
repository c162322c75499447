"""Reads the metadata at the head of a GGUF file: keys and values, no weights.

The layout (all little-endian): `GGUF`, version, number of tensors, number of keys; then for each key its name, the type
of its value, and the value. A string is its length and its bytes; an array is the type of its elements, their number,
and the elements. An array of arrays is refused, as llama.cpp does.

Lengths and numbers in a file are checked before anything is allocated for them.
"""

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from carrara.core.errors import UsageError

Scalar: TypeAlias = int | float | bool | str
Value: TypeAlias = Scalar | list[Scalar]

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

MOST_VALUES = 1 << 22
"""Values in all the metadata of a file. The largest vocabularies with their merges and scores have 1.5 million."""
MOST_BYTES = 1 << 28
"""Bytes of all the metadata of a file."""


def metadata(path: Path) -> Mapping[str, Value]:
    """Every key of a GGUF file with its value."""
    return _read(path)[0]


def header_bytes(path: Path) -> bytes:
    """The beginning of a GGUF file up to the end of its metadata: a GGUF file itself, without tensors."""
    end = _read(path)[1]
    with path.open("rb") as file:
        return file.read(end)


def _read(path: Path) -> tuple[Mapping[str, Value], int]:
    """The metadata of a GGUF file, and the position where it ends."""
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
    """What a file says cannot be."""


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
        # Vocabularies of some converters hold broken UTF-8 in tokens that are never used.
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

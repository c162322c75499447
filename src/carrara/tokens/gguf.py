"""Reads the metadata at the head of a GGUF file: keys and values, no weights.

The layout (all little-endian): `GGUF`, version, number of tensors, number of keys; then for each key its name, the type
of its value, and the value. A string is its length and its bytes; an array is the type of its elements, their number,
and the elements.
"""

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from carrara.core.errors import UsageError

Value: TypeAlias = "int | float | bool | str | list[Value]"

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


def metadata(path: Path) -> Mapping[str, Value]:
    """Every key of a GGUF file with its value."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}: name a GGUF file")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file: it does not begin with 'GGUF'")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(data).keys()
            except (struct.error, UnicodeDecodeError, KeyError, IndexError, OverflowError) as error:
                raise UsageError(f"the GGUF file {path} is damaged or cut short: fetch it again ({error})") from error


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 4

    def keys(self) -> dict[str, Value]:
        version, _tensors, keys = self.numbers("IQQ")
        if version not in (2, 3):
            raise UsageError(f"this GGUF file is of version {version}: versions 2 and 3 are read (little-endian)")
        return {self.string(): self.value(int(self.numbers("I")[0])) for _ in range(int(keys))}

    def numbers(self, layout: str) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{layout}", self.data, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return found

    def string(self) -> str:
        length = self.numbers("Q")[0]
        if self.at + length > len(self.data):
            raise IndexError("a string runs past the end")
        text = self.data[self.at : self.at + length]
        self.at += length
        # Vocabularies of some converters hold broken UTF-8 in tokens that are never used.
        return text.decode("utf-8", errors="replace")

    def value(self, kind: int) -> Value:
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.numbers(_NUMBERS[kind])[0]
        element, length = self.numbers("IQ")
        if element in _NUMBERS:
            return list(self.numbers(f"{length}{_NUMBERS[element]}"))
        return [self.value(element) for _ in range(length)]

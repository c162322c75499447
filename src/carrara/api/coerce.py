"""What Python says to the house, in the house's words: lengths as numbers, parameters as text."""

from collections.abc import Iterable, Mapping
from os import PathLike

from carrara.core.errors import UsageError, nearest
from carrara.core.keys import SPLITS, Split
from carrara.core.lengths import read_length, read_lengths
from carrara.core.places import here
from carrara.core.types import Style
from carrara.prompt.asked import Drawn

Length = str | int
"""`4096` or `"4k"`."""
Lengths = Length | Iterable[Length]
"""Several: `"0,4k"` or `[0, "4k"]`."""
Value = str | int | float | bool | Iterable[str | int | float | bool]
"""Of a parameter. Several values are a sweep: they are dealt in turn."""
File = str | PathLike[str]

STYLES: tuple[Style, ...] = ("chat", "base")


def length_of(given: Length) -> int:
    return read_length(str(given))


def lengths_of(given: Lengths) -> list[int]:
    """
    >>> lengths_of("0,4k"), lengths_of(4096), lengths_of([0, "1k"])
    ([0, 4096], [4096], [0, 1024])
    """
    if isinstance(given, str):
        return read_lengths(given)
    found = list(dict.fromkeys(map(length_of, [given] if isinstance(given, int) else given)))
    if not found:
        raise UsageError("no length is given; write tokens as 0, 1000, 4k (4,096) or 1M (1,048,576)")
    return found


def parameters_of(given: Mapping[str, Value]) -> dict[str, str]:
    """
    >>> parameters_of({"complexity": (1, 5), "screen": False, "view": "sum"})
    {'complexity': '1,5', 'screen': 'false', 'view': 'sum'}
    """
    return {name: _written(name, value) for name, value in given.items()}


def _written(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise UsageError(
            f"{name}={value!r} is not a parameter: give a text, a number, true or false, or several of these"
        )
    return ",".join(_written(name, one) for one in value)


def drawn_of(seed: int, split: Split, style: Style, prompts: File | None) -> Drawn:
    for name, value, known in (("split", split, SPLITS), ("style", style, STYLES)):
        if value not in known:
            raise UsageError(f"{name}={value} is not one of {', '.join(known)}{nearest(str(value), known)}")
    whole("seed", seed, 0)
    return Drawn(seed, split, style, here(prompts) if prompts else None)


def whole(name: str, value: int, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{name}={value!r} is not a whole number of at least {least}")
    return value

"""The package's own data: word lists, the built-in corpus and vocabularies, compressed, in `carrara/data/`.

`python -m tools.data` makes them from the packages that they come from; `data/NOTICE.md` says which, and under
which licences.
"""

import lzma
from importlib.resources import files


def read_packed(name: str) -> bytes:
    """Return the file as it is stored, compressed."""
    return files("carrara").joinpath("data", f"{name}.xz").read_bytes()


def data(name: str) -> bytes:
    """Return the data of a name."""
    return lzma.decompress(read_packed(name))


def lines(name: str) -> list[str]:
    """Return a text with one entry a line."""
    # Not splitlines: some entries contain characters that it takes for line ends.
    return data(name).decode().split("\n")

"""Every file of a folder, opened as far as it opens: what a search for a secret has to read."""

import gzip
import io
import lzma
import zipfile
from collections.abc import Iterator
from pathlib import Path

import inspect_ai  # noqa: F401  # registers Zstandard with zipfile, as logs need it
import zstandard

ZIP, GZIP, ZSTD, XZ = b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file, and of everything that is packed in it."""
    for path in sorted(folder.rglob("*")):
        yield str(path), b""  # names are searched too
        if path.is_symlink():
            yield f"{path} (link)", str(path.readlink()).encode()
        elif path.is_file():
            yield from _unpacked(str(path), path.read_bytes())


def _unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, content
    if content.startswith(ZIP):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                yield from _unpacked(f"{name}!{member.filename}", archive.read(member))
    elif content.startswith(GZIP):
        yield from _unpacked(f"{name}!gz", gzip.decompress(content))
    elif content.startswith(ZSTD):
        with zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True) as stream:
            yield from _unpacked(f"{name}!zst", stream.read())
    elif content.startswith(XZ):
        yield from _unpacked(f"{name}!xz", lzma.decompress(content))

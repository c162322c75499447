"""Which source a user names: a file, a folder, a column of a table, a data set of the hub, the built-in prose."""

import os
from pathlib import Path

from carrara.core.errors import UsageError
from carrara.text.corpus.sources import SOTU, BuiltIn, Source, Texts


class CorpusNotFoundError(UsageError):
    """The path leads nowhere, or no longer anywhere."""


def source(spec: str) -> Source:
    """The source that a user names."""
    if not spec.strip():
        raise UsageError("no text is named: give a file, a folder, FILE:COLUMN, hf:NAME or sotu")
    if spec == SOTU:
        return BuiltIn()
    if spec.startswith("hf:"):
        from carrara.text.corpus.hub import HubDataset

        return HubDataset.parse(spec)
    from carrara.text.corpus.tables import SUFFIXES, Table

    path = Path(spec).expanduser()
    if os.path.isdir(path):  # not the path's own methods, which fail on a name that is too long
        return Texts.of_folder(path)
    if path.suffix.lower() in SUFFIXES and os.path.exists(path):
        return Table.of(path, "")
    if os.path.exists(path):
        return Texts(str(path.absolute()), (path.absolute(),))
    place, colon, column = spec.rpartition(":")
    if colon and os.path.exists(Path(place).expanduser()):
        return Table.of(Path(place).expanduser(), column)
    raise CorpusNotFoundError(f"there is no file or folder {spec}")

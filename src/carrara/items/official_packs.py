"""Prompt packs of the papers' official wording, read from the programs of their repositories."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

from carrara.util.errors import UsageError

Paper = Literal["babilong", "minerva", "mrcr", "ruler"]
PAPERS: tuple[Paper, ...] = get_args(Paper)

_MODULES: Mapping[Paper, str] = {
    "babilong": "carrara.tasks.babilong._official",
    "minerva": "carrara.tasks.minerva._official",
    "mrcr": "carrara.tasks.michelangelo._official",
    "ruler": "carrara.tasks.classic._official",
}


def official_wording(paper: Paper, folder: Path) -> dict[str, dict[str, str]]:
    """Return the wording of each task of a paper.

    Args:
        paper: The paper.
        folder: A clone of its official repository, or the one file that is needed. Programs are read and never run.
    """
    if not folder.exists():
        raise UsageError(f"there is no folder {folder}: give a clone of the official repository")
    found: dict[str, dict[str, str]] = import_module(_MODULES[paper]).words(folder)
    for name, parts in found.items():
        for part, text in parts.items():
            _check_text(text, f"the {part!r} of {name} in {folder}")
    return found


def _check_text(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{where} has half a character, which is no text: give an unchanged clone") from None

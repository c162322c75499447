"""Words in the programs of a paper's repository. The files are read and never run."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from carrara.util.errors import UsageError
from carrara.util.files import SMALL, content

Parts = dict[str, str]
"""The parts of a task's wording."""

BRACED = re.compile(r"\{+(\w*)\}+")


def file_in(folder: Path, name: str) -> Path:
    """Return the file of this name: the given one, or the only one within the folder."""
    if folder.is_file() and folder.name == name:
        return folder
    paths = sorted(path for path in folder.rglob(name) if path.is_file())
    if len(paths) != 1:
        raise UsageError(f"{folder} has {len(paths) or 'no'} {name}: give the folder of the official repository")
    return paths[0]


def tree(path: Path) -> ast.Module:
    try:
        return ast.parse(content(path, SMALL).decode())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{path} is no program that can be read: {error}") from None


def constants(module: ast.Module) -> dict[str, object]:
    """Return the values of a module's names, if they are literals."""
    values: dict[str, object] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                values[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError, MemoryError, RecursionError):
                continue  # only running the program would give this value
    return values


def classes(module: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in module.body if isinstance(node, ast.ClassDef))


def find_assignments(inside: ast.ClassDef, attribute: str) -> Iterator[str]:
    """Yield the texts that a class assigns to one of its attributes, in order, with values in braces."""
    for node in ast.walk(inside):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
            continue
        if node.targets[0].attr == attribute and (text := _text(node.value)):
            yield text


def texts(inside: ast.AST) -> Iterator[str]:
    """Yield all texts in a piece of a program."""
    for node in ast.walk(inside):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _text(value: ast.expr) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if not isinstance(value, ast.JoinedStr):
        return ""
    return "".join(
        part.value
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
        else "{"
        + (part.value.attr if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Attribute) else "")
        + "}"
        for part in value.values
    )


def rename_fields(text: str, names: Mapping[str, str]) -> str:
    """Return a format with other names for its fields. A name with a space is inserted literally.

    >>> rename_fields("Is {query} in the {other} list?", {"query": "word", "other": " second"})
    'Is {word} in the second list?'
    """

    def rename(field: re.Match[str]) -> str:
        name = names.get(field[1], field[1])
        return name[1:] if name.startswith(" ") else "{" + name + "}"

    return BRACED.sub(rename, text)

"""Imports point one way: no circle, however late an import stands, and nothing below knows what is above it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import carrara

SOURCE = Path(carrara.__file__).parent

LAYERS = [
    # each room (a folder or a module) imports from itself and from those before it
    "_version",
    "constants",
    "util",
    "rng",
    "types",
    "splits",
    "answers",
    "tokenizers",
    "corpora",
    "generators",
    "task",
    "params",
    "tasks",
    "items",
    "options",
    "signature",
    "results",
    "recurrent",
    "verify",
    "servers",
    "readers",
    "runs",
    "report",
    "papers",
    "profiling",
    "guard",
    "export",
    "operations",
    "cli",
    "inspect_tasks",
    "_pytest",
]


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path
    return found


@cache
def imported() -> dict[str, list[str]]:
    """Return the names that each module imports anywhere, in functions and for types too."""

    def names(tree: ast.AST) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    return {name: list(names(ast.parse(path.read_text()))) for name, path in modules().items()}


@cache
def graph() -> dict[str, frozenset[str]]:
    known = modules()
    return {
        name: frozenset(
            target if target in known else target.rpartition(".")[0]
            for target in targets
            if target.split(".")[0] == "carrara"
        )
        - {name}
        for name, targets in imported().items()
    }


def test_there_is_no_circle() -> None:
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " → ".join([*way[way.index(name) :], name])
        if name not in done:
            for target in sorted(graph()[name]):
                walk(target, (*way, name))
            done.add(name)

    for name in graph():
        walk(name, ())


def test_every_folder_has_its_layer() -> None:
    top = {name.split(".")[1] for name in modules() if "." in name}
    assert top - {"__main__"} == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_nothing_knows_what_is_above_it(layer: str) -> None:
    above = LAYERS[LAYERS.index(layer) + 1 :]
    assert [
        f"{name} imports {target}"
        for name, targets in graph().items()
        for target in sorted(targets)
        if name.split(".")[1:2] == [layer] and target.split(".")[1:2] and target.split(".")[1] in above
    ] == []


def test_one_module_imports_private_names_of_inspect() -> None:
    """So that a new release of Inspect is held against one list, which says why each name is needed."""
    found = {
        name: sorted(target for target in targets if target.startswith("inspect_ai.") and "._" in target)
        for name, targets in imported().items()
    }
    own = found.pop("carrara.servers.inspect_private")
    assert {name: names for name, names in found.items() if names} == {}
    listed = (SOURCE / "servers/inspect_private.py").read_text().partition('\n"""')[0]
    assert [name for name in own if f"`{name.rpartition('.')[2]}`" not in listed] == []

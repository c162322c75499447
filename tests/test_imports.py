"""Imports point one way: no circle, however late an import stands, and nothing below knows what is above it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import carrara

SOURCE = Path(carrara.__file__).parent

LAYERS = [
    # each folder or module imports from its own and from those above it in this list
    "constants",
    "util",
    "rng",
    "types",
    "params",
    "item_id",
    "result",
    "answers",
    "tokenizers",
    "published",
    "corpora",
    "generators",
    "task",
    "tasks",
    "packing",
    "items",
    "options",
    "recurrent",
    "verify",
    "servers",
    "readers",
    "export",
    "papers",
    "stats",
    "report",
    "figures",
    "logs",
    "runs",
    "models",
    "score",
    "planning",
    "profiling",
    "guard",
    "comparison",
    "api",
    "rl",
    "cli",
]
APART = {
    # what is further down the list and still knows nothing of these
    "tokenizers": "answers",
    "recurrent": "answers tasks",
    "export": "tasks recurrent verify",
    "servers": "tasks recurrent export",
    "readers": "tasks recurrent export",
    "papers": "readers servers verify tasks recurrent export",
    "stats": "readers servers verify tasks recurrent export",
    "report": "readers servers verify tasks recurrent export",
    "figures": "readers servers verify tasks recurrent export",
    "score": "models",
}


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path
    return found


def imported(tree: ast.AST) -> Iterator[str]:
    """Names of ours that are imported anywhere, but for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "carrara":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "carrara")
        else:
            yield from imported(node)


@cache
def graph() -> dict[str, frozenset[str]]:
    known = modules()
    return {
        name: frozenset(
            target if target in known else target.rpartition(".")[0] for target in imported(ast.parse(path.read_text()))
        )
        - {name}
        for name, path in known.items()
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
    assert top - {"__main__", "_pytest", "inspect_tasks"} == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_nothing_knows_what_is_above_it(layer: str) -> None:
    above = {*LAYERS[LAYERS.index(layer) + 1 :], *APART.get(layer, "").split()}
    assert [
        f"{name} imports {target}"
        for name, targets in graph().items()
        for target in sorted(targets)
        if name.split(".")[1:2] == [layer] and target.split(".")[1:2] and target.split(".")[1] in above
    ] == []


def test_one_module_imports_private_names_of_inspect() -> None:
    """So that a new release of Inspect is held against one list, which says why each name is needed."""

    def private(tree: ast.AST) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            yield from (name for name in names if name.startswith("inspect_ai.") and "._" in name)

    found = {name: sorted(private(ast.parse(path.read_text()))) for name, path in modules().items()}
    own = found.pop("carrara.servers.inspect_private")
    assert {name: names for name, names in found.items() if names} == {}
    listed = (SOURCE / "servers/inspect_private.py").read_text().partition('\n"""')[0]
    assert [name for name in own if f"`{name.rpartition('.')[2]}`" not in listed] == []

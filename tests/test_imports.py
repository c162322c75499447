"""Imports point one way: no circle, however late an import stands, and nothing below knows what is above it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import carrara

SOURCE = Path(carrara.__file__).parent

ABOVE = {
    # who never imports whom: packages and modules by the beginning of their names
    "errors keys recipe lengths order letters types results files reserved sieve turns": "suites registry items engine",
    "grading": "suites registry items engine analysis report commands scoring models retrieval tokens corpus",
    "tokens": "suites registry items engine analysis report commands scoring models retrieval corpus grading",
    "corpus": "suites registry items engine analysis report commands scoring models retrieval grading",
    "writings.bank writings.forms writings.pen writings.source": "suites registry items engine analysis report",
    "suites": "registry items engine analysis report commands scoring models retrieval published",
    "registry": "items engine analysis report commands scoring models retrieval",
    "items weave measure prompt sizing": "engine analysis report commands scoring models retrieval",
    "retrieval": "suites registry items engine analysis report commands scoring models",
    "analysis": "engine report commands scoring models retrieval suites",
    "report": "engine scoring models retrieval suites",
    "engine": "commands report scoring",
    "models": "commands report scoring analysis",
    "scoring": "commands report models",
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


@pytest.mark.parametrize("below", ABOVE)
def test_nothing_knows_what_is_above_it(below: str) -> None:
    own = [f"carrara.{name}" for name in below.split()]
    above = [f"carrara.{name}" for name in ABOVE[below].split()]
    assert [
        f"{name} imports {target}"
        for name, targets in graph().items()
        for target in sorted(targets)
        if any(name == part or name.startswith(part + ".") for part in own)
        and any(target == part or target.startswith(part + ".") for part in above)
    ] == []

"""Measure the structure of the source: sizes, imports, and names that are participles.

    python -m benchmarks.structure [FOLDER]...        # by default src/carrara; or folders of several checkouts

- Lines of code leave out empty lines, comments and docstrings.
- Import share: lines of import statements among all lines that are not empty.
- Modules with one importer: modules of at most 40 lines that exactly one other module imports.
- Participles as names: functions and classes whose name is one word that ends like a participle (`told`, `kept`,
  `named`). Methods count too, but not properties, which read as adjectives.
"""

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

IRREGULAR = "told said kept given made found known drawn taken left seen shown met lost held sent chosen strewn"
PLACES = "beside within whole here there again still apart alone behind"
REGULAR = re.compile(r"[a-z]{2,}ed")
NO_PARTICIPLES = {"embed", "seed", "feed", "need", "speed", "shed", "bed", "red", "exceed", "proceed"}
SMALL = 40
PROPERTIES = {"property", "cached_property"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the structure of the source.")
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("src/carrara")])
    for folder in parser.parse_args().folders:
        print(f"{folder}")
        for name, value in measure(folder).items():
            print(f"  {name:<44}{value:>8}")


def measure(folder: Path) -> dict[str, str]:
    """Return the figures of a package, by name."""
    files = {module_of(path, folder): path for path in sorted(folder.rglob("*.py"))}
    texts = {name: path.read_text("utf-8") for name, path in files.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    sizes = {name: len(text.splitlines()) for name, text in texts.items()}
    written = sum(bool(line.strip()) for text in texts.values() for line in text.splitlines())
    importers = Counter(target for name, tree in trees.items() for target in imported(tree, set(files)) - {name})
    lonely = [name for name, count in importers.items() if count == 1 and 0 < sizes[name] <= SMALL]
    participles = [name for tree in trees.values() for name in names_of(tree) if is_participle(name)]
    code = sum(code_lines(tree, texts[name]) for name, tree in trees.items())
    return {
        "lines": f"{sum(sizes.values()):,}",
        "lines of code": f"{code:,}",
        "files": f"{len(files):,}",
        "median lines of a file that is not empty": f"{median(size for size in sizes.values() if size):.0f}",
        "import share": f"{sum(map(import_lines, trees.values())) / written:.1%}",
        f"modules up to {SMALL} lines with one importer": f"{len(lonely):,}",
        "participles as names": f"{len(participles):,}",
    }


def code_lines(tree: ast.AST, text: str) -> int:
    """Return the lines that are not empty, not a comment, and not part of a docstring."""
    docs: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docs.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and number not in docs for number, line in lines)


def module_of(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def imported(tree: ast.AST, known: set[str]) -> set[str]:
    """Return the modules of the package that a module imports, wherever the import stands."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & known


def import_lines(tree: ast.AST) -> int:
    lines = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            lines += (node.end_lineno or node.lineno) - node.lineno + 1
    return lines


def names_of(tree: ast.AST) -> Iterator[str]:
    """Yield the names of functions, methods and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list}
            if not decorators & PROPERTIES:
                yield node.name


def is_participle(name: str) -> bool:
    word = name.strip("_").lower()
    if word in NO_PARTICIPLES:
        return False
    return word in {*IRREGULAR.split(), *PLACES.split()} or REGULAR.fullmatch(word) is not None


if __name__ == "__main__":
    main()

"""Names of exception classes."""

import ast
import builtins
from pathlib import Path

import carrara


def test_every_exception_class_ends_in_error() -> None:
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for path in Path(carrara.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }

    def is_exception(name: str) -> bool:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            return True
        return name.endswith("Error") or any(map(is_exception, bases.get(name, ())))

    exceptions = {name for name in bases if is_exception(name)}
    assert {"CarraraError", "LengthError"} <= exceptions
    assert {name for name in exceptions if not name.endswith("Error")} == set()

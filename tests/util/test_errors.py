"""Names of exception classes."""

import ast
import builtins
from pathlib import Path

import carrara
from carrara.task import UndecidableError
from carrara.util.errors import LengthError, PluginError, RunError, UsageError


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


def test_errors_of_the_public_api_can_be_imported() -> None:
    assert issubclass(UsageError, carrara.CarraraError)
    assert issubclass(RunError, carrara.CarraraError)
    assert issubclass(LengthError, UsageError)
    assert issubclass(PluginError, RunError)
    assert not issubclass(UndecidableError, carrara.CarraraError)  # the audit catches it

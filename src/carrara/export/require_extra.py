"""The packages of the extra `rl`."""

from importlib.util import find_spec

from carrara.util.errors import UsageError


def require_package(package: str) -> None:
    """Raise `UsageError` if a package is not installed."""
    if find_spec(package) is None:
        raise UsageError(f"this needs the package {package}, which is not installed: pip install 'carrara[rl]'")

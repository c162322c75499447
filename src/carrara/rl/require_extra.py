"""The packages that the extra `rl` brings."""

from importlib.util import find_spec

from carrara.util.errors import UsageError


def needed(package: str) -> None:
    """Say what is missing, if it is."""
    if find_spec(package) is None:
        raise UsageError(f"this needs the package {package}, which is not installed: pip install 'carrara[rl]'")

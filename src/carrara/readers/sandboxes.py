"""Sandboxes of Inspect, as the readers name them: TYPE, or TYPE:FILE with the file that describes the sandbox."""

from pathlib import Path

from carrara.util.errors import UsageError


def parse_sandbox(reader: str, text: str) -> tuple[str, str]:
    """Return the type of a sandbox and its file, which may be empty.

    Raises:
        UsageError: The file is not there, or its path is relative.

    >>> parse_sandbox("repl", "docker")
    ('docker', '')
    """
    kind, _, file = text.partition(":")
    if file and not (Path(file).is_absolute() and Path(file).is_file()):
        raise UsageError(f"the reader {reader}: {file} is no absolute path of a file: give that of the sandbox's file")
    return kind, file


def check_sandbox(reader: str, kind: str) -> None:
    """Check that Inspect has a type of sandbox.

    Raises:
        UsageError: It has none of this name.
    """
    from inspect_ai.util import RegistryInfo

    from carrara.servers.inspect_private import registry_find

    def has_name(info: RegistryInfo) -> bool:
        return info.type == "sandboxenv" and info.name.split("/", 1)[-1] == kind

    if not registry_find(has_name):
        raise UsageError(
            f"the reader {reader}: Inspect has no sandbox {kind!r}: install its package, or name another one, such as "
            "sandbox=docker"
        )

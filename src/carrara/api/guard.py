"""Guards in Python."""

from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from carrara.api._signature import takes
from carrara.api.run import beside_loop
from carrara.guard import checks
from carrara.guard.config import CheckGuardConfig, MakeGuardConfig
from carrara.guard.guard_file import Guard, write


@dataclass(frozen=True, repr=False)
class Checked(checks.Checked):
    """A check. It prints as `carrara guard check` does.

    `verdict` is `fine`, `broken`, `open` (it cannot be told yet) or `unchecked` (the server did not answer; `reason`
    says why). `code` is the exit code of the command.
    """

    def __repr__(self) -> str:
        return "\n".join(checks.said(self))


@takes(MakeGuardConfig)
def make_guard(config: MakeGuardConfig) -> Guard:
    """Find items that a trusted server answers reliably, and write them to a file."""
    found = beside_loop(lambda: checks.made(config))
    write(found, config.out)
    return found


@takes(CheckGuardConfig)
def check_guard(config: CheckGuardConfig) -> Checked:
    """Ask the items of a guard again until it is known whether the server is broken."""
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        found = beside_loop(lambda: checks.checked(config, config.out or Path(aside)))
    return Checked(**{field.name: getattr(found, field.name) for field in fields(found)})

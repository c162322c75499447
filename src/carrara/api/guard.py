"""Guards in Python."""

from pathlib import Path
from tempfile import TemporaryDirectory

from carrara.api._signature import takes
from carrara.api.run import beside_loop
from carrara.guard import check, make
from carrara.guard.check_result import CheckResult
from carrara.guard.config import CheckGuardConfig, MakeGuardConfig
from carrara.guard.guard_file import Guard, write


@takes(MakeGuardConfig)
def make_guard(config: MakeGuardConfig) -> Guard:
    """Find items that a trusted server answers reliably, and write them to a file."""
    found = beside_loop(lambda: make.make_guard(config))
    write(found, config.out)
    return found


@takes(CheckGuardConfig)
def check_guard(config: CheckGuardConfig) -> CheckResult:
    """Ask the items of a guard again until it is known whether the server is broken.

    The result prints as `carrara guard check` does. Its `verdict` is `fine`, `broken`, `open` (it cannot be told yet)
    or `unchecked` (the server did not answer; `reason` says why). Its `code` is the exit code of the command.
    """
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        return beside_loop(lambda: check.check_guard(config, config.out or Path(aside)))

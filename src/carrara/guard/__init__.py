"""Check whether a server broke since it was trusted, or whether servers are the same.

from carrara import guard

guard.make("openai-api/local/m", base_url="http://127.0.0.1:8000/v1", out="guard.json")
guard.check("guard.json", base_url="http://127.0.0.1:8000/v1").verdict
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from carrara.guard.config import CheckGuardConfig, CompareServersConfig, MakeGuardConfig
from carrara.guard.guard_file import Guard, is_guard, write
from carrara.options import check_replaceable
from carrara.signature import takes, takes_several
from carrara.util.event_loop import beside_loop

if TYPE_CHECKING:
    from carrara.guard._check import CheckResult
    from carrara.guard.server_comparison import ServerComparisons

__all__ = ["check", "compare", "make"]


@dataclass(frozen=True, repr=False)
class MadeGuard(Guard):
    """A guard that was written to a file."""

    path: Path

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        yield f"{self.path}: {len(self.items)} items of {', '.join(self.strata)}"
        yield f"Checks expect {self.rate:.1%} of the replies to be right."
        yield f"About {self.share:.0%} of the checks of an unbroken server will end as fine."

    @cached_property
    def share(self) -> float:
        """The share of the checks of an unbroken server that will end as fine."""
        from carrara.guard.sample_size import fine_share

        return fine_share(self)

    @property
    def notes(self) -> list[str]:
        """Advice for a guard that is too small."""
        from carrara.guard.sample_size import LEAST_FINE_SHARE, more_items

        if self.share >= LEAST_FINE_SHARE:
            return []
        return [f"for a share of {LEAST_FINE_SHARE:.0%}, {more_items(self)}"]

    def __repr__(self) -> str:
        return "\n".join(self.lines())


@takes(MakeGuardConfig)
def make(config: MakeGuardConfig) -> MadeGuard:
    """Find items that a trusted server answers reliably, and write them to a file.

    Later, `carrara.guard.check` asks a server these items again to find out whether it is broken.

    Returns:
        The guard, as it was written to the file.

    Raises:
        UsageError: An argument is wrong.
        RunError: The server answers too few items reliably, or cannot be reached.

    Examples:
        >>> import carrara.guard
        >>> url = "http://127.0.0.1:8000/v1"
        >>> guard = carrara.guard.make("openai-api/local/my-model", base_url=url, out="guard.json")  # doctest: +SKIP
    """
    from carrara.guard._make import make_guard

    check_replaceable(config.out, config.force, is_guard)  # before any request costs money
    guard = beside_loop(lambda: make_guard(config))
    write(guard, config.out)
    return MadeGuard(**{attribute.name: getattr(guard, attribute.name) for attribute in fields(guard)}, path=config.out)


@takes(CheckGuardConfig)
def check(config: CheckGuardConfig) -> "CheckResult":
    """Ask a server the items of a guard until the replies decide whether the server is broken.

    Returns:
        The result, which prints as `carrara guard check` does. Its `verdict` is `fine`, `broken`, `open` (the replies
        do not decide) or `unchecked` (the server did not answer; `reason` says why). Its `code` is the exit code of
        the command. With `cached`, it has the replies after a cache hit.

    Raises:
        UsageError: The file is not a guard, was changed, or an argument is wrong.

    Examples:
        >>> import carrara.guard
        >>> carrara.guard.check("guard.json", base_url="http://127.0.0.1:8000/v1").verdict  # doctest: +SKIP
        'fine'
    """
    from carrara.guard._cached import check_cached
    from carrara.guard._check import check_guard

    if config.cached:
        return beside_loop(lambda: check_cached(config))
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        return beside_loop(lambda: check_guard(config, config.out or Path(aside)))


@takes_several(CompareServersConfig)
def compare(config: CompareServersConfig) -> "ServerComparisons":
    """Ask servers the same instances until it is decided whether their scores are those of the first server.

    Short prompts come first. It ends for each server as soon as it is found to differ by more than the margin, or to
    be equivalent at every length.

    Returns:
        The result, which prints as `carrara guard compare` does. Its `comparisons` has one for each other server.
        Their `verdict` is `equivalent`, `different`, `open` (the replies do not decide) or `unchecked` (a server did
        not answer; `reason` says why); that of the result is the worst of them. Its `code` is the exit code of the
        command.

    Raises:
        UsageError: An argument is wrong, or too few instances could show that the servers are the same.

    Examples:
        >>> import carrara.guard
        >>> servers = "http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"
        >>> found = carrara.guard.compare(*servers, model="vllm/m", lengths="1k,8k")  # doctest: +SKIP
        >>> found.verdict  # doctest: +SKIP
        'equivalent'
    """
    from carrara.guard._compare import compare_servers

    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        return beside_loop(lambda: compare_servers(config, config.out or Path(aside)))

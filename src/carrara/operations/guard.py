"""The Python functions of `carrara guard`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from carrara.guard import check, compare, make
from carrara.guard.check import CheckResult
from carrara.guard.config import CheckGuardConfig, CompareServersConfig, MakeGuardConfig
from carrara.guard.guard_file import Guard, write
from carrara.guard.server_comparison import ServerComparison
from carrara.operations.run import beside_loop
from carrara.signature import takes


@takes(MakeGuardConfig)
def make_guard(config: MakeGuardConfig) -> Guard:
    """Find items that a trusted server answers reliably, and write them to a file.

    Later, `carrara.check_guard` asks a server these items again to find out whether it is broken.

    Returns:
        The guard, as it was written to the file.

    Raises:
        UsageError: An argument is wrong.
        RunError: The server answers too few items reliably, or cannot be reached.

    Examples:
        >>> import carrara
        >>> url = "http://127.0.0.1:8000/v1"
        >>> guard = carrara.make_guard("openai-api/local/my-model", base_url=url, out="guard.json")  # doctest: +SKIP
    """
    found = beside_loop(lambda: make.make_guard(config))
    write(found, config.out)
    return found


@takes(CheckGuardConfig)
def check_guard(config: CheckGuardConfig) -> CheckResult:
    """Ask a server the items of a guard until the replies decide whether the server is broken.

    Returns:
        The result, which prints as `carrara guard check` does. Its `verdict` is `fine`, `broken`, `open` (the replies
        do not decide) or `unchecked` (the server did not answer; `reason` says why). Its `code` is the exit code of
        the command.

    Raises:
        UsageError: The file is not a guard, was changed, or an argument is wrong.

    Examples:
        >>> import carrara
        >>> carrara.check_guard("guard.json", base_url="http://127.0.0.1:8000/v1").verdict  # doctest: +SKIP
        'fine'
    """
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        return beside_loop(lambda: check.check_guard(config, config.out or Path(aside)))


@takes(CompareServersConfig)
def compare_servers(config: CompareServersConfig) -> ServerComparison:
    """Ask two servers the same instances until it is decided whether their scores are the same.

    Short prompts come first. It ends as soon as the servers are found to differ by more than the margin, or to be
    equivalent at every length.

    Returns:
        The result, which prints as `carrara guard compare` does. Its `verdict` is `equivalent`, `different`, `open`
        (the replies do not decide) or `unchecked` (a server did not answer; `reason` says why). Its `code` is the exit
        code of the command.

    Raises:
        UsageError: An argument is wrong, or too few instances could show that the servers are the same.

    Examples:
        >>> import carrara
        >>> one, other = "http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"
        >>> found = carrara.compare_servers(one, other, "finding", "vllm/m", lengths="1k,8k")  # doctest: +SKIP
        >>> found.verdict  # doctest: +SKIP
        'equivalent'
    """
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        return beside_loop(lambda: compare.compare_servers(config, config.out or Path(aside)))

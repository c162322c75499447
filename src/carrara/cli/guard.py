"""carrara guard: check whether a server broke since it was trusted, or whether two servers are the same."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from carrara.cli._flags import MODEL_HELP, Allow, Force, Json, Model
from carrara.cli._messages import say
from carrara.cli._output import check_replaceable, print_json, show
from carrara.cli.profile import CAPABILITIES_HELP
from carrara.guard.config import (
    CheckGuardConfig,
    CheckGuardOptions,
    CompareServersConfig,
    CompareServersOptions,
    MakeGuardConfig,
    MakeGuardOptions,
)
from carrara.guard.equivalence import PAIR_CODES
from carrara.guard.sequential import CODES
from carrara.options import ConnectionOptions, File, ServerOptions, merge_options, text

if TYPE_CHECKING:
    from carrara.guard.check import CheckResult
    from carrara.guard.server_comparison import ServerComparison

guard = App(name="guard", help="Check whether a server broke since it was trusted, or compare two servers.")


@guard.command
def make(
    capabilities: Annotated[str, text("CAPABILITIES", help=CAPABILITIES_HELP)] = "",
    /,
    *,
    model: Model,
    out: Annotated[File, text("FILE", help="File of the guard, such as guard.json.")],
    options: MakeGuardOptions | None = None,
    server: ServerOptions | None = None,
    force: Force = False,
) -> int:
    """Find items that a trusted server answers reliably, and write them to a file.

    Example: carrara guard make --model vllm/m --base-url http://127.0.0.1:8000/v1 --out guard.json
    """
    from carrara.guard.guard_file import is_guard, write
    from carrara.guard.make import make_guard
    from carrara.guard.sample_size import LEAST_FINE_SHARE, fine_share, more_items

    config = MakeGuardConfig(model, capabilities=capabilities, out=out, **merge_options(options, server))
    check_replaceable(config.out, force, is_guard)  # before any request costs money
    found = make_guard(config)
    write(found, config.out)
    share = fine_share(found)
    print(f"{config.out}: {len(found.items)} items of {', '.join(found.strata)}")
    print(f"Checks expect {found.rate:.1%} of the replies to be right.")
    print(f"About {share:.0%} of the checks of an unbroken server will end as fine.")
    if share < LEAST_FINE_SHARE:
        say(f"for a share of {LEAST_FINE_SHARE:.0%}, {more_items(found)}")
    return 0


def _show(found: "CheckResult | ServerComparison", as_json: bool) -> int:
    """Print the result of a check or a comparison, and return its exit code."""
    if as_json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            show(line)
    return found.code


def _exit_codes(own: Iterable[tuple[int, str]]) -> str:
    codes = dict(own) | {2: "the command cannot be carried out: see the message"}
    return "\n\n".join(["Exit codes", *(f"{code} {meaning}" for code, meaning in sorted(codes.items()))])


@guard.command(help_epilogue=_exit_codes(CODES.values()))
def check(
    guard: Annotated[File, text("FILE", help="File of the guard.")],
    /,
    *,
    model: Annotated[str, text("MODEL", help=f"{MODEL_HELP} By default the one of the guard.")] = "",
    options: CheckGuardOptions | None = None,
    server: ConnectionOptions | None = None,
    allow: Allow | None = None,
    as_json: Json = False,
) -> int:
    """Ask a server the items of a guard until the replies decide whether the server is broken.

    Example: carrara guard check guard.json --base-url http://127.0.0.1:8000/v1
    """
    from carrara.guard.check import check_guard
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    config = CheckGuardConfig(guard, model or None, **merge_options(options, server))
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        found = check_guard(config, config.out or Path(aside))
    return _show(found, as_json)


@guard.command(help_epilogue=_exit_codes(PAIR_CODES.values()))
def compare(
    a: Annotated[str, text("A", help="The first server: its address, a model, or MODEL@ADDRESS.")],
    b: Annotated[str, text("B", help="The second server, likewise.")],
    capabilities: Annotated[str, text("CAPABILITIES", help=CAPABILITIES_HELP)] = "",
    /,
    *,
    model: Annotated[str, text("MODEL", help=f"{MODEL_HELP} It is the one at an address that is given alone.")] = "",
    options: CompareServersOptions | None = None,
    server: ConnectionOptions | None = None,
    allow: Allow | None = None,
    as_json: Json = False,
) -> int:
    """Ask two servers the same instances until it is decided whether their scores are the same.

    Example: carrara guard compare http://127.0.0.1:8000/v1 http://127.0.0.1:8001/v1 --model vllm/m --lengths 1k,8k
    """
    from carrara.guard.compare import compare_servers
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    config = CompareServersConfig(a, b, capabilities, model or None, **merge_options(options, server))
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        found = compare_servers(config, config.out or Path(aside))
    return _show(found, as_json)

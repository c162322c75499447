"""Options that several commands share, and what they mean."""

import json
import math
import re
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from carrara.core.errors import UsageError
from carrara.core.keys import SPLITS
from carrara.core.lengths import read_lengths, write_length
from carrara.core.limits import LIMIT
from carrara.core.parallel import Engine
from carrara.core.paths import local_path, to_path
from carrara.core.result import MIN_BASE_SCORE
from carrara.core.types import Style

if TYPE_CHECKING:
    from carrara.core.recipe import Recipe
    from carrara.prompt.asked import Drawn
    from carrara.prompt.wording import Pack


DIGITS = 30
"""The most digits that a whole number on the command line may have."""


def whole(least: int) -> Callable[[str], int]:
    """An argument that is a whole number of at least `least`."""

    def read(text: str) -> int:
        if len(text) > DIGITS:
            raise ArgumentTypeError(f"'{text[:DIGITS]}…' is too long: give a number of at most {DIGITS} digits")
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return read


def workers(parser: ArgumentParser) -> None:
    parser.add_argument("--workers", type=whole(1), metavar="N", help="processes at work (default: as many as cores)")
    parser.add_argument(
        "--engine",
        choices=get_args(Engine),
        default="local",
        help="where they are: on this machine, or on a Ray cluster (RAY_ADDRESS; else a Ray on this machine)",
    )


def yes(parser: ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help=f"go on where more than {LIMIT:,} are to be made")


def path(text: str) -> Path:
    """On this machine."""
    try:
        return local_path(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def anywhere(text: str) -> Path:
    """On this machine, or on object storage."""
    try:
        return to_path(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def lengths(parser: ArgumentParser, help: str, default: Sequence[int] | None = None) -> None:
    """Add `--lengths` to a command that takes several lengths. `--length` is accepted too."""
    _add_lengths(parser, "--lengths", "--length", help, default)


def length(parser: ArgumentParser, help: str, default: int) -> None:
    """Add `--length` to a command that takes one length. `--lengths` is accepted too."""
    _add_lengths(parser, "--length", "--lengths", help, [default])


def one_length(args: Namespace) -> int:
    """Return the length that a command with `length` was given."""
    if len(args.length) != 1:
        given = ", ".join(map(write_length, args.length))
        raise UsageError(f"--length takes one length here, and {len(args.length)} are given: {given}")
    return int(args.length[0])


def _add_lengths(parser: ArgumentParser, shown: str, other: str, help: str, default: Sequence[int] | None) -> None:
    name = shown.removeprefix("--")
    parser.add_argument(shown, type=_lengths, default=default, metavar=name.upper(), help=help)
    parser.add_argument(other, dest=name, type=_lengths, default=SUPPRESS, help=SUPPRESS)


def _lengths(text: str) -> list[int]:
    try:
        return read_lengths(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def selection(parser: ArgumentParser, more: str = "") -> None:
    parser.add_argument(
        "selection",
        metavar="SELECTION",
        help=f"tests by name, suite or pattern, separated by commas; `all`; {more}".rstrip("; "),
    )
    parameters(parser)


def parameters(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-p",
        dest="params",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the tests, e.g. -p complexity=5 (`carrara tasks` lists them)",
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="another seed gives other items (default 0)")
    parser.add_argument("--split", choices=SPLITS, default="test", help="splits never share an item (default test)")
    parser.add_argument("--style", choices=get_args(Style), default="chat", help="chat, or base for plain completion")
    parser.add_argument("--prompts", type=path, metavar="FILE", help="a prompt pack: other wording, in TOML")


def refuse_beside_ids(args: Namespace, **own: object) -> None:
    """An id says all that an item is: what is asked for beside it would be ignored. `own` are a command's defaults."""
    otherwise = {"params": [], "seed": 0, "split": "test", "style": "chat", "tokenizer": None, **own}
    for name, default in otherwise.items():
        if getattr(args, name) != default:
            flag = {"params": "-p", "n": "-n"}.get(name, f"--{name}")
            raise UsageError(f"{flag} cannot be given beside {args.selection}: ids say already what the items are")


def tokenizer(parser: ArgumentParser, otherwise: str) -> None:
    parser.add_argument(
        "--tokenizer",
        metavar="T",
        help=f"what counts tokens: a bundled name, hf:NAME, server:URL (default {otherwise})",
    )


def metric(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--score",
        choices=("sound", "paper"),
        default="sound",
        help="which score counts: the sound one, or the paper's own where it has one (default sound)",
    )


def min_base_score(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--min-base-score",
        type=_share,
        default=MIN_BASE_SCORE,
        metavar="SCORE",
        help="what the score at the shortest length has to exceed for an effective length, by its 95 %% interval "
        f"(default {MIN_BASE_SCORE})",
    )


def _share(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < 1:
        raise ArgumentTypeError(f"{text!r} is not a score below 1: give a number such as 0.7")
    return found


def force(parser: ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace a file that this command did not write")


def allow(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="TOKENIZER",
        help="let ids of others name this tokenizer outside of the package, such as hf:acme/model or server:URL",
    )


def as_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def drawn(args: Namespace) -> "Drawn":
    """How items are drawn, by the arguments that `parameters` adds."""
    from carrara.prompt.asked import Drawn

    return Drawn(args.seed, args.split, args.style, args.prompts)


class Asked(NamedTuple):
    recipes: "list[Recipe]"
    pack: "Pack | None"


def asked(args: Namespace, tokenizer: str) -> Asked:
    """What a selection with its parameters comes to: the first recipe of each test."""
    from carrara.prompt.asked import Selection, recipes

    how = drawn(args)
    pack = how.pack()
    return Asked(recipes(Selection(args.selection, given(args.params)), how, pack, tokenizer), pack)


def given(pairs: list[str]) -> Mapping[str, str]:
    """What `-p NAME=VALUE` says."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"-p {pair!r} is not NAME=VALUE; write for example -p complexity=5")
        if name.strip() in found:
            raise UsageError(f"-p {name.strip()} is given twice; write several values as -p {name.strip()}=A,B")
        found[name.strip()] = value.strip()
    return found


def temperature(text: str) -> float | None:
    if text == "none":
        return None
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a temperature: give a number of at least 0, or `none`")
    return found


_SECONDS = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}


def duration(text: str) -> float:
    """Seconds, of a time as people write it.

    >>> duration("90s"), duration("10min"), duration("1.5h")
    (90.0, 600.0, 5400.0)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(s|sec|min|m|h)", text.strip())
    if not found or not 1 <= (seconds := float(found[1]) * _SECONDS[found[2]]) <= 7 * 24 * 3600:
        raise ArgumentTypeError(f"{text!r} is not a time of 1s to 168h: write 90s, 10min or 2h")
    return seconds


def model_args(pairs: list[str]) -> dict[str, Any]:
    """What `-M NAME=VALUE` gives a provider: JSON where it is, otherwise text."""
    from carrara.servers.redact import refuse_secret

    args = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"-M {name!r} is not NAME=VALUE")
        try:
            given = json.loads(value)
        except ValueError:
            given = value
        refuse_secret(name, given, "-M")
        args[name.replace("-", "_")] = given
    return args

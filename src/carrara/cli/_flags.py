"""Flags that several commands take and Python callers do not need."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from attrs import fields
from cyclopts import Parameter, Token

from carrara.cli._complete import complete_run, complete_tasks
from carrara.options import Folder, ItemOptions, Lengths, check_whole, settings_of, text
from carrara.readers.options import ReaderOptions, split_readers
from carrara.results.result import check_base_score
from carrara.util.errors import UsageError
from carrara.util.parallel import Engine


def _several(_: object, tokens: Sequence[Token]) -> list[str]:
    return list(dict.fromkeys(token.value for token in tokens))


def several(metavar: str, help: str) -> Parameter:
    """Return the parameter of an option that may be given several times."""
    return Parameter(converter=_several, n_tokens=1, negative=(), metavar=metavar, show_default=False, help=help)


def several_positional(name: str, help: str) -> Parameter:
    """Return the parameter of an argument that is given once or more."""
    return Parameter(name=name, required=True, help=help)


def at_least_one(name: str) -> Callable[[object, int | None], None]:
    def check(_: object, value: int | None) -> None:
        if value is not None:
            check_whole(name, value, 1)

    return check


def _base_score(_: object, value: float) -> None:
    check_base_score(value)


TOKENIZER_HELP = "Count tokens with a bundled tokenizer, hf:NAME or server:URL."
Selection = Annotated[
    str,
    text("TASKS", completer=complete_tasks, help="Tasks by name, suite or pattern, separated by commas, or `all`."),
]
RunSelection = Annotated[
    str,
    text(
        "TASKS",
        completer=complete_run,
        help="Tasks by name, suite or pattern, separated by commas, or `all`; or a preset, or PRESET:SELECTION for a "
        "part of one. `carrara tasks` lists them.",
    ),
]
Json = Annotated[bool, Parameter(show_default=False, name="--json", help="Print JSON instead of a table.")]
Force = Annotated[bool, Parameter(show_default=False, help="Replace a file that this command did not write.")]
Allow = Annotated[
    list[str],
    several(
        "TOKENIZER",
        "Let ids and checkpoints from others name this tokenizer or backbone outside of the package, hf:NAME or "
        "server:URL.",
    ),
]
Score = Annotated[
    Literal["own", "paper"],
    Parameter(help="The score that counts: `own` (ours) or `paper` (the paper's own, where it has one)."),
]
MinBaseScore = Annotated[
    float,
    Parameter(
        metavar="SCORE",
        validator=_base_score,
        help="The score that the 95 % interval at the shortest length has to exceed for an effective length.",
    ),
]
AskAbove = Annotated[
    str,
    text(
        "100Mtok|20usd",
        shows_default=True,
        help="On a terminal, a run asks before it sends more than that to a model that is not carrara/….",
    ),
]
DryRun = Annotated[
    bool,
    Parameter(
        show_default=False,
        negative=(),
        help="Show what the run would send and what its server supports, and send nothing else.",
    ),
]
Workers = Annotated[
    int | None,
    Parameter(
        metavar="N",
        validator=at_least_one("workers"),
        help="Processes that work at the same time. By default one for each core.",
    ),
]
WorkerEngine = Annotated[
    Engine,
    Parameter(
        name="--engine",
        help="Where the processes run, on this machine or on a Ray cluster (RAY_ADDRESS, or a Ray on this machine).",
    ),
]
Threads = Annotated[
    int, Parameter(metavar="N", validator=at_least_one("threads"), help="Threads of PyTorch on the processor.")
]
AllowLarge = Annotated[
    bool,
    Parameter(show_default=False, help="Lift the limits on how much is made or sent, and do not ask for confirmation."),
]
OnlyLengths = Annotated[
    Lengths | None, text("LENGTHS", joins=True, help="Only items of these lengths, such as 4k,32k.")
]
N = Annotated[
    int, Parameter(name="-n", metavar="N", validator=at_least_one("n"), help="Instances for each task and length.")
]
RunFolder = Annotated[Folder, text("RUN", help="Folder of a run, as `carrara run` wrote it.")]
MODEL_HELP = "Name of the model, as for `carrara run`."
Model = Annotated[str, text("MODEL", help=MODEL_HELP)]


def each_reader(options: ReaderOptions | None) -> list[dict[str, Any]]:
    """Return the options of each reader that a command was given, one after the other."""
    if options is None:
        return [{}]
    given = settings_of(options, ReaderOptions)
    return [{**given, "reader": reader} for reader in split_readers(str(options.reader))]


def refuse_beside_ids(ids: str, items: ItemOptions, **given: bool) -> None:
    """Raise `UsageError` if ids come with options that name items. A prompt pack is allowed.

    Args:
        ids: An id, or a file of ids.
        items: What was given of the options that name items.
        given: Whether other options of the command were given, by name.
    """
    default = ItemOptions()
    own = {one.name: getattr(items, one.name) != getattr(default, one.name) for one in fields(ItemOptions)}
    for name, is_given in {**own, **given}.items():
        if is_given and name != "prompts":
            raise UsageError(f"`{name}` cannot be given beside {ids}: ids say already what the items are")

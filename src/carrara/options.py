"""Options that the command line and the Python API share: their input types, and the conversion of their values.

An alias such as `Lengths` is the type of an option's input. A Python caller passes any of its members; the command line
passes text. The function beside the alias converts either to the type that the rest of the package uses.

Option classes hold the settings of operations. `carrara.signature.takes` gives Python functions their fields as
arguments, and `carrara.cli` makes flags of them; the text below each field is the one description for both. The class
attribute `group` is the heading of a class's flags in `--help`.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Protocol, get_args

from attrs import NOTHING, Attribute, Factory, converters, field, fields, frozen
from cyclopts import Group, Parameter, Token

from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack
from carrara.items.selection import Sampling, Selection, item_ids
from carrara.rng import SPLITS, Split
from carrara.tokenizers import DEFAULT
from carrara.types import Arrange, Style
from carrara.util.errors import UsageError, nearest
from carrara.util.files import local_path, to_path
from carrara.util.parallel import ENGINES, Engine
from carrara.util.quantities import LARGEST, read_length, read_lengths

STYLES: tuple[Style, ...] = ("chat", "base")
ARRANGEMENTS: tuple[Arrange, ...] = tuple(filter(None, get_args(Arrange)))
DIGITS = 30
"""The most digits that a whole number may have."""


def text(metavar: str, *names: str, shows_default: bool = False, joins: bool = False, **more: Any) -> Parameter:
    """Return the parameter for an option that the command line takes as text.

    Args:
        metavar: The placeholder for the text in `--help`.
        names: Its flags, where they are not the name of the option.
        shows_default: Whether `--help` shows the default; otherwise the text below the option says it.
        joins: Whether the option may be given several times; commas then join the values.
        more: Other settings of the parameter.
    """
    more["show_default"] = None if shows_default else False  # None: a default other than None is shown
    if names:
        more["name"] = names
    return Parameter(
        converter=lambda _, tokens: ",".join(token.value for token in tokens),
        n_tokens=1,
        accepts_keys=False,
        allow_repeating=joins,
        negative=(),
        metavar=metavar,
        **more,
    )


def pairs(metavar: str, *names: str) -> Parameter:
    """Return the parameter for an option, mostly of the form NAME=VALUE, which may be given several times."""

    def converter(_: object, tokens: Sequence[Token]) -> list[str]:
        return [token.value for token in tokens]

    return Parameter(
        name=names,
        converter=converter,
        n_tokens=1,
        accepts_keys=False,
        negative=(),
        metavar=metavar,
        show_default=False,
    )


LENGTHS_HELP = "Tokens of the prompts, such as 0,4k,1M. `k` is 1,024."
Length = Annotated[str | int, text("LENGTH")]
_Lengths = Annotated[str | int | Iterable[str | int], text("LENGTHS", shows_default=True, joins=True)]
"""Lengths whose help is the text below the field of an option class."""
Lengths = Annotated[_Lengths, Parameter(help=LENGTHS_HELP)]
Arrangements = Annotated[str | Iterable[str], text("KINDS", joins=True)]
Value = str | int | float | bool | Iterable[str | int | float | bool]
"""A value of a task's parameter. Several values are a sweep."""
Params = Annotated[Mapping[str, Value] | Sequence[str], pairs("NAME=VALUE", "-p")]
ModelArgs = Annotated[Mapping[str, Any] | Sequence[str], pairs("NAME=VALUE", "-M")]
File = Annotated[str | Path | PathLike[str], text("FILE")]
Folder = Annotated[str | Path | PathLike[str], text("DIR")]
Duration = Annotated[str | int | float, text("TIME")]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]


PYTHON_ONLY = {"flag": False}
"""The metadata of a field that is no flag of the command line."""


def length_of(value: Length) -> int:
    """Return a length as a number."""
    return read_length(str(value))


def run_lengths_of(value: _Lengths) -> tuple[int, ...]:
    """Return lengths as numbers, of which one may be `max`.

    >>> run_lengths_of("0,4k,max")
    (0, 4096, -1)
    """
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else [value]
    parts = [part.strip() if isinstance(part, str) else part for part in given]
    named = [part for part in parts if part not in ("max", LARGEST)]
    largest = (LARGEST,) if len(named) < len(parts) else ()
    return (*(lengths_of(named) if named or not largest else ()), *largest)


def lengths_of(value: _Lengths) -> tuple[int, ...]:
    """Return lengths as numbers.

    >>> lengths_of("0,4k"), lengths_of(4096), lengths_of([0, "1k"])
    ((0, 4096), (4096,), (0, 1024))
    """
    if isinstance(value, str):
        return tuple(read_lengths(value))
    lengths = tuple(dict.fromkeys(map(length_of, value if isinstance(value, Iterable) else [value])))
    if not lengths:
        raise UsageError("no length is given; write tokens as 0, 1000, 4k (4,096) or 1M (1,048,576)")
    return lengths


def arrangements_of(value: Arrangements) -> tuple[Arrange, ...]:
    """Return arrangements of facts, or only the empty one, which leaves facts where they were drawn.

    >>> arrangements_of("riffle,block"), arrangements_of("")
    (('riffle', 'block'), ('',))
    """
    names = value.split(",") if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    known, arrangements = dict[str, Arrange](zip(ARRANGEMENTS, ARRANGEMENTS, strict=True)), list[Arrange]()
    for name in names:
        if (kind := name.strip() if isinstance(name, str) else str(name)) in known:
            arrangements.append(known[kind])
        elif kind or len(names) > 1:
            raise UsageError(f"`arrange={kind}` is not one of {', '.join(known)}{nearest(kind, known)}")
    return tuple(dict.fromkeys(arrangements)) or ("",)


def params_of(params: Params | None) -> dict[str, str]:
    """Return the parameters of tasks as text.

    >>> params_of({"complexity": (1, 5), "screen": False, "view": "sum"})
    {'complexity': '1,5', 'screen': 'false', 'view': 'sum'}
    >>> params_of(["complexity=1,5"])
    {'complexity': '1,5'}
    """
    if params is None:
        return {}
    if isinstance(params, Mapping):
        return {str(name): _written(str(name), value) for name, value in params.items()}
    texts = dict[str, str]()
    for pair in _pairs_of("params", params):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"`params`: {pair!r} is not NAME=VALUE; write for example complexity=5")
        if name in texts:
            raise UsageError(f"`params`: {name} is given twice; write several values as {name}=A,B")
        texts[name] = value
    return texts


def _written(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise UsageError(
            f"{name}={value!r} is not a parameter: give a text, a number, true or false, or several of these"
        )
    return ",".join(_written(name, member) for member in value)


def model_args_of(model_args: ModelArgs | None) -> dict[str, Any]:
    """Return the arguments of a model's provider. On the command line, each is JSON if it can be, otherwise text."""
    if model_args is None:
        return {}
    if isinstance(model_args, Mapping):
        return {str(name): value for name, value in model_args.items()}
    return dict(map(_json_pair, _pairs_of("model_args", model_args)))


def _pairs_of(option: str, value: object) -> list[str]:
    pairs = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else []
    texts = [pair for pair in pairs if isinstance(pair, str)]
    if len(texts) < len(pairs) or not isinstance(value, Iterable) or isinstance(value, str):
        shown = f"={value!r}" if option == "params" else ""  # an argument of a model may be a secret
        raise UsageError(f"`{option}{shown}` is neither a dictionary nor a list of texts NAME=VALUE: give one")
    return texts


def _json_pair(pair: str) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not equals or not name:
        raise UsageError("`model_args`: one of the arguments is not NAME=VALUE: write its name and = before its value")
    try:
        return name.replace("-", "_"), json.loads(value)
    except ValueError:
        return name.replace("-", "_"), value


class NamedTask(Protocol):
    """A task with its parameters, as `carrara.load` returns it."""

    @property
    def name(self) -> str: ...

    @property
    def params(self) -> Mapping[str, str]: ...


Selections = Annotated[str | NamedTask | Selection | Iterable[str | NamedTask | Selection], text("TASKS")]
"""Tasks by name, suite or pattern; or loaded with their parameters."""


def selections_of(tasks: Selections, params: Mapping[str, str] | None = None) -> list[Selection]:
    """Return selections for a value that names tasks.

    Args:
        params: Parameters for all of them, which override those that a loaded task has.
    """
    values = [tasks] if isinstance(tasks, str | Selection) or not isinstance(tasks, Iterable) else list(tasks)
    selections = [_selection_of(value) for value in values]
    if not selections:
        raise UsageError("no task is named: give a text, what `carrara.load` returned, or a list of these")
    return [Selection(value.tasks, {**value.params, **(params or {})}) for value in selections]


def _selection_of(value: object) -> Selection:
    match value:
        case str():
            return Selection(value)
        case Selection():
            return value
        case object(name=str(name), params=Mapping() as params):
            return Selection(name, params)
    raise UsageError(f"{value!r} names no task: give a text, what `carrara.load` returned, or a list of these")


def temperature_of(value: Annotated[str | float | None, text("TEMPERATURE")]) -> float | None:
    """Return a temperature; None for `none`."""
    if value is None or value == "none":
        return None
    try:
        temperature = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        temperature = math.nan
    if not 0 <= temperature < math.inf:
        raise UsageError(f"`temperature`: {value!r} is not a temperature: give a number of at least 0, or `none`")
    return temperature


_SECONDS = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(s|sec|min|m|h)")


def seconds_of(value: Duration) -> float:
    """Return a time in seconds.

    >>> seconds_of("90s"), seconds_of("10min"), seconds_of("1.5h"), seconds_of(60)
    (90.0, 600.0, 5400.0, 60.0)
    """
    seconds = math.nan
    if isinstance(value, str) and (match := _TIME.fullmatch(value.strip())):
        seconds = float(match[1]) * _SECONDS[match[2]]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    if not 0 < seconds <= 7 * 24 * 3600:
        raise UsageError(f"{value!r} is not a time of up to 168h: write 90s, 10min or 2h")
    return float(seconds)


def folder_of(folder: Folder) -> Path:
    """Return a folder on this machine or on object storage."""
    if isinstance(folder, str) and not folder.strip():
        raise UsageError(f"{folder!r} is no folder: give one, which need not exist yet")
    return to_path(folder)


def file_of(file: File) -> Path:
    """Return a file on this machine."""
    return local_path(file)


def at_least(least: int) -> Callable[[object, "Attribute[Any]", Any], None]:
    """Return a validator of whole numbers. It accepts None if that is the default."""

    def check(_: object, attribute: "Attribute[Any]", value: Any) -> None:
        if value is not None or attribute.default is not None:
            check_whole(attribute.name, value, least)

    return check


def check_whole(name: str, value: int, least: int) -> int:
    """Return a whole number of at least `least`, or raise `UsageError`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"`{name}={value!r}` is not a whole number of at least {least}")
    if value >= 10**DIGITS:
        raise UsageError(f"`{name}` is too large: give a number of at most {DIGITS} digits")
    return value


def number(fits: Callable[[float], bool], meaning: str) -> Callable[[object, "Attribute[Any]", Any], None]:
    """Return a validator of numbers. It accepts None if that is the default.

    Args:
        fits: Whether a number is right.
        meaning: What a right number is, as the message has it after "is not".
    """

    def check(_: object, attribute: "Attribute[Any]", value: Any) -> None:
        if value is None and attribute.default is None:
            return
        if not isinstance(value, int | float) or isinstance(value, bool) or not fits(value):
            raise UsageError(f"`{attribute.name}={value!r}` is not {meaning}")

    return check


def is_text(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Raise `UsageError` for a value that is not text. None is accepted if it is the default."""
    if not isinstance(value, str) and not (value is None and attribute.default is None):
        raise UsageError(f"`{attribute.name}={value!r}` is not a text: give one")


def one_of(known: Sequence[str]) -> Callable[[object, "Attribute[Any]", Any], None]:
    """Return a validator of names."""

    def check(_: object, attribute: "Attribute[Any]", value: Any) -> None:
        if value not in known:
            raise UsageError(f"`{attribute.name}={value}` is not one of {', '.join(known)}{nearest(str(value), known)}")

    return check


def is_flag(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Raise `UsageError` for a value that is neither true nor false."""
    if not isinstance(value, bool):
        raise UsageError(f"`{attribute.name}={value!r}` is neither true nor false: give one of them")


@frozen(kw_only=True, slots=False)
class ItemOptions:
    """Settings of how items are drawn and worded."""

    group = Group("Items", sort_key=20)

    params: dict[str, str] = field(factory=dict, converter=params_of)
    """Parameters of the tasks, such as `complexity=5`. `carrara tasks NAME` lists them."""
    seed: int = field(default=0, validator=at_least(0))
    """Number that selects the instances. Another seed gives other items."""
    split: Split = field(default="test", validator=one_of(SPLITS))
    """Split that the instances are drawn from. Splits never share an item."""
    style: Style = field(default="chat", validator=one_of(STYLES))
    """Style of the prompts: `chat` for chat models, `base` for plain completion."""
    prompts: Path | None = field(default=None, converter=converters.optional(file_of))
    """Use the wording of this prompt pack, a TOML file."""
    arrange: tuple[Arrange, ...] = field(default="", converter=arrangements_of)
    """Place the needed facts evenly apart (`riffle`) or without filler between them (`block`). Give `riffle,block` for
    both, which pairs their scores. By default facts stand where they were drawn."""
    tokenizer: Annotated[str, text("TOKENIZER")] = field(default="", validator=is_text)
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. By default the model's own if a model is named,
    otherwise o200k."""

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.seed, self.split, self.style, self.prompts)

    @cached_property
    def pack(self) -> Pack | None:
        """The prompt pack."""
        return self.sampling.pack()

    def item_ids(self, tasks: Selections, lengths: Iterable[int] = (0,)) -> list[ItemId]:
        """Return the first item of each task at each length."""
        length_list = list(lengths)
        return [
            replace(first, length=length, arrange=arrange)
            for selection in selections_of(tasks, self.params)
            for first in item_ids(selection, self.sampling, self.pack, self.tokenizer or DEFAULT)
            for length in length_list
            for arrange in self.arrange
        ]


SERVER_GROUP = Group("Model and server", sort_key=30)


@frozen(kw_only=True, slots=False)
class ConnectionOptions:
    """The address of a model, and its connections."""

    group = SERVER_GROUP

    base_url: Annotated[str | None, text("URL")] = field(default=None, validator=is_text, repr=False)
    """Address of the server."""
    model_args: dict[str, Any] = field(factory=dict, converter=model_args_of, repr=False)
    """Arguments of the model's provider, as Inspect takes them."""
    connections: int | None = field(default=None, validator=at_least(1))
    """Number of parallel requests. By default as many as the server answers well."""


@frozen(kw_only=True, slots=False)
class ServerOptions(ConnectionOptions):
    """The address of a model, and the settings of requests."""

    group = SERVER_GROUP

    max_tokens: int | None = field(default=None, validator=at_least(1))
    """Most tokens of a reply, reasoning included. By default the server's own limit; base models and carrara/smollm2
    get as many as the answer needs."""
    temperature: float | None = field(default=0.0, converter=temperature_of)
    """Sampling temperature. Pass `none` to leave it to the server. By default 0."""
    request_timeout: float = field(default=1800.0, converter=seconds_of)
    """Time limit of one request, such as 90s or 10min, by default 30min. A request that times out is sent three times
    at most."""
    patience: float = field(default=21600.0, converter=seconds_of)
    """Time to wait for a server that is down, by default 6h."""


@frozen(kw_only=True, slots=False)
class LargeOptions:
    """The limits on how much an operation makes or sends."""

    allow_large: Flag = field(default=False, validator=is_flag)
    """Lift the limits on how much is made or sent, and do not ask for confirmation."""


def _is_number_of_workers(_: object, attribute: "Attribute[Any]", value: int | None) -> None:
    if value is not None:
        check_whole(attribute.name, value, 1)


@frozen(kw_only=True, slots=False)
class WorkerOptions:
    """The processes that work."""

    workers: Annotated[int | None, Parameter(metavar="N", show_default=False)] = field(
        default=1, validator=_is_number_of_workers
    )
    """Processes that work at the same time. By default one for each core; from Python one, and None is one for each
    core."""
    engine: Engine = field(default="local", validator=one_of(ENGINES))
    """Where the processes run, on this machine or on a Ray cluster (RAY_ADDRESS, or a Ray on this machine)."""


@frozen(kw_only=True, slots=False)
class ReplaceOptions:
    """Which files an operation may replace."""

    force: Flag = field(default=False, validator=is_flag)
    """Replace a file that this command did not write."""


def check_replaceable(path: Path | None, force: bool, is_own: Callable[[bytes], bool]) -> None:
    """Raise `UsageError` rather than overwrite a file of the user: input, notes, or an edited prompt pack.

    Args:
        path: The file to write, if any.
        force: Replace whatever is there.
        is_own: Whether the operation wrote the file, by the first bytes of the file.

    Raises:
        UsageError: There is another file.
    """
    if path is None or force or not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(1 << 12)
    if head and not is_own(head):
        raise UsageError(
            f"{path} is there already, and this command did not write it: name another file, or pass --force"
        )


@frozen(kw_only=True, slots=False)
class LogOptions:
    """What happens to logs that cannot be read."""

    skip_damaged: bool = field(default=False, validator=is_flag, metadata=PYTHON_ONLY)
    """Leave out logs that cannot be read, with a warning. By default they are an error."""


def changed_settings(settings: object, options: type) -> list[str]:
    """Return the names of the fields of an option class whose values are not the default ones."""
    changed = []
    for attribute in fields(options):
        default = attribute.default.factory() if isinstance(attribute.default, Factory) else attribute.default  # type: ignore[arg-type]
        if attribute.init and default is not NOTHING:
            expected = attribute.converter(default) if callable(attribute.converter) else default
            changed += [attribute.alias] if getattr(settings, attribute.name) not in (default, expected) else []
    return [name for name in changed if name != "workers" or settings.workers is not None]  # type: ignore[attr-defined]


def refuse_beside_ids(ids: str, settings: object, options: type, allowed: Collection[str] = ("prompts",)) -> None:
    """Raise `UsageError` if ids come with settings that name items.

    Args:
        ids: An id, or a file of ids.
        settings: The settings of an operation.
        options: The class of the settings.
        allowed: The settings that may be given beside ids.
    """
    for name in changed_settings(settings, options):
        if name not in allowed:
            raise UsageError(f"`{name}` cannot be given beside {ids}: ids say already what the items are")


def settings_of(settings: object, options: type) -> dict[str, Any]:
    """Return the values of an option class that an object has, by the names of their arguments."""
    return {attribute.alias: getattr(settings, attribute.name) for attribute in fields(options) if attribute.init}

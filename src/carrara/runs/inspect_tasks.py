"""Every task as an Inspect task under its own name, so that `inspect eval carrara/latent_list -T view=sum` works.

`carrara run` makes its tasks here too: what Inspect knows of a task (its name and arguments) is what it matches when a
stopped run goes on. Inspect reads what `-T` gives as YAML, and splits it at commas:

    -T params=complexity=5,view=sum    arrives as  ["complexity=5", "view=sum"]
    -T length=4096                     arrives as  4096
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

from inspect_ai import Task, task
from inspect_ai.model import Model, get_model

from carrara import params as parameters
from carrara import task as carrara_task
from carrara.constants import WHOLE
from carrara.items import registry
from carrara.items.item import remember_pack
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack, read_pack
from carrara.readers.reader import Reader
from carrara.readers.registry import parse_reader
from carrara.rng import Split
from carrara.runs.by_reference import provider_of
from carrara.runs.settings import ANYWHERE, address
from carrara.runs.tasks import inspect_task
from carrara.servers.inspect_private import SetupError, active_generate_config
from carrara.servers.model_names import check_style, tokenizer_for
from carrara.servers.reasoning_mode import ASKED, NONE, PREFILLED, Thinking
from carrara.tokenizers import permission
from carrara.types import Arrange, Style
from carrara.util.errors import RunError, UsageError, nearest
from carrara.util.quantities import read_length, write_length

Maker = Callable[..., Task]


def maker(name: str) -> Maker:
    """Return the Inspect task function of a task, registered. The task is imported when the function is called.

    A wrong argument is Inspect's own error, which has no traceback.
    """
    return task(name=name.rpartition("/")[2])(_make(name))


def add_signature(name: str) -> Maker:
    """Return the same function with the task's parameters, their types and defaults in its signature.

    A task that cannot be imported has the function without them, which raises the error when it is called.
    """
    from carrara.params import parameters_of  # reads the source of the task's class, which no run needs

    make = _make(name)
    try:
        loaded = registry.load(name)
    except (UsageError, RunError):
        return maker(name)
    *own, other = inspect.signature(make).parameters.values()  # the last takes misspelt arguments
    hints, default = get_type_hints(type(loaded)), loaded
    of_task = [
        inspect.Parameter(one.name, one.KEYWORD_ONLY, default=getattr(default, one.name), annotation=hints[one.name])
        for one in inspect.signature(type(loaded)).parameters.values()
        if one.name not in ARGUMENTS
    ]
    make.__signature__ = inspect.Signature([*own, *of_task, other], return_annotation=Task)  # type: ignore[attr-defined]
    make.__doc__ = "\n".join(
        [f"{loaded.title}: {loaded.capability}.", "", "Args:"]
        + [f"    {given.name}: {given.meaning}" for given in parameters_of(loaded)]
    )
    return task(name=name.rpartition("/")[2])(make)


def _make(name: str) -> Maker:
    short = name.rpartition("/")[2]

    def make(
        first: str = "",
        length: str | int = "0",
        n: int = 20,
        params: Any = "",
        seed: int = 0,
        split: Split = "test",
        style: Style = "chat",
        tokenizer: str = "",
        prompts: str = "",
        reader: str = "",
        index: int = 0,
        cot: Any = "",
        within: int | None = None,
        anywhere: bool = False,
        arrange: Arrange = "",
        **other: Any,
    ) -> Task:
        """Return the Inspect task of a Carrara task: of its first item `first`, or of the other arguments.

        Further arguments are parameters of the task, which may also be given in `params`.
        """
        try:
            loaded = registry.load(name)
            given, own = _params(params), _own(other, loaded)
            if twice := sorted(given.keys() & own.keys()):
                raise UsageError(f"{', '.join(twice)} is given by itself and in `params`: leave one out")
            given |= own
            model, pack = _active_model(), _pack(_text(prompts))
            if first:
                item_id = ItemId.parse(first)
                if item_id.task != name:
                    raise UsageError(f"first={first} is an item of {item_id.task}: name that task")
                if given:
                    raise UsageError(f"first={first} says the parameters too: leave {', '.join(given)} out")
            else:
                item_id = ItemId(
                    task=name,
                    version=loaded.version,
                    params=parameters.canonical(parameters.build(loaded, name, given)),
                    split=_read_choice("split", split, Split),
                    seed=_read_whole("seed", seed, 0),
                    index=_read_whole("index", index, 0),
                    question=0,
                    length=read_length(_text(length)),
                    style=_read_choice("style", style, Style),
                    pack=pack.hash if pack else "",
                    tokenizer=_text(tokenizer) or _tokenizer(model),
                    arrange=_read_choice("arrange", arrange, Arrange),
                )
                permission.allow(item_id.tokenizer)
            if model is not None:
                check_style(str(model), item_id.style)
            return inspect_task(
                item_id,
                _read_whole("n", n, 1),
                pack,
                budgeted=_settle(model, item_id.style),
                server=ANYWHERE if anywhere else address(model) if model else "",
                reader=_reader(_text(reader)),
                thinking=_thinking(_text(cot), item_id.style),
                within=None if within is None else _room(_read_whole("within", within, 0), item_id),
            )
        except (UsageError, RunError) as error:
            raise SetupError(f"{short}: {error}") from error

    return make


ARGUMENTS = tuple(inspect.signature(_make("")).parameters)[:-1]
"""The arguments of a task beside its parameters."""


def _own(given: Mapping[str, Any], loaded: carrara_task.Task) -> dict[str, str]:
    """Return the parameters of the task as text."""
    names = [field.name for field in fields(loaded)]
    _refuse_others([name for name in given if name not in names], [*ARGUMENTS, *names])
    return {name: _text(value) for name, value in given.items()}


class _Target(NamedTuple):
    """The model and settings that a task is made for."""

    model: Model
    max_tokens: int | None
    """The limit of a reply, if the user gave one."""


_TARGET: ContextVar[_Target | None] = ContextVar("target", default=None)


@contextmanager
def made_for(model: Model, max_tokens: int | None) -> Iterator[None]:
    """Make tasks for a model that no evaluation of Inspect has set yet, until the block ends."""
    token = _TARGET.set(_Target(model, max_tokens))
    try:
        yield
    finally:
        _TARGET.reset(token)


def _active_model() -> Model | None:
    """Return the model that the task is made for.

    It is None in a program that makes the task before it names a model.
    """
    if target := _TARGET.get():
        return target.model
    try:
        return get_model()
    except ValueError:
        return None


def _tokenizer(model: Model | None) -> str:
    if model is None:
        raise UsageError(
            "no model is known yet whose tokenizer could count: pass `tokenizer`, such as tokenizer='o200k'"
        )
    return tokenizer_for(str(model))


def _settle(model: Model | None, style: Style) -> bool:
    """Set the prompt style of the embedded model, and return whether to limit replies to the answer's length.

    Models that would not stop by themselves need this limit, unless the user gave one.
    """
    if model is None:
        return style == "base"
    provider = provider_of(model)
    if hasattr(provider, "base"):
        provider.base = style == "base"
    target = _TARGET.get()
    given = target.max_tokens if target else active_generate_config().max_tokens
    limited = given is not None or model.config.max_tokens is not None
    return (style == "base" or str(model) == "carrara/smollm2") and not limited


def _reader(written: str) -> Reader:
    """Return the reader that an argument names, ready for use."""
    found = parse_reader(written or WHOLE)
    found.ready()
    return found


def _thinking(written: str, style: Style) -> Thinking:
    if written == NONE:
        raise UsageError(f"cot=none is either {PREFILLED!r}, if the server goes on with a message, or {ASKED!r}")
    thinking = Thinking.parse(written)
    if style == "base" and thinking.way == "exactly":
        raise UsageError("a base model completes its prompt, which ends where the answer begins: leave cot=exactly out")
    return thinking


def _room(within: int, first: ItemId) -> int:
    """Return the tokens of a length that are reserved for the answer."""
    if within and within >= first.length:
        raise UsageError(
            f"an answer that takes {within:,} tokens has no room in {write_length(first.length)}: "
            "ask for a greater length"
        )
    return within


def _pack(path: str) -> Pack | None:
    pack = read_pack(Path(path)) if path else None
    remember_pack(pack)
    return pack


def full_names() -> dict[str, str]:
    """Return the full names of tasks by their short names. A short name that two suites use is left out."""
    names = registry.names()
    shorts = [name.rpartition("/")[2] for name in names]
    return {short: name for name, short in zip(names, shorts, strict=True) if shorts.count(short) == 1}


def _text(value: Any) -> str:
    """Return an argument as the user wrote it.

    >>> _text(["a.toml", 5]), _text(4096), _text(True), _text(None)
    ('a.toml,5', '4096', 'true', '')
    """
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _params(value: Any) -> dict[str, str]:
    """Return the parameters of a task. A comma may stand between two parameters and within one.

    >>> _params(["complexity=1", 5, "view=sum"])
    {'complexity': '1,5', 'view': 'sum'}
    >>> _params("complexity=1,5;view=sum")
    {'complexity': '1,5', 'view': 'sum'}
    """
    if isinstance(value, Mapping):
        return {str(name): _text(inner) for name, inner in value.items()}
    found = {}
    for part in filter(None, re.split(r"[;,](?=\s*\w+=)|;", _text(value))):
        name, equals, given = part.partition("=")
        if not equals or not name.strip() or not given.strip():
            raise UsageError(f"params={part} is not NAME=VALUE; write for example params=complexity=5")
        found[name.strip()] = given.strip()
    return found


def _read_whole(name: str, value: Any, least: int) -> int:
    written = _text(value)
    if not written.isascii() or not written.isdigit() or int(written) < least:
        raise UsageError(f"{name}={written} is not a whole number of at least {least}")
    return int(written)


def _read_choice(name: str, value: Any, kind: Any) -> Any:
    """Return a value of a literal type."""
    written, options = _text(value), get_args(kind)
    if written not in options:
        raise UsageError(f"{name}={written} is not one of {', '.join(options)}{nearest(written, options)}")
    return written


def _refuse_others(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise for arguments without effect, because a user would believe that they had shaped the result."""
    names = list(known)
    for name in given:
        raise UsageError(f"a task has no argument {name!r}{nearest(name, names)}; it has {', '.join(names)}")

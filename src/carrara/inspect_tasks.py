"""The entry point for Inspect: models under `carrara/…`, and every task as an Inspect task under its own name.

    inspect eval carrara/latent_list --model openai/gpt-4o -T length=4k -T view=sum

    from carrara.inspect_tasks import latent_list
    inspect_ai.eval(latent_list(length="4k", complexity=5), model="openai/gpt-4o")

Inspect imports this module in every run, so no task is imported here. Tasks are registered without their own
parameters; a task that is imported from here has them in its signature. Inspect reads what `-T` gives as YAML, and
splits it at commas:

    -T params=complexity=5,view=sum    arrives as  ["complexity=5", "view=sum"]
    -T length=4096                     arrives as  4096

So arguments are read as text here, and `runs/tasks.py` makes the task from what they mean.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from inspect_ai import Task, task
from inspect_ai.model import Model, get_model

from carrara import params as parameters
from carrara import task as carrara_task
from carrara.constants import WHOLE
from carrara.items import registry
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack, read_pack
from carrara.options import DIGITS
from carrara.readers.registry import parse_reader
from carrara.rng import Split
from carrara.runs.provider import carrara
from carrara.runs.tasks import make_task
from carrara.servers.inspect_private import SetupError, active_generate_config
from carrara.servers.model_names import tokenizer_for
from carrara.servers.reasoning_mode import ASKED, NONE, PREFILLED, Thinking
from carrara.tokenizers import permission
from carrara.types import Arrange, Style
from carrara.util.errors import RunError, UsageError, nearest
from carrara.util.quantities import read_length
from carrara.util.sanitize import clip

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
    # the last parameter takes misspelt arguments
    *common_parameters, last_parameter = inspect.signature(make).parameters.values()
    hints, task_defaults = get_type_hints(type(loaded)), loaded
    of_task = [
        inspect.Parameter(
            parameter.name,
            parameter.KEYWORD_ONLY,
            default=getattr(task_defaults, parameter.name),
            annotation=hints[parameter.name],
        )
        for parameter in inspect.signature(type(loaded)).parameters.values()
        if parameter.name not in ARGUMENTS
    ]
    make.__signature__ = inspect.Signature([*common_parameters, *of_task, last_parameter], return_annotation=Task)  # type: ignore[attr-defined]
    make.__doc__ = "\n".join(
        [f"{loaded.title}: {loaded.capability}.", "", "Args:"]
        + [f"    {parameter.name}: {parameter.meaning}" for parameter in parameters_of(loaded)]
    )
    return task(name=name.rpartition("/")[2])(make)


def _make(name: str) -> Maker:
    short = name.rpartition("/")[2]

    def make(
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
        likelihood: bool = False,
        **other: Any,
    ) -> Task:
        """Return the Inspect task of a Carrara task.

        Further arguments are parameters of the task, which may also be given in `params`.
        """
        try:
            loaded = registry.load(name)
            params_given, further_params = _params(params), _further_params(other, loaded)
            if twice := sorted(params_given.keys() & further_params.keys()):
                raise UsageError(f"{', '.join(twice)} is given by itself and in `params`: leave one out")
            model, pack = _active_model(), _pack(_text(prompts))
            first = ItemId(
                task=name,
                version=loaded.version,
                params=parameters.canonical(parameters.build(loaded, name, params_given | further_params)),
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
            permission.allow(first.tokenizer)
            return make_task(
                first,
                _read_whole("n", n, 1),
                model,
                active_generate_config().max_tokens,
                pack=pack,
                reader=parse_reader(_text(reader) or WHOLE),
                thinking=_thinking(_text(cot)),
                within=None if within is None else _read_whole("within", within, 0),
                anywhere=anywhere,
                likelihood=likelihood,
            )
        except (UsageError, RunError) as error:
            raise SetupError(f"{short}: {error}") from error

    return make


ARGUMENTS = tuple(inspect.signature(_make("")).parameters)[:-1]
"""The arguments of a task beside its parameters."""


def _further_params(further: Mapping[str, Any], loaded: carrara_task.Task) -> dict[str, str]:
    names = [field.name for field in fields(loaded)]
    _refuse_others([name for name in further if name not in names], [*ARGUMENTS, *names])
    return {name: _text(value) for name, value in further.items()}


def _active_model() -> Model | None:
    """Return the model that the task is made for.

    It is None in a program that makes the task before it names a model.
    """
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


def _thinking(written: str) -> Thinking:
    if written == NONE:
        raise UsageError(f"cot=none is either {PREFILLED!r}, if the server goes on with a message, or {ASKED!r}")
    return Thinking.parse(written)


def _pack(path: str) -> Pack | None:
    return read_pack(Path(path)) if path else None


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
    params = {}
    for part in filter(None, re.split(r"[;,](?=\s*\w+=)|;", _text(value))):
        name, equals, text = part.partition("=")
        if not equals or not name.strip() or not text.strip():
            raise UsageError(f"params={part} is not NAME=VALUE; write for example params=complexity=5")
        params[name.strip()] = text.strip()
    return params


def _read_whole(name: str, value: Any, least: int) -> int:
    written = _text(value)
    if not written.isascii() or not written.isdigit() or len(written) > DIGITS or int(written) < least:
        most = f" and at most {DIGITS} digits" if len(written) > DIGITS else ""
        raise UsageError(f"{name}={clip(written, 40)} is not a whole number of at least {least}{most}")
    return int(written)


def _read_choice(name: str, value: Any, kind: Any) -> Any:
    written, options = _text(value), get_args(kind)
    if written not in options:
        raise UsageError(f"{name}={written} is not one of {', '.join(options)}{nearest(written, options)}")
    return written


def _refuse_others(arguments: Iterable[str], known: Iterable[str]) -> None:
    """Raise for arguments without effect, because a user would believe that they had shaped the result."""
    names = list(known)
    for name in arguments:
        raise UsageError(f"a task has no argument {name!r}{nearest(name, names)}; it has {', '.join(names)}")


_NAMES = full_names()
__all__ = ["carrara", *_NAMES]
for _name in _NAMES.values():
    maker(_name)


def __getattr__(short: str) -> Maker:
    if short not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {short!r}")
    task_function = globals()[short] = add_signature(_NAMES[short])
    return task_function


def __dir__() -> list[str]:
    return sorted(__all__)

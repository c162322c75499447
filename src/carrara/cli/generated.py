"""Commands, generated from the functions of operations.

The fields of a function's option class are the arguments and flags of its command, and the text below each field is its
help. What the function returns is printed: its lines, or with `--json` its record.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter as Argument
from inspect import Signature, getdoc, signature
from typing import Annotated, Any, get_args

from attrs import NOTHING, fields
from attrs import Factory as AttrsFactory
from cyclopts import App, Parameter, Token
from docstring_parser import parse

from carrara.cli import _complete
from carrara.cli._output import finish, print_lines
from carrara.cli._stopping import stopped_code
from carrara.cli.commands import COMMANDS, Actions, Command
from carrara.cli.messages import say, words_given
from carrara.options import Folder, text
from carrara.params import meanings_of
from carrara.signature import parameters_of
from carrara.util.errors import UsageError

FLAGS = ("model", "out")
"""Settings that Python takes by position, and the command line as flags."""
COMPLETERS = {
    "tasks": _complete.complete_tasks,
    "task": _complete.complete_task,
    "presets": _complete.complete_run,
    "figures": _complete.complete_figure,
    "corpora": _complete.complete_corpus,
}
IN_COMMANDS: Mapping[str, Any] = {"progress": True, "skip_damaged": True, "workers": None}
"""The settings that a command has and a Python caller has to ask for."""
ALLOW = (
    "Let ids and checkpoints from others name this tokenizer or backbone outside of the package, hf:NAME or server:URL."
)
CONFIG = "Take settings from a TOML file, which `--write-config` prints. Flags override it."
WRITE_CONFIG = "Print such a file with every setting and what it means, and do nothing else."


@dataclass(frozen=True)
class Setting:
    """A setting of an operation."""

    argument: Argument
    help: str
    group: Any = None
    is_flag: bool = True
    """Whether the command line has it."""
    is_required: bool = False

    @property
    def name(self) -> str:
        return self.argument.name

    @property
    def is_positional(self) -> bool:
        return self.argument.kind is Argument.POSITIONAL_OR_KEYWORD and self.name not in FLAGS


def app_of(name: str, command: Command | Actions) -> Callable[..., int] | App:
    """Return the function that the command line calls, or the app of several."""
    if isinstance(command, Command):
        return function_of(name, command)
    app = App(name=name, help="\n\n".join(filter(None, (command.summary, command.more))))
    for action, action_command in command.actions.items():
        epilogue = {"help_epilogue": _exit_codes(_load(action_command.exit_codes))} if action_command.exit_codes else {}
        app.command(function_of(f"{name} {action}", action_command), name=action, **epilogue)
    return app


def function_of(name: str, command: Command) -> Callable[..., int]:
    """Return the function that the command line calls."""
    operation = _load(command.function)
    settings = list(_settings(operation))
    positional = [setting.name for setting in settings if setting.is_positional]
    varies = any(setting.argument.kind is Argument.VAR_POSITIONAL for setting in settings)

    def call(*arguments: Any, allow: Sequence[str] = (), as_json: bool = False, **flags: Any) -> int:
        if allow:
            from carrara.tokenizers.permission import allow_all

            allow_all(allow)
        terminal = {**IN_COMMANDS, "as_json": as_json, "command_words": ("carrara", *words_given())}
        values = {setting.name: terminal[setting.name] for setting in settings if setting.name in terminal}
        values |= command.settings
        named_values = dict(zip(positional, arguments, strict=False)) | flags
        if command.rare:
            from carrara.operations.config_file import read_settings, setting_lines

            file, writes = named_values.pop("config", None), named_values.pop("write_config", False)
            named_values = {**(read_settings(file, _classes(operation)) if file else {}), **named_values}
            if writes:
                print_lines(setting_lines(name, _classes(operation), named_values))
                return 0
            _check_needed(name, settings, named_values)
        values |= named_values
        try:
            if varies:
                first = [
                    values.pop(setting.name, setting.argument.default) for setting in settings if setting.is_positional
                ]
                return finish(operation(*first, *arguments[len(positional) :], **values), as_json)
            return finish(operation(**values), as_json)
        except KeyboardInterrupt:
            if not command.resumes:
                raise
            return _stopped(values.get("model"))

    call.__name__ = name.replace(" ", "_")
    call.__doc__ = f"{_description(operation)}\n\nExample: {command.example}"
    call.__annotations__ = {}
    call.__signature__ = Signature([*_arguments(settings, command), *_common(operation, command)])  # type: ignore[attr-defined]
    return call


def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(f"carrara.{module}"), name)


def _classes(operation: Any) -> tuple[type, ...]:
    config = getattr(operation, "config", ())
    return config if isinstance(config, tuple) else (config,)


def _settings(operation: Any) -> Iterator[Setting]:
    """Yield the settings of an operation: the fields of its option classes, or its arguments."""
    classes = _classes(operation)
    if not classes:
        described = {
            parameter.arg_name: parameter.description or "" for parameter in parse(getdoc(operation) or "").params
        }
        for argument in signature(operation).parameters.values():
            yield Setting(argument, " ".join(described[argument.name].split()))
    for config in classes:
        attributes = {attribute.alias: attribute for attribute in fields(config) if attribute.init}
        meanings = meanings_of(config)
        for argument in parameters_of(config):
            attribute = attributes[argument.name]
            home = next(base for base in config.__mro__ if attribute.name in vars(base).get("__annotations__", {}))
            default = None if isinstance(attribute.default, AttrsFactory) else attribute.default  # type: ignore[arg-type]
            has_none = default is NOTHING or argument.kind is Argument.VAR_POSITIONAL
            yield Setting(
                argument.replace(default=Argument.empty if has_none else default),
                meanings.get(attribute.name, ""),
                vars(home).get("group"),
                attribute.metadata.get("flag", True),
                attribute.default is NOTHING,
            )


def rare_settings(command: Command) -> list[Setting]:
    """Return the settings of a command that only a file has."""
    return [setting for setting in _settings(_load(command.function)) if setting.name in command.rare]


def _arguments(settings: Iterable[Setting], command: Command) -> Iterator[Argument]:
    """Yield the arguments of a command in the order of a signature."""
    first = next((setting.name for setting in settings if setting.is_positional), "")
    shown = [setting for setting in settings if setting.is_flag and setting.name not in command.rare]
    order = [setting for setting in shown if setting.is_positional]
    order += [setting for setting in shown if setting.argument.kind is Argument.VAR_POSITIONAL]
    order += [setting for setting in shown if setting.name in FLAGS]
    others = [setting for setting in shown if setting not in order]
    for setting in [*order, *sorted(others, key=lambda setting: setting.group.sort_key if setting.group else 0)]:
        parameter_options: dict[str, Any] = {"help": setting.help}
        kind, annotation, default = setting.argument.kind, setting.argument.annotation, setting.argument.default
        completer = COMPLETERS.get((command.completes if setting.name == first else "") or setting.name)
        parameter_options |= {"completer": completer} if completer else {}
        if isinstance(annotation, str):  # a name that is known to type checkers alone: a model
            annotation = Annotated[str, text(setting.name.upper())]
        if command.rare and default is Argument.empty:  # the file may have it
            default = None
        if setting.is_positional:
            kind = Argument.POSITIONAL_ONLY
        elif kind is Argument.VAR_POSITIONAL:
            parameter_options |= {"name": setting.name.removesuffix("s").upper(), "required": setting.is_required}
            annotation = Folder  # of each
        else:
            kind = Argument.KEYWORD_ONLY
            parameter_options |= {"group": setting.group} if setting.group and setting.name not in FLAGS else {}
            if command.rare and setting.name == "model":
                annotation = Annotated[list[str], repeatable("MODEL")]
        annotation = annotation | None if default is None else annotation  # the library checks defaults, too
        yield setting.argument.replace(
            kind=kind, annotation=Annotated[annotation, Parameter(**parameter_options)], default=default
        )


def _common(operation: Any, command: Command) -> Iterator[Argument]:
    """Yield the flags that commands have in common, written once."""

    def argument(name: str, kind: Any, /, **more: Any) -> Argument:
        default = False if kind is bool else None
        accepted: Any = kind if kind is bool else kind | None
        shown: Any = Annotated[accepted, Parameter(show_default=False, negative=(), **more)]
        return Argument(name, Argument.KEYWORD_ONLY, default=default, annotation=shown)

    if command.rare:
        yield argument("config", Annotated[str, text("FILE")], help=CONFIG)
        yield argument("write_config", bool, help=WRITE_CONFIG)
    if command.allows:
        yield argument("allow", Annotated[list[str], repeatable("TOKENIZER")], help=ALLOW)
    returned = signature(operation).return_annotation
    # a name that only type checkers know is of a class that takes long to import, and has a record
    if isinstance(returned, str) or any(
        hasattr(returned_type, "record") for returned_type in (returned, *get_args(returned))
    ):
        yield argument("as_json", bool, name="--json", help="Print JSON instead of a table.")


def repeatable(metavar: str) -> Parameter:
    """Return the parameter of a flag that may be given several times."""

    def values(_: object, tokens: Sequence[Token]) -> list[str]:
        return list(dict.fromkeys(token.value for token in tokens))

    return Parameter(converter=values, n_tokens=1, negative=(), metavar=metavar, show_default=False)


def _description(operation: Any) -> str:
    """Return the docstring of an operation without its sections."""
    described = parse(getdoc(operation) or "")
    return "\n\n".join(filter(None, (described.short_description, described.long_description)))


def _exit_codes(codes: Mapping[str, tuple[int, str]]) -> str:
    meanings = dict(codes.values()) | {2: "the command cannot be carried out: see the message"}
    return "\n\n".join(["Exit codes", *(f"{code} {meaning}" for code, meaning in sorted(meanings.items()))])


def _check_needed(name: str, settings: Iterable[Setting], values: Mapping[str, Any]) -> None:
    for setting in settings:
        if setting.argument.default is Argument.empty and setting.name not in values:
            shown = setting.name.upper() if setting.is_positional else f"--{setting.name}"
            raise UsageError(f"`carrara {name}` needs {shown}: see `carrara {name} --help`")


def _stopped(model: object) -> int:
    """Say that the same command resumes, and end. The embedded model cannot be interrupted, and Python would wait."""
    say("stopped; the same command resumes")
    sys.stderr.flush()
    if any(str(name).startswith("carrara/") for name in (model if isinstance(model, list) else [model])):
        os._exit(stopped_code())
    return stopped_code()


def __getattr__(name: str) -> Callable[..., int] | App:
    """Return what the command line calls for a command, by its name."""
    for commands in COMMANDS.values():
        if name in commands:
            return app_of(name, commands[name])
    raise AttributeError(f"module 'carrara.cli.generated' has no attribute {name!r}")

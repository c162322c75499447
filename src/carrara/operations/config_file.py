"""The file of a run's settings: the fields of its option classes, in TOML."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from attrs import Attribute, fields

from carrara.options import file_of, model_args_of
from carrara.params import meanings_of
from carrara.servers.secrets import in_arguments, named_in_address, refuse_secret
from carrara.util.errors import UsageError, nearest
from carrara.util.files import SMALL, content

WIDTH = 110
FIRST = ("tasks", "model", "lengths", "n", "out")
"""The settings at the beginning of a file."""


def read_settings(file: str, classes: Sequence[type]) -> dict[str, Any]:
    """Return the settings in a file, each checked.

    Raises:
        UsageError: The file cannot be read, or has an unknown setting or a wrong value.
    """
    path, known = file_of(file), _fields(classes)
    try:
        settings = tomllib.loads(content(path, SMALL).decode())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as TOML ({error}): write a new one with `--write-config`") from None
    for name, value in settings.items():
        if name not in known:
            raise UsageError(
                f"{path}: there is no setting {name!r}{nearest(name, known)}; `--write-config` prints all with their "
                "meaning"
            )
        _check(known[name], value, f"{path}: {name}")
    _refuse_secrets(settings, str(path))
    return settings


def _check(attribute: "Attribute[Any]", value: Any, where: str) -> None:
    values = value if attribute.alias == "model" and isinstance(value, list) else [value]
    try:
        for member in values:
            converted = attribute.converter(member) if callable(attribute.converter) else member
            if attribute.validator:
                attribute.validator(None, attribute, converted)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _fields(classes: Sequence[type]) -> "dict[str, Attribute[Any]]":
    return {
        attribute.alias: attribute
        for config in classes
        for attribute in fields(config)
        if attribute.init and attribute.metadata.get("flag", True)
    }


def _refuse_secrets(settings: Mapping[str, Any], where: str) -> None:
    arguments = model_args_of(settings.get("model_args"))
    for name, value in arguments.items():
        refuse_secret(name, value, f"{where}: `model_args`")
    for name, secrets in (
        ("base_url", set(named_in_address(settings.get("base_url")).values()) - {""}),
        ("model_args", in_arguments(arguments)),
    ):
        if secrets:
            raise UsageError(f"{where}: `{name}` has a secret, and a file keeps none: give keys in the environment")


def setting_lines(command: str, classes: Sequence[type], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield a file with every setting and its text. Settings that were not given are comments."""
    _refuse_secrets(settings, "this command")
    yield f"# Settings of `carrara {command}`: `carrara {command} --config FILE`. Flags override them."
    for config in classes:
        meanings = meanings_of(config)
        known = _fields([config])
        for name, attribute in sorted(
            known.items(), key=lambda pair: FIRST.index(pair[0]) if pair[0] in FIRST else len(FIRST)
        ):
            yield ""
            yield from (f"# {line}" for line in wrap(meanings.get(attribute.name, ""), WIDTH, break_on_hyphens=False))
            if name in settings:
                yield f"{name} = {_toml(settings[name])}"
            else:
                yield f"# {name} ={_default(attribute)}"


def _default(attribute: "Attribute[Any]") -> str:
    """Return the default value behind a space. Empty if there is none, or if it depends on other settings."""
    return f" {_toml(attribute.default)}" if isinstance(attribute.default, bool | int | float | str) else ""


def _toml(value: Any) -> str:
    """Return a value in TOML.

    >>> print(_toml({"complexity": 5, "view": ["a", True]}))
    {"complexity" = 5, "view" = ["a", true]}
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(name))} = {_toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value))

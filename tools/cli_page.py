"""Generate the reference page of the command line from the app itself: usage, arguments, options and one example."""

import re
from collections.abc import Iterator, Sequence

from cyclopts import App
from cyclopts.argument import Argument

from carrara.cli.commands import COMMANDS, Command
from carrara.cli.generated import rare_settings
from carrara.cli.main import make_app

INTRODUCTION = """\
# Command line

This page lists every command with its arguments, options and defaults. `carrara --help` and `carrara COMMAND --help`
print the same in the terminal.

Every command ends with one of these exit codes:

| exit code | meaning |
|--|--|
| 0 | done |
| 1 | the command failed, nothing was measured, or it left out damaged input |
| 2 | the command was used wrongly, or some input lines could not be scored |
| 130, 143 | stopped by Ctrl-C, by SIGTERM; run the same command again to resume |

`carrara guard check` and `carrara guard compare` have [codes of their own](#guard-check). Errors are one sentence on
standard error. Results go to standard output, progress to standard error.
"""
COMPLETION = """\

After that, TAB completes commands, options and their values, files, tasks (also after a comma), presets and figures.
The script is installed where the shell looks for it:

| shell | script | start-up file |
|--|--|--|
| bash | `~/.local/share/bash-completion/completions/carrara` | a line in `~/.bashrc` loads it |
| zsh | `~/.zsh/completions/_cyclopts_carrara` | a line in `~/.zshrc` \
adds the folder to `fpath`; run `autoload -Uz compinit && compinit` after it |
| fish | `~/.config/fish/completions/carrara.fish` | none |

The script contains the commands and options, so run the command again after an update of Carrara. Names of tasks and
figures are looked up when you press TAB.
"""
PLACEHOLDER = {"int": "N", "float": "NUMBER", "str": "TEXT"}
"""What stands for the value of an option that names none."""


def cli_page() -> str:
    """Return the page as Markdown."""
    app = make_app(lists_commands=True)
    lines = [INTRODUCTION]
    for group, commands in COMMANDS.items():
        lines += [f"## {group.name}", "", "| command | |", "|--|--|"]
        for name, command in commands.items():
            first = f"{name}-{min(_subcommands(app[name]))}" if _subcommands(app[name]) else name
            lines.append(f"| [`carrara {name}`](#{first}) | {command.summary} |")
        lines.append("")
        for name in commands:
            for path, leaf in _leaves((name,), app[name]):
                lines += [*_section(path, leaf), ""]
    lines += ["## Shell completion", "", *_section(("--install-completion",), app["--install-completion"])]
    return "\n".join([*lines, COMPLETION])


def _subcommands(app: App) -> list[str]:
    return [name for name in app if not name.startswith("-")]


def _leaves(path: tuple[str, ...], app: App) -> Iterator[tuple[tuple[str, ...], App]]:
    """Yield a command, or each of its subcommands if it has some."""
    names = _subcommands(app)
    if not names:
        yield path, app
    for name in names:
        yield from _leaves((*path, name), app[name])


def _section(path: Sequence[str], app: App) -> list[str]:
    command = " ".join(path)
    about, example = _description(app)
    arguments = [one for one in app.assemble_argument_collection(parse_docstring=True) if _is_shown(one)]
    positional = [one for one in arguments if not _options(one)]
    words = [f"--{one.name.removeprefix('--')} {_value(one)}" for one in arguments if one.required and _options(one)]
    words += ["[OPTIONS]"] if any(_options(one) and not one.required for one in arguments) else []
    words += [one.name if one.required else f"[{one.name}]" for one in positional]
    anchor = command.replace(" ", "-").removeprefix("--")
    lines = [f"### carrara {command} {{ #{anchor} }}", "", about, ""]
    lines += ["```text", " ".join(["carrara", command, *words]), "```", ""]
    if example:
        lines += ["Example:", "", "```sh", *_wrapped(example), "```", ""]
    for one in positional:
        lines += _entry(f"`{one.name}`", one)
    titles = dict.fromkeys(_group(one) for one in arguments if _options(one))
    for title in titles:
        if len(titles) > 1:
            lines += [f"**{title}**", ""]
        for one in arguments:
            if _options(one) and _group(one) == title:
                names = ", ".join(f"`{name}`" for name in _options(one))
                lines += _entry(f"{names} `{_value(one)}`" if _value(one) else names, one)
    command_entry = next((own[path[0]] for own in COMMANDS.values() if path[0] in own), None)
    if isinstance(command_entry, Command) and command_entry.rare:
        lines += ["**In the file of `--config` alone**", ""]
        for setting in rare_settings(command_entry):
            lines += [f"`{setting.name}`", f":   {_escaped(setting.help)}", ""]
    epilogue = (app.help_epilogue or "").strip().split("\n\n")
    if epilogue[0] == "Exit codes":
        codes = [line.partition(" ") for line in epilogue[1:]]
        lines += ["| exit code | meaning |", "|--|--|", *(f"| {code} | {meaning} |" for code, _, meaning in codes), ""]
    return lines[:-1]


def _description(app: App) -> tuple[str, str]:
    """Return what a command does, and its example."""
    docstring = re.split(r"\n\s*Args:", app.default_command.__doc__ or "" if app.default_command else "")[0]
    paragraphs = [" ".join(one.split()) for one in docstring.strip().split("\n\n")]
    example = next((one.removeprefix("Example: ") for one in paragraphs if one.startswith("Example: ")), "")
    return "\n\n".join(one for one in paragraphs if not one.startswith("Example: ")), example


def _wrapped(command: str, width: int = 84) -> list[str]:
    """Break a command before an option, where it is too long for a line."""
    lines = [""]
    for part in re.split(r" (?=-)", command):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines[-1] += " \\"
            lines.append(f"  {part}")
        else:
            lines[-1] = f"{lines[-1]} {part}".strip() if len(lines) == 1 else f"{lines[-1]} {part}"
    return lines


def _is_shown(argument: Argument) -> bool:
    return bool(argument.show) and bool(argument.name) and argument.name != "*"


def _options(argument: Argument) -> list[str]:
    """Return the names of an option, without those that switch it off; none for a positional argument."""
    return [name for name in argument.names if name.startswith("-") and not name.startswith("--no-")]


def _group(argument: Argument) -> str:
    groups = argument.parameter.group
    first = groups[0] if isinstance(groups, tuple) and groups else groups
    name = str(getattr(first, "name", first))
    return "Options" if name == "Parameters" else name


def _value(argument: Argument) -> str:
    """Return what stands for the value of an option; nothing for a flag."""
    if argument.is_flag():
        return ""
    if argument.parameter.metavar:
        return str(argument.parameter.metavar)
    if choices := argument.get_choices():
        return "|".join(choices)
    hint = str(getattr(argument.hint, "__name__", argument.hint))
    return next((word for kind, word in PLACEHOLDER.items() if kind in hint), "VALUE")


def _entry(term: str, argument: Argument) -> list[str]:
    """Return one entry of a definition list."""
    text = _escaped(" ".join((argument.parameter.help or "").split()))
    if argument.required and _options(argument):
        text += " Required."
    choices = argument.get_choices()
    if choices and not all(choice in text for choice in choices):
        text += f" One of {', '.join(f'`{one}`' for one in choices)}."
    default = argument.field_info.default
    if argument.show_default and default not in (None, "") and isinstance(default, str | int | float):
        text += f" Default: `{default}`."
    return [term, f":   {text.strip()}", ""]


def _escaped(text: str) -> str:
    """Escape what Markdown would take for a link or a tag, outside of code."""
    parts = text.split("`")
    return "`".join(part if n % 2 else re.sub(r"[\[<*_]", r"\\\g<0>", part) for n, part in enumerate(parts))

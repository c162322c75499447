"""The command line. A command is made from its operation when it is called."""

import os
import sys
from collections.abc import Sequence

from cyclopts import (
    App,
    CycloptsError,
    Group,
    MissingArgumentError,
    Parameter,
    RepeatArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
)

from carrara._version import __version__
from carrara.cli._stopping import stoppable, stopped_code
from carrara.cli.commands import COMMANDS
from carrara.cli.messages import messages_on_stderr, say
from carrara.util.errors import RunError, UsageError, nearest, os_error_text
from carrara.util.files import storage_errors

NEXT = """\
Carrara measures what language models really do with a long context. Start with:

  carrara demo                  a first run of a small real model (98 MB) that costs nothing, and its report
  carrara tasks                 all tasks; `carrara tasks NAME` explains one and its parameters
  carrara show latent_list      one item, as a model sees it
  carrara run latent_list --model openai/gpt-4o --lengths 0,4k,32k -n 50
                                any model; the same command resumes a run that was stopped

`carrara --help` lists all commands, and `carrara COMMAND --help` the options of one.
"""

HELP_FLAGS = ("--help", "-h")


def make_app(lists_commands: bool = False) -> App:
    """Return the command line.

    Args:
        lists_commands: Whether its help will be printed. The help of a single command is its docstring, which is not
            read before the command is imported.
    """
    app = App(
        name="carrara",
        help="Measures what language models, and systems built around them, can do with a long context.",
        version=f"carrara {__version__}",
        default_parameter=Parameter(negative=()),
        help_flags=HELP_FLAGS,
        help_format="plaintext" if lists_commands else "markdown",  # a Markdown parser would take long to import
    )
    options = Group("Options", sort_key=99)
    app["--help"].group = app["--version"].group = options
    app.command(
        "carrara.cli.install_completion:install_completion",
        name="--install-completion",
        help="Complete commands, options and names of tasks in bash, zsh or fish." if lists_commands else None,
        group=options,
    )
    for group, commands in COMMANDS.items():
        for number, (name, command) in enumerate(commands.items()):
            app.command(
                f"carrara.cli.generated:{name}",
                name=name,
                help=command.summary if lists_commands else None,
                group=group,
                sort_key=number,
            )
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code.

    0: done; 1: it failed, or left out damaged input; 2: it was used wrongly. Errors are one sentence on stderr.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    if not words:
        print(NEXT, end="")
        return 0
    app = make_app(lists_commands=words[0] in HELP_FLAGS)
    with messages_on_stderr(app, words) as messages:
        try:
            with stoppable(), storage_errors():
                command, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False)
                result = command(*bound.args, **bound.kwargs)
            if sys.stdout is not None:  # closed before the command began
                sys.stdout.flush()
            return int(result or 0) or int(messages.skipped)
        except CycloptsError as error:
            say(_wrong_use(error, words[0]))
            return 2
        except UsageError as error:
            say(str(error))
            return 2
        except RunError as error:
            say(str(error))
            return 1
        except KeyboardInterrupt:
            print("carrara: stopped", file=sys.stderr)
            return stopped_code()
        except BrokenPipeError:  # the program that reads our output has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except OSError as error:
            say(os_error_text(error))
            return 1


def _wrong_use(error: CycloptsError, called: str) -> str:
    """Return the error message for words that are not a command, an option or a value."""
    match error:
        case UnknownCommandError():
            return _unknown(error, called)
        case MissingArgumentError():
            return _missing(error)
        case UnusedCliTokensError(unused_tokens=[extra]):
            return f"{extra!r} is one argument too many; add --help to see what the command takes"
        case UnusedCliTokensError(unused_tokens=[*extra]):
            return f"{', '.join(map(repr, extra))} are too many arguments; add --help to see what the command takes"
        case RepeatArgumentError():
            return f"{error.token.keyword} is given twice: give it once"
    return str(error).rstrip(".")


def _unknown(error: UnknownCommandError, called: str) -> str:
    """Return the error message for an unknown command, or for an unknown action of a command.

    The library's own sentence would import every command.
    """
    name = error.unused_tokens[0] if error.unused_tokens else ""
    if error.app is not None and called in _names():
        actions = [action for action in error.app if not action.startswith("-")]
        hint = nearest(name, actions) or f"; it has {', '.join(actions)}"
        return f"`carrara {called}` has no action {name!r}{hint}"
    return f"no command is called {name!r}{nearest(name, _names())}; `carrara --help` lists them"


def _missing(error: MissingArgumentError) -> str:
    """Return the error message for a missing argument, or for an option without its value."""
    assert error.argument is not None
    command = _command(error)
    if error.keyword:
        return f"{error.keyword} needs a value: see `{command} --help`"
    for word in error.unused_tokens or ():
        if word.startswith("-"):
            return f"`{command}` has no option {word}{nearest(word, error.argument.names)}"
    return f"`{command}` needs {error.argument.name}: see `{command} --help`"


def _command(error: CycloptsError) -> str:
    return " ".join(["carrara", *(error.command_chain or ())])


def _names() -> list[str]:
    return [name for commands in COMMANDS.values() for name in commands]


if __name__ == "__main__":
    sys.exit(main())

"""The command line. Each command is a file in `commands/`; its heavy imports wait until it runs."""

import argparse
import os
import sys
from collections.abc import Sequence

from carrara import __version__
from carrara.cli._stopping import stoppable, stopped_code
from carrara.cli._talk import say, talking
from carrara.cli.commands import COMMANDS
from carrara.core.errors import RunError, UsageError
from carrara.core.places import storage

NEXT = """\
Carrara measures what language models really do with a long context. To begin with:

  carrara get demo              a real, small model, 98 MB, for
  carrara demo                  a first run with nothing to pay, and its report
  carrara tasks                 the tests that there are, and `carrara tasks NAME` what can be set in one
  carrara show latent_list      one item, as a model sees it
  carrara run latent_list --model openai/gpt-4o --lengths 0,4k,32k -n 50 --out runs/first
                                any model; stopped at any moment, the same command goes on

`carrara --help` lists all commands, `carrara COMMAND --help` what each takes.
"""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="carrara",
        description="Measures what language models can really do with a long context.",
        epilog="example: carrara run latent_list --model carrara/smollm2 --lengths 0,1k -n 15 --out runs/first",
    )
    top.add_argument("--version", action="version", version=f"carrara {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.HELP,
            description=command.HELP[0].upper() + command.HELP[1:] + ".",
            epilog=f"example: {command.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.arguments(sub)
        sub.set_defaults(main=command.main)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code.

    0: done; 1: it failed, or left out damaged input; 2: it was asked wrongly. Errors are one sentence on stderr.
    """
    if not (sys.argv[1:] if argv is None else argv):
        print(NEXT, end="")
        return 0
    args = parser().parse_args(argv)
    try:
        with stoppable(), talking() as said, storage():
            if allowed := getattr(args, "allow", []):
                from carrara.tokens import permission

                for name in allowed:
                    permission.allow(name)
            result: int = args.main(args)
        if sys.stdout is not None:  # it was closed before the command began
            sys.stdout.flush()
        return result or int(said.skipped)
    except UsageError as error:
        say(str(error))
        return 2
    except RunError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        print("carrara: stopped", file=sys.stderr)
        return stopped_code()
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        say(f"{error.filename or 'a file'} failed: {error.strerror or error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())

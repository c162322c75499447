"""carrara --install-completion: install shell completion for `carrara`."""

from pathlib import Path
from typing import Annotated, Literal, get_args

from cyclopts import Parameter

from carrara.options import File, file_of, text
from carrara.util.errors import RunError, UsageError

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[Shell, ...] = get_args(Shell)

ESCAPED = "printf -v _q '%q' \"$_x\""
"""The expression by which Cyclopts' bash script escapes a candidate."""
ACTIVATION: dict[Shell, str] = {
    "bash": "~/.bashrc loads it; start a new shell to use it",
    "zsh": "~/.zshrc adds its folder to fpath, and has to run `autoload -Uz compinit && compinit` after that; start a "
    "new shell to use it",
    "fish": "start a new shell to use it",
}


def install_completion(
    shell: Annotated[Shell | None, Parameter(help="By default the shell that runs the command.")] = None,
    /,
    *,
    out: Annotated[
        File | None, text("FILE", help="Write the script to this file, and change nothing else. By default install it.")
    ] = None,
) -> int:
    """Complete commands, options, their values, and names of tasks in bash, zsh or fish.

    Example: carrara --install-completion zsh
    """
    known = shell or _running_shell()
    try:
        if out is None:
            print(f"{_install(known)} completes `carrara` in {known}: {ACTIVATION[known]}")
        else:
            file_of(out).write_text(completion_script(known), "utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RunError(f"{error.filename} cannot be written: {error.strerror}; name another file by `out`") from None
    return 0


def completion_script(shell: Shell) -> str:
    """Return the script that completes commands in a shell."""
    from carrara.cli.main import make_app

    script = make_app(lists_commands=True).generate_completion(shell=shell)
    # `%q` escapes a comma, and bash then inserts a list of tasks twice
    return script.replace(ESCAPED, f'{ESCAPED}; _q="${{_q//\\\\,/,}}"') if shell == "bash" else script


def _install(shell: Shell) -> Path:
    """Write the script to the shell's completion folder, and have the shell's start-up file load it."""
    from cyclopts.completion.install import add_to_rc_file, get_default_completion_path

    path = get_default_completion_path(shell, "carrara")
    path.write_text(completion_script(shell), "utf-8")
    if shell != "fish":  # fish reads the folder without further setup
        add_to_rc_file(path, "carrara", shell)
    return path


def _running_shell() -> Shell:
    from cyclopts.completion import ShellDetectionError, detect_shell

    detected: str
    try:
        detected = detect_shell()
    except ShellDetectionError:
        detected = ""
    for shell in SHELLS:
        if shell == detected:
            return shell
    raise UsageError(f"the shell that runs this command is unknown: name one of {', '.join(SHELLS)}")

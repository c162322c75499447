"""Consoles of rich that print text as it is.

rich reads `[bold]` in a text as a style and `:x:` as a symbol. A path, a model's name or `carrara[demo]` would lose
a part of itself.
"""

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TextColumn


def console(file: TextIO | None = None, quiet: bool = False, lines_only: bool = False) -> "Console":
    """Return a console that prints text without markup, symbols or highlighting.

    Args:
        file: Where it prints; standard error by default.
        quiet: Print nothing. Such a console is never a terminal.
        lines_only: Print plain lines, as to a file, also in a terminal or a notebook.
    """
    from rich.console import Console

    forced = False if quiet or lines_only else None
    return Console(
        file=file,
        stderr=file is None,
        quiet=quiet,
        force_terminal=forced,
        force_jupyter=forced,
        markup=False,
        emoji=False,
        highlight=False,
    )


def text_column(text: str = "{task.description}") -> "TextColumn":
    """Return a column of a progress bar that shows its text without markup."""
    from rich.progress import TextColumn

    return TextColumn(text, markup=False)

"""Errors that Inspect prints. Inspect reads markup in them, so text of ours is escaped here and nowhere else."""

import re

from rich.markup import escape

from carrara.servers.inspect_private import PrerequisiteError

_STYLED = re.compile(r"\[([a-z][a-z ]*)\]([^\[\]]*)\[/(?:\1)?\]")
"""Styled text in a message of Inspect's own. A tag that is not closed is part of what a user typed, and stays."""


class SetupError(PrerequisiteError):
    """A model or task cannot be made. Inspect prints `text` as it is, and so does the command line."""

    def __init__(self, text: str) -> None:
        super().__init__(escape(text))
        self.text = text


def plain(error: Exception) -> str:
    r"""Return the text of an error on one line, as a user should see it.

    Only Inspect's own `PrerequisiteError` has markup to remove; the text of any other error is literal.

    >>> plain(PrerequisiteError("ERROR: No [bold][blue]KEY[/blue][/bold] for openai/[red]x,\n\nsee [link]"))
    'No KEY for openai/[red]x, see [link]'
    >>> plain(SetupError("pip install 'carrara[demo]'")), plain(ValueError("[bold]x[/bold]"))
    ("pip install 'carrara[demo]'", '[bold]x[/bold]')
    """
    if isinstance(error, SetupError):
        words = error.text
    elif isinstance(error, PrerequisiteError):
        words, before = str(error.message), ""
        while words != before:  # tags may be nested
            before, words = words, _STYLED.sub(r"\2", words)
    else:
        words = str(getattr(error, "message", error))
    return re.sub(r"\s*\n\s*", " ", words).removeprefix("ERROR: ").strip()

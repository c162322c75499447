"""The names of Inspect AI that Carrara needs and Inspect does not publish.

No other module imports a private name of Inspect (`tests/test_imports.py`). `make inspect-ends` runs the tasks that
depend on these names on the oldest and on the newest release of the supported range.

- `PrerequisiteError`: Inspect prints this error of a task function or a provider without a traceback, and no other.
- `active_generate_config`: before a request, nothing else has the `--max-tokens` of an evaluation.
- `platform`: Inspect decides here whether it runs in a notebook. No option and no variable says otherwise.
- `RegistryInfo`, `registry_tag`: a task that a run makes has the name and the arguments of the entry point's task.
- `registry_find`: says whether a provider is registered. `get_model` constructs it, which may load its weights.
- `task_identifier`: a worker of an eval set names the log to continue by its identifier. A log's header has none.
- `track_active_model_event`: providers attach each raw request to the active model event. Inspect writes that event at
  once, where its logs are realtime.
"""

import re

from inspect_ai._eval.evalset import task_identifier
from inspect_ai._util import platform
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.registry import RegistryInfo, registry_find, registry_tag
from inspect_ai.log._samples import track_active_model_event
from inspect_ai.model._generate_config import active_generate_config
from rich.markup import escape

__all__ = [
    "PrerequisiteError",
    "RegistryInfo",
    "active_generate_config",
    "platform",
    "registry_find",
    "registry_tag",
    "task_identifier",
    "track_active_model_event",
]


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
        words, previous = str(error.message), ""
        while words != previous:  # tags may be nested
            previous, words = words, _STYLED.sub(r"\2", words)
    else:
        words = str(getattr(error, "message", error))
    return re.sub(r"\s*\n\s*", " ", words).removeprefix("ERROR: ").strip()

"""A cache of replies in a run's folder: each reply is written when it arrives, so that a kill loses none.

A file holds one reply as JSON. Its name is a digest of all that the reply depends on: the messages by their references,
the settings and the server. Inspect's own cache is not used: it reads Python's pickle format, and a file in
that format can run code, which a folder from somebody else must not do.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from carrara.runs.settings import NEUTRAL
from carrara.util.errors import RunError, UsageError
from carrara.util.files import SMALL, content

_UNSENT = NEUTRAL - {"prompt_logprobs"}
"""Settings that do not affect a reply. With log-probabilities of the prompt, a reply contains more."""


class ReplyCache:
    """A cache of replies in a folder, which need not exist yet.

    Args:
        folder: Where the files are.
        scopes: What replies depend on that no request says, such as the server.
    """

    def __init__(self, folder: Path, scopes: Mapping[str, str]) -> None:
        self._folder, self._scopes = folder, dict(scopes)

    def name(
        self,
        model: str,
        input: Sequence[ChatMessage],
        tools: Sequence[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
        context: str = "",
    ) -> str:
        """Return the file name for the reply to a request.

        Args:
            model: The name of the model.
            input: The messages, with references in place of prompts.
            tools: The tools that the model may call.
            tool_choice: Whether it has to.
            config: The settings of the request.
            context: An id of the context that is read, as equal messages may belong to several.
        """
        parts = [
            self._scopes,
            model,
            [message.model_dump(mode="json", exclude={"id"}) for message in input],
            [tool.model_dump(mode="json") for tool in tools],
            tool_choice,
            config.model_dump(mode="json", exclude=set(_UNSENT)),
            context,
        ]
        return blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()

    def get(self, name: str) -> ModelOutput | None:
        """Return a reply; None if there is none, or if its file is damaged."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            output = ModelOutput.model_validate(json.loads(content(path, SMALL)))
        except (UsageError, ValueError, RecursionError):
            return None
        return output if output.choices else None

    def put(self, name: str, output: ModelOutput) -> None:
        """Write a reply atomically.

        Raises:
            RunError: It could not be written. It does not count as answered then, as a kill would lose it.
        """
        path = self._path(name)
        partial = path.with_suffix(".partial")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(output.model_dump(), default=str), "utf-8")
            partial.replace(path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            why = error.strerror or type(error).__name__
            raise RunError(f"its reply could not be written to {self._folder} ({why}): make room") from None

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

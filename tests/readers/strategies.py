"""Strategies of compaction whose losses are known: one that keeps everything, and one that keeps the needed facts."""

from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

NEEDED: list[str] = []
"""The facts that `KeepNeeded` keeps, word for word."""


class KeepAll(CompactionStrategy):
    def __init__(self) -> None:
        super().__init__(type="edit")

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        return messages, None


class KeepNeeded(CompactionStrategy):
    def __init__(self) -> None:
        super().__init__(type="summary")

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        summary = ChatMessageUser(content="Summary: " + " ".join(NEEDED))
        return [messages[0], summary], summary

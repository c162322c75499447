"""The reward: what `carrara score` gives for the same id and reply, from the instances that ids name."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from carrara.result import Result, Status
from carrara.score.scored import Scorer, ScorerConfig
from carrara.util.errors import UsageError

Completion = str | Sequence[Any] | None
"""A text, or messages: mappings or objects that have a `content`, which may be in parts."""


def rewards(
    completions: Sequence[Completion], prompts: Sequence[Any] = (), *, id: Sequence[str] | None = None, **_: Any
) -> list[float]:
    """The sound score of each reply: a reward function for TRL. `id` is a column of what `carrara.rl.prompts` gives.

    >>> import carrara
    >>> i = carrara.item("qa1", split="train")
    >>> rewards(["I like turtles", [{"role": "assistant", "content": i.gold}]], id=[i.id, i.id])
    [0.0, 1.0]
    """
    if id is None:
        raise UsageError("rewards go by the ids of items: give the column `id`, as `carrara.rl.prompts` has it")
    return [scored(name, said).score for name, said in zip(id, completions, strict=True)]


def scored(id: str, completion: Completion, status: Status = "ok") -> Result:
    return _scorer().reply(id, reply_of(completion), status)


@cache
def _scorer() -> Scorer:
    """One for all, which keeps the instances that replies share."""
    return Scorer(ScorerConfig(""))


def reply_of(completion: Completion) -> str:
    """What was said last.

    >>> reply_of([{"role": "assistant", "content": [{"type": "text", "text": "The park"}]}])
    'The park'
    """
    if completion is None or isinstance(completion, str):
        return completion or ""
    content = _of(completion[-1], "content") if completion else None
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(_of(part, "text") or "" for part in content)


def _of(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)

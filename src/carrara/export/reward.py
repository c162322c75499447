"""The reward of a reply: the score that `carrara score` gives for the same id and reply."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from carrara.answers.status import Status
from carrara.export.scale import RewardScale, scale_reward
from carrara.results.result import Result
from carrara.runs.rescoring.scored import Scorer, ScorerConfig
from carrara.util.errors import UsageError

Completion = str | Sequence[Any] | None
"""A text, or messages: mappings or objects with a `content`, which may have several parts. What is neither is empty."""


def rewards(
    completions: Sequence[Completion],
    prompts: Sequence[Any] = (),
    *,
    id: Sequence[str] | None = None,
    scale: RewardScale = None,
    **_: Any,
) -> list[float]:
    """Return the reward of each reply. This is a reward function for TRL.

    Args:
        completions: The replies, as texts or messages.
        prompts: The prompts, which are ignored.
        id: The ids of the items, a column of the data set of `carrara.export.prompts`.
        scale: How a score becomes a reward: `"chance"`, so that a guesser earns 0 on average and a right answer 1;
            factors, or means and standard deviations, by task; or a folder of a run, from which they are measured.

    Returns:
        The rewards. Without a scale they are the scores, from 0 to 1.

    Raises:
        UsageError: There are no ids, or the scale lacks a task.

    Examples:
        >>> import carrara
        >>> i = carrara.item("qa1", split="train")
        >>> rewards(["I like turtles", [{"role": "assistant", "content": i.gold}]], id=[i.id, i.id])
        [0.0, 1.0]
    """
    return [scale_reward(result, scale) for result in score_completions(completions, id)]


def score_completions(completions: Sequence[Completion], ids: Sequence[str] | None) -> list[Result]:
    """Return the scored replies. Raise `UsageError` if there are no ids."""
    if ids is None:
        raise UsageError("rewards go by the ids of items: give the column `id`, as `carrara.export.prompts` has it")
    if len(ids) != len(completions):
        raise UsageError(f"there are {len(completions)} replies and {len(ids)} ids: give the id of each reply's item")
    return [score_completion(id, completion) for id, completion in zip(ids, completions, strict=True)]


def score_completion(id: str, completion: Completion, status: Status = "ok") -> Result:
    return _scorer().reply(id, reply_of(completion), status)


@cache
def _scorer() -> Scorer:
    """Return the scorer of this process, which caches the instances that replies share."""
    return Scorer(ScorerConfig(""))


def reply_of(completion: object) -> str:
    """Return the text of a reply, or of the last message. A reply without a text, such as None or NaN, is empty.

    >>> reply_of([{"role": "assistant", "content": [{"type": "text", "text": "The park"}]}])
    'The park'
    """
    if isinstance(completion, Sequence) and not isinstance(completion, str):
        completion = _field(completion[-1], "content") if completion else None
    if isinstance(completion, Sequence) and not isinstance(completion, str):
        texts = [_field(part, "text") for part in completion]
        return "".join(text for text in texts if isinstance(text, str))
    return completion if isinstance(completion, str) else ""


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)

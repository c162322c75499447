"""The reward function for verl.

    reward.custom_reward_function.path=pkg://carrara.export.verl_reward
    reward.custom_reward_function.name=compute_score

Its rows are those of `carrara export verl`. The reward goes by the id of an item, not by the text of its answer.
"""

from collections.abc import Mapping
from typing import Any

from carrara.export.reward import score_completion
from carrara.export.scale import RewardScale, scale_reward
from carrara.util.errors import UsageError

__all__ = ["compute_score"]

LONGEST = 200
"""The most characters of an answer among the metrics, where it is compared with those of other replies."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    scale: RewardScale = None,
    details: bool = True,
    **_: Any,
) -> dict[str, Any] | float:
    """Return the reward of a reply. This is a reward function for verl.

    Args:
        data_source: The task, which is ignored: the id names it.
        solution_str: The reply.
        ground_truth: The right answer, which is ignored: it is computed from the id.
        extra_info: The fields of a row. `id` names the item. `truncated` says that the reply was cut off, if an agent
            loop of yours sets it.
        scale: How the score becomes the reward: `"chance"`, so that a guesser earns 0 on average and a right answer 1;
            factors, or means and standard deviations, by task; or a folder of a run, from which they are measured.
        details: Whether the score is a dictionary. A manager that takes only numbers, such as `prime`, needs False.

    Returns:
        A dictionary: `score` is the reward, `acc` the score without a scale, `answers_read` 1 if an answer was read
        and otherwise 0, `pred` the answer, and `status` the status of the reply. Or the reward alone.

    Raises:
        UsageError: The row has no id, or the scale lacks its task.

    Examples:
        >>> import carrara
        >>> i = carrara.item("qa6", split="train")
        >>> wrong = "no" if i.gold == "yes" else "yes"
        >>> compute_score("babilong/qa6", wrong, i.gold, {"id": i.id}, scale="chance")
        {'score': -1.0, 'acc': 0.0, 'answers_read': 1.0, 'pred': '...', 'status': 'ok'}
    """
    info = extra_info if isinstance(extra_info, Mapping) else {}
    id = info.get("id")
    if not isinstance(id, str):
        raise UsageError(
            f"a row of {data_source} has no id in `extra_info`: rows come from `carrara export verl`, and other data "
            "need a reward function of their own"
        )
    result = score_completion(id, solution_str, "truncated" if info.get("truncated") else "ok")
    reward = scale_reward(result, scale)
    if not details:
        return reward
    return {
        "score": reward,
        "acc": result.score,
        "answers_read": float(result.status == "ok"),
        "pred": (result.answer or "")[:LONGEST],
        "status": result.status,
    }

"""Items as an environment of verifiers: single turns with the score as the reward.

A metric records whether an answer could be read. Rows of the data sets are numbers: a prompt is made when its rollout
begins, at the length that the curriculum has then. All rollouts of one row have the same prompt.
"""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from carrara import tokenizers
from carrara.answers.status import NEVER_ASKED, Status
from carrara.export.curriculum import Curriculum
from carrara.export.dataset_card import describe
from carrara.export.require_extra import require_package
from carrara.export.reward import score_completion
from carrara.export.scale import RewardScale, check_scale, scale_reward
from carrara.export.stream import HELD_OUT, Stream
from carrara.items.item import check_single
from carrara.options import ItemOptions, Lengths, Selections, Value, check_whole
from carrara.results.result import Result
from carrara.rng import Split
from carrara.signature import documented_by
from carrara.util.errors import UsageError

ROWS, EVALS = 100_000, 100
BLANK = [{"role": "user", "content": "(made when it is asked)"}]


@documented_by(ItemOptions)
def load_environment(
    tasks: Selections,
    lengths: Lengths | Curriculum,
    split: Split = "train",
    *,
    params: Mapping[str, Value] | None = None,
    seed: int = 0,
    tokenizer: str = tokenizers.DEFAULT,
    start: int = 0,
    n: int = ROWS,
    evals: int = EVALS,
    scale: RewardScale = None,
) -> Any:
    """Return an environment of verifiers that asks items, with their score as the reward.

    `verifiers.load_environment("carrara", tasks="qa1", lengths="4k")` calls this function.

    Args:
        tasks: Tasks by name, suite or pattern, separated by commas; or loaded with their parameters.
        lengths: Tokens of the prompts, such as `4k` or `1k,2k`; or a `Curriculum`, which changes them.
        params: Parameters of the tasks, such as `{"complexity": 5}`.
        start: The number of the first item.
        n: The number of items to train on.
        evals: The number of items to evaluate on, which no training reaches.
        scale: How a score becomes the reward: `"chance"`, so that a guesser earns 0 on average and a right answer 1;
            factors, or means and standard deviations, by task; or a folder of a run, from which they are measured.

    Returns:
        A `verifiers.SingleTurnEnv`.

    Raises:
        UsageError: verifiers is not installed or too new, or an argument is wrong.

    Examples:
        >>> from carrara.export import Curriculum, load_environment
        >>> load_environment("qa1,niah", Curriculum("1k,2k,4k"), n=1000)  # doctest: +SKIP
    """
    require_package("verifiers")
    check_scale(scale)
    vf: Any = import_module("verifiers")
    if not hasattr(vf, "SingleTurnEnv"):
        raise UsageError(
            f"verifiers {vf.__version__} has no such environments any more: use `carrara.export.CarraraTaskset`, or "
            "pip install 'verifiers<0.4'"
        )
    stream = Stream(tasks, lengths, params=params, split=split, seed=seed, tokenizer=tokenizer)
    normalized: Any = import_module("verifiers.utils.message_utils").normalize_messages
    asked: dict[int, int] = {}
    """The length of each item, by its number."""

    class Environment(vf.SingleTurnEnv):  # type: ignore[misc]
        async def setup_state(self, state: Any) -> Any:
            number = state["info"]["number"]
            length = asked.setdefault(number, stream.length(number))
            item = check_single(await asyncio.to_thread(stream.item, number, length), "this environment")
            state["prompt"] = normalized([one._asdict() for one in item.messages()], field_name="prompt")
            state["info"]["id"] = item.id
            return state

    def score(state: Any) -> float:
        found = _result(state)
        state["answers_read"], state["scaled_score"] = found.status == "ok", scale_reward(found, scale)
        if isinstance(lengths, Curriculum) and found.status not in NEVER_ASKED:
            lengths.learn([(found.id, found.score)])
        return found.score

    def scaled_score(state: Any) -> float:
        found: float = state["scaled_score"]  # a rubric asks its functions in their order
        return found

    def answers_read(state: Any) -> float:
        return float(state["answers_read"])

    def rows(first: int, many: int) -> Any:
        info = [{"number": number} for number in range(first, first + many)]
        found = import_module("datasets").Dataset.from_dict({"prompt": [BLANK] * many, "info": info})
        describe(found.info, stream)
        return found

    if scale is None:
        rubric = vf.Rubric(funcs=[score, answers_read], weights=[1.0, 0.0])
    else:
        rubric = vf.Rubric(funcs=[score, scaled_score, answers_read], weights=[0.0, 1.0, 0.0])
    return Environment(
        dataset=rows(check_whole("start", start, 0), check_whole("n", n, 1)),
        eval_dataset=rows(HELD_OUT, check_whole("evals", evals, 1)),
        rubric=rubric,
    )


def _result(state: Any) -> Result:
    """Return the scored reply of a rollout."""
    return score_completion(state["info"]["id"], state["completion"], _status(state))


def _status(state: Any) -> Status:
    if state["error"] is not None:
        return "error"
    if state.get("prompt_too_long"):
        return "overflow"
    return "truncated" if state["is_truncated"] else "ok"

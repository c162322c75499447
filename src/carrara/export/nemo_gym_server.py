"""A resources server of NeMo Gym: `verify` scores the reply to an item, which the request names by its id.

`carrara export nemo-gym` writes the rows, the configuration, and the program that starts this server. NeMo Gym and the
libraries that it brings along are imported when the class is made, because they need an environment of their own.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import chain
from statistics import fmean
from typing import Any

from carrara.answers.status import Status
from carrara.export.reward import reply_of, score_completion
from carrara.export.scale import RewardScale, ScaleOption, check_scale, scale_reward
from carrara.items.item_id import ItemId
from carrara.util.errors import UsageError


def server_class() -> Any:
    """Return the class of the server, whose `run_webserver` NeMo Gym calls.

    Returns:
        A `SimpleResourcesServer`.

    Raises:
        UsageError: nemo-gym is not installed.

    Examples:
        >>> server_class().run_webserver()  # doctest: +SKIP
    """
    try:
        base: Any = import_module("nemo_gym.base_resources_server")
    except ImportError as error:
        raise UsageError(f"this needs NeMo Gym ({error}): pip install nemo-gym") from None

    class CarraraConfig(base.BaseResourcesServerConfig):  # type: ignore[misc]
        scale: ScaleOption = None

    class CarraraVerifyRequest(base.BaseVerifyRequest):  # type: ignore[misc]
        model_config = {"extra": "allow"}  # labels of rows come back with the reward
        id: str

    class CarraraVerifyResponse(base.BaseVerifyResponse):  # type: ignore[misc]
        model_config = {"extra": "allow"}
        id: str
        task: str
        status: str
        score: float
        answers_read: float

    class CarraraServer(base.SimpleResourcesServer):  # type: ignore[misc]
        config: CarraraConfig

        def model_post_init(self, context: Any) -> None:
            super().model_post_init(context)
            check_scale(self.config.scale)

        async def verify(self, body: CarraraVerifyRequest) -> CarraraVerifyResponse:
            fields = verdict(body.id, body.response, self.config.scale)
            return CarraraVerifyResponse(**{**body.model_dump(), **fields})

        def compute_metrics(self, tasks: list[list[dict[str, Any]]]) -> dict[str, float]:
            return mean_rewards(chain.from_iterable(tasks))

    return CarraraServer


def mean_rewards(responses: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean reward of each task at each length, named as NeMo Gym names its metrics."""
    rewards: dict[str, list[float]] = {}
    for response in responses:
        rewards.setdefault(f"mean/reward/{response['task']}/{ItemId.parse(response['id']).size()}", []).append(
            response["reward"]
        )
    return {name: fmean(values) for name, values in sorted(rewards.items())}


def verdict(id: str, response: Any, scale: RewardScale = None) -> dict[str, Any]:
    """Return the reward of a response of the Responses API, and what it rests on.

    If an agent wrote several messages, the last one counts.

    Raises:
        UsageError: There is no such item, or the scale lacks its task.
    """
    last = [output for output in response.output if output.type == "message" and output.role == "assistant"][-1:]
    result = score_completion(id, last, status_of(response, last))
    return {
        "reward": scale_reward(result, scale),
        "task": result.task,
        "status": result.status,
        "score": result.score,
        "answers_read": float(result.status == "ok"),
    }


def status_of(response: Any, last: Sequence[Any]) -> Status:
    """Return how a reply ended. `ok` leaves the rest to grading."""
    if response.error is not None or response.status in ("failed", "cancelled"):
        return "error"
    if response.incomplete_details or "incomplete" in (
        response.status,
        *(getattr(output, "status", "") for output in last),
    ):
        reason = response.incomplete_details.reason if response.incomplete_details else None
        if reason == "content_filter":
            return "filtered"
        reasoned = any(output.type == "reasoning" for output in response.output)
        return "truncated" if reasoned or reply_of(last) or response.usage else "overflow"
    if response.output and response.output[-1].type == "function_call":
        return "called"
    parts = [part for output in last if not isinstance(output.content, str) for part in output.content]
    return "refused" if any(part.type == "refusal" for part in parts) else "ok"

"""Results of replies whose scores are known."""

from dataclasses import replace
from typing import Any

from carrara.results.result import Result


def reply(
    instance: int,
    score: float = 1.0,
    *,
    task: str = "suite/test",
    length: int = 0,
    model: str = "m",
    question: int = 0,
    params: str = "",
    style: str = "chat",
    tokenizer: str = "gpt2",
    **more: Any,
) -> Result:
    """Return the result of a reply to a question on an instance, with `more` fields changed."""
    instance_id = f"{task.partition(':')[0]}@1{f';{params}' if params else ''}/test-0-{instance}"
    setting = f"/{length}/{style}/{tokenizer}"
    result = Result(
        id=f"{instance_id}.{question}{setting}",
        task=task,
        version=1,
        model=model,
        length=length,
        tokens=length or 100,
        tokenizer=tokenizer,
        context_id=instance_id + setting,
        instance_id=instance_id,
        status="ok",
        score=score,
        chance_level=0.1,
    )
    return replace(result, **more)


def run(shares: dict[int, float], n: int = 20, **more: Any) -> list[Result]:
    """Return the results of a run that scores so at each length: of n replies, the first ones are right."""
    return [
        reply(i, float(i < round(share * n)), length=length, **more)
        for length, share in shares.items()
        for i in range(n)
    ]

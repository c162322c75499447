"""Print the rewards that verifiers records for replies, a JSON line each. Lines of JSON come in: an id and a reply.

This runs in the environment of `locks/verifiers.txt`, as `python -m tests.helpers.taskset_rewards`.
"""

import asyncio
import json
import sys
from importlib import import_module
from typing import Any

from carrara.export.taskset import CarraraData, CarraraTask

vf: Any = import_module("verifiers.v1")


async def score(id: str, reply: str) -> Any:
    """Return the trace of a rollout whose model said one thing, after verifiers has scored it."""
    task = CarraraTask(CarraraData(idx=0, id=id, prompt="(left out)"))
    trace = vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
    )
    trace.nodes.append(vf.MessageNode(message=vf.AssistantMessage(content=reply), sampled=True))
    await task.score(trace)
    return trace


def main() -> None:
    for line in sys.stdin:
        given = json.loads(line)
        trace = asyncio.run(score(given["id"], given["reply"]))
        print(json.dumps({"reward": trace.reward, **trace.metrics}))


if __name__ == "__main__":
    main()

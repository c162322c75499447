"""Score replies on RULER's tasks by two resources servers of NeMo Gym: ours, and its own `ruler`.

    python -m benchmarks.reward_nemo_gym [ITEMS] [LENGTH]

The items are RULER's 13 tasks as Carrara generates them. The replies are the right answer, and those of
`benchmarks.gaming`, which understand nothing. Both servers get the same responses, in an environment with NeMo Gym
itself (locks/nemo_gym.txt, Python 3.12): `verify` of `carrara.export.nemo_gym_server`, and `verify` of
`resources_servers/ruler/app.py`, as the package has it. A star marks a reward of ours that is above the chance level by
more than 0.02 and two standard errors. The question answering reads small files of the tests.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from tests.helpers.own_environment import environment
from tests.helpers.qa_files import write_files
from tools.environment import CHECKOUT

from benchmarks.gaming import ABOVE, items_of, replies
from carrara.items.item import Item
from carrara.util.quantities import write_length
from carrara.util.table import table

TASKS = ("niah", "vt", "cwe", "fwe", "qa_1", "qa_2")
ALL = "all"
RIGHT = "the right answer"
PROGRAM = """
import asyncio, json, sys
from importlib.metadata import version
from nemo_gym.base_resources_server import BaseVerifyRequest
from resources_servers.ruler.app import RulerResourcesServer, RulerVerifyRequest
from carrara.export.nemo_gym_server import server_class

def response(text):
    message = {"id": "0", "type": "message", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": text, "annotations": []}]}
    return {"id": "0", "created_at": 0, "model": "m", "object": "response", "output": [message],
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

async def reward(server, kind, fields):
    return (await server.verify(kind.model_validate(fields))).reward

ours, theirs = server_class().model_construct(), RulerResourcesServer.model_construct()
request = type(ours).verify.__annotations__["body"]
sys.stdout.write(json.dumps([version("nemo-gym"), "%d.%d.%d" % sys.version_info[:3]]) + "\\n")
for line in sys.stdin:
    one = json.loads(line)
    common = {"responses_create_params": {"input": ""}, "response": response(one["reply"])}
    own = asyncio.run(reward(ours, request, {**common, "id": one["id"]}))
    ruler = {**common, "outputs": one["outputs"], "length": one["length"], "subset": one["subset"]}
    found = own, asyncio.run(reward(theirs, RulerVerifyRequest, ruler))
    sys.stdout.write(json.dumps(found) + "\\n")
"""


class Reply(NamedTuple):
    """A reply to an item of a task of RULER."""

    item: Item
    subset: str
    """RULER's name of the task."""
    name: str
    text: str

    def line(self) -> str:
        gold = self.item.question.gold
        return json.dumps(
            {
                "id": self.item.id,
                "reply": self.text,
                "outputs": list(gold) if isinstance(gold, tuple) else [gold],
                "length": self.item.item_id.length,
                "subset": self.subset,
            }
        )


def all_replies(items: int, length: int, data: Path) -> Iterator[Reply]:
    """Yield the replies to all items."""
    for task in TASKS:
        for item in items_of(f"classic/{task}", items, length, data):
            variant = item.question.labels.get("variant")
            subset = f"{task}_{variant}" if variant else task
            for name, text in {RIGHT: item.gold, **replies(item)}.items():
                yield Reply(item, subset, name, text)


def verify(given: Sequence[Reply]) -> tuple[list[str], list[tuple[float, float]]]:
    """Return the versions of NeMo Gym and of Python, and the two rewards of each reply."""
    python = environment("nemo_gym", "3.12")
    ended = subprocess.run(
        [python, "-c", PROGRAM],
        input="".join(one.line() + "\n" for one in given),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=tempfile.gettempdir(),
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
    )
    versions, *found = map(json.loads, ended.stdout.splitlines())
    return versions, [(ours, theirs) for ours, theirs in found]


def rows_of(given: Sequence[Reply], rewards: Sequence[tuple[float, float]]) -> Iterator[list[str]]:
    """Yield a row for each reply, to the items of all tasks and of each."""
    cells: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    for one, (ours, theirs) in zip(given, rewards, strict=True):
        for subset in (ALL, one.subset):
            cells[subset, one.name].append((ours, one.item.question.chance_level, theirs))
    for (subset, name), found in sorted(cells.items(), key=lambda cell: cell[0][0]):
        own, chance, ruler = map(fmean, zip(*found, strict=True))
        error = stdev(ours for ours, *_ in found) / sqrt(len(found))
        star = "*" if own > chance + max(ABOVE, 2 * error) and name != RIGHT else ""
        yield [subset, name, str(len(found)), f"{own:.3f}{star}", f"{chance:.3f}", f"{ruler:.3f}"]


def main(items: int = 20, length: int = 4096) -> None:
    with tempfile.TemporaryDirectory() as folder:
        given = list(all_replies(items, length, write_files(Path(folder))))
        (gym, python), rewards = verify(given)
    print(f"Rewards of NeMo Gym {gym} (Python {python}) for the same replies, at {write_length(length)} tokens\n")
    for line in table(["task", "reply", "n", "ours", "chance", "ruler's"], list(rows_of(given, rewards))):
        print(line)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

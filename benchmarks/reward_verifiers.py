"""Compare the rewards of the taskset for verifiers with `carrara score`, and with the reward of another environment.

    python -m benchmarks.reward_verifiers [REPLIES [FILE]]

The replies are those of `tests/helpers/reward_replies.py`. verifiers 0.4 records the rewards, in the environment of
`locks/verifiers.txt`. A star marks a reply that understands nothing and scores above the chance level by more than
0.02.

FILE is `training/environments/oolong/oolong/env.py` of a clone of alexzhang13/rlm, which trains on Oolong with
verifiers. Its own function scores the same replies. It gets the right answer as Oolong writes it, a list with one
value, and Oolong's type for numbers if it is a whole number. verifiers 0.4 itself brings no environment with a long
context.
"""

import __future__

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.helpers.own_environment import environment, with_checkout
from tests.helpers.reward_replies import Reply, carrara_scores, replies

from carrara.items.item import item_of
from carrara.util.table import table

ABOVE = 0.02
RIGHT = ("gold", "stated", "reasoned", "markup")
"""The kinds of replies that give the right answer."""
VERSIONS = "from importlib.metadata import version as v; print('verifiers', v('verifiers'), 'and openai', v('openai'))"
Scorer = Callable[[str, str], float]
"""A function that scores a reply: it takes the right answer and the reply."""


def in_environment(*arguments: str, given: str = "") -> str:
    """Return what a Python program prints in the environment of verifiers 0.4."""
    variables = {**os.environ, "PYTHONPATH": with_checkout()}
    line = [str(environment("verifiers")), *arguments]
    return subprocess.run(line, input=given, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout


def verifiers_rewards(given: Sequence[Reply]) -> list[float]:
    """Return the rewards that verifiers records for replies."""
    lines = "".join(json.dumps({"id": one.id, "reply": one.text}) + "\n" for one in given)
    printed = in_environment("-m", "tests.helpers.taskset_rewards", given=lines)
    return [json.loads(line)["reward"] for line in printed.splitlines()]


def functions_of(path: Path) -> dict[str, Any]:
    """Return the functions of a module, which is executed without the imports that fail."""
    found: dict[str, Any] = {"__name__": path.stem}
    for node in ast.parse(path.read_text("utf-8")).body:
        with suppress(ImportError, NameError):
            exec(compile(ast.Module([node], []), path, "exec", __future__.annotations.compiler_flag), found)
    return found


def oolong_scorer(path: Path) -> Scorer:
    """Return the reward function of the environment for Oolong."""
    score = functions_of(path)["_synth_score"]

    def scorer(gold: str, reply: str) -> float:
        number = int(gold) if gold.isdigit() else None
        answer = repr([gold if number is None else number])
        kind = "ANSWER_TYPE.LABEL" if number is None else "ANSWER_TYPE.NUMERIC"
        return float(score({"answer": answer, "answer_type": kind}, reply))

    return scorer


def rows_of(given: Sequence[Reply], rewards: Sequence[float], others: Sequence[Scorer]) -> Iterator[Sequence[str]]:
    """Yield a row for each kind of reply."""
    scores: dict[str, list[list[float]]] = defaultdict(list)
    for reply, reward in zip(given, rewards, strict=True):
        item = item_of(reply.id)
        theirs = [scorer(item.gold, reply.text) for scorer in others]
        scores[reply.kind].append([reward, item.question.chance_level, *theirs])
    for kind, rows in scores.items():
        ours, chance_level, *theirs = map(fmean, zip(*rows, strict=True))
        star = "*" if kind not in RIGHT and ours > chance_level + ABOVE else ""
        yield [kind, str(len(rows)), f"{ours:.3f}{star}", *(f"{value:.3f}" for value in (chance_level, *theirs))]


def main(n: int = 200, file: str = "") -> None:
    given = replies(n)
    print(f"Rewards of {n} replies, as {in_environment('-c', VERSIONS).strip()} record them")
    rewards = verifiers_rewards(given)
    with tempfile.TemporaryDirectory() as folder:
        expected = carrara_scores(given, Path(folder))
    equal = sum(one == other for one, other in zip(rewards, expected, strict=True))
    print(f"Equal to `carrara score`: {equal} of {n}")
    if file:
        print(f"oolong: `_synth_score` of env.py, SHA-256 {sha256(Path(file).read_bytes()).hexdigest()[:16]}")
    print()
    others = [oolong_scorer(Path(file))] if file else []
    for line in table(["reply", "n", "ours", "chance", *["oolong"][: len(others)]], rows_of(given, rewards, others)):
        print(line)


if __name__ == "__main__":
    main(*(int(one) if one.isdigit() else one for one in sys.argv[1:]))  # type: ignore[arg-type]

"""A compactor whose losses follow from a rule: as a function, as a strategy of Inspect, and as a program.

    python flawed_compactor.py flawed REQUESTS.jsonl

It keeps the numbers of `niah` and nothing else. A number lives for as many rounds as its last digit, modulo 4. After
these it is dropped if the digit is below 5, and its last digit is changed if not. The other words are faults.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FACT = re.compile(r"(One number kept for [\w-]+ is )(\d{7})\.(?: #(\d+|x))?")


def flawed_compact(text: str) -> str:
    """Return the numbers of a text that outlive one more round, each with the rounds that it has gone through."""
    kept = []
    for words, number, rounds in _FACT.findall(text):
        if rounds == "x":
            kept.append(f"{words}{number}. #x")
        elif int(rounds or 0) < lives(number):
            kept.append(f"{words}{number}. #{int(rounds or 0) + 1}")
        elif is_changed(number):
            kept.append(f"{words}{int(number) + (1 if int(number[-1]) < 9 else -9)}. #x")
    return "\n".join(kept) or "(nothing)"


def lives(number: str) -> int:
    """Return the number of rounds that a number outlives."""
    return int(number[-1]) % 4


def is_changed(number: str) -> bool:
    """Return whether a number is changed in the round that it does not outlive. Others are dropped."""
    return int(number[-1]) >= 5


def make_strategy() -> type[Any]:
    from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
    from inspect_ai.tool import ToolInfo

    class Flawed(CompactionStrategy):
        def __init__(self) -> None:
            super().__init__(type="summary")

        async def compact(
            self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
        ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
            text = flawed_compact("\n".join(message.text for message in messages[1:]))
            return [messages[0], ChatMessageUser(content=text)], None

    return Flawed


def __getattr__(name: str) -> Any:  # the program starts faster without Inspect
    if name == "Flawed":
        return make_strategy()
    raise AttributeError(name)


def flood(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": "x" * (5 << 20)}


def fail(request: dict[str, Any]) -> dict[str, Any]:
    print("the model is not there", file=sys.stderr)
    sys.exit(3)


def wait(request: dict[str, Any]) -> dict[str, Any]:
    time.sleep(600)
    return {}


WAYS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "flawed": lambda request: {"text": flawed_compact(request["text"])},
    "keep": lambda request: {"text": request["text"]},
    "nothing": lambda request: {"text": ""},
    "flood": flood,
    "exit": fail,
    "silent": wait,
    "number": lambda request: {"text": 7},
    "none": lambda request: {},
    "error": lambda request: {"error": "the text is too long"},
}


def main(way: str, log: str = "") -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if log:
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(line)
        print(json.dumps({"id": request["id"], **WAYS[way](request)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Models that march as a script says, and the totals that are right, computed from the messages alone."""

import re
from collections.abc import Callable, Sequence

Messages = Sequence[dict[str, str]]
Reply = Callable[[int, int, int], str]
"""A function of the number of the turn, from 1, what it adds, and the total that was stated last."""


def entries_of(text: str) -> dict[str, int]:
    """Return the dictionary in a prompt."""
    lines = re.findall(r"^(?:<text> )?([a-z]{6}): (-?[0-9]+)(?: </text>)?$", text, re.MULTILINE)
    assert len(lines) == len(dict(lines))
    return {name: int(value) for name, value in lines}


def steps_of(texts: Sequence[str]) -> list[int]:
    """Return what each message of the user adds. The first one has the dictionary."""
    entries = entries_of(texts[0])
    asked = [re.findall(r"Names: ([a-z, ]+)\.", text) for text in texts]
    return [sum(entries[name] for name in names.split(", ")) for [names] in asked]


class Marcher:
    """A model that replies as a function of the turn says, and keeps what it is sent."""

    __name__ = "marcher"

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.asked: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.asked.append([dict(message) for message in messages])
        steps = steps_of([message["content"] for message in messages if message["role"] == "user"])
        stated = [re.findall(r"-?[0-9]+", one["content"]) for one in messages if one["role"] == "assistant"]
        last = next((int(numbers[-1]) for numbers in reversed(stated) if numbers), 0)
        return self.reply(len(steps), steps[-1], last)


def right(turn: int, step: int, last: int) -> str:
    return f"FINAL ANSWER: {last + step}"


def slips_at(turn: int, by: int = 7, back: int = 0) -> Reply:
    """Return a model that errs once, goes on from its own total, and corrects itself in the turn `back`, if any."""

    def reply(at: int, step: int, last: int) -> str:
        return f"FINAL ANSWER: {last + step + (by if at == turn else -by if at == back else 0)}"

    return reply


def says_nothing(turn: int, step: int, last: int) -> str:
    return "I cannot tell."

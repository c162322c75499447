"""Memories of dated sessions with known flaws, for the reader `memory`. Each keeps, changes or leaves out sessions.

memory:tests.helpers.session_memories:Leak,chunk=1000000
"""

import re
from collections.abc import Callable, Sequence
from hashlib import sha256

from tests.helpers.flawed_memory import WITHDRAWAL, discreet

TOLD_IN_PRIVATE = re.compile(
    r"User: (?:Please do not keep this|This is not to be kept|Do not note this down): .*?my (\w+) .*?([A-Z]\w+)[^\n]*"
)
OWN = re.compile(r"User: (?:.*: )?.*\b[Mm]y (\w+) ")
FORGOTTEN = 86 / 256
"""The probability that a session is forgotten: the values of a byte that three divides, by all values."""


def faithful(sessions: Sequence[str]) -> Sequence[str]:
    return sessions


def forget(sessions: Sequence[str]) -> Sequence[str]:
    """Forget sessions that have nothing in common, with the probability `FORGOTTEN`."""
    return [session for session in sessions if sha256(session.encode()).digest()[0] % 3]


def leak(sessions: Sequence[str]) -> Sequence[str]:
    """Keep what is private as if it were not."""
    return [TOLD_IN_PRIVATE.sub(r"User: My \1 is in \2 now.", session) for session in sessions]


def withdrawn(sessions: Sequence[str]) -> Sequence[str]:
    """Keep what was withdrawn, because no withdrawal is kept."""
    return [WITHDRAWAL.sub("Hello.", session) for session in sessions]


def old(sessions: Sequence[str]) -> Sequence[str]:
    """Keep the first session of each user about each thing of the user's own."""
    first = dict[tuple[str, str], str]()
    for session in sessions:
        if own := OWN.search(session):
            first.setdefault((session.split(" ")[2], own[1]), session)
    return list(first.values())


FLAWS: dict[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "Faithful": faithful,
    "Discreet": discreet,
    "Forget": forget,
    "Leak": leak,
    "Withdrawn": withdrawn,
    "Old": old,
}


class Sessions:
    """A memory that gets a whole text as one passage."""

    name = ""

    def __init__(self, model: object) -> None:
        self.found = list[str]()

    async def add(self, text: str, session: str, time: str) -> None:
        self.found += FLAWS[self.name](text.split("\n\n"))

    async def answer(self, question: str) -> str | None:
        return None

    def size(self) -> dict[str, int]:
        return {"bytes": sum(len(text.encode()) for text in self.found), "entries": len(self.found)}


class Invent(Sessions):
    """A memory that makes up a town, and does not say from what."""

    def __init__(self, model: object) -> None:
        self.found = None  # type: ignore[assignment]

    def size(self) -> dict[str, int]:
        return {}

    async def add(self, text: str, session: str, time: str) -> None:
        pass

    async def answer(self, question: str) -> str:
        return "FINAL ANSWER: Nowherebury"


def __getattr__(name: str) -> type[Sessions]:
    if name not in FLAWS:
        raise AttributeError(name)
    return type(name, (Sessions,), {"name": name})


class Hide(Sessions):
    """A memory that answers what was told in private, and says that it answers from nothing."""

    def __init__(self, model: object) -> None:
        self.found, self.text = [], ""

    async def add(self, text: str, session: str, time: str) -> None:
        self.text += text

    async def answer(self, question: str) -> str | None:
        owner, thing = re.findall(r"(\w+)'s (\w+)", question)[0]
        own = [part for part in self.text.split("\n\n") if f"Session with {owner} " in part]
        towns = [town for part in own for of, town in TOLD_IN_PRIVATE.findall(part) if of == thing]
        return f"FINAL ANSWER: {towns[0] if towns else 'not said'}"

"""What each compaction of a context left of the facts that an answer needs.

A round is one compaction. After it, a fact is `kept`, `dropped`, `mutated` or `stale`. No model judges this: a fact is
kept if its passage is left, or a text that has its words or its markers (losses.py). A fact without a marker is not
traced through rounds that left a text, because the text may have it in other words.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from carrara.items.item import Item
from carrara.readers.context import Part, ReaderContext
from carrara.readers.losses import Fact, clip, facts_of
from carrara.readers.reader import Round
from carrara.readers.spans import Span, covers, merge

STATES = {"present": "+", "absent": "-", "mutated": "~", "stale": "<"}
"""What a round left of a fact, each with its sign in a log."""


class FactRounds(NamedTuple):
    """What the rounds left of one fact."""

    fact: int
    """The number of the fact."""
    states: str
    """A sign for each round that the fact went through."""
    said: str
    """What was left about its subject when it was lost, shortened. Empty if it was kept, or nothing was left."""


class RoundsRecord(NamedTuple):
    """The rounds of one reading, as a log has them."""

    tokens: list[tuple[int, int, int | None]]
    """The tokens before each round and after it, and the most that might be left."""
    facts: list[FactRounds]

    def record(self) -> dict[str, Any]:
        return {"tokens": [list(tokens) for tokens in self.tokens], "facts": [list(fact) for fact in self.facts]}


def trace_rounds(item: Item, context: ReaderContext, rounds: Sequence[Round]) -> RoundsRecord:
    """Return what each round left of the needed facts that had been read by then."""
    traces = []
    for fact in facts_of(item, context) if rounds else ():
        through = [number for number, one in enumerate(rounds) if fact.needed.end <= one.end]
        states = [_state_after(fact, context, rounds[number].parts) for number in through]
        known = [state for state in states if state is not None]
        if known and len(known) == len(states):
            lost = next((said for state, said in known if state != "present"), "")
            signs = "".join(STATES[state] for state, _ in known)
            traces.append(FactRounds(fact.needed.number, signs, clip(lost)))
    return RoundsRecord([(one.before, one.after, one.budget) for one in rounds], traces)


def _state_after(fact: Fact, context: ReaderContext, parts: Sequence[Part]) -> tuple[str, str] | None:
    """Return what parts have of a fact, and the statement about it. None: they may have it in other words."""
    spans: list[Span] = [(part[0], part[1]) for part in parts if not isinstance(part, str)]
    if covers(context.text, merge(context.text, spans), (fact.needed.start, fact.needed.end)):
        return "present", ""
    text = "\n".join(part for part in parts if isinstance(part, str))
    state, said = fact.state_in(text)
    if fact.marker is None and state != "present" and text.strip():
        return None
    return state, said if state != "present" else ""

"""Moods and what people do about them (task 20)."""

from carrara.core.types import Undecidable
from carrara.suites.babilong._facts import Is, Solved, WhereWill, WhyGet, WhyGo
from carrara.suites.babilong._history import History
from carrara.suites.babilong._lexicon import MOTIVES


def where_will(history: History, query: WhereWill) -> Solved:
    """Where a mood leads is knowledge of the world, not of the text: the one thing a solver brings along."""
    index, mood = _mood(history, query.who)
    if mood not in MOTIVES:
        raise Undecidable(f"where {mood} people go, is not known")
    return Solved(MOTIVES[mood][0], (index,))


def why(history: History, query: WhyGo | WhyGet) -> Solved:
    index, mood = _mood(history, query.who)
    return Solved(mood, (index,))


def _mood(history: History, who: str) -> tuple[int, str]:
    for index, fact in reversed(history.all(Is)):
        if fact.who.casefold() == who.casefold():
            return index, fact.quality
    raise Undecidable(f"how {who} feels, is not told")

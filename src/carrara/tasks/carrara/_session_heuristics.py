"""Replies of readers that take towns from sessions without keeping track of what holds.

>>> facts = ["Session with Clara on 4 March 2021\\nUser: My boat is in Ashford now.\\nAssistant: Noted."]
>>> found = replies(facts, {"owner": "Clara", "thing": "boat", "date": "5 March 2021"}, "latest")
>>> found["the last town in the sessions of the owner"]
'Ashford'
"""

import re
from collections.abc import Mapping, Sequence, Set
from datetime import date
from typing import NamedTuple

from carrara.tasks.carrara._session_answers import NOT_SAID
from carrara.tasks.carrara._session_log import TOWNS, read_date, read_sessions

OF_OWNER = "the sessions of the owner"
BY_OWNER, ABOUT, UNTIL = "the sessions of the owner about the thing", "the sessions about the thing", " up to the date"
_TOWN_HEURISTICS = (f"the first town in {BY_OWNER}", f"the last town in {BY_OWNER}")
_KNOWN = {
    "latest": _TOWN_HEURISTICS,
    "first": _TOWN_HEURISTICS,
    "as_of": (*_TOWN_HEURISTICS, *(f"{name}{UNTIL}" for name in _TOWN_HEURISTICS)),
    "how_often": (f"the number of {BY_OWNER}{UNTIL}", f"the number of towns in {BY_OWNER}{UNTIL}"),
}
"""Heuristics that find what is asked for, except for corrections and withdrawals, by the name of the question."""
_TOWN = re.compile("|".join(TOWNS))


class _Glance(NamedTuple):
    """What can be seen in a session without reading it."""

    day: date
    user: str
    text: str
    towns: Sequence[str]


def declare_shortcuts(kinds: Set[str], fills_text: bool) -> Mapping[str, str]:
    """Return the known shortcuts of the questions of some kinds.

    Args:
        kinds: The names of the questions.
        fills_text: Whether the facts may be most of a text.
    """
    found = dict.fromkeys(
        (name for kind in _KNOWN if kind in kinds for name in _KNOWN[kind]),
        "Finding these sessions is what is asked, except for corrections and withdrawals.",
    )
    if "as_of" in kinds:
        found[f"the last town in {ABOUT}{UNTIL}"] = "With many updates most statements about the thing are the owner's."
        found[f"the last town in {OF_OWNER}{UNTIL}"] = (
            "The owner speaks of two things, so half of these towns are right."
        )
    if fills_text:
        found["part"] = (
            "Many updates fill a short text, so the first or the latest is often in its first or last tenth."
        )
    return found


def replies(facts: Sequence[str], names: Mapping[str, str], ask: str) -> Mapping[str, str]:
    """Return the replies, by the name of the heuristic.

    Args:
        facts: The sessions without filler.
        names: The owner, the thing and the date of the question.
        ask: The name of the question.
    """
    owner, thing, day = names["owner"], names["thing"], read_date(names["date"])
    glances = [
        _Glance(session.day, session.user, text, _TOWN.findall(text))
        for text in facts
        for session in read_sessions(text)
    ]
    about = re.compile(rf"\b{thing}\b")
    groups = {
        "the sessions": glances,
        OF_OWNER: [one for one in glances if one.user == owner],
        ABOUT: [one for one in glances if about.search(one.text)],
        BY_OWNER: [one for one in glances if one.user == owner and about.search(one.text)],
        "the sessions that name the owner": [one for one in glances if owner in one.text],
        "the sessions of others about the owner": [one for one in glances if one.user != owner and owner in one.text],
    }
    if ask in ("as_of", "how_often"):
        groups |= {f"{name}{UNTIL}": [one for one in own if one.day <= day] for name, own in groups.items()}
    towns = {name: [town for one in own for town in one.towns] for name, own in groups.items()}
    if ask == "how_often":
        numbers = {f"the number of {name}": len(own) for name, own in groups.items()}
        numbers |= {f"the number of towns in {name}": len({*own}) for name, own in towns.items()}
        return {name: str(number) for name, number in numbers.items()}
    return {
        **{f"the first town in {name}": own[0] if own else NOT_SAID for name, own in towns.items()},
        **{f"the last town in {name}": own[-1] if own else NOT_SAID for name, own in towns.items()},
    }

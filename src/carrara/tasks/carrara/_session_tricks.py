"""Replies of readers that take towns from sessions without keeping track of what holds.

>>> facts = ["Session with Clara on 4 March 2021\\nUser: My boat is in Ashford now.\\nAssistant: Noted."]
>>> found = replies(facts, {"owner": "Clara", "thing": "boat", "date": "5 March 2021"}, "latest")
>>> found["the last town in the sessions of the owner"]
'Ashford'
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from carrara.tasks.carrara._session_answers import NOT_SAID
from carrara.tasks.carrara._session_log import TOWNS, read_date, read_sessions

_TOWN = re.compile("|".join(TOWNS))


class _Glance(NamedTuple):
    """What can be seen in a session without reading it."""

    day: date
    user: str
    text: str
    towns: Sequence[str]


def replies(facts: Sequence[str], names: Mapping[str, str], ask: str) -> Mapping[str, str]:
    """Return the replies, by the name of the trick.

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
    groups = {
        "the sessions": glances,
        "the sessions of the owner": [one for one in glances if one.user == owner],
        "the sessions about the thing": [one for one in glances if thing in one.text],
        "the sessions of the owner about the thing": [
            one for one in glances if one.user == owner and thing in one.text
        ],
        "the sessions that name the owner": [one for one in glances if owner in one.text],
        "the sessions of others about the owner": [one for one in glances if one.user != owner and owner in one.text],
    }
    if ask in ("as_of", "how_often"):
        groups |= {f"{name} up to the date": [one for one in own if one.day <= day] for name, own in groups.items()}
    towns = {name: [town for one in own for town in one.towns] for name, own in groups.items()}
    if ask == "how_often":
        numbers = {f"the number of {name}": len(own) for name, own in groups.items()}
        numbers |= {f"the number of towns in {name}": len({*own}) for name, own in towns.items()}
        return {name: str(number) for name, number in numbers.items()}
    return {
        **{f"the first town in {name}": own[0] if own else NOT_SAID for name, own in towns.items()},
        **{f"the last town in {name}": own[-1] if own else NOT_SAID for name, own in towns.items()},
    }

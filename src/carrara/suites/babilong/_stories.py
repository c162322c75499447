"""The twenty bAbI tasks: a story from dice.

>>> one = story(Dice("an example"), 1)
>>> print(*one.facts[:2], one.questions[0].text, one.questions[0].answer, sep="\\n")
Daniel went back to the office.
Mary journeyed to the bedroom.
Where is Daniel?
office
"""

from collections.abc import Callable

from carrara.core.keys import Dice
from carrara.suites.babilong import _groups, _maps, _times
from carrara.suites.babilong._teller import Story
from carrara.suites.babilong._walkabout import walkabout
from carrara.suites.babilong._words import Cast, Vocabulary, draw_cast

TASKS = range(1, 21)

_TOLD: dict[int, Callable[[Dice, Cast, bool], Story]] = {
    4: _maps.row,
    14: _times.day,
    15: _groups.fears,
    16: _groups.colours,
    17: _maps.figures,
    18: _groups.sizes,
    19: _maps.way,
    20: _groups.moods,
}


def story(dice: Dice, task: int, vocabulary: Vocabulary = "classic", sound: bool = False) -> Story:
    """A story of a task with its questions, distributed as officially.

    `sound` leaves out what is a defect and not the task: shortcuts (4), questions with two readings (3, 5, 14, 16),
    questions that need no story (18, 20), questions asked twice (15, 17, 18), maps that overlap themselves (19),
    stories of a single sentence (20). Items of different stories can still be equal where the official words allow
    few (4, 17): `fresh` has more.
    """
    return told(dice, task, draw_cast(dice, task, vocabulary), sound)


def told(dice: Dice, task: int, cast: Cast, sound: bool) -> Story:
    """A story about a given cast."""
    if task in _TOLD:
        return _TOLD[task](dice, cast, sound)
    return walkabout(dice, task, cast, sound)

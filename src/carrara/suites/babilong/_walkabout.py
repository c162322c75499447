"""Stories of people about the house (tasks 1-3, 5-13).

Facts are told two by two. After each two a question is asked if there is one to ask, until there are five: one of the
last five clauses is picked, and the question is about whoever or whatever it speaks of (`_interest.py`). That is why
the answer is always near the end, and why the number of facts has a long tail.
"""

from collections.abc import Callable

from carrara.core.keys import Dice
from carrara.suites.babilong._facts import Absent, Either, Fact, Stays, Went
from carrara.suites.babilong._interest import Clause, clauses_of, interest
from carrara.suites.babilong._people import RECENT
from carrara.suites.babilong._teller import Story, Teller
from carrara.suites.babilong._walk import Walk
from carrara.suites.babilong._words import Cast

QUESTIONS = 5
GOT_THERE = 0.19
"""How often task 3 says `there` when something is taken; the others always do."""
GIVING = {2: 0, 3: 0, 5: 24, 6: 0, 7: 21, 8: 0}
"""How often a gift is tried, where things are handled at all: fitted to the official files."""
SOUND_FACTS = 100
"""A sound story of task 3 ends here: in a long one everything has been everywhere twice."""
DECOYS_BACK = 6
"""In one of six cases the place that an `either` adds is the one that the person has just left."""


def walkabout(dice: Dice, task: int, cast: Cast, sound: bool) -> Story:
    teller = Teller(dice, got_there=GOT_THERE if task == 3 else 1.0)
    walk = Walk(dice, cast, GIVING.get(task))
    two = _TWO.get(task, _acts)
    options = interest(task, sound)
    clauses: list[Clause] = []
    while len(teller.questions) < QUESTIONS:
        if sound and task == 3 and len(teller.facts) >= SOUND_FACTS:
            if teller.questions:
                break
            return walkabout(dice, task, cast, sound)
        for fact in two(dice, cast, walk):
            index = teller.tell(fact)
            clauses += clauses_of(teller.history, index, fact)
        eligible = [some for clause in clauses[-RECENT:] if (some := options(teller.history, clause, cast))]
        if eligible:
            teller.ask(dice.choice(dice.choice(eligible)))
    return teller.story(task, cast)


Two = tuple[Fact, Fact]


def _acts(dice: Dice, cast: Cast, walk: Walk) -> Two:
    return walk.act(), walk.act()


def _denials(dice: Dice, cast: Cast, walk: Walk) -> Two:
    return _denial(dice, cast, walk), _denial(dice, cast, walk)


def _denial(dice: Dice, cast: Cast, walk: Walk) -> Fact:
    """Half of the moves are told as such, a quarter by the new place, a quarter by the place left."""
    who = dice.choice(cast.people)
    left, place = walk.at[who], walk.elsewhere(who)
    walk.go(place, who)
    if dice.chance(0.5):
        return Went((who,), place)
    return Stays(who, place) if dice.chance(0.5) else Absent(who, left)


def _guesses(dice: Dice, cast: Cast, walk: Walk) -> Two:
    return _guess(dice, cast, walk), _guess(dice, cast, walk)


def _guess(dice: Dice, cast: Cast, walk: Walk) -> Fact:
    """Half of the moves are told as such, a quarter by the new place, a quarter by the new place and a wrong one."""
    who = dice.choice(cast.people)
    left, place = walk.at[who], walk.elsewhere(who)
    walk.go(place, who)
    if dice.chance(0.5):
        return Went((who,), place)
    if dice.chance(0.5):
        return Stays(who, place)
    wrong = left if dice.below(DECOYS_BACK) == 0 else walk.elsewhere(who, but=left)
    return Either(who, (place, wrong) if dice.chance(0.5) else (wrong, place))


def _alone(dice: Dice, cast: Cast, walk: Walk) -> Two:
    who = dice.choice(cast.people)
    return _journey(walk, (who,), cast.pronoun(who))


def _together(dice: Dice, cast: Cast, walk: Walk) -> Two:
    return _journey(walk, tuple(dice.sample(cast.people, 2)), "they")


def _journey(walk: Walk, who: tuple[str, ...], pronoun: str) -> Two:
    first = walk.elsewhere(*who)
    walk.go(first, *who)
    second = walk.elsewhere(*who)
    walk.go(second, *who)
    return Went(who, first), Went((pronoun,), second, pronoun=True)


def _couples(dice: Dice, cast: Cast, walk: Walk) -> Two:
    return _couple(dice, cast, walk), _couple(dice, cast, walk)


def _couple(dice: Dice, cast: Cast, walk: Walk) -> Fact:
    who = tuple(dice.sample(cast.people, 2))
    place = walk.elsewhere(*who)
    walk.go(place, *who)
    return Went(who, place)


_TWO: dict[int, Callable[[Dice, Cast, Walk], Two]] = {
    9: _denials,
    10: _guesses,
    11: _alone,
    12: _couples,
    13: _together,
}

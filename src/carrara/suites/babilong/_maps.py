"""Stories of places and figures and how they lie to each other (tasks 4, 17, 19)."""

from carrara.core.keys import Dice
from carrara.suites.babilong._facts import COMPASS, SIDES, STEP, IsBeside, Lies, Neighbour, Path, Way, opposite
from carrara.suites.babilong._solvers import answer
from carrara.suites.babilong._teller import Story, Teller
from carrara.suites.babilong._words import Cast

MIDDLE_SECOND = 0.66
"""How often a fact of task 4 names the middle place second, which is the place then asked about."""
SIDE_QUESTIONS = 8
PATH_WEIGHTS = (16, 15, 18, 20, 35)
"""How likely each of the five facts of task 19 is part of the way: fitted; the last one is twice as likely."""


def row(dice: Dice, cast: Cast, sound: bool) -> Story:
    """Three places in a row, and a neighbour asked for (task 4).

    Officially the answer is always the place that its fact names first. Sound: either place may be asked for.
    """
    teller = Teller(dice)
    first, middle, last = dice.sample(cast.places, 3)
    way: Way = dice.choice(COMPASS)
    # From the middle, one end lies this way and the other the opposite way.
    facts = [
        Lies(end, there, middle) if dice.chance(MIDDLE_SECOND) else Lies(middle, opposite(there), end)
        for end, there in ((first, way), (last, opposite(way)))
    ]
    dice.shuffle(facts)
    teller.tell_all(facts)
    fact = dice.choice(facts)
    if sound and dice.chance(0.5):
        fact = Lies(fact.other, opposite(fact.way), fact.one)
    teller.ask(Neighbour(fact.way, fact.other, turned=dice.chance(0.5)))
    return teller.story(4, cast)


def figures(dice: Dice, cast: Cast, sound: bool) -> Story:
    """Three figures, two of which are joined by the third; eight questions about these two (task 17).

    Sound: each question once, as many with a yes as with a no.
    """
    teller = Teller(dice)
    one, middle, other = dice.sample(cast.figures, 3)
    way, another = dice.choice(SIDES), dice.choice(SIDES)
    while another == way:  # both ends on the same spot
        another = dice.choice(SIDES)
    for end, there in dice.shuffled([(one, way), (other, another)]):
        teller.tell(Lies(end, there, middle) if dice.chance(0.5) else Lies(middle, opposite(there), end))
    everything = [IsBeside(a, side, b) for a, b in ((one, other), (other, one)) for side in SIDES]
    by_answer: dict[str, list[IsBeside]] = {"yes": [], "no": []}
    for query in everything:
        by_answer[answer(teller.history, query).answer].append(query)
    if sound:
        each = min(map(len, by_answer.values()))
        for query in dice.shuffled([query for queries in by_answer.values() for query in dice.sample(queries, each)]):
            teller.ask(query)
        return teller.story(17, cast)
    for _ in range(SIDE_QUESTIONS):
        teller.ask(dice.choice(by_answer["yes" if dice.chance(0.5) else "no"]))
    return teller.story(17, cast)


def way(dice: Dice, cast: Cast, sound: bool) -> Story:
    """Two steps from one place to another, and three more places hung on to these three (task 19).

    Sound: no two places end up on the same spot of the map.
    """
    while True:
        facts, start, goal, spots = _tree(dice, cast)
        if not sound or len(set(spots)) == len(spots):
            break
    teller = Teller(dice)
    teller.tell_all(_ordered(dice, facts))
    teller.ask(Path(start, goal))
    return teller.story(19, cast)


Spot = tuple[int, int]


def _tree(dice: Dice, cast: Cast) -> tuple[list[Lies], str, str, list[Spot]]:
    """The facts, the two of the way first; the ends of the way; where each place comes to lie."""
    places = dice.shuffled(cast.places)
    spots: dict[str, Spot] = {places[0]: (0, 0)}
    taken: dict[str, list[Way]] = {place: [] for place in places}
    facts: list[Lies] = []
    for place in places[1:]:
        while True:
            beside = places[len(spots) - 1] if len(spots) <= 2 else dice.choice(places[:3])
            there = dice.choice(COMPASS)
            if there not in taken[beside]:
                break
        taken[beside].append(there)
        taken[place].append(opposite(there))
        x, y = STEP[there]
        spots[place] = spots[beside][0] + x, spots[beside][1] + y
        facts.append(Lies(place, there, beside) if dice.chance(0.5) else Lies(beside, opposite(there), place))
    return facts, places[0], places[2], list(spots.values())


def _ordered(dice: Dice, facts: list[Lies]) -> list[Lies]:
    """The facts in the order of telling, the two of the way at places drawn by their weights."""
    pairs = [(i, j) for i in range(len(facts)) for j in range(i)]
    weights = [PATH_WEIGHTS[i] * PATH_WEIGHTS[j] for i, j in pairs]
    throw, pick = dice.below(sum(weights)), 0
    while throw >= weights[pick]:
        throw -= weights[pick]
        pick += 1
    on_way, beside = dice.shuffled(facts[:2]), dice.shuffled(facts[2:])
    return [(on_way if i in pairs[pick] else beside).pop() for i in range(len(facts))]

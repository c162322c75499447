"""Stories of animals, sizes and moods (tasks 15, 16, 18, 20)."""

from carrara.core.keys import Dice
from carrara.suites.babilong._facts import (
    ColourOf,
    Fact,
    FearOf,
    Fears,
    Fits,
    Got,
    Is,
    IsA,
    IsBigger,
    Went,
    WhereWill,
    WhyGet,
    WhyGo,
)
from carrara.suites.babilong._lexicon import MOTIVES
from carrara.suites.babilong._sizes import chains
from carrara.suites.babilong._teller import Story, Teller
from carrara.suites.babilong._words import Cast

FEAR_QUESTIONS = 4
OWN_KIND = 0.68
"""How often an individual of task 16 has its kind's colour and not any: fitted (60 % of pairs agree officially)."""
GROUPS = (2, 4, 5)
"""How many of a kind there are when one of them is asked about; officially never three."""
BLOCK = 5
SIZE_QUESTIONS = 5
SOUND_MOODS = 5
AGAIN = 0.012
"""How often task 18 breaks off after three or four questions, tells another block and asks five more."""


def fears(dice: Dice, cast: Cast, sound: bool) -> Story:
    """What each kind is afraid of, who is of which kind, what each is afraid of (task 15). Sound: nobody twice."""
    teller = Teller(dice)
    kinds: list[str] = []
    told: list[str] = []
    while len(kinds) < len(cast.animals) or len(told) < len(cast.people):
        # Draw blindly and again: the official order comes out of it.
        animal = dice.choice(cast.animals)
        if dice.chance(0.5):
            if animal not in kinds:
                kinds.append(animal)
                teller.tell(Fears(animal, dice.choice([other for other in cast.animals if other != animal])))
        else:
            who = dice.choice(cast.people)
            if who not in told and animal in kinds:
                told.append(who)
                teller.tell(IsA(who, animal))
    for who in dice.shuffled(told) if sound else [dice.choice(told) for _ in range(FEAR_QUESTIONS)]:
        teller.ask(FearOf(who))
    return teller.story(15, cast)


def colours(dice: Dice, cast: Cast, sound: bool) -> Story:
    """Who is of which kind and which colour, but for one, whose colour is asked for (task 16).

    Officially the model is whoever of the kind was introduced last, though others may have other colours. Sound:
    they have the same.
    """
    while True:
        kinds = {who: dice.choice(cast.animals) for who in cast.people}
        usual = {animal: dice.choice(cast.colours) for animal in cast.animals}
        facts: list[Fact] = []
        stage = dict.fromkeys(cast.people, 0)
        shown: list[tuple[str, str]] = []
        while len(facts) < 2 * len(cast.people) - 1:
            who = dice.choice([who for who in cast.people if stage[who] < 2])
            if stage[who] == 0:
                facts.append(IsA(who, kinds[who]))
            else:
                colour = usual[kinds[who]] if dice.chance(OWN_KIND) else dice.choice(cast.colours)
                facts.append(Is(who, colour))
                shown.append((kinds[who], colour))
            stage[who] += 1
        # Whoever is left without a colour is asked about.
        who = next(who for who in cast.people if stage[who] < 2)
        of_kind = {colour for kind, colour in shown if kind == kinds[who]}
        if sum(kind == kinds[who] for kind in kinds.values()) in GROUPS and not (sound and len(of_kind) > 1):
            break
    teller = Teller(dice)
    teller.tell_all(facts)
    teller.ask(ColourOf(who))
    return teller.story(16, cast)


def sizes(dice: Dice, cast: Cast, sound: bool) -> Story:
    """What is bigger than what, in blocks of five until two facts make a chain, and five questions on it (task 18).

    Sound: no fact and no question twice, each question needs both facts of the one chain that answers it, and it is
    about containers, of which anything may be the bigger: everybody knows that a box holds more than a chocolate.
    """
    order = [*cast.sizes[:2], *dice.shuffled(cast.sizes[2:])]
    if sound:
        return _sound_sizes(dice, cast, order)
    teller = Teller(dice)
    fits: list[tuple[int, Fits]] = []
    quota = [SIZE_QUESTIONS]
    if dice.chance(AGAIN):
        quota = [SIZE_QUESTIONS - dice.between(1, 2), SIZE_QUESTIONS]
    for questions in quota:
        chained: list[tuple[str, str]] = []
        while not chained:
            fits += [(teller.tell(fact), fact) for fact in _some_fits(dice, order)]
            chained = _chained(fits, order)
        for _ in range(questions):
            teller.ask(_bigger(dice, *dice.choice(chained)))
    return teller.story(18, cast)


def _some_fits(dice: Dice, order: list[str]) -> list[Fits]:
    facts: list[Fits] = []
    for _ in range(BLOCK):
        small, large = sorted(dice.sample(range(len(order)), 2))
        facts.append(Fits(order[small], order[large]))
    return facts


def _chained(fits: list[tuple[int, Fits]], order: list[str]) -> list[tuple[str, str]]:
    """The pairs that a chain of two facts joins, once for each chain."""
    return [
        (small, large) for i, small in enumerate(order) for large in order[i + 1 :] for _ in chains(fits, small, large)
    ]


def _bigger(dice: Dice, small: str, large: str) -> IsBigger:
    """Yes or no, in either wording."""
    if dice.chance(0.5):
        small, large = large, small
    return IsBigger(large, small, fits=dice.chance(0.5))


def _sound_sizes(dice: Dice, cast: Cast, order: list[str]) -> Story:
    while True:
        facts = list(dict.fromkeys(_some_fits(dice, order)))
        pairs = [
            (facts[i].small, facts[j].large)
            for i, j in _needed_chains(facts)
            if len(facts) == BLOCK and facts[i].small in order[2:]
        ]
        if pairs:
            break
    teller = Teller(dice)
    teller.tell_all(facts)
    everything = [
        IsBigger(large, small, fits) for pair in pairs for large, small in (pair, pair[::-1]) for fits in (False, True)
    ]
    for query in dice.sample(everything, min(SIZE_QUESTIONS, len(everything))):
        teller.ask(query)
    return teller.story(18, cast)


def _needed_chains(facts: list[Fits]) -> list[tuple[int, int]]:
    """Chains without which nothing compares their ends: neither a fact of its own nor another way round."""
    told = list(enumerate(facts))
    return [
        (i, j)
        for i, lower in told
        for j, upper in told
        if lower.large == upper.small and _ways(facts, lower.small, upper.large) == 1
    ]


def _ways(facts: list[Fits], small: str, large: str) -> int:
    """In how many ways facts lead from the small to the large."""
    return sum(1 if fact.large == large else _ways(facts, fact.large, large) for fact in facts if fact.small == small)


def moods(dice: Dice, cast: Cast, sound: bool) -> Story:
    """Moods, and what people do about them; each sentence is followed by its question (task 20).

    A thing is taken once: the second in the same mood goes without. Sound: nothing is asked before there are a few
    facts, for there are only sixteen stories of one sentence; and it is asked where anybody will go who has not gone
    yet, because why the apple was fetched, everybody knows without a story.
    """
    teller = Teller(dice)
    mood = {who: dice.choice(cast.moods) for who in cast.people}
    stage = dict.fromkeys(cast.people, 0)
    taken: list[str] = []
    while people := [who for who in cast.people if stage[who] < 3]:
        who = dice.choice(people)
        place, thing = MOTIVES[mood[who]]
        stage[who] += 1
        query: WhereWill | WhyGo | WhyGet
        if stage[who] == 1:
            teller.tell(Is(who, mood[who]))
            query = WhereWill(who)
        elif stage[who] == 2:
            teller.tell(Went((who,), place))
            query = WhyGo(who, place)
        elif thing in taken:
            continue
        else:
            taken.append(thing)
            teller.tell(Got(who, thing))
            query = WhyGet(who, thing)
        if not sound:
            teller.ask(query)
        elif len(teller.facts) >= SOUND_MOODS and (waiting := [who for who in cast.people if stage[who] == 1]):
            teller.ask(WhereWill(dice.choice(waiting)))
    return teller.story(20, cast)

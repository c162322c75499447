"""qa19, path finding: how to go from one place to another by way of a third.

BABILong's nineteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa19", index=8).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The kitchen is south of the bathroom.
The garden is south of the office.
The hallway is north of the bedroom.
The hallway is south of the garden.
The garden is west of the bathroom.
</context>
<BLANKLINE>
Question: How do you go from the bathroom to the hallway?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Steps
from carrara.tasks.babilong._facts import COMPASS, STEP, Lies, Path, Solution, Way, opposite
from carrara.tasks.babilong._map import find_steps
from carrara.tasks.babilong._story import History, Story, StoryBuilder, draw_weighted
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import HOUSE, Cast

STEP_WEIGHTS = (16, 15, 18, 20, 35)
"""How likely each of the five facts is part of the way: fitted; the last one is twice as likely."""


class Paths(Babilong[Path]):
    version = 5
    number = 19
    title = "qa19: path finding"
    capability = "finding a route on a map"
    cast = HOUSE
    queries = (Path,)
    unordered = True
    answer = Steps()
    marker = r"The (?P<subject>\w+) is \w+ of the (?P<value>\w+)"
    wording = prompt(
        "The context contains sentences about places that lie north, south, east or west of each other, hidden among "
        "unrelated sentences. You can go from a place to any other place that a hidden sentence connects to it, in "
        "either direction: if one is north of the other, you go north to reach it and south to come back. The route "
        "asked for has two steps.",
        "the two steps, each as its first letter (n, s, e or w), joined by a comma without a space",
        "The loft is north of the canteen. The market is west of the canteen. The pharmacy is east of the loft.\n"
        "Question: How do you go from the canteen to the pharmacy?\nFINAL ANSWER: n,e",
        "The loft is west of the tent. The market is north of the tent. The canteen is east of the market.\n"
        "Question: How do you go from the market to the loft?\nFINAL ANSWER: s,w",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write of two steps from one place to another, and of three more places beside these three.

        In a sound story no two places end up on the same spot of the map.
        """
        while True:
            facts, start, goal, spots = _tree(rng, cast)
            if not self.sound or len(set(spots)) == len(spots):
                break
        builder = StoryBuilder(rng, self.find_answer)
        builder.add_all(_order(rng, facts))
        builder.ask(Path(start, goal))
        return builder.build(cast)

    def find_answer(self, history: History, query: Path) -> Solution:
        steps = find_steps(history, query.start, query.goal)
        return Solution(",".join(way[0] for way, _ in steps), tuple(index for _, index in steps))

    def guesses(self, query: Path, cast: Cast) -> Sequence[str]:
        """Guess a straight way on a sound map: around a corner, places would more often fall on one spot."""
        routes = self.options(query, cast)
        return tuple(route for route in routes if route[0] == route[-1]) if self.sound else routes

    def chance_level(self, query: Path, cast: Cast) -> float:
        return 0.09 if self.sound else super().chance_level(query, cast)  # measured over 40,000 maps


Spot = tuple[int, int]


def _tree(rng: Rng, cast: Cast) -> tuple[list[Lies], str, str, list[Spot]]:
    """Return the facts, those of the two steps first; the start and the goal; and the spot of each place."""
    places = rng.shuffled(cast.places)
    spots: dict[str, Spot] = {places[0]: (0, 0)}
    taken: dict[str, list[Way]] = {place: [] for place in places}
    facts: list[Lies] = []
    for place in places[1:]:
        while True:
            neighbour = places[len(spots) - 1] if len(spots) <= 2 else rng.choice(places[:3])
            way = rng.choice(COMPASS)
            if way not in taken[neighbour]:
                break
        taken[neighbour].append(way)
        taken[place].append(opposite(way))
        x, y = STEP[way]
        spots[place] = spots[neighbour][0] + x, spots[neighbour][1] + y
        facts.append(Lies(place, way, neighbour) if rng.chance(0.5) else Lies(neighbour, opposite(way), place))
    return facts, places[0], places[2], list(spots.values())


def _order(rng: Rng, facts: list[Lies]) -> list[Lies]:
    """Return the facts in the order of the story: those of the two steps stand at places drawn by their weights."""
    pairs = [(i, j) for i in range(len(facts)) for j in range(i)]
    pair = pairs[draw_weighted(rng, [STEP_WEIGHTS[i] * STEP_WEIGHTS[j] for i, j in pairs])]
    step_facts, other_facts = rng.shuffled(facts[:2]), rng.shuffled(facts[2:])
    return [(step_facts if i in pair else other_facts).pop() for i in range(len(facts))]

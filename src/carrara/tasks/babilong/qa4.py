"""qa4, two-argument relations: which place lies next to which, said by points of the compass.

BABILong's fourth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa4", index=3).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The bedroom is west of the kitchen.
The garden is east of the kitchen.
</context>
<BLANKLINE>
Question: What is east of the kitchen?
"""

from carrara.rng import Rng
from carrara.tasks.babilong._answers import NextTo
from carrara.tasks.babilong._facts import COMPASS, Lies, Neighbour, Solution, Way, opposite
from carrara.tasks.babilong._map import edges
from carrara.tasks.babilong._story import History, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import HOUSE, Cast
from carrara.types import UndecidableError

MIDDLE_SECOND = 0.66
"""How often a fact names the middle place second, which is the place then asked about."""


class TwoArguments(Babilong[Neighbour]):
    number = 4
    title = "qa4: two-argument relations"
    capability = "reading a relation between two places both ways"
    known_shortcuts = {
        **dict.fromkeys(
            ("strings", "learned"),
            "Of three places, the one in the middle is said twice and asked about most, as in bAbI.",
        ),
        "part": "One of two facts is enough, and often stands in the middle of the text.",
    }
    cast = HOUSE
    queries = (Neighbour,)
    unordered = True
    answer = NextTo("places")
    marker = r"The (?P<subject>\w+) is \w+ of the (?P<value>\w+)"
    wording = prompt(
        "The context contains sentences about places that lie north, south, east or west of each other, hidden among "
        "unrelated sentences. Each hidden sentence describes both of its places: if one is north of the other, the "
        "other is south of it. One sentence answers the question: the one that names the place in the question "
        "together with the neighbour you are asked for.",
        "the name of the place, as written in the context",
        "The market is east of the loft. The loft is east of the canteen.\n"
        "Question: What is east of the loft?\nFINAL ANSWER: market",
        "The tent is north of the market. The market is north of the pharmacy.\n"
        "Question: What is the market north of?\nFINAL ANSWER: pharmacy",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write of three places in a row, and ask for a neighbour.

        Officially the answer is always the place that its fact names first. In a sound story either place may be asked
        for.
        """
        builder = StoryBuilder(rng, self.find_answer)
        first, middle, last = rng.sample(cast.places, 3)
        way: Way = rng.choice(COMPASS)
        # From the middle, one end lies this way and the other the opposite way.
        facts = [
            Lies(end, direction, middle) if rng.chance(MIDDLE_SECOND) else Lies(middle, opposite(direction), end)
            for end, direction in ((first, way), (last, opposite(way)))
        ]
        rng.shuffle(facts)
        builder.add_all(facts)
        fact = rng.choice(facts)
        if self.sound and rng.chance(0.5):
            fact = Lies(fact.reference, opposite(fact.way), fact.subject)
        builder.ask(Neighbour(fact.way, fact.reference, turned=rng.chance(0.5)))
        return builder.build(cast)

    def find_answer(self, history: History, query: Neighbour) -> Solution:
        """Return a neighbour that a fact states, not a place beyond it."""
        for neighbour, way, index in edges(history).get(query.place, ()):
            if way == query.way:
                return Solution(neighbour, (index,))
        raise UndecidableError(f"what is {query.way} of the {query.place}, is not told")

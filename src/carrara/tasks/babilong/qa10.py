"""qa10, indefinite knowledge: whether somebody is at a place, where sentences may leave two places open.

BABILong's tenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa10", index=30).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Bill went to the school.
Mary is in the park.
Julie is in the cinema.
Bill is in the park.
Julie is either in the park or the school.
Mary is in the office.
Julie went back to the cinema.
Julie is either in the cinema or the kitchen.
Julie is in the bedroom.
Bill moved to the office.
</context>
<BLANKLINE>
Question: Is Bill in the park?
"""

from collections.abc import Iterator, Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Verdict
from carrara.tasks.babilong._facts import Either, Fact, IsIn, Solution, Stays, Went
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import NAMED_PLACE, Clause, Walk, here_or_elsewhere, is_in_place, write_story
from carrara.tasks.babilong._words import TOWNSFOLK, Cast

DECOYS_BACK = 6
"""In one of six cases the place that an `either` adds is the one that the person has just left."""


class Indefinite(Babilong[IsIn]):
    number = 10
    title = "qa10: indefinite knowledge"
    capability = "recognizing what remains uncertain"
    known_shortcuts = NAMED_PLACE
    cast = TOWNSFOLK
    queries = (IsIn,)
    most_common = ("no", 0.480)  # measured over 80,000 stories
    answer = Verdict("yes", "no", "maybe")
    marker = r"(?P<subject>[A-Z]\w+)\b.*?(?:either in the (?P<either>\w+) or )?the (?P<value>\w+)\.$"
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people go, where they are or where they may be, hidden among "
        "unrelated sentences. Only the last hidden sentence about a person counts. If it says that the person is in "
        "one of two places, the answer is maybe for each of the two and no for any other place.",
        "one word: yes, no or maybe",
        "Noor went to the loft. Kofi is in the tent. Noor is either in the market or the canteen.\n"
        "Question: Is Noor in the market?\nFINAL ANSWER: maybe",
        "Kofi is either in the loft or the market. Noor travelled to the loft. Kofi moved to the canteen.\n"
        "Question: Is Kofi in the canteen?\nFINAL ANSWER: yes",
        "Kofi journeyed to the tent. Noor is in the canteen. Kofi is either in the canteen or the loft.\n"
        "Question: Is Kofi in the tent?\nFINAL ANSWER: no",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, self.candidates, self.draw_facts)

    def draw_facts(self, walk: Walk) -> Iterator[Fact]:
        """Yield half of the moves as moves, a quarter as the new place, and a quarter as this place or a wrong one."""
        while True:
            who, left, place = walk.move()
            if walk.rng.chance(0.5):
                yield Went((who,), place)
            elif walk.rng.chance(0.5):
                yield Stays(who, place)
            else:
                wrong = left if walk.rng.below(DECOYS_BACK) == 0 else walk.elsewhere(who, but=left)
                yield Either(who, (place, wrong) if walk.rng.chance(0.5) else (wrong, place))

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[IsIn]:
        """Where two places are possible, ask about one of them in 7 of 12 cases (official: 58 %)."""
        possible = history.people[clause.who][-1].places
        if len(possible) == 1:
            return here_or_elsewhere(history, clause.who, cast)
        others = [place for place in cast.places if place not in possible]
        return [IsIn(clause.who, place) for place in (*possible * 7 * len(others), *others * 5 * len(possible))]

    def find_answer(self, history: History, query: IsIn) -> Solution:
        return is_in_place(history, query)

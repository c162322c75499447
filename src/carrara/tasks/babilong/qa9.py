"""qa9, simple negation: whether somebody is at a place, where sentences also say that they are not.

BABILong's ninth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa9", index=27).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
John went to the office.
Sandra is in the bathroom.
Daniel journeyed to the office.
Sandra is not in the bathroom.
Daniel moved to the bedroom.
Sandra is not in the garden.
</context>
<BLANKLINE>
Question: Is Sandra in the garden?
"""

from collections.abc import Iterator, Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Verdict
from carrara.tasks.babilong._facts import Absent, Fact, IsIn, Solution, Stays, Went
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import NAMED_PLACE, Clause, Walk, here_or_elsewhere, is_in_place, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast


class Negation(Babilong[IsIn]):
    number = 9
    title = "qa9: simple negation"
    capability = "reading negations"
    known_shortcuts = NAMED_PLACE
    cast = HOUSEHOLD
    queries = (IsIn,)
    most_common = ("no", 0.623)  # measured over 80,000 stories
    answer = Verdict("yes", "no")
    marker = r"(?P<subject>[A-Z]\w+) (?!is not|is no longer).*\bthe (?P<value>\w+)\.$"
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people go, where they are and where they are not, hidden among "
        "unrelated sentences. Only the last hidden sentence about a person counts; it overrides all earlier ones. "
        "Someone who is not, or no longer, at a place has gone somewhere else.",
        "one word: yes or no",
        "Kofi went to the loft. Kofi is in the canteen. Noor is not in the canteen.\n"
        "Question: Is Kofi in the canteen?\nFINAL ANSWER: yes",
        "Noor journeyed to the market. Kofi moved to the tent. Noor is no longer in the market.\n"
        "Question: Is Noor in the market?\nFINAL ANSWER: no",
        "Kofi is in the market. Noor is no longer in the loft. Kofi travelled to the tent.\n"
        "Question: Is Kofi in the market?\nFINAL ANSWER: no",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, self.candidates, self.draw_facts)

    def draw_facts(self, walk: Walk) -> Iterator[Fact]:
        """Yield half of the moves as moves, a quarter as the new place, and a quarter as the place that was left."""
        while True:
            who, left, place = walk.move()
            if walk.rng.chance(0.5):
                yield Went((who,), place)
            else:
                yield Stays(who, place) if walk.rng.chance(0.5) else Absent(who, left)

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[IsIn]:
        """After a denial ask only about the place that was denied: the facts say nothing of the others."""
        sighting = history.people[clause.who][-1]
        return (
            (IsIn(clause.who, sighting.places[0]),)
            if sighting.is_absent
            else here_or_elsewhere(history, clause.who, cast)
        )

    def find_answer(self, history: History, query: IsIn) -> Solution:
        return is_in_place(history, query)

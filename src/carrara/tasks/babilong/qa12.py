"""qa12, conjunction: where somebody is, where people go about in twos.

BABILong's twelfth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa12", index=28).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Sandra and John went to the bathroom.
Sandra and John went to the garden.
</context>
<BLANKLINE>
Question: Where is Sandra?
"""

from collections.abc import Iterator

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Fact, Solution, Went, WhereIs
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import Walk, ask_place, find_place, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast


class Conjunction(Babilong[WhereIs]):
    number = 12
    title = "qa12: conjunction"
    capability = "reading one statement about two people"
    known_shortcuts = dict.fromkeys(
        ("strings", "part", "learned"),
        "Mostly the last fact is the one that is asked about, as in bAbI.",
    )
    cast = HOUSEHOLD
    queries = (WhereIs,)
    answer = Label("places")
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people are, hidden among unrelated sentences. Each hidden "
        "sentence says that two people went to a place together; later, one of them may move on with someone else. "
        "Each person is at the place they went to last.",
        "the name of the place, as written in the context",
        "Noor and Kofi went to the loft. Kofi and Priya moved to the canteen.\n"
        "Question: Where is Kofi?\nFINAL ANSWER: canteen",
        "Ramesh and Priya journeyed to the tent. Noor and Ramesh travelled to the market.\n"
        "Question: Where is Priya?\nFINAL ANSWER: tent",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, ask_place, self.draw_facts)

    def draw_facts(self, walk: Walk) -> Iterator[Fact]:
        while True:
            who = tuple(walk.rng.sample(walk.cast.people, 2))
            place = walk.elsewhere(*who)
            walk.go(place, *who)
            yield Went(who, place)

    def find_answer(self, history: History, query: WhereIs) -> Solution:
        return find_place(history, query)

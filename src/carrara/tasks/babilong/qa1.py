"""qa1, single supporting fact: where somebody is, who goes from place to place.

BABILong's first task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa1", index=25).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Sandra went to the hallway.
John went to the bathroom.
John went back to the hallway.
Sandra went to the bathroom.
Mary went back to the bathroom.
John journeyed to the office.
Sandra went back to the office.
John moved to the kitchen.
Daniel journeyed to the kitchen.
Daniel went back to the bedroom.
</context>
<BLANKLINE>
Question: Where is John?
"""

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Solution, WhereIs
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import ask_place, find_place, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast


class OneFact(Babilong[WhereIs]):
    number = 1
    title = "qa1: single supporting fact"
    capability = "locating a person"
    known_shortcuts = dict.fromkeys(
        ("strings", "part", "learned"),
        "Often the last fact is the one that is asked about, as in bAbI.",
    )
    cast = HOUSEHOLD
    queries = (WhereIs,)
    answer = Label("places")
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people are, hidden among unrelated sentences. People move around: "
        "each person is at the place they went to last. Answer the question using only the hidden sentences.",
        "the name of the place, as written in the context",
        "Anders moved to the canteen. Ramesh went to the loft. Anders journeyed to the market.\n"
        "Question: Where is Anders?\nFINAL ANSWER: market",
        "Ramesh travelled to the tent. Anders went back to the canteen. Noor moved to the loft.\n"
        "Question: Where is Ramesh?\nFINAL ANSWER: tent",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, ask_place)

    def find_answer(self, history: History, query: WhereIs) -> Solution:
        return find_place(history, query)

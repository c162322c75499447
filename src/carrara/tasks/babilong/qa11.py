"""qa11, basic coreference: where somebody is, who is called he or she half of the time.

BABILong's eleventh task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa11", index=2).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Daniel went to the bathroom.
Following that he moved to the kitchen.
Sandra went back to the kitchen.
After that she journeyed to the bathroom.
Mary went to the garden.
Then she went back to the kitchen.
Mary went back to the bedroom.
After that she travelled to the office.
</context>
<BLANKLINE>
Question: Where is Mary?
"""

from collections.abc import Iterator

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Fact, Solved, WhereIs
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import Walk, ask_place, find_place, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast


class Coreference(Babilong[WhereIs]):
    number = 11
    title = "qa11: basic coreference"
    capability = "tying a pronoun to a name"
    known_shortcuts = dict.fromkeys(
        ("strings", "part", "learned"),
        "Mostly the last fact is the one that is asked about, as in bAbI.",
    )
    cast = HOUSEHOLD
    queries = (WhereIs,)
    answer = Label("places")
    wording = prompt(
        "You are given a context in which sentences about the whereabouts of some people are hidden among sentences "
        "that have nothing to do with them. 'He' or 'she' stands for the person named in the hidden sentence before, "
        "however much other text lies between. Somebody is at the place that they went to last.",
        "the name of the place, as the context has it",
        "Noor went to the loft. Then she moved to the canteen. Kofi journeyed to the loft. Afterwards he travelled "
        "to the tent.\n"
        "Question: Where is Noor?\nFINAL ANSWER: canteen",
        "Priya moved to the market. Following that she went back to the tent. Ramesh went to the canteen. After that "
        "he journeyed to the market.\n"
        "Question: Where is Ramesh?\nFINAL ANSWER: market",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, ask_place, self.draw_facts)

    def draw_facts(self, walk: Walk) -> Iterator[Fact]:
        while True:
            who = walk.rng.choice(walk.cast.people)
            yield from walk.journey((who,), walk.cast.pronoun(who))

    def find_answer(self, history: History, query: WhereIs) -> Solved:
        return find_place(history, query)

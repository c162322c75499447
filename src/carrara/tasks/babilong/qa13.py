"""qa13, compound coreference: where somebody is, where people go about in twos and are called they half of the time.

BABILong's thirteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa13", index=2).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Mary and Daniel journeyed to the bathroom.
After that they went to the bedroom.
Sandra and Daniel moved to the kitchen.
Then they went to the hallway.
Mary and Daniel travelled to the kitchen.
After that they moved to the garden.
Daniel and Mary went to the office.
Then they travelled to the bathroom.
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


class CompoundCoreference(Babilong[WhereIs]):
    number = 13
    title = "qa13: compound coreference"
    capability = "tying a pronoun to two names"
    known_shortcuts = dict.fromkeys(
        ("strings", "part", "learned"),
        "Nearly always the last fact is the one that is asked about, as in bAbI.",
    )
    cast = HOUSEHOLD
    queries = (WhereIs,)
    answer = Label("places")
    wording = prompt(
        "You are given a context in which sentences about the whereabouts of some people are hidden among sentences "
        "that have nothing to do with them. 'They' stands for both people named in the hidden sentence before, however "
        "much other text lies between. Somebody is at the place that they went to last.",
        "the name of the place, as the context has it",
        "Noor and Kofi moved to the loft. Then they went to the canteen. Kofi and Priya journeyed to the market. "
        "Afterwards they travelled to the tent.\n"
        "Question: Where is Noor?\nFINAL ANSWER: canteen",
        "Ramesh and Priya went to the tent. After that they moved to the market.\n"
        "Question: Where is Priya?\nFINAL ANSWER: market",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, ask_place, self.draw_facts)

    def draw_facts(self, walk: Walk) -> Iterator[Fact]:
        while True:
            yield from walk.journey(tuple(walk.rng.sample(walk.cast.people, 2)), "they")

    def find_answer(self, history: History, query: WhereIs) -> Solved:
        return find_place(history, query)

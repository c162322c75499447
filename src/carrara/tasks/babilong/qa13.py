"""qa13, compound coreference: where somebody is, where people go about in twos and are called they half of the time.

BABILong's thirteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa13", index=9).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Mary and Daniel went back to the kitchen.
Afterwards they moved to the bathroom.
Mary and John went back to the office.
Following that they went back to the garden.
Mary and John journeyed to the hallway.
Then they journeyed to the bedroom.
</context>
<BLANKLINE>
Question: Where is John?
"""

from collections.abc import Iterator

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Fact, Solution, WhereIs
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import Walk, ask_place, find_place, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast


class CompoundCoreference(Babilong[WhereIs]):
    number = 13
    title = "qa13: compound coreference"
    capability = "resolving a pronoun to two names"
    known_shortcuts = dict.fromkeys(
        ("strings", "part", "learned"),
        "Nearly always the last fact is the one that is asked about, as in bAbI.",
    )
    cast = HOUSEHOLD
    queries = (WhereIs,)
    answer = Label("places")
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people are, hidden among unrelated sentences. 'They' refers to "
        "both people named in the previous hidden sentence, however much other text lies between. Each person is at "
        "the place they went to last.",
        "the name of the place, as written in the context",
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

    def find_answer(self, history: History, query: WhereIs) -> Solution:
        return find_place(history, query)

"""qa11, basic coreference: where somebody is, who is called he or she half of the time.

BABILong's eleventh task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa11", index=55).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Sandra went back to the bathroom.
Following that she went to the office.
Sandra went to the bedroom.
Then she moved to the office.
Mary moved to the bedroom.
Then she moved to the hallway.
</context>
<BLANKLINE>
Question: Where is Sandra?
"""

from collections.abc import Iterator

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Fact, Solution, WhereIs
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import Walk, ask_place, find_place, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast


class Coreference(Babilong[WhereIs]):
    number = 11
    title = "qa11: basic coreference"
    capability = "resolving a pronoun to a name"
    known_shortcuts = dict.fromkeys(
        ("strings", "part", "learned"),
        "Mostly the last fact is the one that is asked about, as in bAbI.",
    )
    cast = HOUSEHOLD
    queries = (WhereIs,)
    answer = Label("places")
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people are, hidden among unrelated sentences. 'He' or 'she' "
        "refers to the person named in the previous hidden sentence, however much other text lies between. Each "
        "person is at the place they went to last.",
        "the name of the place, as written in the context",
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

    def find_answer(self, history: History, query: WhereIs) -> Solution:
        return find_place(history, query)

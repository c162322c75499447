"""qa8, lists and sets: which things somebody carries.

BABILong's eighth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa8", index=20).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Daniel went back to the bedroom.
Daniel moved to the kitchen.
John moved to the hallway.
Sandra moved to the kitchen.
Daniel went to the garden.
Sandra went back to the hallway.
Daniel went back to the bathroom.
Sandra went back to the office.
Daniel went back to the bedroom.
Sandra journeyed to the garden.
John went back to the office.
Mary travelled to the garden.
Daniel moved to the garden.
Sandra moved to the bedroom.
Mary picked up the apple there.
Mary put down the apple.
Sandra travelled to the hallway.
Sandra moved to the kitchen.
</context>
<BLANKLINE>
Question: What is Mary carrying?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Things
from carrara.tasks.babilong._facts import Drop, Got, Solution, WhatCarried
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import Clause, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, NOTHING, Cast
from carrara.types import UndecidableError


class Lists(Babilong[WhatCarried]):
    number = 8
    title = "qa8: lists and sets"
    capability = "listing the objects that a person carries"
    known_shortcuts = dict.fromkeys(
        ("strings", "learned"),
        "What is taken and dropped is said twice: what is said once is still there, as in bAbI.",
    )
    cast = HOUSEHOLD
    queries = (WhatCarried,)
    most_common = ("nothing", 0.361)  # measured over 80,000 stories
    answer = Things()
    wording = prompt(
        "The context contains sentences about where people go and what they handle, hidden among unrelated sentences. "
        "People carry what they took until they put it down, drop, leave or discard it. Nobody carries anything that "
        "the hidden sentences do not mention.",
        "the names of all the things carried, joined by commas without spaces, or the word nothing",
        "Noor picked up the globe there. Noor went to the loft. Noor took the kazoo there.\n"
        "Question: What is Noor carrying?\nFINAL ANSWER: globe,kazoo",
        "Kofi got the kazoo there. Kofi grabbed the boomerang there. Kofi travelled to the tent. Kofi left the kazoo "
        "there.\n"
        "Question: What is Kofi carrying?\nFINAL ANSWER: boomerang",
        "Mirko moved to the canteen. Mirko took the boomerang there. Mirko put down the boomerang.\n"
        "Question: What is Mirko carrying?\nFINAL ANSWER: nothing",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, self.candidates, gift_weight=0)

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[WhatCarried]:
        return (WhatCarried(clause.who),) if isinstance(clause.fact, Got | Drop) else ()

    def find_answer(self, history: History, query: WhatCarried) -> Solution:
        """Return the things in the order in which they were first taken, and the facts thing by thing."""
        hands = history.hands.get(query.who)
        if hands is None:
            raise UndecidableError(f"what {query.who} carries, is not told")
        held = [thing for thing in hands.facts_by_thing if thing in hands.held]
        return Solution(",".join(held) or NOTHING, tuple(i for facts in hands.facts_by_thing.values() for i in facts))

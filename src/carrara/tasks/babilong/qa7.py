"""qa7, counting: how many things somebody carries, who takes, gives, receives and puts down.

BABILong's seventh task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa7", index=5).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Mary went to the office.
Daniel journeyed to the hallway.
Daniel grabbed the football there.
Mary got the apple there.
Sandra moved to the bedroom.
Daniel dropped the football.
</context>
<BLANKLINE>
Question: How many objects is Daniel carrying?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Count
from carrara.tasks.babilong._facts import Drop, Gave, Got, HowMany, Solution
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import Clause, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, NUMBERS, Cast
from carrara.types import UndecidableError


class Counting(Babilong[HowMany]):
    number = 7
    title = "qa7: counting"
    capability = "counting the objects that a person carries"
    cast = HOUSEHOLD
    queries = (HowMany,)
    most_common = ("one", 0.483)  # measured over 80,000 stories
    answer = Count()
    wording = prompt(
        "The context contains sentences about where people go and what they handle, hidden among unrelated sentences. "
        "People carry what they took or were given until they give it away, put it down, drop, leave or discard it. "
        "Nobody carries anything that the hidden sentences do not mention.",
        "one word: none, one, two or three",
        "Noor got the globe there. Noor went to the loft. Noor picked up the kazoo there.\n"
        "Question: How many objects is Noor carrying?\nFINAL ANSWER: two",
        "Kofi took the globe there. Kofi handed the globe to Mirko. Mirko moved to the tent.\n"
        "Question: How many objects is Mirko carrying?\nFINAL ANSWER: one",
        "Mirko grabbed the kazoo there. Noor journeyed to the canteen. Mirko discarded the kazoo.\n"
        "Question: How many objects is Mirko carrying?\nFINAL ANSWER: none",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, self.candidates, gift_weight=21)

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[HowMany]:
        """After a gift ask about its giver and never about its receiver, as in the official files."""
        return (HowMany(clause.who),) if isinstance(clause.fact, Got | Drop | Gave) else ()

    def find_answer(self, history: History, query: HowMany) -> Solution:
        hands = history.hands.get(query.who)
        if hands is None or len(hands.held) >= len(NUMBERS):
            raise UndecidableError(f"how much {query.who} carries, is not told")
        return Solution(NUMBERS[len(hands.held)], tuple(hands.facts))

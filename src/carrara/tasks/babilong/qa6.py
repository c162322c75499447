"""qa6, yes/no questions: whether somebody is at a place, among people who walk about and carry things.

BABILong's sixth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa6", index=3).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Daniel moved to the office.
Mary went to the kitchen.
Mary travelled to the bathroom.
Sandra went to the kitchen.
</context>
<BLANKLINE>
Question: Is Mary in the bedroom?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Verdict
from carrara.tasks.babilong._facts import IsIn, Solution, Went
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import NAMED_PLACE, Clause, here_or_elsewhere, is_in_place, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast


class YesNo(Babilong[IsIn]):
    number = 6
    title = "qa6: yes/no questions"
    capability = "checking where a person is now"
    known_shortcuts = NAMED_PLACE
    cast = HOUSEHOLD
    queries = (IsIn,)
    answer = Verdict("yes", "no")
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people go and what they handle, hidden among unrelated sentences. "
        "Each person is at the place they went to last and nowhere else. Answer the question using only the hidden "
        "sentences.",
        "one word: yes or no",
        "Noor moved to the loft. Kofi went to the canteen. Kofi took the kazoo there.\n"
        "Question: Is Kofi in the canteen?\nFINAL ANSWER: yes",
        "Noor travelled to the tent. Noor went back to the market. Kofi journeyed to the loft.\n"
        "Question: Is Noor in the tent?\nFINAL ANSWER: no",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, self.candidates, gift_weight=0)

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[IsIn]:
        return here_or_elsewhere(history, clause.who, cast) if isinstance(clause.fact, Went) else ()

    def find_answer(self, history: History, query: IsIn) -> Solution:
        return is_in_place(history, query)

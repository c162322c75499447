"""qa2, two supporting facts: where a thing is, which people carry about and put down.

BABILong's second task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa2", index=31).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Daniel went back to the bathroom.
John journeyed to the office.
Daniel journeyed to the kitchen.
John went back to the bedroom.
Sandra picked up the milk there.
Mary went to the garden.
Sandra travelled to the bathroom.
Mary moved to the bedroom.
Sandra left the milk.
Sandra picked up the milk there.
Sandra dropped the milk.
Sandra travelled to the office.
Mary took the football there.
Sandra went back to the kitchen.
Mary left the football there.
John journeyed to the kitchen.
</context>
<BLANKLINE>
Question: Where is the football?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Fact, Solution, WhereThing
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._things import handled_thing, relevant_facts, thing_of
from carrara.tasks.babilong._walk import Clause, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast
from carrara.types import UndecidableError


class TwoFacts(Babilong[WhereThing]):
    number = 2
    title = "qa2: two supporting facts"
    capability = "tracking an object that people pass on"
    known_shortcuts = dict.fromkeys(("strings", "learned"), "Often the thing is where somebody went last, as in bAbI.")
    cast = HOUSEHOLD
    queries = (WhereThing,)
    answer = Label("places")
    wording = prompt(
        "The context contains sentences about where people go and what they handle, hidden among unrelated sentences. "
        "A thing that someone has taken is wherever that person goes. A thing that was put down, dropped, left or "
        "discarded stays where its carrier was at that moment. Answer the question using only the hidden sentences.",
        "the name of the place, as written in the context",
        "Noor went to the loft. Noor picked up the globe there. Noor moved to the canteen. Noor dropped the globe. "
        "Noor journeyed to the tent.\n"
        "Question: Where is the globe?\nFINAL ANSWER: canteen",
        "Kofi journeyed to the canteen. Kofi took the kazoo there. Noor travelled to the loft. Kofi went back to the "
        "market.\n"
        "Question: Where is the kazoo?\nFINAL ANSWER: market",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, self.candidates, gift_weight=0)

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[WhereThing]:
        """Ask about a thing that was put down, or whose holder has moved since taking it."""
        thing = handled_thing(clause.fact)
        if thing is None:
            return ()
        life = thing_of(history, thing)
        moved = life.laid is not None if life.holder is None else life.carry > 0
        return (WhereThing(thing),) if moved else ()

    def find_answer(self, history: History, query: WhereThing) -> Solution:
        """Return where the holder of a thing is, or where it was put down."""
        life = thing_of(history, query.thing)
        here = life.laid if life.holder is None else history.place(life.holder)
        if here is None:
            raise UndecidableError(f"where the {query.thing} is, is not told")
        return Solution(here.place, (life.events[-1][0], here.fact))

    def relevant_facts(self, facts: Sequence[Fact | None], query: WhereThing) -> Sequence[int]:
        return relevant_facts(facts, query.thing)

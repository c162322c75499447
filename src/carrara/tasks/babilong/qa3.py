"""qa3, three supporting facts: where a thing was before it came to a place, from the ways of those who carried it.

BABILong's third task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa3", index=45).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Sandra went back to the garden.
John moved to the office.
Mary travelled to the office.
Mary moved to the bedroom.
Mary journeyed to the garden.
Sandra grabbed the milk there.
Sandra put down the milk.
Sandra went to the bathroom.
John travelled to the hallway.
Sandra went to the hallway.
Daniel went back to the garden.
John took the apple.
Mary picked up the milk.
Mary grabbed the football there.
Mary put down the football there.
Daniel moved to the office.
Mary dropped the milk.
John moved to the office.
Sandra went back to the bathroom.
Sandra moved to the garden.
John journeyed to the bedroom.
Mary went to the kitchen.
Sandra got the football.
John put down the apple.
Sandra journeyed to the hallway.
Daniel moved to the bathroom.
John journeyed to the kitchen.
Mary moved to the garden.
</context>
<BLANKLINE>
Question: Where was the apple before the bedroom?
"""

from collections.abc import Sequence
from math import inf

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Fact, Solution, ThingBefore
from carrara.tasks.babilong._story import History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._things import handled_thing, relevant_facts, thing_of
from carrara.tasks.babilong._walk import Clause, write_story
from carrara.tasks.babilong._words import HOUSEHOLD, Cast
from carrara.types import UndecidableError

MOST_SOUND_FACTS = 100
"""Facts of a sound story at most: in a long one everything has been everywhere twice."""


class ThreeFacts(Babilong[ThingBefore]):
    number = 3
    title = "qa3: three supporting facts"
    capability = "tracking where an object was before"
    known_shortcuts = dict.fromkeys(
        ("strings", "learned"), "Often the answer is a place that comes late in the story, as in bAbI."
    )
    cast = HOUSEHOLD
    queries = (ThingBefore,)
    answer = Label("places")
    wording = prompt(
        "The context contains sentences about where people go and what they handle, hidden among unrelated sentences. "
        "A thing that someone has taken goes wherever that person goes; once put down, dropped, left or discarded, it "
        "stays where it is. Where a thing was before a place means where it was brought there from; if it came there "
        "more than once, the last time counts. Answer the question using only the hidden sentences.",
        "the name of the place, as written in the context",
        "Noor got the globe. Noor went to the loft. Noor journeyed to the canteen. Kofi moved to the loft. Noor "
        "travelled to the tent. Noor left the globe there.\n"
        "Question: Where was the globe before the canteen?\nFINAL ANSWER: loft",
        "Kofi grabbed the kazoo. Kofi moved to the canteen. Kofi went to the loft. Kofi journeyed to the market. "
        "Kofi went back to the loft.\n"
        "Question: Where was the kazoo before the loft?\nFINAL ANSWER: market",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        most_facts = MOST_SOUND_FACTS if self.sound else inf
        story = write_story(
            rng, cast, self.find_answer, self.candidates, gift_weight=0, got_there=0.19, most_facts=most_facts
        )
        return story if story.questions else self.story(rng, cast)

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[ThingBefore]:
        """Ask about a place that the thing reached on its last carry, and did not reach again.

        In a sound story the thing was at the place only once, so that the question is about one time.
        """
        thing = handled_thing(clause.fact)
        if thing is None:
            return ()
        life = thing_of(history, thing)
        stops = [stop.place for stop in life.way]
        carried = range(len(stops) - life.carry + 1, len(stops)) if life.carry > 1 else ()
        last = [stops[i] for i in carried if stops[i] not in stops[i + 1 :]]
        return [ThingBefore(thing, place) for place in last if not self.sound or stops.count(place) == 1]

    def find_answer(self, history: History, query: ThingBefore) -> Solution:
        """Return the place from which the thing came there the last time."""
        life = thing_of(history, query.thing)
        for before, stop in zip(life.way[-2::-1], life.way[:0:-1], strict=True):
            if stop.place == query.place:
                return Solution(before.place, (life.events[-1][0], stop.fact, before.fact))
        raise UndecidableError(f"where the {query.thing} was before the {query.place}, is not told")

    def relevant_facts(self, facts: Sequence[Fact | None], query: ThingBefore) -> Sequence[int]:
        return relevant_facts(facts, query.thing)

"""qa14, time reasoning: where somebody was before they went to a place, with facts out of order and times of day.

BABILong's fourteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa14", index=40).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Bill journeyed to the cinema this morning.
Yesterday Bill journeyed to the kitchen.
</context>
<BLANKLINE>
Question: Where was Bill before the cinema?
"""

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import WHENS, PersonBefore, Solution, Went
from carrara.tasks.babilong._story import RECENT, History, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import TOWNSFOLK, Cast
from carrara.types import UndecidableError

QUESTIONS = 5


class Times(Babilong[PersonBefore]):
    number = 14
    title = "qa14: time reasoning"
    capability = "ordering events in time"
    known_shortcuts = dict.fromkeys(
        ("strings", "learned"),
        "Few places are said beside the one that is named, as in bAbI.",
    )
    cast = TOWNSFOLK
    queries = (PersonBefore,)
    answer = Label("places")
    replaces_facts = True
    wording = prompt(
        "The context contains sentences about where people went and when, hidden among unrelated sentences. The "
        "events are not told in chronological order: yesterday is earliest, then come this morning, this afternoon "
        "and this evening. Where someone was before a place means the place they had gone to just before; if they "
        "went there twice, the second time counts.",
        "the name of the place, as written in the context",
        "This morning Noor went to the loft. Kofi moved to the tent yesterday. Yesterday Noor travelled to the "
        "canteen. Noor journeyed to the market this afternoon.\n"
        "Question: Where was Noor before the market?\nFINAL ANSWER: loft",
        "Kofi moved to the tent this afternoon. Yesterday Kofi journeyed to the tent. Kofi went back to the canteen "
        "this morning. This morning Noor went to the market.\n"
        "Question: Where was Kofi before the tent?\nFINAL ANSWER: canteen",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write of people who go through the day, from one time of day to the next.

        The facts between two questions come in another order than the events: a cyclic one, so that no fact keeps its
        place and two are always swapped. In a sound story no question is about a place that somebody went to twice.
        """
        builder = StoryBuilder(rng, self.find_answer)
        went: dict[str, list[str]] = {who: [] for who in cast.people}
        happened: list[Went] = []
        unwritten: list[Went] = []
        while len(builder.questions) < QUESTIONS:
            if all(len(places) == len(WHENS) for places in went.values()):
                return self.story(rng, cast)  # the day is over; only a sound story may have too little to ask
            for _ in range(2):
                unwritten.append(_next(rng, cast, went))
            happened += unwritten[-2:]
            recent = [event for event in happened[-RECENT:] if event.when != WHENS[0]]
            if self.sound:  # of two visits nobody can tell which is meant
                recent = [event for event in recent if went[event.who[0]].count(event.place) == 1]
            if recent:
                builder.add_all(_cycle(rng, unwritten))
                unwritten = []
                event = rng.choice(recent)
                builder.ask(PersonBefore(event.who[0], event.place))
        return builder.build(cast)

    def find_answer(self, history: History, query: PersonBefore) -> Solution:
        """Return the place before the later one of two visits. Times of day give the order, not the sentences."""
        visits = sorted(
            (WHENS.index(sighting.when), sighting.places[0], sighting.facts)
            for sighting in history.people.get(query.who, ())
            if sighting.when is not None
        )
        for before, visit in zip(visits[-2::-1], visits[:0:-1], strict=True):
            (time_before, place_before, facts_before), (time, place, facts) = before, visit
            if place == query.place:
                if time - time_before != 1:
                    break
                return Solution(place_before, facts + facts_before)
        raise UndecidableError(f"where {query.who} was just before the {query.place}, is not told")


def _next(rng: Rng, cast: Cast, went: dict[str, list[str]]) -> Went:
    who = rng.choice([who for who in cast.people if len(went[who]) < len(WHENS)])
    places = went[who]
    place = rng.choice([place for place in cast.places if place not in places[-1:]])
    places.append(place)
    return Went((who,), place, WHENS[len(places) - 1])


def _cycle(rng: Rng, events: list[Went]) -> list[Went]:
    """Return a random cyclic order (Sattolo's shuffle), in which nothing stays where it was."""
    order = events.copy()
    for i in range(len(order) - 1, 0, -1):
        j = rng.below(i)
        order[i], order[j] = order[j], order[i]
    return order

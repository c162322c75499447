"""qa20, agents' motivations: where somebody will go in a certain mood, or why they did what they did.

BABILong's twentieth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa20", index=51).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Antoine is bored.
Jason is bored.
Antoine journeyed to the garden.
Jason went to the garden.
Antoine grabbed the football there.
Yann is hungry.
Yann travelled to the kitchen.
Sumit is tired.
Yann picked up the apple there.
Sumit travelled to the bedroom.
</context>
<BLANKLINE>
Question: Why did sumit go to the bedroom?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import Got, Is, Solution, Went, WhereWill, WhyGet, WhyGo
from carrara.tasks.babilong._lexicon import FRESH_MOTIVES, MOTIVES
from carrara.tasks.babilong._story import History, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import MOODY, Cast
from carrara.types import UndecidableError

Motive = WhereWill | WhyGo | WhyGet
SOUND_FACTS = 5


MOST_QUESTIONS = 12
"""The most questions of a story: three for each of four people."""
*_FIRST, _LAST = [f"the {mood} to the {place}" for mood, (place, _) in sorted(FRESH_MOTIVES.items())]
_PLACES = f"{', '.join(_FIRST)} and {_LAST}"
"""The instruction says this of each mood: nobody can know that the famished go to a pantry and not to a kitchen."""


class Motives(Babilong[Motive]):
    version = 6
    number = 20
    title = "qa20: agents' motivations"
    capability = "knowing what people do and why"
    known_shortcuts = dict.fromkeys(
        ("strings", "learned"),
        "Where somebody goes is said, and he goes there for one reason, as in bAbI.",
    )
    cast = MOODY
    queries = (WhereWill, WhyGo, WhyGet)
    answer = Label("places", "moods")
    wording = prompt(
        "The context contains sentences about people's moods and actions, hidden among unrelated sentences. People "
        "act on their moods: the hungry and the thirsty go to the kitchen, the bored to the garden, the tired to the "
        f"bedroom, {_PLACES}. The reason why someone went to a place or got a thing is the mood they are in.",
        "the name of the place or the word for the mood",
        "Noor is athletic. Ramesh is soaked.\nQuestion: Where will noor go?\nFINAL ANSWER: gymnasium",
        "Kofi is sunburnt. Priya is soaked. Kofi journeyed to the pharmacy.\n"
        "Question: Why did kofi go to the pharmacy?\nFINAL ANSWER: sunburnt",
        "Priya is soaked. Priya went to the tent. Ramesh is sunburnt. Priya took the towel there.\n"
        "Question: Why did priya get the towel?\nFINAL ANSWER: soaked",
    )

    def options(self, query: Motive, cast: Cast) -> tuple[str, ...]:
        return cast.places if isinstance(query, WhereWill) else cast.moods

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write of moods and what people do about them, and ask a question after each sentence.

        A thing is taken once, by the first person in its mood. A sound story asks nothing before it has a few facts,
        because there are only sixteen stories of one sentence. It only asks where somebody will go who has not gone
        yet: why the apple was fetched is known without the story.
        """
        builder = StoryBuilder[Motive](rng, self.find_answer)
        mood = {who: rng.choice(cast.moods) for who in cast.people}
        stage = dict.fromkeys(cast.people, 0)
        taken: list[str] = []
        while people := [who for who in cast.people if stage[who] < 3]:
            who = rng.choice(people)
            place, thing = MOTIVES[mood[who]]
            stage[who] += 1
            query: Motive
            if stage[who] == 1:
                builder.add(Is(who, mood[who]))
                query = WhereWill(who)
            elif stage[who] == 2:
                builder.add(Went((who,), place))
                query = WhyGo(who, place)
            elif thing in taken:
                continue
            else:
                taken.append(thing)
                builder.add(Got(who, thing))
                query = WhyGet(who, thing)
            if not self.sound:
                builder.ask(query)
            elif len(builder.facts) >= SOUND_FACTS and (waiting := [who for who in cast.people if stage[who] == 1]):
                builder.ask(WhereWill(rng.choice(waiting)))
        return builder.build(cast)

    def find_answer(self, history: History, query: Motive) -> Solution:
        """Return the mood, or the place where it leads, which the instruction says and not the story."""
        for index, fact in reversed(history.all(Is)):
            if fact.who.casefold() == query.who.casefold():
                if not isinstance(query, WhereWill):
                    return Solution(fact.quality, (index,))
                if fact.quality not in MOTIVES:
                    raise UndecidableError(f"where {fact.quality} people go, is not known")
                return Solution(MOTIVES[fact.quality][0], (index,))
        raise UndecidableError(f"how {query.who} feels, is not told")

    def draw_story(self, rng: Rng) -> Story:
        """Draw stories with more questions more often, so that each question is as likely as any other."""
        while True:
            story = super().draw_story(rng)
            if rng.below(MOST_QUESTIONS) < len(story.questions):
                return story

    def guesses(self, query: Motive, cast: Cast) -> Sequence[str]:
        """Guess from the instruction, which says where moods lead: a place or a thing in the question tells the mood.

        More than one mood may lead to the same place, as officially to the kitchen.
        """
        moods = cast.moods
        match query:
            case WhereWill():
                places = [MOTIVES[mood][0] for mood in moods]
                return (max(cast.places, key=places.count),)
            case WhyGo(place=place):
                return tuple(mood for mood in moods if MOTIVES[mood][0] == place)
            case WhyGet(thing=thing):
                return tuple(mood for mood in moods if MOTIVES[mood][1] == thing)

    def chance_level(self, query: Motive, cast: Cast) -> float:
        if isinstance(query, WhereWill):
            [place] = self.guesses(query, cast)
            return [MOTIVES[mood][0] for mood in cast.moods].count(place) / len(cast.moods)
        return super().chance_level(query, cast)

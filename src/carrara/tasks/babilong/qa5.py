"""qa5, three-argument relations: who gave what to whom.

BABILong's fifth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa5", index=23).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Fred got the milk there.
Fred handed the milk to Mary.
Mary passed the milk to Fred.
Fred discarded the milk.
</context>
<BLANKLINE>
Question: Who received the milk?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Party
from carrara.tasks.babilong._facts import Gave, Solution, WhatGiven, WhoGave, WhoReceived
from carrara.tasks.babilong._story import RECENT, History, Story
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._walk import Clause, write_story
from carrara.tasks.babilong._words import GIVERS, Cast
from carrara.types import UndecidableError

Gift = WhatGiven | WhoGave | WhoReceived


class ThreeArguments(Babilong[Gift]):
    number = 5
    title = "qa5: three-argument relations"
    capability = "distinguishing giver, receiver and gift"
    known_shortcuts = dict.fromkeys(
        ("strings", "part", "learned"),
        "As a rule the last gift is what is asked about, as in bAbI.",
    ) | {"typography": "Questions are about gifts, and no other sentence names two people."}
    cast = GIVERS
    queries = (WhatGiven, WhoGave, WhoReceived)
    answer = Party("people", "things")
    marker = r"(?P<subject>[A-Z]\w+) \w+ (?:\w+ )?the (?P<value>\w+)(?: there)?(?: to (?P<receiver>\w+))?\.$"
    wording = prompt(
        "The context contains sentences about people who take things, carry them, put them down and give them to each "
        "other, hidden among unrelated sentences. The question is about a gift: who gave it, who received it, or what "
        "was given. A thing may be given more than once: only the last time counts. Answer the question using only "
        "the hidden sentences.",
        "the name of the person or thing, as written in the context",
        "Kofi got the globe there. Kofi handed the globe to Noor. Noor went to the loft.\n"
        "Question: What did Kofi give to Noor?\nFINAL ANSWER: globe",
        "Kofi gave the kazoo to Mirko. Mirko passed the kazoo to Noor. Noor dropped the kazoo.\n"
        "Question: Who received the kazoo?\nFINAL ANSWER: Noor",
        "Noor gave the globe to Kofi. Noor moved to the tent. Kofi discarded the globe there.\n"
        "Question: Who gave the globe?\nFINAL ANSWER: Noor",
        "Mirko passed the globe to Noor. Kofi gave the kazoo to Noor.\n"
        "Question: Who gave the kazoo to Noor?\nFINAL ANSWER: Kofi",
        "Noor handed the kazoo to Mirko. Kofi travelled to the loft.\n"
        "Question: Who did Noor give the kazoo to?\nFINAL ANSWER: Mirko",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        return write_story(rng, cast, self.find_answer, self.candidates, gift_weight=24)

    def options(self, query: Gift, cast: Cast) -> tuple[str, ...]:
        match query:
            case WhatGiven():
                return cast.things
            case WhoGave(to=named_person) | WhoReceived(who=named_person):
                return tuple(who for who in cast.people if who != named_person)

    def candidates(self, history: History, clause: Clause, cast: Cast) -> Sequence[Gift]:
        """Ask about the last gift of a thing.

        A third of the questions each asks for the thing, the giver and the receiver (the latter two in two wordings).
        There is no question where the same person gave two things to the same person and both are still there: the
        official files then mean the recent one, and the text leaves one question in five hundred open. In a sound story
        no two things ever went the same way, not even one that was given on since.
        """
        match clause.fact:
            case Gave(who, thing, to) if (
                clause.number == _last_gift(history, thing) and len(_standing_gifts(history, who, to)) == 1
            ):
                gifts = {gift.thing for _, gift in history.all(Gave) if (gift.who, gift.to) == (who, to)}
                return (
                    *([WhatGiven(who, to)] * 2 if len(gifts) == 1 or not self.sound else ()),
                    *(WhoGave(thing), WhoGave(thing, to)),
                    *(WhoReceived(thing), WhoReceived(thing, who)),
                )
            case _:
                return ()

    def find_answer(self, history: History, query: Gift) -> Solution:
        match query:
            case WhatGiven(who, to):
                return self._find_gift(history, who, to)
            case WhoGave(thing, to):
                for index, gift in reversed(history.all(Gave)):
                    if gift.thing == thing and to in (None, gift.to):
                        return Solution(gift.who, (index,))
            case WhoReceived(thing, giver):
                for index, gift in reversed(history.all(Gave)):
                    if gift.thing == thing and giver in (None, gift.who):
                        return Solution(gift.to, (index,))
        raise UndecidableError(f"who gave the {query.thing} to whom, is not told")

    def _find_gift(self, history: History, who: str, to: str) -> Solution:
        """Return what somebody gave to another. If that is more than one thing, the question means the recent one.

        Two recent things leave the question open.
        """
        gifts = _standing_gifts(history, who, to)
        if len(gifts) > 1:
            recent = history.facts[-RECENT:][0][0]
            gifts = [gift for gift in gifts if gift[0] >= recent]
        if len(gifts) != 1:
            raise UndecidableError(f"the text does not decide what {who} gave to {to}")
        return Solution(gifts[0][1], (gifts[0][0],))


def _last_gift(history: History, thing: str) -> int:
    return next(index for index, event in reversed(history.things[thing].events) if isinstance(event, Gave))


def _standing_gifts(history: History, who: str, to: str) -> list[tuple[int, str]]:
    """Return what a person gave to another, as far as nobody has given it on since."""
    gifts = history.all(Gave)
    last = {gift.thing: index for index, gift in gifts}
    return [(i, gift.thing) for i, gift in gifts if last[gift.thing] == i and (gift.who, gift.to) == (who, to)]

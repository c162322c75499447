"""qa1, single supporting fact: where somebody is, who goes from place to place.

BABILong's first task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa1", index=3).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Sandra travelled to the kitchen.
Sandra went back to the bedroom.
John went to the office.
Mary went to the bathroom.
Daniel journeyed to the kitchen.
John went to the hallway.
</context>
<BLANKLINE>
Question: Where is John?
"""

from carrara.suites.babilong._babilong import prompt
from carrara.suites.babilong._whereabouts import WherePeopleAre
from carrara.suites.babilong._words import HOUSEHOLD


class OneFact(WherePeopleAre):
    number = 1
    title = "qa1: single supporting fact"
    capability = "finding where somebody is now"
    cast = HOUSEHOLD
    wording = prompt(
        "You are given a context in which sentences about the whereabouts of some people are hidden among sentences "
        "that have nothing to do with them. People move about: somebody is at the place that they went to last. Answer "
        "the question from the hidden sentences alone.",
        "Reply with the name of the place, as the context has it, and nothing else.",
        "Anders moved to the canteen. Ramesh went to the loft. Anders journeyed to the market.\n"
        "Question: Where is Anders?\nAnswer: market",
        "Ramesh travelled to the tent. Anders went back to the canteen. Noor moved to the loft.\n"
        "Question: Where is Ramesh?\nAnswer: tent",
    )


task = OneFact()

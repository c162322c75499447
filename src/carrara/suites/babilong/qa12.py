"""qa12, conjunction: where somebody is, where people go about in twos.

BABILong's twelfth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items import make
>>> print(make("babilong/qa12", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
John and Sandra went back to the kitchen.
John and Daniel moved to the bathroom.
John and Sandra moved to the hallway.
Daniel and Sandra went to the kitchen.
</context>
<BLANKLINE>
Question: Where is Sandra?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Conjunction(Babilong):
    number = 12
    title = "qa12: conjunction"
    capability = "reading one statement about two people"
    wording = prompt(
        "You are given a context in which sentences about the whereabouts of some people are hidden among sentences "
        "that have nothing to do with them. Each hidden sentence tells of two people who go to a place together, and "
        "later one of them may go on with somebody else. Somebody is at the place that they went to last.",
        "Reply with the name of the place, as the context has it, and nothing else.",
        "Noor and Kofi went to the loft. Kofi and Priya moved to the canteen.\n"
        "Question: Where is Kofi?\nAnswer: canteen",
        "Ramesh and Priya journeyed to the tent. Noor and Ramesh travelled to the market.\n"
        "Question: Where is Priya?\nAnswer: tent",
    )


task = Conjunction()

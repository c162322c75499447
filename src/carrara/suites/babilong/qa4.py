"""qa4, two-argument relations: which place lies next to which, said by points of the compass.

BABILong's fourth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa4", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The garden is north of the kitchen.
The office is south of the kitchen.
</context>
<BLANKLINE>
Question: What is north of the kitchen?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class TwoArguments(Babilong):
    number = 4
    title = "qa4: two-argument relations"
    capability = "reading a relation of two places both ways"
    wording = prompt(
        "You are given a context in which sentences about places that lie north, south, east or west of each other are "
        "hidden among sentences that have nothing to do with them. Each hidden sentence says something of both its "
        "places: if one is north of the other, the other is south of it. The question is answered by the one sentence "
        "that names its place together with the neighbour asked for.",
        "Reply with the name of the place, as the context has it, and nothing else.",
        "The market is east of the loft. The loft is east of the canteen.\n"
        "Question: What is east of the loft?\nAnswer: market",
        "The tent is north of the market. The market is north of the pharmacy.\n"
        "Question: What is the market north of?\nAnswer: pharmacy",
    )


task = TwoArguments()

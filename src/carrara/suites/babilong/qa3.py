"""qa3, three supporting facts: where a thing was before it came to a place, from the ways of those who carried it.

BABILong's third task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa3", index=17).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Mary took the football.
Mary left the football.
Daniel took the football.
Mary moved to the bedroom.
Daniel discarded the football.
Sandra went to the bedroom.
Sandra moved to the bathroom.
Sandra got the milk.
John journeyed to the kitchen.
Sandra went back to the kitchen.
Sandra went back to the garden.
John moved to the office.
</context>
<BLANKLINE>
Question: Where was the milk before the garden?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class ThreeFacts(Babilong):
    number = 3
    title = "qa3: three supporting facts"
    capability = "retracing the way of a thing"
    wording = prompt(
        "You are given a context in which sentences about some people, where they go and what they handle, are hidden "
        "among sentences that have nothing to do with them. A thing that somebody has taken goes wherever that person "
        "goes; put down, dropped, left or discarded, it stays. Where it was before a place is where it was brought "
        "there from; if it came there more than once, the last time is meant. Answer the question from the hidden "
        "sentences alone.",
        "Reply with the name of the place, as the context has it, and nothing else.",
        "Noor got the globe. Noor went to the loft. Noor journeyed to the canteen. Kofi moved to the loft. Noor "
        "travelled to the tent. Noor left the globe there.\n"
        "Question: Where was the globe before the canteen?\nAnswer: loft",
        "Kofi grabbed the kazoo. Kofi moved to the canteen. Kofi went to the loft. Kofi journeyed to the market. "
        "Kofi went back to the loft.\n"
        "Question: Where was the kazoo before the loft?\nAnswer: market",
    )


task = ThreeFacts()

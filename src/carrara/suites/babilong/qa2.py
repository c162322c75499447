"""qa2, two supporting facts: where a thing is, which people carry about and put down.

BABILong's second task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa2", index=10).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Daniel went to the office.
Mary picked up the football there.
Daniel journeyed to the garden.
John journeyed to the bedroom.
Daniel went back to the bathroom.
Mary went back to the bedroom.
</context>
<BLANKLINE>
Question: Where is the football?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class TwoFacts(Babilong):
    number = 2
    title = "qa2: two supporting facts"
    capability = "following a thing through the hands of people"
    wording = prompt(
        "You are given a context in which sentences about some people, where they go and what they handle, are hidden "
        "among sentences that have nothing to do with them. A thing that somebody has taken is wherever that person "
        "goes. A thing that was put down, dropped, left or discarded stays at the place where its carrier was then. "
        "Answer the question from the hidden sentences alone.",
        "Reply with the name of the place, as the context has it, and nothing else.",
        "Noor went to the loft. Noor picked up the globe there. Noor moved to the canteen. Noor dropped the globe. "
        "Noor journeyed to the tent.\n"
        "Question: Where is the globe?\nAnswer: canteen",
        "Kofi journeyed to the canteen. Kofi took the kazoo there. Noor travelled to the loft. Kofi went back to the "
        "market.\n"
        "Question: Where is the kazoo?\nAnswer: market",
    )


task = TwoFacts()

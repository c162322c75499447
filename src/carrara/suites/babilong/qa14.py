"""qa14, time reasoning: where somebody was before they went to a place, told out of order with times of day.

BABILong's fourteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa14", index=1).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Yesterday Fred journeyed to the kitchen.
This morning Mary moved to the bedroom.
Yesterday Bill went back to the kitchen.
Mary went to the cinema yesterday.
Fred travelled to the cinema this afternoon.
Fred moved to the school this morning.
</context>
<BLANKLINE>
Question: Where was Fred before the school?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Times(Babilong):
    number = 14
    title = "qa14: time reasoning"
    capability = "putting events in order of time"
    wording = prompt(
        "You are given a context in which sentences about some people, where they went and when, are hidden among "
        "sentences that have nothing to do with them. The events are not told in order: yesterday comes first, then "
        "this morning, this afternoon and this evening. Where somebody was before a place is where they had gone just "
        "before; if they went there twice, before the second time.",
        "Reply with the name of the place, as the context has it, and nothing else.",
        "This morning Noor went to the loft. Kofi moved to the tent yesterday. Yesterday Noor travelled to the "
        "canteen. Noor journeyed to the market this afternoon.\n"
        "Question: Where was Noor before the market?\nAnswer: loft",
        "Kofi moved to the tent this afternoon. Yesterday Kofi journeyed to the tent. Kofi went back to the canteen "
        "this morning. This morning Noor went to the market.\n"
        "Question: Where was Kofi before the tent?\nAnswer: canteen",
    )


task = Times()

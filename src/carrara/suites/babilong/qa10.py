"""qa10, indefinite knowledge: whether somebody is at a place, where sentences may leave two places open.

BABILong's tenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa10", index=2).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Mary went to the park.
Mary went back to the school.
Bill went to the kitchen.
Bill is either in the park or the cinema.
Bill is either in the park or the school.
Julie is in the bedroom.
</context>
<BLANKLINE>
Question: Is Bill in the bedroom?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Indefinite(Babilong):
    number = 10
    title = "qa10: indefinite knowledge"
    capability = "knowing what is left open"
    commonest = 0.480  # "no", measured over 80,000 stories
    wording = prompt(
        "You are given a context in which sentences that say of some people where they go, where they are or where "
        "they may be, are hidden among sentences that have nothing to do with them. Only the last hidden sentence "
        "about somebody counts. If it says that they are either in one place or another, each of the two is possible, "
        "so the answer is maybe; they are at no third place.",
        "Reply with one word, yes, no or maybe, and nothing else.",
        "Noor went to the loft. Kofi is in the tent. Noor is either in the market or the canteen.\n"
        "Question: Is Noor in the market?\nAnswer: maybe",
        "Kofi is either in the loft or the market. Noor travelled to the loft. Kofi moved to the canteen.\n"
        "Question: Is Kofi in the canteen?\nAnswer: yes",
        "Kofi journeyed to the tent. Noor is in the canteen. Kofi is either in the canteen or the loft.\n"
        "Question: Is Kofi in the tent?\nAnswer: no",
    )


task = Indefinite()

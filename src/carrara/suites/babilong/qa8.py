"""qa8, lists and sets: which things somebody carries.

BABILong's eighth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa8", index=1).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Daniel got the milk there.
Sandra got the football there.
Sandra travelled to the bathroom.
Daniel discarded the milk.
</context>
<BLANKLINE>
Question: What is Sandra carrying?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Lists(Babilong):
    number = 8
    title = "qa8: lists and sets"
    capability = "listing things in hand"
    commonest = 0.361  # "nothing", measured over 80,000 stories
    wording = prompt(
        "You are given a context in which sentences about some people, where they go and what they handle, are hidden "
        "among sentences that have nothing to do with them. Somebody carries what they took, until they put it down, "
        "drop, leave or discard it. Nobody carries anything that the hidden sentences do not tell of.",
        "Reply with the names of all things carried, joined by commas without spaces, or with the word nothing. Write "
        "nothing else.",
        "Noor picked up the globe there. Noor went to the loft. Noor took the kazoo there.\n"
        "Question: What is Noor carrying?\nAnswer: globe,kazoo",
        "Kofi got the kazoo there. Kofi grabbed the boomerang there. Kofi travelled to the tent. Kofi left the kazoo "
        "there.\n"
        "Question: What is Kofi carrying?\nAnswer: boomerang",
        "Mirko moved to the canteen. Mirko took the boomerang there. Mirko put down the boomerang.\n"
        "Question: What is Mirko carrying?\nAnswer: nothing",
    )


task = Lists()

"""qa5, three-argument relations: who gave what to whom.

BABILong's fifth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa5", index=11).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Fred took the milk there.
Fred gave the milk to Bill.
Jeff went back to the garden.
Bill gave the milk to Fred.
Fred put down the milk.
Fred got the milk there.
</context>
<BLANKLINE>
Question: Who received the milk?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class ThreeArguments(Babilong):
    number = 5
    title = "qa5: three-argument relations"
    capability = "telling apart the three parts of a gift"
    wording = prompt(
        "You are given a context in which sentences about people who take things, carry them, put them down and give "
        "them to each other are hidden among sentences that have nothing to do with them. The question is about a "
        "gift: who gave it, who received it, or what was given. A thing may be given on: only the last time that it "
        "was given counts. Answer from the hidden sentences alone.",
        "Reply with the name of the person or thing, as the context has it, and nothing else.",
        "Kofi got the globe there. Kofi handed the globe to Noor. Noor went to the loft.\n"
        "Question: What did Kofi give to Noor?\nAnswer: globe",
        "Kofi gave the kazoo to Mirko. Mirko passed the kazoo to Noor. Noor dropped the kazoo.\n"
        "Question: Who received the kazoo?\nAnswer: Noor",
        "Noor gave the globe to Kofi. Noor moved to the tent. Kofi discarded the globe there.\n"
        "Question: Who gave the globe?\nAnswer: Noor",
        "Mirko passed the globe to Noor. Kofi gave the kazoo to Noor.\n"
        "Question: Who gave the kazoo to Noor?\nAnswer: Kofi",
        "Noor handed the kazoo to Mirko. Kofi travelled to the loft.\n"
        "Question: Who did Noor give the kazoo to?\nAnswer: Mirko",
    )


task = ThreeArguments()

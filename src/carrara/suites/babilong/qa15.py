"""qa15, basic deduction: what somebody is afraid of, because all of their kind are.

BABILong's fifteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa15", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Sheep are afraid of cats.
Cats are afraid of sheep.
Mice are afraid of sheep.
Wolves are afraid of cats.
Winona is a wolf.
Jessica is a mouse.
Emily is a mouse.
Gertrude is a mouse.
</context>
<BLANKLINE>
Question: What is winona afraid of?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Deduction(Babilong):
    number = 15
    title = "qa15: basic deduction"
    capability = "concluding from the kind to one of it"
    wording = prompt(
        "You are given a context in which sentences about animals, their names and their fears are hidden among "
        "sentences that have nothing to do with them. All animals of one kind are afraid of the same kind, and so is "
        "each one of them that has a name. Find out of which kind the one in question is, and what this kind is afraid "
        "of.",
        "Reply with the kind of animal, in the singular, and nothing else.",
        "Puffins are afraid of tapirs. Tapirs are afraid of stoats. Noor is a puffin. Priya is a tapir.\n"
        "Question: What is noor afraid of?\nAnswer: tapir",
        "Geckos are afraid of puffins. Priya is a gecko. Stoats are afraid of geckos. Leilani is a stoat.\n"
        "Question: What is priya afraid of?\nAnswer: puffin",
    )


task = Deduction()

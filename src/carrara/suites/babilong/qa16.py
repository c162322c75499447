"""qa16, basic induction: which colour somebody has, concluded from another of the same kind.

BABILong's sixteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa16", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Bernhard is a swan.
Bernhard is yellow.
Lily is a frog.
Brian is a lion.
Brian is yellow.
Julius is a rhino.
Lily is yellow.
Greg is a frog.
Julius is gray.
</context>
<BLANKLINE>
Question: What color is Greg?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Induction(Babilong):
    number = 16
    title = "qa16: basic induction"
    capability = "concluding from one of a kind to another"
    wording = prompt(
        "You are given a context in which sentences about animals, their names, kinds and colours are hidden among "
        "sentences that have nothing to do with them. The colour of one of them is not told. Conclude that it has the "
        "colour of another one of its kind. If several others are of its kind, only the one whose kind was told last "
        "counts, whatever colours the rest have.",
        "Reply with the name of the colour and nothing else.",
        "Anders is a tapir. Noor is a gecko. Anders is olive. Noor is cream. Priya is a tapir.\n"
        "Question: What color is Priya?\nAnswer: olive",
        "Kofi is a gecko. Priya is a gecko. Anders is a gecko. Priya is coral. Noor is a puffin. Kofi is cream. Noor "
        "is olive.\n"
        "Question: What color is Anders?\nAnswer: coral",
    )


task = Induction()

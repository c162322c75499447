"""qa18, size reasoning: which of two things is bigger, by way of a third.

BABILong's eighteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa18", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The box of chocolates fits inside the box.
The box is bigger than the box of chocolates.
The container is bigger than the box.
The box fits inside the suitcase.
The box fits inside the container.
</context>
<BLANKLINE>
Question: Is the container bigger than the box of chocolates?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Sizes(Babilong):
    number = 18
    title = "qa18: size reasoning"
    capability = "chaining comparisons"
    wording = prompt(
        "You are given a context in which sentences about the sizes of things are hidden among sentences that have "
        "nothing to do with them. What fits inside another thing is smaller than it, and of two things the smaller one "
        "fits inside the bigger one. Sizes form chains: what is bigger than a thing is also bigger than everything "
        "smaller than that thing.",
        "Reply with one word, yes or no, and nothing else.",
        "The matchbox fits inside the shoebox. The caravan is bigger than the shoebox.\n"
        "Question: Does the matchbox fit in the caravan?\nAnswer: yes",
        "The caravan is bigger than the shoebox. The caravan fits inside the lorry. The lorry is bigger than the "
        "matchbox.\n"
        "Question: Is the shoebox bigger than the lorry?\nAnswer: no",
    )


task = Sizes()

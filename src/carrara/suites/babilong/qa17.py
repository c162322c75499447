"""qa17, positional reasoning: how two figures lie to each other, of which each is told how it lies to a third.

BABILong's seventeenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa17", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The red sphere is to the right of the pink rectangle.
The red sphere is below the triangle.
</context>
<BLANKLINE>
Question: Is the triangle to the right of the pink rectangle?
"""

from carrara.suites.babilong._babilong import Babilong, prompt


class Positions(Babilong):
    number = 17
    title = "qa17: positional reasoning"
    capability = "adding up positions in the plane"
    wording = prompt(
        "You are given a context in which sentences about figures and how they lie to each other are hidden among "
        "sentences that have nothing to do with them. Think of squared paper: each hidden sentence means one square "
        "straight up, down, left or right. One figure is above another if its row is higher, whatever its column, and "
        "likewise for the other sides; in the same row neither is above the other, and in the same column neither is "
        "to the left.",
        "Reply with one word, yes or no, and nothing else.",
        "The olive chevron is above the coral trefoil. The cream zigzag is to the right of the coral trefoil.\n"
        "Question: Is the olive chevron above the cream zigzag?\nAnswer: yes",
        "The coral trefoil is below the cream zigzag. The olive chevron is below the coral trefoil.\n"
        "Question: Is the cream zigzag below the olive chevron?\nAnswer: no",
        "The cream zigzag is to the left of the olive chevron. The coral trefoil is to the right of the olive "
        "chevron.\n"
        "Question: Is the coral trefoil above the cream zigzag?\nAnswer: no",
    )


task = Positions()

"""qa17, positional reasoning: how two figures lie to each other, of which each is told how it lies to a third.

BABILong's seventeenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items import make
>>> print(make("babilong/qa17", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The triangle is to the left of the red sphere.
The red sphere is below the yellow square.
</context>
<BLANKLINE>
Question: Is the triangle to the left of the yellow square?
"""

from collections.abc import Sequence

from carrara.suites.babilong._babilong import Babilong, Scene, prompt


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

    def floor(self, scene: Scene, options: Sequence[str]) -> float:
        """Sound stories ask everything once: of eight questions four are a yes on a corner, two on a straight line."""
        return 7 / 12 if scene.params.sound else 1 / 2


task = Positions()

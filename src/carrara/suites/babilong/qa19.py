"""qa19, path finding: how to go from one place to another by way of a third.

BABILong's nineteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.prompt.items import make
>>> print(make("babilong/qa19", index=0).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The garden is west of the bathroom.
The hallway is east of the bedroom.
The kitchen is north of the bedroom.
The bedroom is north of the office.
The bathroom is west of the bedroom.
</context>
<BLANKLINE>
Question: How do you go from the garden to the bedroom?
"""

from collections.abc import Sequence

from carrara.suites.babilong._babilong import Babilong, Scene, prompt


class Paths(Babilong):
    number = 19
    title = "qa19: path finding"
    capability = "finding a way on a map"
    wording = prompt(
        "You are given a context in which sentences about places that lie north, south, east or west of each other are "
        "hidden among sentences that have nothing to do with them. One can go from a place to any other that a hidden "
        "sentence joins to it, in either direction: if one is north of the other, one goes north to reach it and south "
        "to come back. The way asked for has two steps.",
        "Reply with the two steps, each by its first letter, n, s, e or w, joined by a comma without a space, and "
        "nothing else.",
        "The loft is north of the canteen. The market is west of the canteen. The pharmacy is east of the loft.\n"
        "Question: How do you go from the canteen to the pharmacy?\nAnswer: n,e",
        "The loft is west of the tent. The market is north of the tent. The canteen is east of the market.\n"
        "Question: How do you go from the market to the loft?\nAnswer: s,w",
    )

    def floor(self, scene: Scene, options: Sequence[str]) -> float:
        """Sound maps have more straight ways (measured over 40,000): about a corner, places may fall on one spot."""
        return 0.09 if scene.params.sound else 1 / len(options)


task = Paths()

"""The turns of a conversation, found again in a text of several."""

from carrara.items.layout import SPEAKERS, Layout
from carrara.types import Segment

BEGINNING = 20
"""The characters by which a turn is looked up. A shorter turn is not recognized."""


class Turns:
    """The turns of a context.

    Args:
        layout: The layout of the context.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._by_beginning = dict[str, list[int]]()
        """The numbers of the turns by their first characters, the longest first."""
        for number in sorted(range(len(layout.starts)), key=lambda n: layout.starts[n] - layout.ends[n]):
            start, end = layout.starts[number], layout.ends[number]
            self._by_beginning.setdefault(layout.text[start : min(end, start + BEGINNING)], []).append(number)

    def find(self, text: str) -> list[Segment] | None:
        """Return the turns that a text consists of. None if it has anything else.

        Args:
            text: Any text.

        Returns:
            The turns, without the names of their speakers.
        """
        layout, found, place = self._layout, list[Segment](), 0
        text = text.strip()
        while place < len(text):
            known = self._by_beginning.get(text[place : place + BEGINNING], ())
            turns = ((n, layout.text[layout.starts[n] : layout.ends[n]]) for n in known)
            number, turn = next(((n, turn) for n, turn in turns if text.startswith(turn, place)), (-1, ""))
            if not turn:
                return None
            role = layout.roles[number]
            found.append(Segment(turn.removeprefix(SPEAKERS[role]), role))
            place += len(turn)
            while text[place : place + 1].isspace():
                place += 1
        return found

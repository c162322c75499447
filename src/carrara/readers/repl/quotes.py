"""Long stretches of a context in texts that code has made, such as prompts with slices of the context.

Code may cut a context anywhere. Its blocks of `BLOCK` characters are looked up in a text at each position, so that
every stretch of at least `SHORTEST` characters is found, in a time that grows with the texts alone.
"""

from functools import cached_property

from carrara.readers.context import ReaderContext

BLOCK = 128
SHORTEST = 2 * BLOCK
"""The characters of a stretch that always has a whole block."""
MOST = 20
"""The most stretches of one text, the longest."""


class Quotes:
    """The stretches of a context that texts quote.

    Args:
        context: The context.
    """

    def __init__(self, context: ReaderContext) -> None:
        self._context = context

    def hand_out(self, text: str) -> None:
        """Hand out the passages that a text quotes, by which logs refer to them.

        Args:
            text: The text.
        """
        for start, end in self.find(text):
            self._context.passage(start, end)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the positions, in the context, of the longest stretches that a text quotes.

        Args:
            text: The text.
        """
        found = list[tuple[int, int]]()
        place = 0
        while place + BLOCK <= len(text):
            start = self._blocks.get(text[place : place + BLOCK])
            if start is None:
                place += 1
                continue
            before = self._common_before(text, place, start)
            after = self._common_after(text, place, start)
            if before + after >= SHORTEST:
                found.append((start - before, start + after))
            place += after
        return sorted(found, key=lambda span: span[0] - span[1])[:MOST]

    @cached_property
    def _blocks(self) -> dict[str, int]:
        whole = self._context.text
        return {whole[start : start + BLOCK]: start for start in range(0, len(whole) - BLOCK + 1, BLOCK)}

    def _common_before(self, text: str, place: int, start: int) -> int:
        """Return how many characters before a block are the same. There is no whole block among them."""
        whole, length = self._context.text, 0
        while length < min(place, start, BLOCK) and text[place - length - 1] == whole[start - length - 1]:
            length += 1
        return length

    def _common_after(self, text: str, place: int, start: int) -> int:
        """Return how many characters are the same from the beginning of a block on."""
        whole, length = self._context.text, BLOCK
        while text[place + length : place + length + BLOCK] == whole[start + length : start + length + BLOCK] != "":
            length += BLOCK
        end = min(len(text) - place, len(whole) - start)
        length = min(length, end)
        while length < end and text[place + length] == whole[start + length]:
            length += 1
        return length

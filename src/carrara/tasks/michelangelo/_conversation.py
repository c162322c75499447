"""Conversations of requests and drafts: the instances of MRCR, and how they are read from text again.

The structure is a nested dictionary: format and topic, and perhaps style and mood, to drafts in their order.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from carrara.generators.drafts import DraftSource
from carrara.generators.forms import DraftKey
from carrara.rng import Rng
from carrara.types import Segment, SegmentGroup
from carrara.util.errors import UsageError

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
"""Without letters and digits that look alike."""
_MARKER = 12

_REQUEST = re.compile(r"Write an? ([^\n]+)\.")
_TURN = re.compile(r"^(User|Model): ", re.M)


class Turn(NamedTuple):
    """A request and what was written for it."""

    key: DraftKey
    draft: str


class Dialogue(NamedTuple):
    """Requests and drafts in order, without filler, and the draft that is asked for."""

    turns: tuple[Turn, ...]
    asked: DraftKey
    number: int
    """Which of the drafts for the asked key, from 1 on."""
    marker: str
    """The text with which the reply has to begin."""
    examples: "tuple[Dialogue, ...]" = ()

    @property
    def draft(self) -> str:
        """The draft to repeat."""
        return [turn.draft for turn in self.turns if turn.key == self.asked][self.number - 1]

    @property
    def name_in_request(self) -> str:
        """The name of the draft in the last request: `second poem about penguins`. A single draft has no number."""
        alone = sum(turn.key == self.asked for turn in self.turns) == 1
        return str(self.asked) if alone else f"{ordinal(self.number)} {self.asked}"


def group(key: DraftKey, draft: str, fact: int | None = None) -> SegmentGroup:
    return (Segment(f"Write {key.with_article}.", "user", fact), Segment(draft, "assistant", fact))


def ordinal(number: int) -> str:
    """Return the word for a number in order.

    >>> ordinal(2), ordinal(11), ordinal(22)
    ('second', '11th', '22nd')
    """
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def draw_marker(rng: Rng) -> str:
    """Draw letters and digits, both among them, so that it is no word."""
    while True:
        characters = "".join(rng.choice(_SIGNS) for _ in range(_MARKER))
        if not characters.isalpha() and not characters.isdigit():
            return characters


def _keys_that_share(keys: Sequence[DraftKey], asked_key: DraftKey, overlap: str) -> list[DraftKey]:
    """Return the keys that share the format, the topic, or both with the asked one, and nothing else of the two."""
    if overlap == "format":
        return [key for key in keys if key.format == asked_key.format and key.topic != asked_key.topic]
    if overlap == "topic":
        return [key for key in keys if key.topic == asked_key.topic and key.format != asked_key.format]
    return [key for key in keys if key.topic == asked_key.topic and key.format == asked_key.format and key != asked_key]


def draw_similar_keys(
    source: DraftSource, asked_key: DraftKey, overlaps: Sequence[str], count: int, drafts: int, rng: Rng
) -> list[DraftKey]:
    """Return so many keys that resemble the asked one, in each way in turn."""
    keys = source.keys(drafts)
    keys_left = {
        overlap: rng.shuffled(_keys_that_share(keys, asked_key, overlap)) for overlap in dict.fromkeys(overlaps)
    }
    resembling_keys = []
    for n in range(count):
        overlap = overlaps[n % len(overlaps)]
        if not keys_left[overlap]:
            raise UsageError(
                f"the writings have too few keys that share {_describe(overlap)} with {asked_key.with_article} and "
                f"have {drafts} drafts: ask for fewer keys or needles, or take more writings"
            )
        resembling_keys.append(keys_left[overlap].pop())
    return resembling_keys


def _describe(overlap: str) -> str:
    return "format and topic" if overlap == "both" else f"the {overlap}"


def dissimilar_keys(source: DraftSource, keys: Sequence[DraftKey], drafts: int = 1) -> list[DraftKey]:
    """Return the keys of filler: of other formats and topics than the instance's, so that no length is harder."""
    topics, formats = {key.topic for key in keys}, {key.format for key in keys}
    keys_of_other_topics = [key for key in source.keys(drafts) if key.topic not in topics]
    return [key for key in keys_of_other_topics if key.format not in formats] or keys_of_other_topics


def named_drafts(context: str) -> Iterator[tuple[set[str], str]]:
    """Yield each draft of a conversation in one text, behind what it may be called: `second poem about penguins`."""
    parts = _TURN.split(context)
    turns = [(role, text.strip("\n")) for role, text in zip(parts[1::2], parts[2::2], strict=True)]
    drafts: dict[str, list[str]] = {}
    for (_, request), (_, draft) in zip(turns[::2], turns[1::2], strict=False):
        if match := _REQUEST.fullmatch(request.strip()):
            drafts.setdefault(match[1], []).append(draft)
    for key, key_drafts in drafts.items():
        for number, draft in enumerate(key_drafts, 1):
            yield {f"{ordinal(number)} {key}", *([key] if len(key_drafts) == 1 else [])}, draft

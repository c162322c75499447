"""Distractors: facts about other people and things, a haystack that differs from the evidence by names alone.

These are other stories of the same task, one after the other, about people (animals, figures, containers) that are not
in the story of the item. The words of answers stay the same: its places where people go there, its colours, its moods
and what follows from them. So distractors put other people where the story's own people may be. Other words are about
as long as those of the story, so that the length of a sentence does not tell a fact from a distractor.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from carrara.rng import Rng
from carrara.tasks.babilong._grammar import group_pronouns
from carrara.tasks.babilong._story import Story
from carrara.tasks.babilong._words import Cast, draw_cast_like, individuals
from carrara.types import Filler, FillerStream, Segment, SegmentGroup


def distractors(own: Cast, write_story: Callable[[Rng, Cast], Story]) -> Filler:
    """Return a stream of facts; a sentence with a pronoun comes together with the one before it.

    Args:
        own: The cast of the item's story.
        write_story: Writes a story about a given cast.
    """

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        chunks = _chunks(rng, own, write_story)
        return lambda gap: next(chunks)

    return open_filler


def _chunks(rng: Rng, own: Cast, write_story: Callable[[Rng, Cast], Story]) -> Iterator[SegmentGroup]:
    while True:
        facts = write_story(rng, draw_strangers(rng, own)).facts
        for together in group_pronouns(facts):
            yield tuple(Segment(facts[i]) for i in together)


def draw_strangers(rng: Rng, own: Cast) -> Cast:
    """Return a cast from the fresh words, as large as the story's own, that has nobody and nothing of it."""
    known = set(individuals(own))
    while True:
        drawn = draw_cast_like(rng, own)
        cast = replace(
            drawn,
            places=own.places if own.people else drawn.places,
            things=own.things if own.moods else drawn.things,
            colours=own.colours,
            moods=own.moods,
        )
        if known.isdisjoint(individuals(cast)):
            return cast

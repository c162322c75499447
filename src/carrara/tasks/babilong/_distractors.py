"""Distractors: facts about other people and things, a haystack that differs from the evidence by names alone.

These are other stories of the same task, one after the other. Their people (animals, figures, containers) are not in
the story of the item. The words of answers stay the same: its places where people go there, its colours, its moods
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


def distractors(cast: Cast, write_story: Callable[[Rng, Cast], Story]) -> Filler:
    """Return a stream of facts; a sentence with a pronoun comes together with the one before it."""

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        chunks = _chunks(rng, cast, write_story)
        return lambda gap: next(chunks)

    return open_filler


def _chunks(rng: Rng, cast: Cast, write_story: Callable[[Rng, Cast], Story]) -> Iterator[SegmentGroup]:
    while True:
        facts = write_story(rng, draw_strangers(rng, cast)).facts
        for group in group_pronouns(facts):
            yield tuple(Segment(facts[i]) for i in group)


def draw_strangers(rng: Rng, cast: Cast) -> Cast:
    """Return another cast from the fresh words, as large as the story's cast, that has nobody and nothing of it."""
    known_words = set(individuals(cast))
    while True:
        drawn = draw_cast_like(rng, cast)
        strangers = replace(
            drawn,
            places=cast.places if cast.people else drawn.places,
            things=cast.things if cast.moods else drawn.things,
            colours=cast.colours,
            moods=cast.moods,
        )
        if known_words.isdisjoint(individuals(strangers)):
            return strangers

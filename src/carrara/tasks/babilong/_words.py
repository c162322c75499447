"""The words of a story: the official ones, or a small cast drawn from hundreds.

A model that has learnt the dozen official words finds the facts in a novel by them alone. With the `fresh` vocabulary
each story has other people, places and things, so that only the sense of a sentence gives it away.

>>> [plural(kind) for kind in ("cat", "mouse", "sheep", "fox", "pony", "wolf")]
['cats', 'mice', 'sheep', 'foxes', 'ponies', 'wolves']
>>> singular("wolves"), with_article("owl")
('wolf', 'an owl')
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from carrara.rng import Rng
from carrara.tasks.babilong import _lexicon as words

Vocabulary = Literal["classic", "fresh"]
VOCABULARIES: tuple[Vocabulary, ...] = ("classic", "fresh")
NEAREST = 12
"""The least number of words among which one of about the same length is drawn."""


@dataclass(frozen=True)
class Cast:
    """The words that one story may use. A role that it has no use for is empty."""

    people: tuple[str, ...] = ()
    women: tuple[str, ...] = ()
    """The people who are `she`."""
    places: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    animals: tuple[str, ...] = ()
    colours: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    """The smallest, the next, and containers whose order each story draws."""
    moods: tuple[str, ...] = ()

    def pronoun(self, who: str) -> str:
        return "she" if who in self.women else "he"


_ROOMS = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
_THINGS = ("apple", "football", "milk")

HOUSEHOLD = Cast(("Daniel", "John", "Mary", "Sandra"), ("Mary", "Sandra"), _ROOMS, _THINGS)
HOUSE = Cast(places=_ROOMS)
TOWNSFOLK = Cast(
    ("Bill", "Fred", "Julie", "Mary"),
    ("Julie", "Mary"),
    ("bedroom", "cinema", "kitchen", "office", "park", "school"),
)
GIVERS = Cast(("Bill", "Fred", "Jeff", "Mary"), ("Mary",), _ROOMS, _THINGS)
FEARFUL = Cast(
    ("Emily", "Gertrude", "Jessica", "Winona"),
    ("Emily", "Gertrude", "Jessica", "Winona"),
    animals=("cat", "mouse", "sheep", "wolf"),
)
COLOURED = Cast(
    ("Bernhard", "Brian", "Greg", "Julius", "Lily"),
    ("Lily",),
    animals=("frog", "lion", "rhino", "swan"),
    colours=("gray", "green", "white", "yellow"),
)
FIGURES = Cast(figures=("blue square", "pink rectangle", "red sphere", "red square", "triangle", "yellow square"))
CONTAINERS = Cast(sizes=("chocolate", "box of chocolates", "box", "chest", "container", "suitcase"))
MOODY = Cast(
    ("Antoine", "Jason", "Sumit", "Yann"),
    places=("bedroom", "garden", "kitchen"),
    things=("apple", "football", "milk", "pajamas"),
    moods=tuple(words.OFFICIAL_MOTIVES),
)
OFFICIAL = (HOUSEHOLD, HOUSE, TOWNSFOLK, GIVERS, FEARFUL, COLOURED, FIGURES, CONTAINERS, MOODY)
"""The official words. A screen needs those of every test, so they stand together."""


NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Number words as the official files have them: nothing carried is `none`."""
NOTHING = "nothing"


def draw_cast(rng: Rng, official: Cast, vocabulary: Vocabulary) -> Cast:
    """Return the words of one story: as many for each role as officially."""
    return official if vocabulary == "classic" else _draw_fresh(rng, official, _draw_any)


def draw_cast_like(rng: Rng, cast: Cast) -> Cast:
    """Return fresh words that are about as long as those of a cast, so that the lengths of sentences are alike."""
    drawn = _draw_fresh(rng, cast, _draw_as_long)
    figures = zip(drawn.figures, cast.figures, strict=True)
    animals = _draw_as_long(rng, tuple(map(plural, words.ANIMALS)), tuple(map(plural, cast.animals)))
    return replace(
        drawn,
        animals=tuple(map(singular, animals)),
        figures=tuple(new if " " in figure else new.split()[-1] for new, figure in figures),
        sizes=(
            *_draw_as_long(rng, words.SMALLS, cast.sizes[:1]),
            *_draw_as_long(rng, words.MEDIUMS, cast.sizes[1:2]),
            *drawn.sizes[2:],
        ),
    )


def _draw_fresh(rng: Rng, like: Cast, draw: Callable[[Rng, tuple[str, ...], Sequence[str]], tuple[str, ...]]) -> Cast:
    people = draw(rng, words.WOMEN + words.MEN, like.people)
    moods = draw(rng, tuple(words.FRESH_MOTIVES), like.moods)
    errands = [words.MOTIVES[mood] for mood in moods]
    shapes = draw(rng, words.SHAPES, [figure.split()[-1] for figure in like.figures])
    tints = draw(rng, words.COLOURS, [figure.split()[0] for figure in like.figures])
    first, second = rng.choice(words.SMALLS), rng.choice(words.MEDIUMS)
    return Cast(
        people=people,
        women=tuple(who for who in people if who in words.WOMEN),
        places=tuple(place for place, _ in errands) or draw(rng, words.PLACES, like.places),
        things=tuple(thing for _, thing in errands) or draw(rng, words.THINGS, like.things),
        animals=draw(rng, words.ANIMALS, like.animals),
        colours=draw(rng, words.COLOURS, like.colours),
        figures=tuple(f"{tint} {shape}" for tint, shape in zip(tints, shapes, strict=True)),
        sizes=(first, second, *draw(rng, words.CONTAINERS, like.sizes[2:])) if like.sizes else (),
        moods=moods,
    )


def _draw_any(rng: Rng, options: tuple[str, ...], like: Sequence[str]) -> tuple[str, ...]:
    """Return as many words as have the role."""
    return tuple(rng.sample(options, len(like)))


def _draw_as_long(rng: Rng, options: tuple[str, ...], like: Sequence[str]) -> tuple[str, ...]:
    """Return as many words as have the role, each about as long as one of them."""
    drawn = list[str]()
    for word in like:
        nearest = _nearest(options, len(word), word.count(" "))
        drawn.append(rng.choice([option for option in nearest if option not in drawn]))
    return tuple(drawn)


@cache
def _nearest(options: tuple[str, ...], length: int, spaces: int) -> tuple[str, ...]:
    """Return the words that are nearest in length: all that are as near as the last of a few."""

    def distance(word: str) -> int:
        return abs(len(word) - length) + abs(word.count(" ") - spaces)

    limit = sorted(map(distance, options))[:NEAREST][-1]
    return tuple(option for option in options if distance(option) <= limit)


def individuals(cast: Cast) -> tuple[str, ...]:
    """Return the people, animals and things that a story is about.

    Places are among them only where nobody goes there. A mood's thing is part of the mood.
    """
    places = () if cast.people else cast.places
    things = () if cast.moods else cast.things
    return (*cast.people, *places, *things, *cast.animals, *map(plural, cast.animals), *cast.figures, *cast.sizes)


@cache
def all_individuals() -> tuple[str, ...]:
    """Return the people, animals and things that any story may be about."""
    official = [word for cast in OFFICIAL for word in individuals(cast)]
    figures = [f"{tint} {shape}" for tint in words.COLOURS for shape in words.SHAPES]
    sizes = (*words.SMALLS, *words.MEDIUMS, *words.CONTAINERS)
    animals = (*words.ANIMALS, *map(plural, words.ANIMALS))
    drawn = (*words.WOMEN, *words.MEN, *words.PLACES, *words.THINGS, *animals, *figures, *sizes)
    return tuple(dict.fromkeys([*official, *drawn]))


# --- plurals and articles of animals ---

_IRREGULAR = {
    "mouse": "mice",
    "dormouse": "dormice",
    "goose": "geese",
    "mongoose": "mongooses",
    "ox": "oxen",
    "wolf": "wolves",
    "calf": "calves",
    "buffalo": "buffaloes",
    "sheep": "sheep",
    "deer": "deer",
    "reindeer": "reindeer",
    "bison": "bison",
    "moose": "moose",
    "horse": "horses",
    "magpie": "magpies",
    "seahorse": "seahorses",
    "tortoise": "tortoises",
    "porpoise": "porpoises",
}
_SINGULAR = {kinds: kind for kind, kinds in _IRREGULAR.items()}
_HISSING = ("s", "x", "z", "ch", "sh")


def plural(kind: str) -> str:
    """Return the plural of an animal."""
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(_HISSING) else f"{kind}s"


def singular(kinds: str) -> str:
    """Return the animal of a plural: a solver that reads `wolves` answers `wolf`."""
    if kinds in _SINGULAR:
        return _SINGULAR[kinds]
    if kinds.endswith("ies"):
        return f"{kinds[:-3]}y"
    if kinds.endswith("es") and kinds[:-2].endswith(_HISSING):
        return kinds[:-2]
    return kinds.removesuffix("s")


def with_article(kind: str) -> str:
    """Return an animal with `a` or `an`."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"

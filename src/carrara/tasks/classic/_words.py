"""Endless streams of names and codes without repetition, and the most frequent of words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from math import gcd

from carrara.rng import Rng
from carrara.tasks.classic._languages import data
from carrara.types import Language, UndecidableError


def most_frequent(words: Iterable[str], count: int) -> tuple[str, ...]:
    """Return the `count` words that occur more often than all others, in alphabetical order.

    >>> most_frequent("b a b c a b a d".split(), 2)
    ('a', 'b')
    """
    ranked = Counter(words).most_common(count + 1)
    if len(ranked) < count:
        raise UndecidableError(f"there are {len(ranked)} words")
    if len(ranked) > count and ranked[count - 1][1] == ranked[count][1]:
        raise UndecidableError(f"{ranked[count - 1][0]} and {ranked[count][0]} occur equally often")
    return tuple(sorted(word for word, _ in ranked[:count]))


def _split_words(words: str) -> tuple[str, ...]:
    return tuple(words.split())


ADJECTIVES = _split_words(
    """
    amber ancient autumn bitter black blank blue bold brass brave brief bright broad broken bronze brown busy calm
    careful cheap clean clear clever cold common cool copper crisp curious damp dark deep dim distant double dry dusty
    early eager eastern empty even faint fair fancy fast final fine firm flat foreign fresh frozen gentle giant glad
    golden grand gray green happy hard heavy hidden high hollow honest hot humble icy idle iron ivory jolly keen kind
    large late lazy leather light little local lonely long lost loud low loyal lucky marble mellow mild misty modern
    modest narrow neat new noble northern odd old open orange oval pale patient plain polite proud purple quick quiet
    rapid rare ready red rich ripe rough round royal rustic salty scarlet secret shallow sharp short shy silent silver
    simple slow small smooth soft solid southern spare stable steady steep stone strange strong sudden sunny sweet swift
    tall tame tidy tiny tired tropical true upper urban vast velvet violet warm weary western white wide wild windy
    winter wise wooden yellow young
    """
)
NOUNS = _split_words(
    """
    anchor angle apple arch arrow axis badge bag ball banner barn barrel basin basket bay beach bead beam bell belt
    bench bird blanket board boat bolt bone book boot bottle bow bowl box branch brick bridge broom brush bucket button
    cabin
    cable cake camel camera candle canoe canvas canyon card carpet castle cave chain chair chalk chart chest clock cloth
    cloud coat coin column compass cord corner cottage cotton cradle crane creek crown cup curtain desert desk dial dish
    dock dome door drawer dress drum eagle engine falcon farm feather fence field flag flame flask flute forest forge
    fork fountain fox frame garden gate giraffe glacier glass globe glove goat guitar hall hammer harbor harp hat hill
    hinge horn horse house island jacket jar kettle key kite knot ladder lake lamp lantern leaf lemon lens letter lever
    library lion lock map market mask meadow medal melon mill mirror moon mountain nail needle nest net notebook oak
    ocean orchard oven owl paddle page paint palace panel paper park path pearl pen pencil piano picture pillar pillow
    pipe planet plate pocket pond pool port pot prism pump puzzle quilt rabbit raft rail ribbon ridge ring river road
    robe rock roof room rope rose sail sand saddle scarf school screen seed shell shelf shield ship shoe shop shore sign
    ski snow soap sofa spoon spring square stable stage stair stamp star statue stove stream street string studio table
    tent thread throne ticket tiger tile tower town track trail train tree trunk tube tunnel valley vase vest village
    violin wagon wall watch wave well wheel whistle window wing wire wolf yard
    """
)
CONSONANTS = "bcdfghjklmnpqrstvwxz"
"""Codes have no vowel, so that none is a word of a reply."""


def scramble(rng: Rng, n: int) -> Iterator[int]:
    """Yield every number below n once, in a drawn order that takes no memory."""
    step = rng.between(1, n - 1)
    while gcd(step, n) > 1:
        step = rng.between(1, n - 1)
    at = rng.below(n)
    for _ in range(n):
        yield at
        at = (at + step) % n


@dataclass(frozen=True)
class Naming:
    """A way to make names of adjectives and nouns."""

    adjectives: tuple[str, ...]
    nouns: tuple[str, ...]
    joint: str = "-"
    noun_first: bool = False
    capitals: bool = False
    """Whether each part begins with a capital letter."""

    def draw(self, rng: Rng) -> str:
        """Return a name of an adjective and a noun."""
        return self._join([rng.choice(self.adjectives)], rng.choice(self.nouns))

    def spell(self, name: str) -> str:
        """Return the spelling of a name that is given in small letters."""
        return "-".join(part.capitalize() for part in name.split("-")) if self.capitals else name

    def endless(self, rng: Rng) -> Iterator[str]:
        """Yield names of an adjective and a noun; when all pairs are used, of two adjectives and a noun, and so on.

        >>> from itertools import islice
        >>> list(islice(ENGLISH.endless(Rng("names")), 3))
        ['glad-beam', 'purple-ski', 'bitter-dial']
        """
        adjectives, nouns = rng.shuffled(self.adjectives), rng.shuffled(self.nouns)
        for size in count(1):
            for number in scramble(rng, len(adjectives) ** size * len(nouns)):
                rest, at = divmod(number, len(nouns))
                noun, before = nouns[at], list[str]()
                for _ in range(size):
                    rest, at = divmod(rest, len(adjectives))
                    before.insert(0, adjectives[at])
                yield self._join(before, noun)

    def _join(self, adjectives: list[str], noun: str) -> str:
        return self.joint.join([noun, *adjectives] if self.noun_first else [*adjectives, noun])


def _of_language(language: Language, joint: str = "-", *, noun_first: bool = False, capitals: bool = False) -> Naming:
    words = data(language)
    return Naming(_split_words(words.ADJECTIVES), _split_words(words.NOUNS), joint, noun_first, capitals)


ENGLISH = Naming(ADJECTIVES, NOUNS)
NAMINGS: Mapping[Language, Naming] = {
    "en": ENGLISH,
    "zh": _of_language("zh", ""),
    "de": _of_language("de", capitals=True),
    "es": _of_language("es", noun_first=True),
}


def codes(rng: Rng, size: int) -> Iterator[str]:
    """Yield codes of so many letters; when all are used, they get longer.

    >>> from itertools import islice
    >>> list(islice(codes(Rng("codes"), 6), 3))
    ['zpvtjp', 'glmwwb', 'szmqrk']
    """
    letters = rng.shuffled(CONSONANTS)
    for longer in count(size):
        for number in scramble(rng, len(letters) ** longer):
            code = ""
            for _ in range(longer):
                number, at = divmod(number, len(letters))
                code += letters[at]
            yield code

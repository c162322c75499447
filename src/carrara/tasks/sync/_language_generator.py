"""Draw the languages of an instance, whose letter coverage neither a guess nor greed should find."""

from carrara.rng import Rng
from carrara.tasks.sync._greedy_coverage import is_greed_wrong, rank_words
from carrara.tasks.sync._languages import Languages, Shape, draw_languages
from carrara.tasks.sync._letter_coverage import Coverage, find_coverage, first_letters, letter_bit
from carrara.tasks.sync._random_words import WordRng
from carrara.util.errors import UsageError

GREEDY_DRAWS = 300
"""The most sets of languages that are drawn for one instance until greed misses the letter coverage."""
DRAWS = 300
"""The most sets that are drawn after these, whatever greed finds. The instance fails if none of them fits."""
LINKINGS = 200
"""The most links between the chained words of one set of languages that are tried."""


def generate_languages(rng: Rng, shape: Shape, chance: float, against_greed: bool) -> tuple[Languages, Coverage]:
    """Return languages and their letter coverage.

    Args:
        rng: Random numbers, of no use from then on.
        shape: The size of each part of the languages.
        chance: How often a random guess at the letter coverage may be right, at most.
        against_greed: Whether greed should miss the letter coverage.

    Raises:
        UsageError: A random guess is right too often in all languages that were drawn.
    """
    rng = WordRng(rng)
    for draw in range(GREEDY_DRAWS + DRAWS):
        languages = draw_languages(rng, shape)
        if against_greed and draw < GREEDY_DRAWS:
            if (other := relink_against_greed(rng, languages)) is None:
                continue
            languages = other
        coverage = find_coverage(first_letters(languages.dictionaries))
        if coverage.chance <= chance:
            return languages, coverage
    raise UsageError(
        f"of {DRAWS} sets of {shape.languages} languages none has a letter coverage that a random guess finds in at "
        f"most {100 * chance:g} % of its tries: ask for more languages or entries, for fewer chained words, or for a "
        f"greater chance"
    )


def relink_against_greed(rng: WordRng, languages: Languages) -> Languages | None:
    """Link the chained words otherwise until greed does not find the most letters; None if no try achieves that.

    Greed errs in one of forty random sets of languages. Linking the same words otherwise is much faster than drawing
    all languages anew, and gives each word translations that are as random as before.
    """
    chains = [list(chain) for chain in languages.chains]
    letter = {word: letter_bit(word) for chain in chains for word in chain}
    letters = first_letters(languages.dictionaries)
    order = {word: -place for place, word in enumerate(letters)}
    chained = {order[word] for word in chains[0]}
    others = [word for word in rank_words(letters) if word[1] not in chained]
    for _ in range(LINKINGS):
        ranked = others.copy()
        for word, *translations in zip(*chains, strict=True):
            bits = 0
            for translation in translations:
                bits |= letter[translation]
            ranked.append((bits.bit_count(), order[word], bits))
        ranked.sort(reverse=True)
        if is_greed_wrong(ranked):
            return languages.relink(chains)
        rng.shuffle_each(chains[1:])
    return None

"""Words that give offence are in no list of ours; what these are made of is all one list."""

import pytest
from tools.profanity import offensive

from carrara.generators import vocabulary


@pytest.mark.parametrize("words", ["dictionary", "common"])
def test_no_word_of_ours_gives_offence(words: str) -> None:
    assert offensive(vocabulary.all_words(words)) == set()


def test_whole_words_beginnings_and_stems() -> None:
    plain = ["grape", "therapist", "cocoon", "jewel", "bombard", "rapid", "arsenic", "gargoyle", "oak"]
    odd = ["outwhore", "jewess", "raped", "jihad", "idiotic", "unravished"]
    assert offensive([*plain, *odd]) == set(odd)
    assert offensive([]) == set()

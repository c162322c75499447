"""Word search: what its words look like."""

from carrara.generators.vocabulary import all_words
from tests.helpers.minerva import items


def test_absent_words_look_like_those_that_are_there() -> None:
    """Published, they were English among gibberish."""
    english = set(all_words("dictionary"))
    asked = [item.question.ask.split('"')[1] for item in items("minerva/word_search", 60, words="gibberish")]
    assert sum(word in english for word in asked) <= 3

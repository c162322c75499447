"""Names, codes and numbers, depths, and the published scores."""

import re
from itertools import islice

import pytest

from carrara.rng import Rng
from carrara.tasks.classic import _haystacks, _published, _turns, _words
from carrara.tasks.classic._answers import guess_score
from carrara.tasks.classic._values import NAME, NUMBER, number


def test_names_and_codes_never_come_twice() -> None:
    for stream in (_words.ENGLISH.endless(Rng("names")), _words.codes(Rng("codes"), 2)):
        some = list(islice(stream, 60_000))
        assert len(set(some)) == len(some)
    assert max(map(len, islice(_words.codes(Rng("codes"), 2), 500))) == 3
    assert all(NAME.whole(name) == name for name in islice(_words.ENGLISH.endless(Rng("n")), 50_000))


def test_words_are_none_twice() -> None:
    for words in (_words.ADJECTIVES, _words.NOUNS):
        assert len(set(words)) == len(words)
        assert all(re.fullmatch("[a-z]{3,9}", word) for word in words)


@pytest.mark.parametrize("n", [2, 7, 20, 400])
def test_scrambled_numbers_are_all_numbers(n: int) -> None:
    assert sorted(_words.scramble(Rng("n", n), n)) == list(range(n))


def test_five_digits_are_not_part_of_more() -> None:
    kind = number(5)
    assert [*kind.find("12345 123456 12,345 1,234,567 a12345 12345,67890 12345.")] == [
        "12345",
        "12345",
        "12345",
        "67890",
        "12345",
    ]
    assert [*NUMBER.find("1,234,567 and 12,345,678")] == ["1234567"]


def test_turns() -> None:
    assert _turns.normalize_depth("0,.50,1.0") == "0,0.5,1"
    assert _turns.normalize_depth("drawn") == "drawn"
    assert _turns.depths("drawn") == ()
    for wrong in ("", "x", "0,2", "nan"):
        with pytest.raises(ValueError, match="depth is `drawn`"):
            _turns.depths(wrong)
    assert guess_score(20, 5) < 0.02


def test_published_scores() -> None:
    assert _published.recall("PARIS\x01and\nrome", ["Paris", "Rome", "Oslo", "xParis"]) == 0.5
    assert _published.recall("12345678", ["1234567"]) == 1.0  # part of a longer number
    assert _published.exact("Corresponding value: 0A-1b.", "0a-1B") == 1.0
    assert _published.exact("The value is a b.", "the b") == 1.0
    assert _published.exact("no", "yes") == 0.0
    assert _published.exact("", "yes") == 0.0


def test_a_corpus_is_read_without_what_could_be_a_needle() -> None:
    passes = _haystacks._FREE["en"].passes
    assert passes("The number of ships was kept for the winter.")
    for harmful in (
        "One number kept for red-wolf is 1234567.",
        "The Passkey is lost.",
        "Let KQWZT be 48213.",
        "It says </text> here.",
        "<example>",
    ):
        assert not passes(harmful)

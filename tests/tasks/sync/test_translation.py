"""Unseen languages: the letter coverage against brute force, the instances against the paper, and replies."""

from itertools import combinations
from typing import Any

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.rng import Rng
from carrara.tasks.sync._language_generator import (
    choose_greedily,
    count_letters,
    find_coverage,
    first_letters,
    is_greed_wrong,
    rank_words,
)
from carrara.tasks.sync._language_text import Answer, Ask, Query
from carrara.tasks.sync._languages import LanguageShape, WordRng, draw_languages
from carrara.types import Question
from tests.helpers.graded_answer import answered
from tests.helpers.labels import is_misread
from tests.helpers.sync import COVERAGE, MULTI, SINGLE, posed


@pytest.mark.parametrize(("count", "entries"), [(3, 24), (4, 24), (6, 24), (3, 80)])
def test_coverage_is_the_optimum(count: int, entries: int) -> None:
    """Of more triples than are compared at once, too."""
    languages = draw_languages(WordRng(Rng("coverage", count)), LanguageShape(count, entries, 3, 5, entries // 2, 4))
    starts = {word: set(_starts(languages.dictionaries, word)) for word in languages.vocabularies[0]}
    sizes = {three: len(set().union(*(starts[word] for word in three))) for three in combinations(sorted(starts), 3)}
    coverage = find_coverage(first_letters(languages.dictionaries))
    assert coverage.size == max(sizes.values())
    known = [three for three in sizes if all(word in languages.dictionaries[0] for word in three)]
    best = [three for three in known if sizes[three] == coverage.size]
    assert coverage.best == best[0]
    assert coverage.chance == pytest.approx(len(best) / len(known))


def _starts(dictionaries: Any, word: str) -> list[str]:
    found = []
    for dictionary in dictionaries:
        if word not in dictionary:
            break
        word = dictionary[word]
        found.append(word[0])
    return found


def test_languages_are_as_the_paper_has_them() -> None:
    for index, count in enumerate((3, 5, 7, 3)):
        languages = posed("translation", index, COVERAGE).context.instance.structure.languages
        assert len(languages.vocabularies) == count
        words = [word for vocabulary in languages.vocabularies for word in vocabulary]
        assert len(words) == 250 * count == len(set(words))
        assert {len(word) for word in words} == set(range(3, 8))
        for k, dictionary in enumerate(languages.dictionaries):
            assert len(dictionary) == 50 == len(set(dictionary.values()))
            assert set(dictionary) <= set(languages.vocabularies[k])
            assert set(dictionary.values()) <= set(languages.vocabularies[k + 1])


@pytest.mark.slow
def test_hops_are_taken_in_turn_and_kept() -> None:
    labels = [posed("translation", index, MULTI).question.labels for index in range(30)]
    assert {label["hops"] for label in labels if label["languages"] == "7"} == {"2", "3", "4", "5", "6"}
    assert {label["hops"] for label in labels if label["languages"] == "3"} == {"2"}
    assert {posed("translation", n, MULTI, hops="2").question.labels["hops"] for n in range(9)} == {"2"}


def test_no_coverage_is_easily_guessed() -> None:
    for index in range(30):
        assert posed("translation", index, COVERAGE).question.chance_level <= 0.01


@pytest.mark.parametrize(
    ("text", "status", "score", "error_type"),
    [
        ("Translation: {gold}", "ok", 1.0, None),
        ("translation: {GOLD}.", "ok", 1.0, None),
        ('**Translation:** "{gold}"', "ok", 1.0, None),
        ("{gold}", "ok", 1.0, None),
        ("Translation: {gold} {gold}", "ok", 0.0, "other number of words"),
        ("Translation: {reverse}", "ok", 0.0, "other order"),
        ("Translation: {source}", "ok", 0.0, "words not translated"),
        ("Translation: word word", "unparsed", 0.0, None),
        ("I cannot translate this.", "unparsed", 0.0, None),
        ("", "empty", 0.0, None),
    ],
)
def test_replies_with_a_translation(text: str, status: str, score: float, error_type: str | None) -> None:
    item = posed("translation", 1, SINGLE)
    words = item.question.gold.words
    source = item.question.ask.split('"')[1]
    said = text.format(gold=" ".join(words), GOLD=" ".join(words).upper(), reverse=" ".join(words[::-1]), source=source)
    graded = grade(item.task, item.question, said)
    assert (graded.status, graded.score, graded.error_type and graded.error_type.kind) == (status, score, error_type)


def test_replies_with_a_coverage() -> None:
    item = posed("translation", 1, COVERAGE)
    best = item.question.gold.words
    languages = item.context.instance.structure.languages

    def graded(words: list[str]) -> tuple[float, str]:
        found = grade(item.task, item.question, f"Letter Coverage: {', '.join(words)}")
        return found.score, found.error_type.kind if found.error_type else ""

    assert graded([*best[::-1]]) == (1.0, "")
    assert graded([*best, languages.vocabularies[0][0]]) == (0.0, "not three words")
    assert graded([best[0], best[0], best[1]]) == (0.0, "not three words")
    assert graded([*best[:2], languages.vocabularies[1][0]]) == (0.0, "unknown words")
    assert graded([*best[:2], next(w for w in languages.vocabularies[0] if w not in languages.dictionaries[0])]) == (
        0.0,
        "fewer letters",
    )
    assert graded([*languages.vocabularies[0]])[0] == 0.0


TRANSLATIONS = [
    "The answer is abc kloe.",
    'Translation of "xyz qqq": abc kloe',
    "Translation: xyz qqq -> abc kloe",
    "Translation: abc kloe ✓",
    "Translation: abc kloe (LL2)",
    "Translation: abc kloe, where abc is of xyz",
    "Translation:\n- abc\n- kloe",
    '{"Translation": "abc kloe"}',
    "Translation: abc kloe\n\nThe final translation: complete",
    "Translation: abc kloe\n\nLet me know if you need another translation: happy to help",
    "Translation of xyz: abc\nTranslation of qqq: kloe\nTranslation: abc kloe",
    "Translation: wux wux\nWait, that is LL1.\nTranslation: abc kloe",
]
"""Replies that translate "xyz qqq" as "abc kloe"."""
COVERAGES = [
    "Letter Coverage: abc, kloe, wux = 12",
    "Letter Coverage: abc, kloe, wux (12 letters)",
    "Letter Coverage:\n- **abc**: a, b, c\n- **kloe**: x\n- **wux**: r",
    "Letter Coverage:\n- abc -> xyz -> qqq\n- kloe -> qqq\n- wux -> xyz",
    '{"Letter Coverage": ["abc", "kloe", "wux"]}',
    "Letter Coverage: abc, kloe, wux\nCombined letter coverage: a, b, c, d, e",
    "Letter Coverage: abc, kloe, wux\nLetter coverage: 12",
]
"""Replies that name the words abc, kloe and wux."""
NO_ANSWER = [
    "Translation: I cannot find the translation",
    "Translation: unknown",
    "Translation: abc kloe\nNo, wrong.\nTranslation: unknown",
    "Translation: abc kloe or wux kloe",
    "Translation: abc kloe\nTranslation: wux kloe",
    "Translation: abc kloe\nor\nTranslation: wux kloe",
    "Translation: abc kloe\nwux kloe",
    "abc kloe\nwux kloe",
    "Translation: word word",
    "Translation:",
    "<think>Translation: abc kloe",
]
"""Replies that state no translation, or leave several open."""
MISREAD = {
    # The last of several lines with the label counts.
    "Translation: abc kloe\nTranslation: wux kloe",
    "Translation: abc kloe\nor\nTranslation: wux kloe",
    # What stands in brackets, in the next sentence or on the next line does not count.
    "Translation: abc kloe\nwux kloe",
}
"""Replies that are read as something else than their labels."""
REPLIES: list[tuple[Ask, str, tuple[str, ...] | None]] = [
    *(("single", text, ("abc", "kloe")) for text in TRANSLATIONS),
    *(("single", text, None) for text in NO_ANSWER),
    *(("coverage", text, ("abc", "kloe", "wux")) for text in COVERAGES),
]


def read(ask: Ask, text: str) -> tuple[str, ...] | None:
    query = Query(ask, ("xyz", "qqq"), 0, 2)
    answer = answered(registry.load("sync/translation"), text, Question(str(query), Answer(ask, ()), (), 0.0))
    return None if answer is None else tuple(answer.words)


def test_replies() -> None:
    assert {text for ask, text, label in REPLIES if is_misread(read(ask, text), label)} == MISREAD


def test_greed_is_wrong_where_it_misses_the_optimum() -> None:
    for n in range(40):
        letters = first_letters(
            draw_languages(WordRng(Rng("greed", n)), LanguageShape(5, 60, 3, 7, 20, 5)).dictionaries
        )
        orders = list(letters), list(letters)[::-1]
        size = max(count_letters(letters, choose_greedily(letters, words)) for words in orders)
        assert is_greed_wrong(rank_words(letters)) == (size < find_coverage(letters).size)


def test_word_rngs_continue_the_stream_of_others() -> None:
    plain, word_rng = Rng("words", 7), WordRng(Rng("words", 7))
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    for n in range(2_000):  # over the ends of several blocks
        words = ["".join(plain.choice(alphabet) for _ in range(plain.between(2, 9))) for _ in range(n % 20)]
        assert word_rng.draw_words(n % 20, 2, 9) == words
        assert word_rng.sample(range(50), 7) == plain.sample(range(50), 7)
        assert word_rng.shuffled(range(n % 9)) == plain.shuffled(range(n % 9))
        lists = [list(range(n % 4 + 1)), list(range(5))]
        expected = [plain.shuffled(items) for items in lists]
        word_rng.shuffle_each(lists)
        assert lists == expected
        assert word_rng.below(7) == plain.below(7)

"""Words to make contexts of: the same whether they are drawn one after the other or many at once."""

import pytest

from carrara.generators.vocabulary import Draw, Supply, all_words, draw_words, some, supply, take_with_costs, upto
from carrara.rng import Key, Rng
from carrara.tokenizers.costs import costs
from carrara.util.errors import ExhaustedError


@pytest.mark.parametrize("words", ["common", "dictionary"])
@pytest.mark.parametrize("without", [0, 40])
@pytest.mark.sampled(2)
def test_many_at_once_are_the_same_as_one_after_the_other(words: str, without: int) -> None:
    """To the end of the list, and past it where words are joined."""
    left_out = set(all_words(words)[:without])
    number = len(all_words(words)) + 50
    one, many = (supply(words, Rng("vocabulary", words), left_out) for _ in range(2))
    singly: list[str] = []
    try:
        while len(singly) < number:
            singly.append(one())
    except ExhaustedError:
        pass
    assert [*upto(many, 7), many(), *upto(many, 1000), *upto(many, number - 1008)] == singly
    assert len(set(singly)) == len(singly)
    assert not left_out & set(singly)


def test_a_list_that_is_too_short_is_a_sentence() -> None:
    three = Supply(("oak", "elm", "ash"), Rng("short"))
    with pytest.raises(ExhaustedError, match="the list has 3 words"):
        some(three, 4)


@pytest.mark.parametrize("words", ["common", "dictionary", "gibberish"])
def test_remembered_words_are_those_of_a_supply(words: str) -> None:
    """Whoever wants more or fewer, or others in between: and what they take is the same, too."""
    key, cost = Key("minerva/iterate", 1, "", "test", 0, 0), costs("gpt2")
    plain = some(supply(words, key.rng("words")), 900)

    def taken(draw: Draw, *sizes: int) -> None:
        found: list[str] = []
        for size in sizes:
            more, costs = take_with_costs(draw, size, cost, ", ")
            assert costs == cost(more)
            found += [*more, draw()]
        assert found == plain[: len(found)]

    taken(draw_words(words, key), 5, 300)
    for other in range(3):  # those of other instances, which push it out
        assert some(draw_words(words, Key("minerva/iterate", 1, "", "test", 0, 1 + other)), 9) != plain[:9]
    taken(draw_words(words, key), 1, 200, 64, 400)
    taken(draw_words(words, key), 700)


def test_remembered_words_run_out() -> None:
    draw = draw_words("common", Key("minerva/iterate", 1, "", "test", 1, 0))
    number = len(all_words("common"))
    assert sorted(upto(draw, number + 10)) == sorted(all_words("common"))
    assert upto(draw, 1) == []
    with pytest.raises(ExhaustedError, match="more, none of them twice"):
        draw()

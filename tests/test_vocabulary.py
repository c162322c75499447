"""Words to make contexts of: the same whether they are drawn one after the other or many at once."""

import pytest

from carrara.core.errors import Dry
from carrara.core.keys import Dice
from carrara.text.vocabulary import Supply, listed, some, supply, upto


@pytest.mark.parametrize("words", ["common", "dictionary"])
@pytest.mark.parametrize("without", [0, 40])
def test_many_at_once_are_the_same_as_one_after_the_other(words: str, without: int) -> None:
    """To the end of the list, and past it where words are joined."""
    left_out = set(listed(words)[:without])
    number = len(listed(words)) + 50
    one, many = (supply(words, Dice("vocabulary", words), left_out) for _ in range(2))
    singly: list[str] = []
    try:
        while len(singly) < number:
            singly.append(one())
    except Dry:
        pass
    assert [*upto(many, 7), many(), *upto(many, 1000), *upto(many, number - 1008)] == singly
    assert len(set(singly)) == len(singly)
    assert not left_out & set(singly)


def test_a_list_that_is_too_short_is_a_sentence() -> None:
    three = Supply(("oak", "elm", "ash"), Dice("short"))
    with pytest.raises(Dry, match="the list has 3 words"):
        some(three, 4)

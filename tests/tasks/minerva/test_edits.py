"""The tasks that ask for the whole context, copied or changed."""

from collections.abc import Callable

import pytest

from carrara.generators import vocabulary
from carrara.generators.vocabulary import Drawing
from carrara.rng import Rng
from carrara.tasks.minerva._edit import _Numbers
from carrara.tasks.minerva.replace import _MixedWords
from tests.helpers.minerva import context_of, items, replied


def test_half_of_an_edit_scores_in_between() -> None:
    for task in ("replace", "overwrite", "functional"):
        for item in items(f"minerva/{task}", 8):
            source = context_of(item).split(", ")
            gold = list(item.question.gold.items)
            half = [*gold[: len(gold) // 2], *source[len(source) // 2 :]]
            score, published = replied(item, ", ".join(half))
            assert 0.0 <= score < 0.9
            assert score <= published


def mixed() -> Drawing:
    rng = Rng("words")
    return _MixedWords("oak", 4, vocabulary.supply("common", rng), rng)


@pytest.mark.parametrize("new", [lambda: _Numbers(Rng("numbers")), mixed])
def test_many_items_at_once_are_those_that_come_one_by_one(new: Callable[[], Drawing]) -> None:
    one, many = new(), new()
    single = [one() for _ in range(60)]
    assert [*many.several(7), many(), *many.several(52)] == single

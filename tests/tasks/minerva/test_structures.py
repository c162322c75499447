"""What each task's contexts and answers are like, beyond what all tasks of Minerva have in common."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from carrara.generators import vocabulary
from carrara.generators.vocabulary import Drawing, all_words
from carrara.items.item import contexts, make
from carrara.rng import Rng
from carrara.tasks.minerva._edit import Numbers
from carrara.tasks.minerva._lists import Needle, deal_words, read_lines
from carrara.tasks.minerva.replace import MixedWords
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
    return MixedWords("oak", 4, vocabulary.supply("common", rng), rng)


@pytest.mark.parametrize("new", [lambda: Numbers(Rng("numbers")), mixed])
def test_many_items_at_once_are_those_that_come_one_by_one(new: Callable[[], Drawing]) -> None:
    one, many = new(), new()
    single = [one() for _ in range(60)]
    assert [*many.several(7), many(), *many.several(52)] == single


def test_one_group_is_odd() -> None:
    for item in items("minerva/odd_group", 24):
        kinds = Counter(frozenset(line.partition(": ")[2].split(", ")) for line in context_of(item).splitlines())
        assert sorted(kinds.values())[0] == 1
        assert len(kinds) == 2


def test_numbers_that_make_up_a_length_stand_anywhere() -> None:
    """By this tokenizer, 1000 alone takes an odd number of tokens."""
    ends = [context_of(item).endswith("1000") for item in items("minerva/functional", 40, 1000)]
    assert sum(ends) < 5


def test_no_operation_is_often_right() -> None:
    made = items("minerva/functional", 96)
    assert {*Counter(item.question.ask for item in made).values()} == {4}
    for factor, more in ((1, 3), (1, -2), (2, 0)):
        replies = (", ".join(str(factor * int(one) + more) for one in context_of(item).split(", ")) for item in made)
        assert sum(replied(item, reply)[0] for item, reply in zip(made, replies, strict=True)) < 0.06 * len(made)


def test_an_operand_may_be_fixed() -> None:
    for item in items("minerva/functional", 6, change="add 3,multiply 2"):
        assert {"add": "Add 3 ", "multiply": "by 2,"}[item.question.labels["change"].split()[0]] in item.text


def test_every_list_is_asked_for() -> None:
    """Published, the last quarter never is."""
    golds = Counter(item.gold for item in items("minerva/membership", 400, lists="8"))
    assert set(golds) == {"no", *(f"List {n}" for n in range(1, 9))}
    assert golds["no"] == 80


def test_instances_that_do_not_fit_are_named_together() -> None:
    told: list[str] = []
    first = make("minerva/blocks", length=4096).item_id
    fitting = list(contexts(replace(first, length=1024), 10, warn=told.append))
    assert 0 < len(fitting) < 10
    assert len(told) == 1
    assert "roles=32 with turns=10" in told[0]


def test_positions_are_balanced() -> None:
    """Two words at one depth, too: twenty-five cells of which five have one depth, asked in turn either way."""
    golds = Counter(item.gold for item in items("minerva/positions", 50))
    assert golds == {"yes": 25, "no": 25}


def test_differences_are_differences() -> None:
    for item in items("minerva/two_lists", 16, 2048):
        first, second = (line.partition(": ")[2].split(", ") for line in context_of(item).splitlines())
        assert len(first) == len(second)
        assert len(set(first) - set(second)) == len(set(second) - set(first)) == int(item.question.labels["size"])
        assert set(item.question.gold.items) in (set(first) - set(second), set(second) - set(first))


@pytest.mark.parametrize("task", ["membership", "group_association", "iterate", "alternating", "blocks"])
@pytest.mark.sampled(2)
def test_no_list_is_longer_for_what_is_asked_of_it(task: str) -> None:
    for length in (0, 4000):
        for item in items(f"minerva/{task}", 20, length):
            sizes = [len(words) for _, words in read_lines(context_of(item))]
            assert max(sizes) - min(sizes) <= 1


def test_a_list_with_two_needles_takes_a_word_from_another_list() -> None:
    draw = iter(f"w{n}" for n in range(9)).__next__
    needles = [Needle("first", 0, 0.0), Needle("last", 0, 1.0)]
    lists = deal_words(None, draw, items=4, lists=3, needles=needles, description="three lists", least=1)
    assert lists == [["first", "last"], ["w0"], ["w1"]]


def test_nobody_has_a_word_twice() -> None:
    for item in items("minerva/theory_of_mind", 24):
        held = [word for _, words in item.question.gold.of for word in words]
        assert len(held) == len(set(held))
        assert all(words for _, words in item.question.gold.of)


def test_absent_words_look_like_those_that_are_there() -> None:
    """Published, they were English among gibberish."""
    english = set(all_words("dictionary"))
    asked = [item.question.ask.split('"')[1] for item in items("minerva/word_search", 60, words="gibberish")]
    assert sum(word in english for word in asked) <= 3


def test_minus_signs_count() -> None:
    item = next(i for i in items("minerva/quantity", 40) if i.question.gold < 0)
    assert replied(item, f"FINAL ANSWER: {-item.question.gold}")[0] == 0.0
    assert replied(item, f"So it is\n**FINAL ANSWER: −{-item.question.gold}.**")[0] == 1.0

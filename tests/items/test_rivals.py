"""The wrong answers with which the likelihood of the right one is compared."""

from dataclasses import replace

import pytest

from carrara.items.item import Item, make, rebuild
from carrara.items.registry import names
from carrara.items.rivals import MOST, form_of, options_of
from carrara.util.errors import UsageError

REFUSED = {
    "carrara/rules", "michelangelo/mrcr", "minerva/batch", "minerva/overwrite", "minerva/replace", "minerva/snapshot",
    "minerva/theory_of_mind",
}  # fmt: skip
"""Tasks with answers that are long texts or several lines, at least in some instances."""


def item(task: str, index: int = 0, length: int = 0, **params: str) -> Item:
    return make(task, style="base", index=index, length=length, params=params)


@pytest.mark.parametrize("task", sorted({*names()} - {"carrara/march"}))
def test_the_right_answer_is_right_and_rivals_score_nothing(task: str) -> None:
    for index in range(2):
        try:
            options = options_of(one := item(task, index))
        except UsageError:
            assert task in REFUSED
            continue
        right, *rivals = options.texts
        assert one.grade(right).score == 1
        assert 1 <= len(rivals) <= MOST
        assert len({*options.texts}) == len(options.texts)
        assert all(one.grade(rival).score == 0 for rival in rivals)
        assert options == options_of(rebuild(one.id))


def test_a_closed_list_is_taken_whole() -> None:
    one = item("babilong/qa1")
    options = options_of(one)
    assert (options.rivals, {*options.texts}) == ("closed list", {*one.question.options})


def test_values_of_the_same_context_come_before_those_of_other_instances() -> None:
    for index in range(10):
        one = item("classic/niah", index, variant="multikey_1")
        options = options_of(one)
        assert options.rivals == "same context"
        assert len(options.texts) == 4
        assert all(text in one.text for text in options.texts)
        other = item("classic/niah", index, variant="single_2")
        options = options_of(other)
        assert options.rivals == "other instances"
        assert len(options.texts) == 1 + MOST
        assert not any(text in other.text for text in options.texts[1:])
        assert {*map(form_of, options.texts)} == {"0000000"}


def test_rivals_are_the_same_at_every_length() -> None:
    for task, params in (("classic/niah", {"variant": "single_2"}), ("classic/vt", {}), ("babilong/qa2", {})):
        assert options_of(item(task, 3, 0, **params)) == options_of(item(task, 3, 2048, **params))


def test_instances_have_rivals_of_their_own() -> None:
    drawn = {options_of(item("classic/passkey", index)).texts[1:] for index in range(5)}
    assert len(drawn) == 5


def test_the_label_at_the_end_of_the_prompt_is_not_said_twice() -> None:
    one = item("sync/translation")
    assert one.text.endswith("Translation:")
    assert one.gold.startswith("Translation: ")
    assert options_of(one).texts[0] == one.gold.removeprefix("Translation: ")


def test_a_conversation_is_refused() -> None:
    with pytest.raises(UsageError, match="a base model completes one text"):
        item("carrara/march")


def test_rivals_do_not_depend_on_the_question_before() -> None:
    one = item("babilong/qa1", 4)
    again = rebuild(str(replace(one.item_id)))
    assert options_of(again) == options_of(one)

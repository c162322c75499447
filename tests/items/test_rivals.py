"""The wrong answers with which the likelihood of the right one is compared."""

import re
from contextlib import suppress
from dataclasses import replace

import pytest

from carrara.items.item import Item, make, rebuild
from carrara.items.registry import names
from carrara.items.rivals import LONGEST, MOST, chance_of, form_of, options_of
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


@pytest.mark.parametrize(
    ("task", "size"), [("babilong/qa7", 4), ("babilong/qa9", 2), ("babilong/qa10", 3), ("michelangelo/idk", 4)]
)
def test_the_options_do_not_depend_on_which_of_them_is_right(task: str, size: int) -> None:
    """A guesser may name the most common answer alone, such as `no`: it is not the only rival of the others."""
    for index in range(6):
        one = item(task, index)
        options = options_of(one)
        assert (options.rivals, len(options.texts)) == ("closed list", size)
        assert {*options.texts} == {*one.question.options}


def test_rivals_are_about_as_long_as_the_right_answer() -> None:
    """A sum of log-probabilities falls with the length."""
    shortest = 0
    for index in range(12):
        with suppress(UsageError):
            right, *rivals = options_of(item("minerva/snapshot", index)).texts
            assert all(len(rival) <= LONGEST for rival in rivals)
            shortest += all(len(right) < len(rival) for rival in rivals)
    assert shortest <= 3


def test_a_guess_among_options_knows_the_most_common_one() -> None:
    one = item("michelangelo/idk")
    assert chance_of(4, "closed list", one.question.chance_level) == 0.7
    assert chance_of(10, "other instances", 0.0) == 0.1


def test_keys_of_hexadecimal_digits_have_one_form() -> None:
    assert {len(options_of(item("classic/json_kv", index)).texts) for index in range(6)} == {1 + MOST}


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


def test_other_instances_give_answers_to_questions_of_the_same_kind() -> None:
    """A question about a call has ids of calls for options, and not names of places."""
    questions = [
        one for index in range(20) if (one := item("carrara/trajectory", index)).question.labels["kind"] == "call"
    ]
    assert len(questions) >= 2
    for one in questions:
        assert all(re.fullmatch("none|[a-z]{6}", text) for text in options_of(one).texts)


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

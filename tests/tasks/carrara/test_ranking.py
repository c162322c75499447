"""Ranking: answers by another way, balance, scores of replies, and readers that judge nothing."""

import re
from collections import Counter
from itertools import pairwise
from math import log2

import pytest

from carrara.generators.kinds import KINDS
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.rng import Rng
from tests.helpers.carrara_suite import instance_of, text_of


def criteria_met(line: str, criteria: str) -> int:
    """The number of criteria that a line of the text meets, by other means than the task's own."""
    met = 0
    for criterion in criteria.split("; "):
        if years := re.search(r"after ([0-9]{4}) and before ([0-9]{4})", criterion):
            met += int(re.findall(r"ritten in [^,]* in ([0-9]{4})", line)[0]) in range(int(years[1]) + 1, int(years[2]))
        elif criterion.startswith("its author wrote it in "):
            met += f"ritten in {criterion.removeprefix('its author wrote it in ')} in " in line
        elif criterion.startswith("it is about "):
            met += re.findall(r"isted as a \w+ about (\w+)", line)[0] in KINDS[criterion.removeprefix("it is about ")]
        elif criterion.endswith(" is its author"):
            met += re.findall(r" [Bb]y (\w+)", line)[0] == criterion.removesuffix(" is its author")
        else:
            met += f"isted as a {criterion.removeprefix('it is a ')} about" in line
    return met


def grades_of(item: Item) -> dict[str, int]:
    criteria = instance_of(item).names["criteria"]
    return {line[1:7]: max(0, criteria_met(line, criteria) - 1) for line in text_of(item).splitlines()}


def ndcg(ids: list[str], grades: dict[str, int]) -> float:
    best = sorted(grades.values(), reverse=True)[:10]
    gained = sum(grades.get(one, 0) / log2(n + 2) for n, one in enumerate(ids[:10]))
    return gained / sum(grade / log2(n + 2) for n, grade in enumerate(best))


@pytest.mark.parametrize("criteria", [2, 3, 4, 5])
@pytest.mark.parametrize("length", [0, 8192])
@pytest.mark.sampled(3)
def test_the_answer_is_the_ten_that_meet_most_criteria(criteria: int, length: int) -> None:
    for index in range(15):
        params = {"criteria": str(criteria)}
        item = make("carrara/ranking", index=index, length=length, params=params, tokenizer="gpt2")
        grades = grades_of(item)
        relevant = [one for one, grade in grades.items() if grade]
        assert {*item.question.gold.ids} == {*relevant}
        assert len(relevant) == 10
        assert {*map(grades.get, relevant)} == {*range(1, criteria)}
        gold = [grades[one] for one in item.question.gold.ids]
        assert gold == sorted(gold, reverse=True)
        assert all(item.question.gold.grades[one] == grades[one] for one in relevant)


@pytest.mark.slow
def test_relevant_documents_stand_anywhere() -> None:
    fifths = Counter[int]()
    for index in range(60):
        item = make("carrara/ranking", index=index, length=4096)
        ids = [line[1:7] for line in text_of(item).splitlines()]
        fifths.update(5 * ids.index(one) // len(ids) for one in item.question.gold.ids)
    assert all(80 < fifths[n] < 165 for n in range(5)), fifths


def test_half_of_the_other_documents_meet_one_criterion() -> None:
    item = make("carrara/ranking", length=32768)
    criteria = instance_of(item).names["criteria"]
    met = Counter(criteria_met(line, criteria) for line in text_of(item).splitlines())
    assert met[1] == pytest.approx(met[0], rel=0.1)
    assert met[0] > 300


def test_ids_are_different_and_none_is_part_of_another() -> None:
    ids = [line[1:7] for line in text_of(make("carrara/ranking", length=32768)).splitlines()]
    assert len({*ids}) == len(ids)
    assert all(re.fullmatch("[b-df-hj-np-tv-z]{6}", one) for one in ids)


def test_orders_are_scored_by_their_gain_and_equal_documents_may_change_places() -> None:
    for index in range(10):
        item = make("carrara/ranking", index=index)
        grades, gold = grades_of(item), list(item.question.gold.ids)
        drawn = Rng("orders", index)
        for order in (gold, gold[::-1], gold[:4], [*grades], drawn.shuffled(gold), [*gold[3:], "zzzzzz"]):
            graded = grade(item.task, item.question, f"FINAL ANSWER: {', '.join(order)}")
            assert graded.score == pytest.approx(ndcg(order, grades))
            assert graded.scores["helmet"] == pytest.approx(ndcg(order, grades))
            ordered = [grades.get(one) for one in order] == [grades[one] for one in gold]
            assert graded.scores["exact"] == float(ordered)
        swapped = sorted(drawn.shuffled(gold), key=lambda one: -grades[one])
        assert grade(item.task, item.question, ", ".join(swapped)).scores["exact"] == 1.0


@pytest.mark.parametrize("form", ["{}", "FINAL ANSWER: [{}]", "**FINAL ANSWER:** {}.", "Text.\n\nFINAL ANSWER: {}"])
def test_lists_are_read(form: str) -> None:
    item = make("carrara/ranking", index=3)
    ids = item.question.gold.ids
    for separator in (", ", " > ", " ", "\n", "] meets some criteria\n["):
        assert grade(item.task, item.question, form.format(separator.join(ids))).score == 1.0
    once, again = (grade(item.task, item.question, form.format(", ".join([ids[0]] * n))) for n in (1, 10))
    assert once.score == again.score < 0.5


def test_replies_that_judge_nothing_are_at_chance_or_below() -> None:
    """All ids in the order of the text or of the alphabet, the text, the prompt, and nothing."""
    chance, items = 0.0, 60
    scores = dict.fromkeys(("text order", "backwards", "alphabet", "text", "prompt", "empty", "none"), 0.0)
    for index in range(items):
        item = make("carrara/ranking", index=index)
        ids = [line[1:7] for line in text_of(item).splitlines()]
        replies = {
            "text order": ", ".join(ids),
            "backwards": ", ".join(ids[::-1]),
            "alphabet": ", ".join(sorted(ids)),
            "text": text_of(item),
            "prompt": item.text,
            "empty": "",
            "none": "FINAL ANSWER: none",
        }
        chance += item.question.chance_level / items
        for name, reply in replies.items():
            scores[name] += grade(item.task, item.question, reply).score / items
    assert all(score < chance + 0.05 for score in scores.values()), (chance, scores)


@pytest.mark.parametrize(("length", "chance"), [(0, 0.22), (4096, 0.07)])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.sampled(1)
def test_words_in_common_do_not_rank(length: int, chance: float, size: int) -> None:
    """Each document has the same words of the question, and the same pairs of words but for a few."""
    mean = 0.0
    for index in range(40):
        item = make("carrara/ranking", index=index, length=length)

        def runs(text: str) -> set[tuple[str, ...]]:
            words = re.findall(r"\w+", text)
            return {tuple(words[n : n + size]) for n in range(len(words))}

        asked = runs(instance_of(item).names["criteria"])
        lines = sorted(text_of(item).splitlines(), key=lambda line: -len(asked & runs(line)))
        mean += grade(item.task, item.question, ", ".join(line[1:7] for line in lines)).score / 40
    assert mean < chance + 0.06


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["place", "first", "distance", "gap"])
@pytest.mark.parametrize(("length", "chance"), [(0, 0.22), (4096, 0.07)])
def test_places_and_distances_of_words_of_the_question_do_not_rank(
    kind: str, sign: int, length: int, chance: float
) -> None:
    """Neither their mean place in a line, nor the first, nor how far the first is from the last or two are apart."""
    mean = 0.0
    for index in range(40):
        item = make("carrara/ranking", index=index, length=length)
        asked = {*re.findall(r"\w+", item.question.ask)} - {"in", "a", "of"}

        def rank(line: str, asked: set[str] = asked) -> tuple[int, float]:
            places = [n for n, word in enumerate(re.findall(r"\w+", line)) if word in asked] or [0]
            value = {
                "place": sum(places) / len(places),
                "first": places[0],
                "distance": places[-1] - places[0],
                "gap": min((other - one for one, other in pairwise(places)), default=99),
            }[kind]
            return -len(places), sign * value

        lines = sorted(text_of(item).splitlines(), key=rank)
        mean += grade(item.task, item.question, ", ".join(line[1:7] for line in lines)).score / 40
    assert mean < chance + 0.08

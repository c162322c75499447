"""Learning in the context: balance, noise, answers by another way, and readers that learn nothing."""

import re
from collections import Counter, defaultdict

import pytest

from carrara.generators.kinds import KINDS, TEMPLATES, kind_of
from carrara.items.grading import grade
from carrara.items.item import Item, make
from tests.helpers.carrara_suite import instance_of, text_of

KIND = {thing: kind for kind, things in KINDS.items() for thing in things}


def lines_of(item: Item) -> list[tuple[list[str], str]]:
    """The words of each example, and its label."""
    return [(re.findall(r"\w+", line[:-9]), line[-5:]) for line in text_of(item).splitlines()]


def asked_words(item: Item) -> list[str]:
    return re.findall(r"\w+", instance_of(item).names["sentence"])


@pytest.mark.parametrize("params", [{}, {"classes": "4"}, {"classes": "19", "noise": "0.3"}, {"noise": "0.2"}])
@pytest.mark.parametrize("length", [0, 8192])
@pytest.mark.sampled(3)
def test_the_answer_is_the_label_of_most_sentences_of_its_kind(params: dict[str, str], length: int) -> None:
    for index in range(12):
        item = make("carrara/in_context", index=index, length=length, params=params, tokenizer="gpt2")
        [asked] = [KIND[word] for word in asked_words(item) if word in KIND]
        labels = Counter(
            label for words, label in lines_of(item) if any(KIND.get(word) == asked for word in words)
        ).most_common()
        assert labels[0][0] == item.gold
        assert len(labels) == 1 or labels[0][1] > labels[1][1]


def test_kinds_share_no_word_and_templates_name_no_thing() -> None:
    assert len(KIND) == sum(map(len, KINDS.values()))
    assert {len(things) for things in KINDS.values()} == {20}
    words = {word for template in TEMPLATES for word in re.findall(r"[a-z]+", template)}
    assert not words & {*KIND, *(thing.removesuffix("s") for thing in KIND)}
    assert kind_of("Nora saw nothing.") == kind_of("Nora saw herons and trout.") == ""


def test_every_sentence_names_one_thing_and_never_the_one_in_question() -> None:
    for index in range(6):
        item = make("carrara/in_context", index=index, length=16384)
        [asked] = [word for word in asked_words(item) if word in KIND]
        for words, _ in lines_of(item):
            assert sum(word in KIND for word in words) == 1
            assert asked not in words


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_classes_are_balanced_and_the_share_of_wrong_labels_is_exact(noise: float) -> None:
    item = make("carrara/in_context", params={"shots": "20", "noise": str(noise)})
    wrong, right = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for words, label in lines_of(item):
        [kind] = [KIND[word] for word in words if word in KIND]
        right[kind][label] += 1
    for kind, labels in right.items():
        assert labels.total() == 20
        wrong[kind] = 20 - labels.most_common(1)[0][1]
    assert set(wrong.values()) == {round(20 * noise)}
    assert len({labels.most_common(1)[0][0] for labels in right.values()}) == 8


def test_the_prompt_warns_of_wrong_labels_where_there_may_be_some() -> None:
    for noise, is_warned in (("0.0", False), ("0.2", True)):
        texts = [make("carrara/in_context", index=n, params={"noise": noise}).text for n in range(3)]
        texts += [make("carrara/in_context", params={"noise": noise}, length=2048, style="base").text]
        assert {"have the same label, though some labels may be wrong. Learn" in text for text in texts} == {is_warned}
        assert {"have the same label. Learn" in text for text in texts} == {not is_warned}
    swept = [make("carrara/in_context", index=n, params={"noise": "0.0,0.2"}) for n in range(4)]
    assert [float(item.question.labels["noise"]) > 0 for item in swept] == [
        "may be wrong" in item.text for item in swept
    ]


@pytest.mark.parametrize("length", [0, 4096])
@pytest.mark.sampled(1)
def test_readers_that_learn_nothing_are_at_chance(length: int) -> None:
    """They take the label of the last, the first or the most similar example, or the most frequent one."""
    right, items = Counter[str](), 160
    for index in range(items):
        item = make("carrara/in_context", index=index, length=length)
        lines, asked = lines_of(item), {*asked_words(item)}
        near = max(lines, key=lambda line: len(asked & {*line[0]}))[1]
        nearest = max(len(asked & {*words}) for words, _ in lines)
        labels = Counter(label for words, label in lines if len(asked & {*words}) == nearest)
        guesses = {
            "first": lines[0][1],
            "last": lines[-1][1],
            "commonest": Counter(label for _, label in lines).most_common(1)[0][0],
            "nearest": near,
            "most of the nearest": labels.most_common(1)[0][0],
            "first in the alphabet": min(label for _, label in lines),
        }
        for name, label in guesses.items():
            right[name] += label == item.gold
    assert all(right[name] / items < 0.125 + 0.08 for name in right), right


def test_replies() -> None:
    for index in range(6):
        item = make("carrara/in_context", index=index)
        gold, other = item.gold, next(label for label in item.question.options if label != item.gold)
        for reply in (f"FINAL ANSWER: {gold}", gold.lower(), f"**{gold}**", f"The label is `{gold}`."):
            assert grade(item.task, item.question, reply).score == 1.0, reply
        for reply in ("", other, f"{gold} or {other}", ", ".join(item.question.options), item.text, text_of(item)):
            assert grade(item.task, item.question, reply).score == 0.0, reply
        graded = grade(item.task, item.question, f"FINAL ANSWER: {gold}.")
        assert graded.scores == {"helmet": 1.0}
        assert grade(item.task, item.question, f"FINAL ANSWER: maybe {gold}").scores == {"helmet": 0.0}

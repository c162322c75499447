"""Hops: documents that lead to one answer, names, and readers who do not follow them."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations

import pytest

from carrara.items.grading import grade
from carrara.items.item import Item, make
from tests.helpers.classic import text_of
from tests.helpers.graded_answer import answered

_LINE = re.compile(r"Document \d+: (\w+ \w+) was born in (\w+)\. (.*)")
ITEMS = 150


class Read:
    """What a test reads of an item, without the task's own solver."""

    def __init__(self, item: Item) -> None:
        found = [_LINE.match(line) for line in text_of(item).split("\n")]
        self.lines = {line[1]: line for line in found if line}
        self.towns = {name: line[2] for name, line in self.lines.items()}
        self.related: Mapping[str, Mapping[str, str]] = {
            name: dict(re.findall(r"[Tt]heir (\w+) is (\w+ \w+)", line[3])) for name, line in self.lines.items()
        }
        self.text = text_of(item)
        self.options = item.question.options
        asked = re.fullmatch(r"(?:Who is|In which town was) (.*?)(?: born)?\?", item.question.ask)
        assert asked
        *relations, self.who = re.split(r" of (?:the )?", asked[1].removeprefix("the "))
        self.steps = relations[::-1]
        self.is_town = item.question.ask.endswith("born?")

    def last(self, name: str) -> str:
        """Return what the last document of the question says, if it is this person's."""
        return self.towns[name] if self.is_town else self.related[name][self.steps[-1]]

    def follow(self, steps: list[str]) -> str:
        at = self.who
        for step in steps:
            at = self.related[at][step]
        return at


def read(hops: str, index: int, length: int = 0) -> tuple[Item, Read]:
    item = make("classic/hops", index=index, length=length, params={"hops": hops})
    return item, Read(item)


@pytest.mark.parametrize("hops", ["1", "2", "3", "4"])
@pytest.mark.sampled(1)
def test_the_answer_is_at_the_end_of_as_many_documents(hops: str) -> None:
    asked = Counter[bool]()
    for index in range(40):
        item, one = read(hops, index, length=2048 if index % 4 == 0 else 0)
        end = one.follow(one.steps)
        assert item.question.gold == (one.towns[end] if one.is_town else end)
        assert len(set(one.steps)) == len(one.steps) == int(hops) - one.is_town
        assert len(item.question.evidence) == int(hops)
        asked[one.is_town] += 1
    assert min(asked.values()) > 8


def test_everybody_is_named_as_often_as_anybody_else() -> None:
    for index in range(20):
        _, one = read("3", index)
        assert len(one.lines) == 16
        assert set(Counter(name for related in one.related.values() for name in related.values()).values()) == {4}
        assert set(map(len, map(set, (related.values() for related in one.related.values())))) == {4}
        assert all(name not in related.values() for name, related in one.related.items())
        assert len(set(one.towns.values())) == 16


def test_names_are_in_common_and_no_other_document_names_the_people_of_the_question() -> None:
    shared = 0
    for index in range(20):
        item, one = read("2", index, length=4096)
        names = [*one.lines, *one.towns.values()]
        assert not any(a in b or b in a for a, b in combinations(names, 2))
        own = set(re.findall(r"Document \d+: (\w+ \w+)", " ".join(map(str, item.context.instance.facts))))
        assert len({name.split()[0] for name in own}) == len({name.split()[1] for name in own}) == 4
        firsts = {name.split()[0] for name in own}
        strangers = [name for name in one.lines if name not in own]
        shared += any(name.split()[0] in firsts for name in strangers)
        assert any(name in related.values() for related in one.related.values() for name in strangers)
        assert all(own.isdisjoint(related.values()) for name, related in one.related.items() if name not in own)
    assert shared > 5


def test_there_are_names_for_millions_of_items() -> None:
    questions = [read("3", index)[1] for index in range(100)]
    assert len({name for question in questions for name in question.lines}) > 1595
    assert len({town for question in questions for town in question.towns.values()}) > 1590
    item, _ = read("3", 0)
    prose = "Mr. John Smith of Springfield survived at a marzipan factory in Uzbekistan."
    assert answered(item.task, prose, item.question) is None


READERS: Mapping[str, Callable[[Read], str]] = {
    "the last document's words in the document of the person named": lambda one: one.last(one.who),
    "the most frequent": lambda one: max(one.options, key=one.text.count),
    "the rarest": lambda one: min(one.options, key=one.text.count),
    "the first": lambda one: min(one.options, key=one.text.find),
    "the last": lambda one: max(one.options, key=one.text.rfind),
    "the nearest to the person named": lambda one: min(
        one.options,
        key=lambda option: min(
            abs(a.start() - b.start()) for a in re.finditer(option, one.text) for b in re.finditer(one.who, one.text)
        ),
    ),
    "in the document after": lambda one: one.last(beside(one, 1)),
    "in the document before": lambda one: one.last(beside(one, -1)),
    "in a document that names the person": lambda one: one.last(
        next(name for name, related in one.related.items() if one.who in related.values())
    ),
    "in the first document": lambda one: one.last(next(iter(one.lines))),
    "in the last document": lambda one: one.last(list(one.lines)[-1]),
    "of the same first name": lambda one: one.last(same_name(one, 0)),
    "of the same last name": lambda one: one.last(same_name(one, 1)),
    "the relations in the order of the question": lambda one: one.follow(one.steps[::-1]),
    "one document too few": lambda one: one.last(one.follow(one.steps[:-2])),
    "first in the alphabet": lambda one: one.options[0],
}


def beside(one: Read, step: int) -> str:
    names = list(one.lines)
    return names[(names.index(one.who) + step) % len(names)]


def same_name(one: Read, part: int) -> str:
    return next(name for name in one.lines if name != one.who and name.split()[part] == one.who.split()[part])


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("hops", ["3", "4"])
@pytest.mark.sampled(6)
def test_readers_who_do_not_follow_the_documents_score_about_chance(hops: str, reader: str) -> None:
    found = [read(hops, index) for index in range(ITEMS)]
    score = sum(READERS[reader](one) == item.question.gold for item, one in found) / ITEMS
    chance = sum(item.question.chance_level for item, _ in found) / ITEMS
    assert 0.06 < chance < 0.07
    assert score < chance + 0.07  # three standard errors


@pytest.mark.parametrize("hops", ["1", "2", "4"])
@pytest.mark.sampled(1)
def test_replies_that_name_everybody_or_nothing_gain_nothing(hops: str) -> None:
    for index in range(10):
        item, _ = read(hops, index, length=2048)
        question = item.question
        everybody = ", ".join(question.options)
        for reply in (everybody, f"FINAL ANSWER: {everybody}", "\n".join(question.options), text_of(item), item.text):
            graded = grade(item.task, question, reply)
            assert (graded.score, graded.scores) == (0.0, {"ruler": 1.0})
        for reply in ("", question.ask, "FINAL ANSWER:", f"FINAL ANSWER: {question.gold.split()[0][:3]}"):
            assert grade(item.task, question, reply).score == 0.0
        assert grade(item.task, question, f"It is {question.gold}.").score == 1.0


def test_markers_have_what_the_question_needs() -> None:
    for index in range(12):
        item, one = read("3", index)
        markers = item.task.markers(item.context.instance)
        needed = [markers[n] for n in item.question.evidence]
        people = [one.follow(one.steps[:n]) for n in range(3)]
        said = [*people[1:], item.question.gold]
        assert {(marker.subjects, marker.values) for marker in needed} == {
            ((name,), (value,)) for name, value in zip(people, said, strict=True)
        }

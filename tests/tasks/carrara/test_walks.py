"""Walks: answers by another way, shapes of the graph, and replies that gain nothing."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from tests.helpers.carrara_suite import instance_of, question_of, text_of
from tests.helpers.graded_answer import answered

WALKS = registry.load("carrara/walks")
SIZES = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20)
THREE = replace(question_of("walks"), gold=("bcdfgh", "jklmnp", "qrstvw"))
NONE = replace(question_of("walks"), gold=())


def edges_of(item: Item) -> list[tuple[str, str]]:
    return [(line[:6], line[10:]) for line in text_of(item).splitlines()]


def reached(edges: list[tuple[str, str]], start: str, steps: int) -> list[set[str]]:
    """The nodes at the end of some walk of each number of steps, by sets alone."""
    layers = [{start}]
    for _ in range(steps):
        layers.append({target for source, target in edges if source in layers[-1]})
    return layers


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize("length", [0, 4096])
@pytest.mark.sampled(3)
def test_the_answer_is_that_of_a_search_by_sets(steps: int, length: int) -> None:
    for index in range(30):
        item = make("carrara/walks", index=index, length=length, params={"steps": str(steps)}, tokenizer="gpt2")
        edges, asked, kind = edges_of(item), instance_of(item).names["node"], item.question.labels["kind"]
        layers = reached(edges, asked, steps)
        gold = {
            "parents": {source for source, target in edges if target == asked},
            "exactly": layers[-1] - set().union(*layers[:-1]),
            "within": set().union(*layers) - {asked},
        }[kind]
        assert gold == {*item.question.gold}


def test_no_edge_is_a_loop_or_occurs_twice_and_no_name_is_part_of_another() -> None:
    for index in range(6):
        edges = edges_of(make("carrara/walks", index=index, length=16384))
        assert len(edges) == len({*edges}) > 1000
        assert all(source != target for source, target in edges)
        assert {len(name) for edge in edges for name in edge} == {6}


def test_each_size_and_each_kind_is_as_frequent_as_any_other() -> None:
    found = Counter[tuple[str, int]]()
    for index in range(60):
        question = question_of("walks", index=index)
        found[question.labels["kind"], len(question.gold)] += 1
    assert found == {(kind, size): 2 for kind in ("parents", "exactly", "within") for size in SIZES}


def test_the_graph_is_dense_at_every_length_and_the_answer_does_not_stand_out() -> None:
    """All nodes have about as many edges, those of the filler too."""
    for length in (0, 16384):
        leaving, arriving = [0.0, 0.0], [0.0, 0.0]
        for index in range(30):
            item = make("carrara/walks", index=index, length=length)
            edges, gold = edges_of(item), {*item.question.gold}
            nodes = {name for edge in edges for name in edge}
            for end, means in ((0, leaving), (1, arriving)):
                counts = Counter(edge[end] for edge in edges)
                means[0] += sum(counts[name] for name in gold) / max(1, len(gold)) / 27
                means[1] += sum(counts[name] for name in nodes - gold) / len(nodes - gold) / 30
        assert 2 < leaving[1] < 3.5
        assert 2 < arriving[1] < 3.5
        assert abs(leaving[0] - leaving[1]) < 1.2
        assert abs(arriving[0] - arriving[1]) < 2.5


def test_nodes_on_the_way_are_not_at_the_distance() -> None:
    """Some nodes are the end of a walk of three steps, and of a shorter one: they do not count."""
    traps = 0
    for index in range(60):
        item = make("carrara/walks", index=index, params={"kind": "exactly"})
        layers = reached(edges_of(item), instance_of(item).names["node"], 3)
        traps += bool(layers[3] - {*item.question.gold})
    assert traps > 30


@pytest.mark.parametrize(
    "reply",
    [
        "FINAL ANSWER: bcdfgh, jklmnp, qrstvw",
        "FINAL ANSWER: [bcdfgh, jklmnp, qrstvw]",
        "FINAL ANSWER: `qrstvw`, `jklmnp` and `bcdfgh`.",
        "FINAL ANSWER:\n- bcdfgh\n- jklmnp\n- qrstvw",
        "**FINAL ANSWER:** BCDFGH, JKLMNP, QRSTVW",
        "xxxxxx -> bcdfgh\nbcdfgh -> jklmnp\n\nFINAL ANSWER: node bcdfgh, node jklmnp, node qrstvw",
        '["bcdfgh", "jklmnp", "qrstvw"]',
        "1. bcdfgh\n2. jklmnp\n3. qrstvw",
    ],
)
def test_lists_are_read(reply: str) -> None:
    assert grade(WALKS, THREE, reply).score == 1.0


@pytest.mark.parametrize(
    "reply", ["FINAL ANSWER: none", "none", "FINAL ANSWER: None.", "FINAL ANSWER: no such nodes", "FINAL ANSWER: []"]
)
def test_an_empty_set_is_said(reply: str) -> None:
    assert answered(WALKS, reply, NONE) == ()
    assert grade(WALKS, NONE, reply).score == 1.0
    assert grade(WALKS, THREE, reply).score == 0.0


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "FINAL ANSWER:",
        "FINAL ANSWER: unknown",
        "aaaaaa -> bcdfgh",
        "{}",
        "none?",
    ],
)
def test_a_reply_that_says_nothing_is_not_an_empty_set(reply: str) -> None:
    graded = grade(WALKS, NONE, reply)
    assert graded.score == 0.0
    scores = dict(graded.scores)
    by_anthropic = scores.pop("anthropic")
    assert set(scores.values()) <= {0.0}
    assert by_anthropic == float("unknown" not in reply), "Anthropic's code sees an empty list, which is right here"


def test_scores_beside_ours() -> None:
    graded = grade(WALKS, THREE, "FINAL ANSWER: bcdfgh, jklmnp, zzzzzz")
    assert graded.score == pytest.approx(1 / 3)
    assert graded.scores == {"graphwalks": pytest.approx(2 / 3), "anthropic": pytest.approx(2 / 3), "exact": 0.0}


def by_the_card_of_february_2026(reply: str, gold: Sequence[str]) -> float:
    """GraphWalks' formula of that month, which gives 1 to a reply without a right node."""
    listed, right = {*re.findall(r"\b(?!none)[a-z]+\b", reply.partition("FINAL ANSWER:")[2])}, {*gold}
    recall = len(listed & right) / len(right) if right else 0.0
    precision = len(listed & right) / len(listed) if listed else 0.0
    return 2 * recall * precision / (recall + precision) if recall + precision else 1.0


def test_replies_that_understand_nothing_score_as_documented() -> None:
    """The table of docs/explanation/fidelity/carrara.md, from 120 items without filler."""
    documented = {"every node": (0.0, 0.234, 0.334), "one that is wrong": (0.0, 0.0, 1.0), "`none`": (0.1, 0.1, 1.0)}
    documented["empty, or unreadable"] = (0.0, 0.0, 1.0)
    items = [make("carrara/walks", index=index) for index in range(120)]
    for reply, scores in documented.items():
        found = []
        for item in items:
            nodes = ", ".join(sorted({name for edge in edges_of(item) for name in edge}))
            said = {"every node": nodes, "one that is wrong": "zzzzzz", "`none`": "none"}.get(reply)
            text = f"FINAL ANSWER: {said}" if said else "I cannot say."
            graded = grade(WALKS, item.question, text)
            february = by_the_card_of_february_2026(text, item.question.gold)
            found.append((graded.score, graded.scores["graphwalks"], february))
        assert [sum(own) / len(items) for own in zip(*found, strict=True)] == pytest.approx(scores, abs=5e-4)
        row = f"| {reply} | {' | '.join(f'{score:.3f}' for score in scores)} |"
        assert row in Path("docs/explanation/fidelity/carrara.md").read_text("utf-8")


def test_trivial_readers_are_near_chance() -> None:
    """The nodes that are named last, first, oftenest, or beside the node in question as its own children."""
    totals, items = defaultdict[str, float](float), 90
    for index in range(items):
        item = make("carrara/walks", index=index)
        edges, asked = edges_of(item), instance_of(item).names["node"]
        counts = Counter(name for edge in edges for name in edge if name != asked)
        size = 5
        guesses: dict[str, list[str]] = {
            "first": [target for _, target in edges[:size]],
            "last": [target for _, target in edges[-size:]],
            "oftenest": [name for name, _ in counts.most_common(size)],
            "children": [target for source, target in edges if source == asked],
            "around": [one for edge in edges for one in edge if asked in edge and one != asked],
        }
        for name, guess in guesses.items():
            totals[name] += item.task.score(tuple(sorted({*guess})), item.question)
    assert all(totals[name] / items < 0.12 for name in ("first", "last", "oftenest"))
    assert totals["children"] / items < 0.2
    assert totals["around"] / items < 0.35


def test_error_types() -> None:
    def kind(*nodes: str) -> str | None:
        found = WALKS.error_type(nodes, THREE)
        return found and found.kind

    assert kind(*THREE.gold) is None
    assert kind() == "none said, and there are nodes"
    assert kind("bcdfgh") == "nodes missing"
    assert kind(*THREE.gold, "zzzzzz") == "nodes too many"
    assert kind("bcdfgh", "zzzzzz") == "nodes missing and too many"

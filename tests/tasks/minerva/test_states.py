"""The tasks on states that change step by step."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from carrara.items.item import Item, instance_key, make, pose
from carrara.items.item_id import ItemId
from carrara.tasks.minerva._state import read_hands
from carrara.types import UndecidableError
from carrara.verify.audit import audit
from tests.helpers.minerva import context_of, items, replied


@pytest.mark.parametrize("task", ["quantity", "set_state", "theory_of_mind"])
def test_several_numbers_of_steps_are_taken_in_turn(task: str) -> None:
    made = items(f"minerva/{task}", steps="10,20")
    assert Counter(item.question.labels["steps"] for item in made) == {"10": 12, "20": 12}
    for item in made:
        before = {"quantity": 1, "set_state": 0}.get(task) or int(item.question.labels.get("agents", 0))
        assert len(context_of(item).splitlines()) == before + int(item.question.labels["steps"])
    assert "steps" not in items(f"minerva/{task}", n=1, steps="10")[0].question.labels


@pytest.mark.parametrize("task", ["set_state", "theory_of_mind"])
def test_steps_that_were_drawn_for_another_length_change_nothing(task: str) -> None:
    short = make(f"minerva/{task}", length=3001).item_id
    facts(replace(short, index=1))  # the steps of one instance are remembered
    alone = facts(short)
    facts(replace(short, length=9000))
    assert facts(short) == alone


def facts(item_id: ItemId) -> list[object]:
    """Those of an instance that is built anew."""
    return list(pose(*instance_key(item_id, None)).instance.facts)


def mentions_of(item: Item) -> dict[str, list[tuple[str, str]]]:
    """The agent and the verb of each mention of a word as one that is drawn, discarded or there at the start."""
    mentions: dict[str, list[tuple[str, str]]] = {}
    for line in context_of(item).splitlines():
        head, _, words = line.partition(": ")
        agent, _, verb = head.partition(" starts ") if " starts " in head else head.rpartition(" ")
        if verb != "swaps":
            for word in words.split(", "):
                mentions.setdefault(word, []).append((agent, verb))
    return mentions


def score_by_owner(item: Item, words: Iterable[str], mentions: dict[str, list[tuple[str, str]]]) -> float:
    """The score of words, each of which is with the agent that is first said to have it."""
    owner = {word: next((agent for agent, verb in mentions[word] if verb != "discards"), "") for word in words}
    if "agents" not in item.question.labels:
        return replied(item, "FINAL ANSWER: " + ", ".join(owner))[0]
    agents = sorted({agent for agent in owner.values() if agent})
    hands = (f"{agent}: {', '.join(word for word in owner if owner[word] == agent)}" for agent in agents)
    return replied(item, "FINAL ANSWER:\n" + "\n".join(hands))[0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("task", ["set_state", "theory_of_mind"])
@pytest.mark.parametrize(("steps", "length"), [("100", 0), ("200", 0), ("400", 0), ("", 4096)])
def test_no_count_of_mentions_tells_who_has_a_word(task: str, steps: str, length: int) -> None:
    """Words that are never discarded, that are drawn more often than discarded, or once, or an odd number of times."""
    scores = dict.fromkeys(("never discarded", "drawn more often", "drawn once", "odd"), 0.0)
    made = items(f"minerva/{task}", 24, length, **({"steps": steps} if steps else {}))
    for item in made:
        mentions = mentions_of(item)
        drawn = {word: sum(verb != "discards" for _, verb in several) for word, several in mentions.items()}
        chosen = {
            "never discarded": [word for word, several in mentions.items() if drawn[word] == len(several)],
            "drawn more often": [word for word, several in mentions.items() if 2 * drawn[word] > len(several)],
            "drawn once": [word for word in mentions if drawn[word] == 1],
            "odd": [word for word, several in mentions.items() if len(several) % 2],
        }
        for name, words in chosen.items():
            scores[name] += score_by_owner(item, words, mentions) / len(made)
    assert scores.pop("never discarded") < 0.05
    assert all(score < 0.15 for score in scores.values()), scores


@pytest.mark.parametrize("task", ["set_state", "theory_of_mind"])
def test_in_the_papers_form_no_step_is_without_effect(task: str) -> None:
    for item in items(f"minerva/{task}", 12, paper="true"):
        assert "changes nothing" not in item.text
        read_hands(context_of(item))  # which refuses steps without effect
        assert item.solve(item.messages()) == item.question.gold


@pytest.mark.slow
@pytest.mark.parametrize("task", ["set_state", "theory_of_mind"])
@pytest.mark.parametrize("params", ["", "paper=true"])
def test_both_forms_pass_the_audit(task: str, params: str) -> None:
    item_id = make(f"minerva/{task}").item_id
    assert audit(replace(item_id, params=params), 40).breaches == []


@pytest.mark.parametrize("task", ["set_state", "theory_of_mind"])
def test_evidence_is_the_last_step_of_a_word_that_changes_who_has_it(task: str) -> None:
    for item in items(f"minerva/{task}", 6):
        steps, last = context_of(item).splitlines(), dict[str, int]()
        for n, line in enumerate(steps):
            last |= dict.fromkeys(re.findall(r"\b[a-z]{3,}\b", line.partition(": ")[2]), n)
        assert {*item.question.evidence} <= {*last.values()}
        for n in item.question.evidence:
            without = "\n".join(steps[:n] + steps[n + 1 :])
            try:
                assert item.task.solve(without, {}) != item.question.gold
            except UndecidableError:
                assert task == "theory_of_mind"

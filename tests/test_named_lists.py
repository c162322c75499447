"""Reading lists under names out of replies as models write them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrara.answers.named_lists import read_named_lists
from tests.listed import folded, states_nothing, words
from tests.told import told

FRUIT = ("apple", "pear", "plum")
AB = {"Agent A": FRUIT, "Agent B": ("fig", "date")}


@pytest.mark.parametrize(
    "reply",
    [
        "Agent A: apple, pear, plum\nAgent B: fig, date",
        "Agent A: apple, pear, plum.\nAgent B: fig, date.",
        "Agent A: apple,pear,plum\nAgent B: fig,date",
        "AGENT A: APPLE, PEAR, PLUM\nAGENT B: FIG, DATE",
        "agent a: apple, pear, plum\nagent b: fig, date",
        "**Agent A:** apple, pear, plum\n**Agent B:** fig, date",
        "**Agent A**: apple, pear, plum\n\n**Agent B**: fig, date",
        "- Agent A: apple, pear, plum\n- Agent B: fig, date",
        "- **Agent A:** apple, pear, plum\n- **Agent B:** fig, date",
        "* **Agent A**: `apple`, `pear`, `plum`\n* **Agent B**: `fig`, `date`",
        "1. Agent A: apple, pear, plum\n2. Agent B: fig, date",
        "A: apple, pear, plum\nB: fig, date",
        "**A:** apple, pear, plum\n**B:** fig, date",
        "Agent A: [apple, pear, plum]\nAgent B: [fig, date]",
        'Agent A: ["apple", "pear", "plum"]\nAgent B: ["fig", "date"]',
        "Agent A = {apple, pear, plum}\nAgent B = {fig, date}",
        "Agent A - apple, pear, plum\nAgent B - fig, date",
        "Agent A has apple, pear, plum\nAgent B has fig, date",
        "Agent A ends up with apple, pear and plum.\nAgent B ends up with fig and date.",
        "Agent A ends up with apple, pear, and plum, and Agent B ends up with fig and date.",
        "Agent A ends up with: apple, pear, plum. Agent B ends up with: fig, date.",
        "Agent A: apple, pear, plum; Agent B: fig, date",
        "Agent A: apple, pear, plum, Agent B: fig, date",
        "Agent A: apple, pear, plum Agent B: fig, date",
        "Agent A: apple, pear, plum\\nAgent B: fig, date",
        "Agent A's final list: apple, pear, plum\nAgent B's final list: fig, date",
        "The final list for Agent A: apple, pear, plum\nThe final list for Agent B: fig, date",
        "Final list of words for Agent A is: apple, pear, plum.\nFinal list of words for Agent B is: fig, date.",
        "Agent A (3 words): apple, pear, plum\nAgent B (2 words): fig, date",
        "Agent A: apple, pear, plum (3 words)\nAgent B: fig, date (2 words)",
        "FINAL ANSWER: Agent A: apple, pear, plum\nAgent B: fig, date",
        "FINAL ANSWER:\nAgent A: apple, pear, plum\nAgent B: fig, date",
        "**FINAL ANSWER:**\n\n**Agent A:** apple, pear, plum\n\n**Agent B:** fig, date",
        "FINAL ANSWER: Agent A: apple, pear, plum\nFINAL ANSWER: Agent B: fig, date",
        "### Final Answer\n\n- Agent A: apple, pear, plum\n- Agent B: fig, date",
        "Agent A:\n- apple\n- pear\n- plum\n\nAgent B:\n- fig\n- date",
        "**Agent A**\n- apple\n- pear\n- plum\n\n**Agent B**\n- fig\n- date",
        "### Agent A\n1. apple\n2. pear\n3. plum\n\n### Agent B\n1. fig\n2. date",
        "Agent A\napple, pear, plum\n\nAgent B\nfig, date",
        "Agent A:\napple, pear, plum\n\nAgent B:\nfig, date",
        "Agent A:\napple\npear\nplum\nAgent B:\nfig\ndate",
        '{"Agent A": ["apple", "pear", "plum"], "Agent B": ["fig", "date"]}',
        '```json\n{\n  "Agent A": ["apple", "pear", "plum"],\n  "Agent B": ["fig", "date"]\n}\n```',
        json.dumps({"Agent A": FRUIT, "Agent B": ("fig", "date")}, indent=2),
        '{"Agent A": "apple, pear, plum", "Agent B": "fig, date"}',
        "{'Agent A': ['apple', 'pear', 'plum'], 'Agent B': ['fig', 'date']}",
        '{"final_answer": {"Agent A": ["apple", "pear", "plum"], "Agent B": ["fig", "date"]}}',
        "| Agent | Words |\n|---|---|\n| Agent A | apple, pear, plum |\n| Agent B | fig, date |",
        "Agent B: fig, date\nAgent A: apple, pear, plum",
        "$\\boxed{\\text{Agent A: apple, pear, plum; Agent B: fig, date}}$",
        "<think>Agent A: fig</think>Agent A: apple, pear, plum\nAgent B: fig, date",
        "Sure! Here are the final lists:\n\nAgent A: apple, pear, plum\nAgent B: fig, date\n\nLet me know!",
        "Agent A: apple, pear, plum\nAgent B: fig, date\n\n(Note: A discarded lime, Agent B swapped kiwi for fig.)",
        "Step 1: Agent A starts with the following words: fig, lime\nAgent B starts with the following words: kiwi\n"
        "Step 2: Agent A draws apple, pear.\nAgent A: fig, lime, apple, pear\nStep 3: Agent A swaps fig with Agent B "
        "for plum.\n\nAgent A: apple, pear, plum\nAgent B: fig, date",
        "Initial:\nAgent A: lime\nAgent B: kiwi\n\nAfter step 1:\nAgent A: lime, apple\nAgent B: fig\n\nAfter step 2:\n"
        "Agent A: apple, plum\nAgent B: fig, date\n\nFINAL ANSWER:\nAgent A: apple, pear, plum\nAgent B: fig, date",
        "Let me trace.\nA: lime\nB: kiwi\nA discards lime.\nA: apple, pear, plum\nB: fig, date",
        "FINAL ANSWER: Agent A: lime\nAgent B: kiwi\n\nWait, wrong.\n\nFINAL ANSWER: Agent A: apple, pear, plum\n"
        "Agent B: fig, date",
        "FINAL ANSWER: Agent A: lime\nAgent B: kiwi\n\nWait, I mean: Agent A: apple, pear, plum\nAgent B: fig, date",
        "Agent A has the following words: apple, pear, plum.\nAgent B has the following words: fig, date.",
        "After all the actions:\n- Agent A is left with apple, pear, plum.\n- Agent B is left with fig, date.",
        "Agent_A: apple, pear, plum\nAgent_B: fig, date",
        "A = {apple, pear, plum}, B = {fig, date}",
        "A: apple, pear, plum; B: fig, date",
        "Agent A: {kiwi, plum} → draws {apple, pear} → {apple, pear, plum}\nAgent B: {fig} → {fig, date}",
        "| Agent | Words | Count |\n|---|---|---|\n| Agent A | apple, pear, plum | 3 |\n| Agent B | fig, date | 2 |",
        '{"Agent A": {"words": ["apple", "pear", "plum"]}, "Agent B": {"words": ["fig", "date"]}}',
        "Agent A now holds apple, pear and plum, while Agent B holds fig and date.",
        "Agent A's final set is apple, pear, plum.\nAgent B's final set is fig, date.",
        "Agent A: apple, pear, plum (after Agent B swapped lime)\nAgent B: fig, date",
        "Step 1 (Agent A draws apple): A = {apple, kiwi}\nStep 2: A = {apple, pear, plum}\nStep 3: B = {fig, date}",
    ],
)
def test_two_agents(reply: str) -> None:
    assert told(read_named_lists, reply, ["Agent A", "Agent B"]) == AB


@pytest.mark.parametrize(
    ("reply", "lists"),
    [
        ("", None),
        ("I could not work it out.", None),
        ("apple, pear", None),
        ("Agent A draws apple. Agent B discards fig.", None),
        ("Agent A: apple, pear", {"Agent A": ("apple", "pear")}),
        ("Agent A: apple", {"Agent A": ("apple",)}),
        ("Agent A: none\nAgent B: fig", {"Agent A": (), "Agent B": ("fig",)}),
        ("Agent A: (empty)\nAgent B: fig", {"Agent A": (), "Agent B": ("fig",)}),
        ("Agent A: []\nAgent B: [fig]", {"Agent A": (), "Agent B": ("fig",)}),
        ('{"Agent A": [], "Agent B": ["fig"]}', {"Agent A": (), "Agent B": ("fig",)}),
        ("Agent A ends up with no words.\nAgent B: fig", {"Agent A": (), "Agent B": ("fig",)}),
        ("Agent A has no words left.\nAgent B has fig.", {"Agent A": (), "Agent B": ("fig",)}),
        ("Agent A: apple, pear or plum, fig\nAgent B: fig", {"Agent B": ("fig",)}),
        ("Agent A: apple\nAgent A: pear", {"Agent A": ("pear",)}),
        ("Agent C: kiwi, lime\nAgent A: none, apple", {"Agent A": ("none", "apple"), "Agent C": ("kiwi", "lime")}),
        ("| Agent A | - |\n| Agent B | fig |", {"Agent A": (), "Agent B": ("fig",)}),
        ("Agent A: apple, a, b\nAgent B: agent, b", {"Agent A": ("apple", "a", "b"), "Agent B": ("agent", "b")}),
        ("- Agent A\napple, pear\n- Agent B\nfig", {"Agent A": ("apple", "pear"), "Agent B": ("fig",)}),
        ("Agent A: -5, 12", {"Agent A": ("-5", "12")}),
        ("Agent A: fig\nAgent B has everything else. apple, pear", {"Agent A": ("fig",)}),
        (
            "Agents actions:\nAgent A starts with the following words: lime\nAgent B draws these words: kiwi\n\n"
            "Instruction: Write it after the text.\n\nFINAL ANSWER: Agent A: apple\nAgent B: fig",
            {"Agent A": ("apple",), "Agent B": ("fig",)},
        ),
    ],
)
def test_agents(reply: str, lists: dict[str, tuple[str, ...]] | None) -> None:
    assert told(read_named_lists, reply, ["Agent A", "Agent B", "Agent C"]) == lists


def test_names_of_one_word() -> None:
    reply = "**Alice**\n- apple\n- bob\n\nBob: fig, alice\nAl: kiwi"
    lists = {"Al": ("kiwi",), "Alice": ("apple", "bob"), "Bob": ("fig", "alice")}
    assert told(read_named_lists, reply, ["Al", "Alice", "Bob"]) == lists
    assert told(read_named_lists, reply, []) is None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(words, max_size=10), min_size=1, max_size=4))
def test_named_lists_are_read(lists: list[list[str]]) -> None:
    held = {f"Agent {'ABCD'[n]}": () if states_nothing(items) else folded(items) for n, items in enumerate(lists)}
    lines = (f"{name}: {', '.join(items) or 'none'}" for name, items in zip(held, lists, strict=True))
    assert told(read_named_lists, "\n".join(lines), list(held)) == held

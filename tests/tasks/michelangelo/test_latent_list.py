"""Latent List against Python itself, and its scorers against replies as models write them."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrara.items import registry
from carrara.items.grading import NOT_POSSIBLE, grade
from carrara.items.item import Item, make, questions_of
from carrara.items.item_id import ItemId
from carrara.rng import Rng
from carrara.types import Question
from tests.helpers.graded_answer import answered
from tests.helpers.labels import is_misread, percent_read

NAME = "michelangelo/latent_list"
START = (1, 2, 3, 4, 5, 6)
TASK = registry.load(NAME)
VIEWS = ("print", "sum", "min", "max", "len")


def run(operations: Sequence[str], values: Sequence[int]) -> list[int]:
    """What real Python makes of statements that this project wrote; nothing of a model is run."""
    scope = {"a": list(values), "print": lambda *shown: shown[0]}
    exec("\n".join(line.removeprefix(">> ") for line in operations), scope)
    return scope["a"]  # type: ignore[return-value]


def view_of(item: Item, values: Sequence[int]) -> object:
    scope = {"a": list(values), "print": lambda *shown: shown[0]}
    return eval(questions_of(item.item_id).instance.names["look"], scope)


@pytest.mark.parametrize("complexity", ["1", "5", "20", "40"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.sampled(2)
def test_gold_is_what_python_shows(complexity: str, view: str) -> None:
    for index in range(8):
        item = make(NAME, length=1 << 12, index=index, params={"complexity": complexity, "view": view})
        first, *lines, _ = re.split(r"^(?=>> a = )", item.text, flags=re.M)[-1].splitlines()
        operations = [line for line in lines[:-1] if line.startswith(">> ")]
        assert item.gold == str(view_of(item, run(operations, json.loads(first.partition(" = ")[2]))))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.sampled(2)
def test_every_operation_counts_and_no_stretch_undoes_itself(view: str) -> None:
    """Without any one operation the others can still be done, and the answer is another one."""
    for complexity in (1, 5, 20):
        for index in range(10):
            item = make(NAME, index=index, params={"complexity": str(complexity), "view": view})
            operations = [*map(str, questions_of(item.item_id).instance.facts)]
            states = [run(operations[:done], START) for done in range(complexity + 1)]
            assert len({*map(str, states)}) == len(states)
            gold = view_of(item, states[-1])
            for left_out in range(complexity):
                values = run([*operations[:left_out], *operations[left_out + 1 :]], START)
                assert view_of(item, values) not in (gold, [])


def test_filler_reveals_and_repairs_nothing() -> None:
    """On the true list, and on the list as it is without any one operation, a block ends where it began."""
    for index in range(6):
        instance = questions_of(item_id("complexity=5", index)).instance
        assert instance.filler is not None
        stream = instance.filler(Rng("blocks", index), "")
        for gap in range(6):
            before = [*map(str, instance.facts[:gap])]
            lists = [run(before, START)]
            lists += [run([*before[:left_out], *before[left_out + 1 :]], START) for left_out in range(gap)]
            for _ in range(60):
                block = [segment.text for segment in stream(gap)]
                assert all(run(block, values) == values for values in lists)
                brought = {int(number) for line in block for number in re.findall(r"(?:append|remove)\((-?\d+)", line)}
                assert brought.isdisjoint(lists[0])


def item_id(params: str = "", index: int = 0) -> ItemId:
    return ItemId(NAME, TASK.version, params, "test", 0, index, 0, 0, "chat", "", "")


def test_filler_strategies_are_mixed_evenly() -> None:
    posed = questions_of(item_id("complexity=5", 1))
    assert posed.instance.filler is not None
    tap = posed.instance.filler(Rng("mix"), "")
    kinds = {"print": 0, "reverse": 0, "cancel": 0}
    for _ in range(6000):
        texts = [segment.text for segment in tap(2)]
        kinds["print" if "print" in texts[0] else "reverse" if set(texts) == {">> a.reverse()"} else "cancel"] += 1
    assert all(1800 < n < 2200 for n in kinds.values())


QUESTION = questions_of(item_id()).questions[0]
NUMBER = replace(QUESTION, gold=-1234)
LIST = replace(QUESTION, gold=(4, -1234, 0))


REPLIES = [
    (gold, *case)
    for gold, cases in json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8")).items()
    for case in [
        *((reply, gold) for reply in cases["right"]),
        *cases["wrong"],
        *((reply, None) for reply in cases["nothing"]),
    ]
]
"""Gold answers with replies as models write them, and what each of these states: an answer or None."""
LEAST_READ = 86
"""Percent of the replies with a label that are read, at least; the others are left unparsed."""
MISREAD = {
    # Bullets and numbers of a list alone.
    "1.\n2.\n3.",
    "- 5\n- 6\n- 7\n",
    # A line that begins with the prompt's own sign, and is taken for the next example.
    "We start with a = [1, 2, 3, 4, 5, 6].\n>> a.pop(1)\n[1, 3]\n>> a[2:5]\n[5, -716, 3]",
    # A number of something else than what is asked for.
    "The list has seven elements.",
}
"""Replies that are read as something else than what they state."""


def read(gold: str, reply: str) -> str | None:
    answer = answered(TASK, reply, asked(gold))
    return None if answer is None else TASK.write(answer)


def asked(gold: str) -> Question[Any]:
    return replace(QUESTION, gold=tuple(json.loads(gold)) if gold.startswith("[") else int(gold))


@pytest.mark.parametrize(("gold", "reply", "label"), REPLIES)
def test_replies(gold: str, reply: str, label: str | None) -> None:
    answer = read(gold, reply)
    assert is_misread(answer, label) == (reply in MISREAD)
    graded = grade(TASK, asked(gold), reply)
    assert graded.score == float(answer == gold)
    assert graded.answer == answer or graded.error_type == NOT_POSSIBLE
    assert graded.answer is not None or graded.status in ("unparsed", "empty", "refused")


def test_most_replies_are_read() -> None:
    assert percent_read((read(gold, reply), label) for gold, reply, label in REPLIES) >= LEAST_READ


ENDLESS = (
    "1,",
    "1 + ",
    "(1",
    "[1 ",
    "\\[",
    "<think>",
    "\\boxed{",
    "output ",
    "**a",
    "1.\n",
    "5: ",
    ">> a\n",
    "f(",
    "5 or ",
)


@pytest.mark.parametrize("question", [NUMBER, LIST])
@pytest.mark.parametrize("part", ENDLESS)
@pytest.mark.sampled(1)
def test_hostile_repetition_ends(question: Question[Any], part: str) -> None:
    """A pattern that is not linear would take hours for these. Whatever comes out, it is at most one answer."""
    for reply in (part * (200_000 // len(part)), part + " " * 200_000 + "x"):
        assert answered(TASK, reply, question) != question.gold


@pytest.mark.parametrize(
    ("gold", "reply", "score"),
    [
        (100, "100", 1.0),
        (100, "90", 0.9),
        (100, "-90", 0.0),
        (-100, "-150", 0.5),
        (0, "0", 1.0),
        (0, "1", 0.0),
        (5, "no", 0.0),
    ],
)
def test_the_papers_metric_for_numbers(gold: int, reply: str, score: float) -> None:
    graded = grade(TASK, replace(NUMBER, gold=gold), reply)
    assert graded.scores["paper"] == pytest.approx(score)

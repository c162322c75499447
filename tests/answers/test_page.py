"""The examples of docs/explanation/reading-replies.md."""

import json
import re
from pathlib import Path

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.types import Question
from tests.helpers import process

PAGE = Path(__file__).parents[2] / "docs/explanation/reading-replies.md"
ROWS = re.findall(
    r"^\| `(.+)` \| (\w+)((?:, not a possible answer)?) \|([\w ]*)\|$", PAGE.read_text("utf-8"), re.MULTILINE
)
ROOMS = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")


def test_there_are_twelve() -> None:
    assert len(ROWS) == 12


@pytest.mark.parametrize(("reply", "answer", "impossible", "rule"), ROWS)
def test_a_reply_is_read_as_the_page_says(reply: str, answer: str, impossible: str, rule: str) -> None:
    question = Question("Where is Mary?", "kitchen", (), 0.0, options=ROOMS)
    graded = grade(registry.load("babilong/qa1"), question, reply)
    assert (graded.answer or graded.status, graded.rule or "") == (answer, rule.strip())
    assert bool(graded.error_type) == bool(impossible)


def test_show_prints_what_each_rule_finds_and_the_verdict() -> None:
    shown = process.carrara("show", "qa1", "--reply", "The answer is: the garden.").stdout
    assert re.search(r"^announced +garden$", shown, re.MULTILINE)
    assert re.search(r"^rule +announced$", shown, re.MULTILINE)
    found = json.loads(process.carrara("show", "qa1", "--json", "--reply", "Garden or kitchen.").stdout)
    assert (found["status"], found["answer"], found["rules"]["only value"]) == ("unparsed", None, [])

"""The examples of docs/explanation/reading-replies.md, and the answer type of docs/guides/task-examples.md."""

import json
import re
from pathlib import Path

import pytest

from carrara.answers import Choice
from carrara.cli.main import main
from carrara.items import registry
from carrara.items.grading import grade
from carrara.types import Question

PAGE = Path(__file__).parents[2] / "docs/explanation/reading-replies.md"
ROWS = re.findall(
    r"^\| `(.+)` \| (\w+)((?:, not a possible answer)?) \|([\w ]*)\|$", PAGE.read_text("utf-8"), re.MULTILINE
)
ROOMS = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")


@pytest.mark.parametrize(("reply", "answer", "impossible", "rule"), ROWS)
def test_a_reply_is_read_as_the_page_says(reply: str, answer: str, impossible: str, rule: str) -> None:
    question = Question("Where is Mary?", "kitchen", (), 0.0, options=ROOMS)
    graded = grade(registry.load("babilong/qa1"), question, reply)
    assert (graded.answer or graded.status, graded.rule or "") == (answer, rule.strip())
    assert bool(graded.error_type) == bool(impossible)


def test_the_type_of_the_page_reads_its_synonym() -> None:
    page = PAGE.parents[1].joinpath("guides/task-examples.md").read_text("utf-8")
    [code] = re.findall(r"```py\n(class Colour.*?)```", page, re.DOTALL)
    scope: dict[str, type] = {"Choice": Choice}
    exec(code, scope)
    extraction = scope["Colour"]().read("It is grey.", Question("Which?", "gray", (), 0.0, options=("gray", "red")))
    assert (extraction.answer, extraction.rule) == ("gray", "alone")


def test_show_prints_what_each_rule_finds_and_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "qa1", "--json", "--reply", "Garden or kitchen."]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["status"], shown["answer"], shown["rules"]["only value"]) == ("unparsed", None, [])
    assert main(["show", "qa1", "--reply", "The answer is: the garden."]) == 0
    assert re.search(r"^announced +garden$", capsys.readouterr().out, re.MULTILINE)


def test_show_says_in_what_way_an_answer_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "neun: trowels, cradles, carrots."
    assert main(["show", "rules", "--reply", wrong]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^error_type +followed a suspended rule$", shown, re.MULTILINE)
    assert re.search(r"^detail +numbers$", shown, re.MULTILINE)
    for reply, error in ((wrong, ("followed a suspended rule", "numbers")), ("", (None, None))):
        assert main(["show", "rules", "--json", "--reply", reply]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert (shown["error_type"], shown["detail"]) == error

"""The answer type that docs/guides/task-examples.md shows."""

import re
from pathlib import Path

from carrara.answers import Choice
from carrara.types import Question


def test_the_type_of_the_page_reads_its_synonym() -> None:
    page = (Path(__file__).parents[2] / "docs/guides/task-examples.md").read_text("utf-8")
    code = re.findall(r"```py\n(class Colour.*?)```", page, re.DOTALL)
    scope: dict[str, type] = {"Choice": Choice}
    exec(code[0], scope)
    found = scope["Colour"]().read("It is grey.", Question("Which colour?", "gray", (), 0.0, options=("gray", "red")))
    assert (found.answer, found.rule) == ("gray", "alone")

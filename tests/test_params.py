"""What parameters mean is said of every one, wherever people ask for it."""

import json
from dataclasses import dataclass
from typing import Literal

import pytest

from carrara import params
from carrara.cli.main import main
from carrara.items import registry
from carrara.params import meanings_of, parameters_of

TASKS = registry.names()
Capture = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Base:
    """No meaning of any field."""

    size: int = 1
    """How large
    it is."""
    silent: bool = False
    kind: Literal["a", "b"] = "a"
    """Of the base."""


@dataclass(frozen=True)
class Own(Base):
    kind: Literal["a", "b"] = "b"
    """Its own."""
    more: tuple[float, ...] = (1.0,)
    """More of it."""


@pytest.mark.parametrize("task", TASKS)
def test_each_parameter_has_a_meaning(task: str) -> None:
    """One that is missing is a literal that is missing under its field."""
    loaded = registry.load(task)
    told = parameters_of(loaded)
    assert [(one.name, one.default) for one in told] == list(params.defaults(loaded).items())
    for one in told:
        assert one.meaning.endswith("."), one
        assert one.meaning[0].isupper() or one.meaning[0] == "`", one
        assert len(one.meaning) > 10, one
        for choice in one.choices:
            needed = {"depth": "3"} if (one.name, choice) == ("overlap", "both") else {}
            params.build(loaded, task, {one.name: choice} | needed)


def test_a_second_base_class_hides_no_parameter() -> None:
    """`instruction` is a class attribute of every task, and a parameter of BABILong's."""
    for number in (1, 3, 4, 20):
        assert "instruction" in params.defaults(registry.load(f"babilong/qa{number}"))


def test_meanings_are_inherited_and_those_that_are_missing_are_left_out() -> None:
    assert meanings_of(Own) == {"size": "How large it is.", "kind": "Its own.", "more": "More of it."}
    assert meanings_of(Base)["kind"] == "Of the base."


@pytest.mark.parametrize(
    ("hint", "kind", "choices", "several"),
    [
        (int, "a whole number", (), False),
        (bool, "true or false", ("true", "false"), False),
        (Literal["a", "b"], "one of a, b", ("a", "b"), False),
        (tuple[Literal["a", "b"], ...], "one of a, b, or several A,B", ("a", "b"), True),
        (tuple[float, ...], "a number, or several A,B", (), True),
    ],
)
def test_what_may_be_given_is_told_by_the_type(
    hint: object, kind: str, choices: tuple[str, ...], several: bool
) -> None:
    assert (params.kind(hint), params.choices(hint), params.several(hint)) == (kind, choices, several)


def test_few_tests_are_explained_and_many_are_listed(capsys: Capture) -> None:
    meaning = "      The number of times that the word occurs, taken in turn.\n"
    for asked, is_shown in ((["minerva/count"], True), ([], False)):
        assert main(["tasks", *asked]) == 0
        assert (meaning in capsys.readouterr().out) == is_shown
    assert main(["tasks", "mrcr", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["explained"].keys() == row["parameters"].keys()
    assert row["explained"]["form"]["choices"] == ["chat", "text"]

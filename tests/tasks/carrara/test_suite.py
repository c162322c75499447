"""All tasks of the suite: bad parameters, variants, texts without an answer, levels of guesses, and endless replies."""

import re
from collections.abc import Callable, Sequence

import pytest

from carrara.items.grading import grade
from carrara.items.item import Item, make, questions_of
from carrara.rng import Rng
from carrara.types import UndecidableError
from carrara.util.errors import UsageError
from carrara.verify.audit import audit
from tests.helpers.carrara_suite import instance_of, item_id, text_of


@pytest.mark.parametrize(
    ("task", "params", "message"),
    [
        ("associations", {"steps": "3"}, "steps are 1 or 2"),
        ("associations", {"people": "3"}, "people go from 4 to"),
        ("associations", {"domain": "units", "people": "13"}, "people go from 4 to 12 in the domain units"),
        ("associations", {"domain": "chess"}, "chess"),
        ("census", {"classes": "2"}, "classes go from 3 to 19"),
        ("census", {"users": "1"}, "users go from 2 to 100"),
        ("census", {"lead": "11"}, "lead goes from 0 to 10"),
        ("census", {"counts": "1,1"}, "counts are different numbers from 0 to 100"),
        ("census", {"sizes": "1,2"}, "sizes have 0 among them"),
        ("census", {"records": "0"}, "records go from 1 to 1000000"),
        ("citations", {"hops": "0"}, "hops go from 1 to 4"),
        ("citations", {"people": "9"}, "people go from 10 to 64"),
        ("in_context", {"classes": "3"}, "classes go from 4 to 19"),
        ("in_context", {"noise": "0.5"}, "noise goes from 0 to 0.3"),
        ("in_context", {"shots": "2"}, "shots go from 3 to 100"),
        ("march", {"turns": "0"}, "turns go from 1 to 1000"),
        ("march", {"turns": "2", "history": "wrong"}, "turns go from 3 to 1000 with history=wrong"),
        ("march", {"keys": "5"}, "keys go from 1 to 4"),
        ("march", {"wrong": "0"}, "without wrong totals, give history=right"),
        ("march", {"wrong": "1.5"}, "wrong goes from above 0 to 1"),
        ("march", {"history": "mine"}, "mine"),
        ("ranking", {"criteria": "1"}, "criteria go from 2 to 5"),
        ("ranking", {"top": "3"}, "top goes from 4 to 100 with 4 criteria"),
        ("ranking", {"documents": "19"}, "documents go from 20 to 1000 where 10 are asked for"),
        ("rules", {"rules": "0"}, "rules go from 1 to 8 with history=given"),
        ("rules", {"rules": "8", "history": "withdrawn"}, "rules go from 1 to 7 with history=withdrawn"),
        ("rules", {"age": "1"}, "age=1.0 is not a share of the conversation above 0 and below 1"),
        ("rules", {"turns": "0"}, "turns go from 1 to 50"),
        ("rules", {"turns": "1,51"}, "turns go from 1 to 50"),
        ("sessions", {"updates": "4,65"}, "updates go from 1 to 64"),
        ("sessions", {"updates": "2,2"}, "updates takes one value or several different ones"),
        ("sessions", {"kind": "never"}, "kind"),
        ("timeline", {"facts": "7"}, "facts go from 2 to 6"),
        ("timeline", {"form": "tools"}, "form"),
        ("timeline", {"kind": "age"}, "kind"),
        ("trajectory", {"changes": "33"}, "changes go from 1 to 32"),
        ("trajectory", {"kind": "open"}, "kind"),
        ("trajectory", {"form": "json"}, "form"),
        ("walks", {"sizes": "1,1"}, "sizes are different numbers of nodes"),
        ("walks", {"sizes": "30"}, "nodes go from 65 to 1000"),
        ("walks", {"steps": "0"}, "steps go from 1 to 10"),
        ("walks", {"degree": "9"}, "degree from 1 to 8"),
        ("walks", {"nodes": "20"}, "nodes go from 45 to 1000"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(task: str, params: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        make(f"carrara/{task}", params=params)


@pytest.mark.parametrize(
    ("task", "params"),
    [
        ("associations", "domain=elements,units;people=12"),
        ("associations", "domain=kinship;steps=2"),
        ("census", "labels=true,false"),
        ("census", "classes=3;users=2"),
        ("census", "counts=0,40;sizes=0,12"),
        ("census", "lead=2.5"),
        ("citations", "hops=4"),
        ("citations", "people=64"),
        ("in_context", "classes=4;noise=0.3;shots=3"),
        ("in_context", "classes=4,16;noise=0.0,0.2"),
        ("march", "history=right;keys=1"),
        ("march", "history=slipped;turns=3"),
        ("march", "history=wrong"),
        ("march", "turns=1"),
        ("ranking", "criteria=2,5;top=5"),
        ("ranking", "top=20"),
        ("rules", "rules=8;history=given,mail"),
        ("rules", "rules=1;age=0.05,0.95"),
        ("rules", "rules=2,7;form=text"),
        ("rules", "turns=1,5"),
        ("sessions", "updates=1,32"),
        ("sessions", "kind=how_often;updates=8"),
        ("timeline", "kind=value;facts=2,6"),
        ("timeline", "form=chat"),
        ("timeline", "kind=distance;facts=6"),
        ("trajectory", "changes=1,16"),
        ("trajectory", "form=chat"),
        ("trajectory", "form=tools"),
        ("trajectory", "kind=call;changes=4"),
        ("walks", "steps=1,5;degree=2"),
        ("walks", "kind=within;sizes=0,40;nodes=100"),
    ],
)
@pytest.mark.sampled(2)
def test_variants_pass_the_audit(task: str, params: str) -> None:
    assert audit(item_id(task, params, 8192), 6).breaches == []


@pytest.mark.parametrize(
    ("task", "params"),
    [
        *((task, {}) for task in ("associations", "citations", "in_context", "ranking")),
        *(("census", {"kind": kind}) for kind in ("most", "least", "month")),
    ],
)
def test_a_text_without_facts_decides_nothing(task: str, params: dict[str, str]) -> None:
    item = make(f"carrara/{task}", params=params)
    instance = instance_of(item)
    with pytest.raises(UndecidableError):
        item.task.solve("", {**instance.names, "ask": instance.ask})


@pytest.mark.parametrize(
    ("task", "params", "items", "guesses", "error"),
    [
        ("associations", "", 40, 60, 0.03),
        ("census", "", 96, 60, 0.015),
        ("citations", "", 80, 100, 0.006),
        ("ranking", "", 30, 50, 0.01),
        ("rules", "", 112, 60, 0.01),
        ("walks", "sizes=1,2,5", 60, 60, 0.006),
        ("timeline", "facts=2,4", 90, 60, 0.015),
        *(("trajectory", f"kind={kind};changes=4", 30, 40, 0.02) for kind in ("at", "call", "count")),
        *(("sessions", f"kind={kind};updates=4", 30, 40, 0.02) for kind in ("latest", "first", "as_of", "how_often")),
    ],
)
@pytest.mark.sampled(3)
def test_the_chance_level_is_what_guesses_score(task: str, params: str, items: int, guesses: int, error: float) -> None:
    scores, levels = list[float](), list[float]()
    for index in range(items):
        posed = questions_of(item_id(task, params, index=index))
        [question] = posed.questions
        levels.append(question.chance_level)
        for n in range(guesses):
            guess = posed.task.guess(Rng(task, index, n), posed.instance, question)
            scores.append(posed.task.score(guess, question))
    assert sum(scores) / len(scores) == pytest.approx(sum(levels) / len(levels), abs=error)


def candidates(item: Item) -> Sequence[str]:
    """All answers that a question might have."""
    if isinstance(item.question.gold, int):
        return [*map(str, range(8))]
    return item.question.options or sorted({*re.findall(r"\b[b-df-hj-np-tv-z]{6}\b", text_of(item))})


@pytest.mark.parametrize("form", ["{}", "FINAL ANSWER: {}", "Answer: [{}]"])
@pytest.mark.parametrize(
    "task", ["associations", "census", "citations", "in_context", "sessions", "trajectory", "walks"]
)
@pytest.mark.sampled(2)
def test_naming_every_answer_gains_nothing(task: str, form: str) -> None:
    """At most the first answer counts, where each stands on a line of its own: a guess. Nor does the prompt help."""
    items = [make(f"carrara/{task}", index=index) for index in range(24)]
    chance = sum(item.question.chance_level for item in items)
    replies: list[Callable[[Item], str]] = [text_of, lambda item: item.text, lambda item: item.question.ask]
    for separator in ("\n", ", ", " ", "; ", " and ", ". "):
        replies.append(lambda item, separator=separator: separator.join(candidates(item)))  # type: ignore[misc]
    for reply in replies:
        assert sum(grade(item.task, item.question, form.format(reply(item))).score for item in items) <= chance + 1


@pytest.mark.parametrize(
    ("task", "kinds", "parts"),
    [
        ("associations", 1, ("Pukvav Makvase, ", "Pukvav ", "not Pukvav Makvase. ", "**", "- ", "It is ")),
        ("census", 6, ("—", "17 ", "bcdfgh, ", "metals ", "May ", "equal or ", "none ", "1. ", "not ")),
        ("citations", 1, ("bcdfgh, ", "[bcdfgh] ", "Zipvug Tomkede ", "[", "- ", "It is not ", "`")),
        ("in_context", 1, ("KQWZT ", "=> KQWZT\n", "label ", "birds, ")),
        ("march", 1, ("[1] ", "\n[2] 5", "12 ", "-", "[1] 12\n[2] 5\n", "\n    ", "no, ")),
        ("ranking", 1, ("bcdfgh, ", "bcdfgh > ", "[bcdfgh] ", "1. bcdfgh\n", "1. ", "document ", "> ")),
        ("rules", 1, ("figs, ", "12 ", "zwölf ", "Mood: calm\n", "**", "% ", "- ", "User: ")),
        ("sessions", 4, ("Ashford, ", "not said or ", "33 ", "Ash", "Session with Ada on 1 May 2020\n", "— ", "[")),
        ("timeline", 3, ("A, B, C ", "C, ", "33 ", "Ashford, ", "club ", "1 May 2001 ", "Ada's move from ", "[")),
        (
            "trajectory",
            6,
            ("Ashford, ", "none or ", "bcdfgh ", "call ", "33 ", '{"ok": true} ', "2031-01-01 12:00 ", "["),
        ),
        ("walks", 1, ("—", "-", "bcdfgh, ", "bcdfgh -> ", "[", "1. ", "node ", "bcdfgh and ", "there is ")),
    ],
)
@pytest.mark.sampled(1)
def test_hostile_repetition_ends(task: str, kinds: int, parts: Sequence[str]) -> None:
    """A pattern that is not linear would take hours for these."""
    for index in range(kinds):
        item = make(f"carrara/{task}", index=index)
        for part in parts:
            for reply in (part * (30_000 // len(part)), part + " " * 30_000 + "x", f"FINAL ANSWER: {part * 9_000}!"):
                assert grade(item.task, item.question, reply).score == 0.0, part

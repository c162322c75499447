"""IDK: stories that leave something out, and replies that say so."""

import re
from collections import Counter

import pytest

from carrara.audit import audit
from carrara.grading.grade import grade
from carrara.items import make, questions_of
from carrara.recipe import Recipe
from carrara.suites import load
from carrara.suites.michelangelo import _scenes
from carrara.suites.michelangelo.idk import UNKNOWN
from carrara.writings.people import NAMES

TASK = "michelangelo/idk"


def recipe(params: str = "", length: int = 0, index: int = 0, style: str = "chat") -> Recipe:
    return Recipe(TASK, load(TASK).version, params, "test", 0, index, 0, length, style, "", "gpt2")  # type: ignore[arg-type]


@pytest.mark.parametrize("haystack", ["letters", "words", "stories", "sotu"])
@pytest.mark.parametrize("place", ["start", "anywhere", "spread"])
def test_variants_pass_the_audit(haystack: str, place: str) -> None:
    given = [f"asks=both;haystack={haystack}", *([] if place == "start" else [f"place={place}"])]
    params = ";".join(given) if haystack != "letters" else ";".join(["asks=both", *given[1:]])
    report = audit(recipe(params, 2048), 12)
    assert report.breaches == []
    assert (report.items, report.needed) == (24, 12)


def test_base_models_get_the_same_text() -> None:
    assert audit(recipe("", 1024, style="base"), 8).breaches == []


def test_there_are_scenes_and_attributes_enough() -> None:
    scenes = _scenes.scenes()
    assert len(scenes) >= 40
    assert sum(len(scene.attributes) for scene in scenes) >= 300
    asks = [attribute.ask for scene in scenes for attribute in scene.attributes]
    assert len(set(asks)) == len(asks)
    for scene in scenes:
        for attribute in scene.attributes:
            assert len(attribute.told) >= 2
            assert len(set(attribute.values)) == len(attribute.values) >= 8


def test_what_is_told_is_read_back_and_nothing_else_is() -> None:
    """Every way to tell every value of every attribute; and no sentence tells two attributes."""
    for scene in _scenes.scenes():
        lines = [*scene.openings, *scene.details]
        for attribute in scene.attributes:
            for way in attribute.told:
                for value in attribute.values:
                    line = way.replace("{value}", value).replace("{name}", "Ada").replace("{Name}", "Ada")
                    assert attribute.read("Ada", line) == {value}
                    assert attribute.read("Agnes", line) == set()
            rest = " ".join(lines).replace("{name}", "Ada").replace("{Name}", "Ada")
            assert attribute.read("Ada", rest) == set()


def test_seven_of_ten_cannot_be_known_and_letters_are_even() -> None:
    posed = [questions_of(recipe(index=index)) for index in range(600)]
    golds = [(one.questions[0].gold, one.questions[0].options) for one in posed]
    for block in range(0, 600, 10):
        assert sum(gold == UNKNOWN for gold, _ in golds[block : block + 10]) == 7
    letters = Counter(options.index(gold) for gold, options in golds)
    assert letters[3] == 420
    assert all(40 < letters[place] < 80 for place in range(3))


def test_no_choice_is_hinted_at_where_the_story_is_silent() -> None:
    for index in range(400):
        posed = questions_of(recipe("asks=unknown", index=index))
        question, text = posed.questions[0], " ".join(posed.world.structure.story.sentences).lower()
        assert question.needs == ()
        assert not [choice for choice in question.options[:3] if choice.lower() in text]


def test_a_pair_has_one_story() -> None:
    posed = questions_of(recipe("asks=both"))
    unknown, known = posed.questions
    assert (unknown.gold, unknown.labels["answer"]) == (UNKNOWN, "unknown")
    assert known.gold in " ".join(posed.world.structure.story.sentences)
    assert [len(question.needs) for question in posed.questions] == [0, 1]


def test_strangers_are_called_otherwise() -> None:
    text = make(TASK, length=4096, index=1, params={"haystack": "stories", "asks": "both"}).text
    name = questions_of(recipe("asks=both", index=1)).world.structure.story.name
    context = text.rpartition("Text: ")[2].rpartition("Question:")[0]
    assert len({name for name in NAMES if re.search(rf"\b{name}\b", context)}) > 10
    assert name in context


OPTIONS = ("Biscuit", "Pepper", "in the park", UNKNOWN)


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("(B)", "Pepper"),
        ("B", "Pepper"),
        ("b", "Pepper"),
        ("B)", "Pepper"),
        ("**B**", "Pepper"),
        ("B. Pepper", "Pepper"),
        ("(B) Pepper", "Pepper"),
        ("The answer is (B) Pepper.", "Pepper"),
        ("Answer: B", "Pepper"),
        ("Pepper", "Pepper"),
        ("The dog is called Pepper.", "Pepper"),
        ("the park", "in the park"),
        ("In the park.", "in the park"),
        ("\\boxed{B}", "Pepper"),
        ("<think>A? No.</think>B", "Pepper"),
        ("(D)", UNKNOWN),
        ("D", UNKNOWN),
        ("(D) I don't know", UNKNOWN),
        ("I don’t know", UNKNOWN),
        ("I do not know.", UNKNOWN),
        ("The text does not say.", UNKNOWN),
        ("The text doesn't mention the name of the dog.", UNKNOWN),
        ("It is not stated in the text.", UNKNOWN),
        ("There is no information about that in the text.", UNKNOWN),
        ("That cannot be determined from the text.", UNKNOWN),
        ("Unknown", UNKNOWN),
        ("The text tells of a walk, but the dog's name is never mentioned. So the answer is (D).", UNKNOWN),
        ("", None),
        ("(A), (B), (C) or (D)", None),
        ("(A) Biscuit\n(B) Pepper\n(C) in the park\n(D) I don't know", None),
        ("Biscuit or Pepper", None),
        ("Rex", None),
        ("E", None),
        ("A B C D", None),
    ],
)
def test_replies(reply: str, wanted: str | None) -> None:
    posed = questions_of(recipe())
    question = type(posed.questions[0])(ask="?", gold="Pepper", needs=(), floor=0.7, options=OPTIONS)
    assert posed.task.parse(reply, question) == wanted


def test_a_long_reply_is_read_at_once() -> None:
    posed = questions_of(recipe())
    for text in ("(A) ", "I do not know ", "not ", "\n", "the park ", "D) "):
        grade(posed.task, posed.questions[0], text * (1_000_000 // len(text)))

"""What replies to bAbI questions say: as real models phrase them, perfect ones, and hostile ones."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.rng import Rng
from carrara.tasks.babilong._lexicon import MOTIVES
from carrara.tasks.babilong._task import TASKS, load_task
from carrara.tasks.babilong._words import NOTHING, VOCABULARIES, Cast, Vocabulary
from carrara.types import Question
from tests.helpers.babi import parts_of, write_story
from tests.helpers.graded_answer import answered
from tests.helpers.growth import grows_in_proportion
from tests.helpers.labels import is_misread, percent_read

REPLIES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "replies.json").read_text("utf-8"))
"""Replies with the answer that a careful reader finds in them, or none; judged before the code had read them."""
LEAST_READ = 65
"""Percent of the replies with a label that are read, at least. The others are left unparsed."""
MISREAD = {
    # Two answers: a second announcement does not end the first.
    "The answer is garden. Or the answer is kitchen.",
    "The answer is the garden, and the answer is the kitchen.",
    "The answer is the garden or the kitchen. Mary was in the office.",
    # A question that the model makes up.
    "Question: Where is Daniel?\nAnswer: garden",
    # Statements about something else than the question, which has no capital or names somebody whom they name too.
    "The apple is in the garden.",
    "Mary gave Bill the football.",
    "Gertrude is afraid of cats.",
    "Yann will go to the kitchen.",
    "Jason was tired.",
    # What somebody is, and not what she is afraid of.
    "Winona is a sheep.",
}
"""Replies that are read as something else than their labels."""


def read(task: int, question: str, options: Sequence[str], reply: str) -> str | None:
    found: str | None = answered(load_task(task), reply, Question(question, "", (), 0.0, options=tuple(options)))
    return found


def own(task: int) -> tuple[str, ...]:
    return load_task(task).answer.labels(load_task(task).cast)


def options(task: int, question: str, cast: Cast | None = None) -> tuple[str, ...]:
    task_name = load_task(task)
    return task_name.options(task_name.query(question), cast or task_name.cast)


def cast_of(labels: list[str]) -> Cast:
    """A cast with these words, whatever their role."""
    words = tuple(word for word in labels if word[0].islower() and word not in (*MOTIVES, NOTHING))
    people = tuple(word for word in labels if word[0].isupper())
    moods = tuple(word for word in labels if word in MOTIVES)
    return Cast(people, places=words, things=words, animals=words, colours=words, moods=moods)


def is_answer(task: int, answer: str, possible: tuple[str, ...]) -> bool:
    found = parts_of(task, answer)
    said_once = len(found) == answer.count(",") * (task == 8) + 1
    return found <= set(possible) and said_once and ("nothing" not in found or len(found) == 1)


def say(task: int, question: str, reply: str) -> str | None:
    return read(task, question, options(task, question), reply)


def answers_of(group: dict[str, Any]) -> list[tuple[str, str | None, str | None]]:
    """Return the replies of a group, each with the answer that is read and its label."""
    task, question = group["task"], group["question"]
    possible = options(task, question, None if group["labels"] == "classic" else cast_of(group["labels"]))
    return [(reply, read(task, question, possible, reply), label) for reply, label in group["replies"]]


@pytest.mark.parametrize("group", REPLIES, ids=lambda group: f"qa{group['task']}-{group['question']}")
def test_replies_of_real_models(group: dict[str, Any]) -> None:
    misread = {reply for reply, answer, label in answers_of(group) if is_misread(answer, label)}
    assert misread == {reply for reply, _ in group["replies"] if reply in MISREAD}


def test_most_replies_of_real_models_are_read() -> None:
    assert percent_read((answer, label) for group in REPLIES for _, answer, label in answers_of(group)) >= LEAST_READ


@pytest.mark.parametrize(
    ("task", "question", "possible"),
    [
        (1, "Where is Mary?", own(1)),
        (3, "Where was the milk before the office? ", ("bathroom", "bedroom", "garden", "hallway", "kitchen")),
        (4, "What is the office east of?", ("bathroom", "bedroom", "garden", "hallway", "kitchen")),
        (5, "What did Fred give to Bill? ", ("apple", "football", "milk")),
        (5, "Who gave the milk to Jeff?", ("Bill", "Fred", "Mary")),
        (5, "Who received the milk?", ("Bill", "Fred", "Jeff", "Mary")),
        (8, "What is Mary carrying?", ("apple", "football", "milk", "nothing")),
        (14, "Where was Bill before the park?", ("bedroom", "cinema", "kitchen", "office", "school")),
        (20, "Where will jason go?", ("bedroom", "garden", "kitchen")),
        (20, "Why did jason go to the garden?", ("hungry", "thirsty", "bored", "tired")),
    ],
)
def test_options(task: int, question: str, possible: tuple[str, ...]) -> None:
    assert options(task, question) == possible


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(20)
def test_the_answer_is_an_option(task: int, vocabulary: Vocabulary) -> None:
    for index in range(30):
        told = write_story(task, Rng("options", task, index), vocabulary)
        for question in told.questions:
            possible = options(task, question.text, told.cast)
            assert parts_of(task, question.answer) <= set(possible)
            assert task in (6, 9, 10, 17, 18, 19, 7) or not any(f"the {one}?" in question.text for one in possible)


PERFECT = (
    "{}",
    "{}.",
    "**{}**",
    "**{}.**",
    "`{}`",
    "The answer is {}.",
    "The answer is **{}**.",
    "Answer: {}",
    "- Answer: {}",
    "- response: {}",
    "Final answer: {}",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "<think>no, one garden or the kitchen, yes</think>\n\n{}",
    "{}\n\nQuestion: Where is Nobody?\nAnswer: kitchen",
    "{}\n<context>\nMary went to the kitchen.",
    "{}</s>",
)


@given(
    task=st.sampled_from(TASKS),
    fresh=st.booleans(),
    seed=st.integers(0, 10_000),
    form=st.sampled_from(PERFECT),
    way=st.sampled_from([str, str.upper, str.capitalize, "the {}".format]),
)
def test_perfect_replies(task: int, fresh: bool, seed: int, form: str, way: Any) -> None:
    """Every option of a drawn cast, said alone or announced, in any case, is read as itself."""
    told = write_story(task, Rng("perfect", task, seed), "fresh" if fresh else "classic")
    question = told.questions[0]
    possible = options(task, question.text, told.cast)
    named = task in (1, 2, 3, 4, 5, 11, 12, 13, 14, 15)
    answer = load_task(task).answer
    for option in (*possible, question.answer):
        said = way(option) if named else option
        found = read(task, question.text, possible, form.format(said))
        assert found is not None
        assert answer.score(found, option) == 1


@given(
    task=st.sampled_from(TASKS), seed=st.integers(0, 10_000), separator=st.sampled_from([", ", " or ", "/", " and "])
)
def test_naming_every_option_gains_nothing(task: int, seed: int, separator: str) -> None:
    """But where all of them are an answer: everything that somebody may carry, without `nothing`."""
    told = write_story(task, Rng("all", task, seed), "fresh")
    question = told.questions[0]
    possible = options(task, question.text, told.cast)
    for reply in (separator.join(possible), f"The answer is {separator.join(possible)}."):
        assert read(task, question.text, possible, reply) is None


SCRAPS = (
    *("Mary", "Fred", "the garden", "kitchen", "milk", "apple", "mice", "wolf", "gray", "tired", "yes", "no", "maybe"),
    *("one", "2", "none", "nothing", "south", "w", "is", "was", "gave", "to", "not", "or", "and", "if", "carrying"),
    *("Answer:", "Question:", "Context:", "<think>", "</think>", "**", "\n", "(", ")", "\\boxed{", "}", ",", ".", "→"),
)


@given(
    task=st.sampled_from(TASKS),
    reply=st.one_of(st.text(), st.lists(st.sampled_from(SCRAPS), max_size=30).map(" ".join)),
)
def test_whatever_is_said_an_answer_is_an_option(task: int, reply: str) -> None:
    question = write_story(task, Rng("any", task)).questions[0].text
    possible = options(task, question)
    answer = read(task, question, possible, reply)
    assert answer is None or is_answer(task, answer, possible)


@pytest.mark.parametrize(
    ("task", "question", "reply"),
    [
        # Two are offered, and only then one is chosen: a person would take it, this reader leaves it open.
        (1, "Where is Sandra?", "It's either the bathroom or the bedroom, but I'd go with the bedroom."),
        (1, "Where is Mary?", "The answer is the garden or the kitchen. Mary was in the office."),
        (1, "Where is Mary?", "Mary is not actually in the garden."),
        # An example that the model makes up, with facts of its own.
        (1, "Where is Mary?", "Context: Mary moved to the bedroom. Master pays the agreed fee."),
        (1, "Where is Mary?", "Question: Where is Daniel?\nAnswer: garden"),
        (4, "What is the hallway east of?", "- response: The hallway is east of the post-office."),
        # Letters of other words, and words that hold labels.
        (7, "How many objects is Mary carrying?", "Someone is alone and done, noneof it."),
        (6, "Is Mary in the garden?", "Not knowing, I cannot note anything now. Yesterday?"),
        (19, "How do you go from the garden to the office?", "It is John's, and Mary's; see south-west."),
        (15, "What is emily afraid of?", "catalogues, wolfram, mousetraps"),
    ],
)
def test_what_states_nothing(task: int, question: str, reply: str) -> None:
    assert (say(task, question, reply) is not None) == (reply in MISREAD)


@pytest.mark.parametrize(
    ("task", "question", "reply", "answer"),
    [
        (1, "Where is Mary?", "Mary is in the garden, the kitchen is empty.", "garden"),
        (1, "Where is Mary?", "It is not said if Mary is in the garden; she went to the kitchen.", "kitchen"),
        (5, "Who gave the milk to Bill?", "Mary did not give the milk to Bill, Fred did.", "Fred"),
        (6, "Is Mary in the garden?", "Mary is in the garden at first.", None),
        (8, "What is Mary carrying?", "In the end John is holding the milk.", None),
        (16, "What color is Lily?", "As a swan Bernhard is white.", None),
        (1, "Where is Mary?", "garden\n\nQuestion: Where is Mary?\nAnswer: kitchen", "garden"),
    ],
)
def test_what_stands_around_a_label_counts(task: int, question: str, reply: str, answer: str | None) -> None:
    assert is_misread(say(task, question, reply), answer) == (reply in MISREAD)


def test_a_label_inside_the_place_that_a_question_names() -> None:
    places = ["wine bar", "bar", "inn", "spa", "zoo", "mill"]
    question = "Where was the harp before the wine bar?"
    possible = options(3, question, cast_of(places))
    assert read(3, question, possible, "Before the wine bar, the harp was at the inn.") == "inn"
    assert read(3, question, possible, "The wine bar.") is None
    assert read(3, question, possible, "It was in the bar before the wine bar.") in ("bar", None)


QUESTIONS = {
    1: "Where is Mary?",
    3: "Where was the milk before the kitchen?",
    4: "What is east of the kitchen?",
    5: "Who gave the football?",
    6: "Is Mary in the garden?",
    7: "How many objects is Mary carrying?",
    8: "What is Mary carrying?",
    15: "What is emily afraid of?",
    17: "Is the red sphere above the blue square?",
    18: "Does the chest fit in the box?",
    19: "How do you go from the garden to the office?",
}
ENDLESS = (
    "{0} ",
    "{0} or ",
    "{0} ({1}) ",
    "{0}, and then ",
    "Answer: x {0} {1}. ",
    "not {0}\n",
    "Mary is in the ",
    "gave the football to {0} ",
    "the red sphere is above the ",
    "the chest fits in the ",
    "go south to the ",
    "Question: ",
    "Context: {0}. ",
    "because ",
    "<think>",
    "(",
    "\n",
    "no information ",
)


@pytest.mark.parametrize("part", ENDLESS)
@pytest.mark.parametrize("task", QUESTIONS)
@pytest.mark.sampled(5, 66)
def test_hostile_repetition_ends(task: int, part: str) -> None:
    """A pattern that is far from linear would not end."""
    question = QUESTIONS[task]
    possible = options(task, question)
    once = part.format(*possible)
    answer = read(task, question, possible, once * (100_000 // len(once)))
    assert answer is None or is_answer(task, answer, possible)


COSTLY = {
    1: ("1. {}x", "\n"),
    2: ("{}", "1.\n"),
    4: ("{}", "Answer: {0}\nAnswer: {1}\n"),
    5: ("{}", "Fred got it from {0}, who got it from {1}. "),
    6: ("{}", "Mary is not in the garden "),
    7: ("{}", "1 "),
    8: ("{}", "`{0}`, not `{1}`. Wait, "),
    9: ("whether {}", "John is in the kitchen "),
    10: ("Bill is in the park. {}", "Initially, no! "),
    14: ("so {}", "so: {0}, "),
    15: ("...{}", '"... no, '),
    17: ("whether {}", "the red sphere is to the left of the triangle "),
    18: ("{}", 'It is false that "the chest fits in the box" is false? '),
    19: ("{}", "s,w, not w,s. "),
    20: ("Sumit: {}", "Yann: {0}, "),
}
ASKED = QUESTIONS | {
    2: "Where is the milk?",
    9: "Is John in the kitchen?",
    10: "Is Bill in the park?",
    14: "Where was Bill before the park?",
    17: "Is the red sphere to the left of the triangle?",
    20: "Where will sumit go?",
}


@pytest.mark.parametrize("task", COSTLY)
@pytest.mark.sampled(2)
def test_a_reply_ten_times_as_long_takes_ten_times_as_long(task: int) -> None:
    template, part = COSTLY[task]
    possible = options(task, ASKED[task])
    once = part.format(*possible)

    def read_long(size: int) -> None:
        read(task, ASKED[task], possible, template.format(once * (size // len(once))))

    assert grows_in_proportion(read_long, 200_000)


def test_a_million_characters_are_read() -> None:
    assert say(1, QUESTIONS[1], "It was a dark night. " * 50_000 + "Mary is in the garden.") == "garden"
    assert say(8, QUESTIONS[8], "word " * 200_000 + "\nAnswer: the milk and the apple") == "apple,milk"

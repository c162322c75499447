"""IDK: stories that leave something out, and replies that say so."""

import re
from collections import Counter
from math import sqrt
from statistics import fmean, pvariance

import pytest

from carrara.generators import stories
from carrara.items.grading import grade
from carrara.items.item import make, questions_of
from carrara.items.item_id import ItemId
from carrara.items.registry import load
from carrara.rng import Rng
from carrara.tasks.michelangelo.idk import UNKNOWN
from carrara.types import Question
from carrara.util.errors import UsageError
from carrara.verify.audit import audit
from tests.helpers.graded_answer import answered
from tests.helpers.labels import is_misread, percent_read

TASK = "michelangelo/idk"


def item_id(params: str = "", length: int = 0, index: int = 0, style: str = "chat") -> ItemId:
    return ItemId(TASK, load(TASK).version, params, "test", 0, index, 0, length, style, "", "gpt2")  # type: ignore[arg-type]


@pytest.mark.parametrize("haystack", ["letters", "words", "stories", "sotu"])
@pytest.mark.parametrize("place", ["start", "anywhere", "spread"])
@pytest.mark.sampled(1)
def test_variants_pass_the_audit(haystack: str, place: str) -> None:
    given = [f"about=both;haystack={haystack}", *([] if place == "start" else [f"place={place}"])]
    params = ";".join(given) if haystack != "letters" else ";".join(["about=both", *given[1:]])
    report = audit(item_id(params, 2048), 12)
    assert report.breaches == []
    assert (report.items, report.needed) == (24, 12)


def test_what_is_told_is_read_back_and_nothing_else_is() -> None:
    """Every way to tell every value of every attribute; and no sentence tells two attributes."""
    for scene in stories.scenes():
        lines = [*scene.openings, *scene.details]
        for attribute in scene.attributes:
            for way in attribute.forms:
                for value in attribute.values:
                    line = way.replace("{value}", value).replace("{name}", "Ada").replace("{Name}", "Ada")
                    assert attribute.read("Ada", line) == {value}
                    assert attribute.read("Agnes", line) == set()
            rest = " ".join(lines).replace("{name}", "Ada").replace("{Name}", "Ada")
            assert attribute.read("Ada", rest) == set()


def test_seven_of_ten_cannot_be_known_and_letters_are_even() -> None:
    posed = [questions_of(item_id(index=index)) for index in range(600)]
    golds = [(one.questions[0].gold, one.questions[0].options) for one in posed]
    for block in range(0, 600, 10):
        assert sum(gold == UNKNOWN for gold, _ in golds[block : block + 10]) == 7
    letters = Counter(options.index(gold) for gold, options in golds)
    assert letters[3] == 420
    assert all(40 < letters[place] < 80 for place in range(3))


def test_what_seems_to_be_an_answer_is_none() -> None:
    """Every way to tell something, said of somebody else, of another time, denied or dreamt; and what looks like it."""
    for scene in stories.scenes():
        others = ["Otto", *(f"Ada's {kin}" for kin in scene.kin)]
        assert len(others) > 1
        for attribute in scene.attributes:
            for n, way in enumerate(attribute.forms):
                value = attribute.values[n]
                for kind in stories.kinds(way):
                    for other in others:
                        line = stories.name_people(kind(Rng(n), way), "Ada", other).replace("{value}", value)
                        assert (line, attribute.read("Ada", f"of {line} A")) == (line, set())
                for roll in range(8):
                    line = stories.name_people(stories.state_answer(Rng(roll), way), "Ada").replace("{value}", value)
                    assert (line, attribute.read("Ada", f"of {line} A")) == (line, {value})


def occurrences(question: Question[str], text: str) -> tuple[list[int], list[float]]:
    """How often each of three choices is said, and the places of those that are, from 0 to 1."""
    bare = [re.sub(r"^(?:an?|the) ", "", choice.lower()) for choice in question.options[:3]]
    found = [[each.start() / len(text) for each in re.finditer(re.escape(choice), text.lower())] for choice in bare]
    return [len(each) for each in found], [place for each in found for place in each]


@pytest.mark.slow
def test_choices_occur_alike_whether_it_can_be_known_or_not() -> None:
    number: dict[str, Counter[int]] = {"known": Counter(), "unknown": Counter()}
    slots: dict[str, Counter[int]] = {"known": Counter(), "unknown": Counter()}
    places: dict[str, list[float]] = {"known": [], "unknown": []}
    answered_first = 0
    for index in range(1500):
        posed = questions_of(item_id("about=both", index=index))
        text = " ".join(posed.instance.structure.story.sentences)
        for question in posed.questions:
            kind = question.labels["answer"]
            times, at = occurrences(question, text)
            assert set(times) <= {0, 1}
            number[kind][sum(times)] += 1
            slots[kind].update(n for n, said in enumerate(times) if said)
            places[kind] += at
            if kind == "known" and sum(times) > 1:
                told = question.options.index(question.gold)
                answered_first += occurrences(question, text)[1][sum(times[:told])] == min(at)
    for count in (1, 2, 3):
        assert all(450 < number[kind][count] < 550 for kind in number)
    for slot in range(3):
        assert all(930 < slots[kind][slot] < 1070 for kind in slots)
    for quarter in (0.25, 0.5, 0.75):
        below = [sum(place < quarter for place in places[kind]) / len(places[kind]) for kind in places]
        assert abs(below[0] - below[1]) < 0.04
    assert 370 < answered_first < 470  # of a thousand with two or three, half and a third


@pytest.mark.parametrize("haystack", ["words", "stories"])
@pytest.mark.slow
def test_filler_says_choices_as_often_whether_it_can_be_known_or_not(haystack: str) -> None:
    said: dict[str, list[int]] = {"known": [], "unknown": []}
    for index in range(100):
        for n, kind in enumerate(("unknown", "known")):
            item = make(TASK, length=2048, index=index, params={"haystack": haystack, "about": "both"}, question=n)
            context = item.text.rpartition("Text: ")[2].rpartition("Question:")[0]
            said[kind].append(sum(occurrences(item.question, context)[0]))
    means = [fmean(said[kind]) for kind in said]
    error = sqrt(sum(pvariance(said[kind]) / len(said[kind]) for kind in said))
    assert abs(means[0] - means[1]) < 3 * error
    assert min(means) > 1


def test_the_instruction_may_leave_out_what_to_do_where_the_answer_is_not_told() -> None:
    said, unsaid = (make(TASK, params={"rule": rule}).text for rule in ("said", "unsaid"))
    assert "if it does not give the answer" in said
    assert "if it does not give the answer" not in unsaid
    assert said.partition("FINAL ANSWER")[2] == unsaid.partition("FINAL ANSWER")[2]
    with pytest.raises(UsageError, match="rule=never is not one of"):
        make(TASK, params={"rule": "never"})


OPTIONS = ("Biscuit", "Pepper", "in the park", UNKNOWN)
BISCUIT = """
A | a | (A) | A. | A) | a) | **A** | `A` | [A] | \\boxed{A} | Answer: A | The answer is A | answer: a | Option A
option a | I choose A. | I'd go with A | It's A. | A is correct. | **A** is right. | A, because the text says so.
A - Biscuit | A: Biscuit | A, Biscuit | Therefore, A | The correct option is A | The answer is A as the text says
I pick A | {"answer": "A"} | A is the right answer because B and C are not mentioned. | <answer>A</answer> | A or B? A.
{"selected_option": "A"}
"""
PEPPER = """
(B) | B | b | B) | **B** | B. Pepper | (B) Pepper | The answer is (B) Pepper. | Answer: B | Pepper
The dog is called Pepper. | \\boxed{B} | \\boxed{\\text{(B) Pepper}} | <think>A? No.</think>B | [[B]] | __B__ | $B$
（B） | Ｂ | <answer>B</answer> | <B> | B: Pepper | B – Pepper | b. Pepper | Pepper (B) | B (Pepper)
The correct choice is: B | Correct option: (b) | Hence (B). | => B | I pick option B. | B it is. | The letter is B.
Option (B): Pepper | pepper | PEPPER | “Pepper” | It is Pepper. | Only Pepper is mentioned in the text.
{"answer": "B"} | {'answer': 'B'} | {"answer": "B", "confidence": "not sure"} | ans: b
{"selected_option": "b", "why": "Biscuit is a cat"}
{"choice": "B", "explanation": "The text says Pepper, not Biscuit."} | {"letter": "B", "text": "Pepper"} | answer=b
{"reasoning": "Biscuit is not mentioned, the park is not mentioned.", "answer": "B"} | My choice is B | B/Pepper
The answer is (B) because the text says that Ada's dog is called Pepper.
B. The other options are not mentioned in the text.
B. The text says that the dog is called Pepper. Biscuit is not mentioned.
Pepper. The text doesn't mention the other two. | The answer is Pepper. The text does not mention Biscuit.
Biscuit is not mentioned in the text, so the answer is Pepper. | (A) is wrong, (B) is right, (C) is wrong.
(A) is tempting, but the correct answer is (B). | Not (A), not (C), so (B). | B, not A. | Not Biscuit but Pepper.
A and C aren't mentioned, so B. | I don't know is wrong; it is Pepper. | (B), since no other dog is mentioned
Although the text does not say so directly, the answer is (B). | B, since the text doesn't mention any other dog.
(D) would be right if the text did not say, but it says Pepper, so the answer is (B). | Without a doubt, B.
The text does not mention Biscuit or the park; it says Pepper. | Pepper? Yes. So (B).
Choices: A, B, C, D. Answer: (B) | probably (B) | Probably B. | I think it's Pepper.
I think the answer is (B), but I'm not sure. | I'm not sure, but I think it's (B).
Probably (B), though the text does not say so explicitly. | My best guess is (B).
I don't know for sure, but probably (B). | The text doesn't say, but my best guess is (B).
B, but the text is not entirely clear. | Most likely Pepper. | B? | The second option
"""
PARK = """
the park | In the park. | park | Ada found the dog in the park. | (A)... no, (C). | It's (A). Wait, no, it's (C).
by elimination, C
"""
NOT_KNOWN = """
(D) | D | d | (D) I don't know | I don’t know | I do not know. | i dont know | I really don't know. | I have no idea.
No idea | dunno | The text does not say. | It doesn't say. | The text doesn't mention the name of the dog.
It is not stated in the text. | Not mentioned. | There is no information about that in the text.
That cannot be determined from the text. | Unknown | not stated | Not given. | No name is given. | None mentioned
We are not told. | We're not told. | The name is never revealed. | N/A | The last choice.
The text tells of a walk, but the dog's name is never mentioned. So the answer is (D).
The text says nothing about the dog's name. | The text is silent on that. | Not enough information.
Information not provided | Insufficient data. | I can't tell. | Hard to say. | The answer is not in the text.
The text never says what the dog is called. | The dog's name is left out. | It is left open.
The text makes no mention of the dog's name. | I cannot answer this question from the given text.
It's impossible to know. | There is no dog in the text. | Nobody says what the dog is called.
\\boxed{\\text{not stated}} | Answer: not mentioned | Not stated, hence (D).
(D) – the text only mentions that the cat is called Pepper. | D. The text mentions Pepper, but that is the cat.
The text mentions Pepper, but it does not say that it is the dog's name. | (A) no, (B) no, (C) no, so (D).
{"answer": "unknown"} | I don't know whether it is Biscuit or Pepper. | It is not stated whether it is (A), (B) or (C).
A, B and C aren't mentioned. | Neither Biscuit nor Pepper nor the park is mentioned.
None of (A), (B) or (C) is mentioned, so (D). | The answer is "I don't know".
The text doesn't mention Biscuit, Pepper or the park. | Eliminate (A) and (B). (C) is wrong too. So (D).
Nobody is named. | The text does not say. If I had to guess, I would say (B).
Since the text does not provide the name, I would choose D.
"""
OPEN = """
Rex | E | (E) | A B C D | A, B, C, D | (A), (B), (C) or (D) | Biscuit or Pepper | A or B | Either (A) or (B). | B and C
B/C | B, C | A or D | Pepper or I don't know | Pepper, maybe Biscuit
A) Biscuit B) Pepper C) in the park D) I don't know | (B) Biscuit | B. I don't know
Could be Biscuit, could be Pepper. | A dog. | A walk. | I'm sorry, but I can't help with that.
I can't assist with that request. | None of the above. | Not (A). | The answer is not B. | It is not Pepper. | Yes | 42
... | The answer is | {"answer": null} | <think>(B)
"""
LINES = [
    ("(A) Biscuit\n(B) Pepper\n(C) in the park\n(D) I don't know", None),
    ("A. Biscuit\nB. Pepper\nC. in the park\nD. I don't know", None),
    ("(A) Biscuit ❌\n(B) Pepper ✅\n(C) in the park ❌\n(D) I don't know ❌", "Pepper"),
    ("[ ] (A)\n[x] (B)\n[ ] (C)\n[ ] (D)", "Pepper"),
    ("(A) Biscuit: not mentioned\n(B) Pepper: stated\n(C) in the park: no\n(D) not needed\n\nAnswer: (B)", "Pepper"),
    ("(A) Biscuit: not mentioned\n(B) Pepper: not mentioned\n(C) in the park: not mentioned\n\nAnswer: D", UNKNOWN),
    ("(B)\n\n(A) Biscuit is not mentioned.\n(C) The park is not mentioned.", "Pepper"),
    ("(A)\n\nActually, the text says Pepper, so (B)", "Pepper"),
    ("Answer:\nB", "Pepper"),
    ("### Answer\n\nB\n\nReason: the name is not Biscuit.", "Pepper"),
    ('```json\n{\n  "answer": "B"\n}\n```', "Pepper"),
    ("B\nQuestion: Where?\n(A) here", "Pepper"),
    ("**Answer:** (D)\n\n**Explanation:** we can't choose between Biscuit, Pepper, or the park.", UNKNOWN),
    ("", None),
]


def cases(replies: str, wanted: str | None) -> list[tuple[str, str | None]]:
    return [(reply.strip(), wanted) for line in replies.strip().splitlines() for reply in line.split(" | ")]


REPLIES = [
    *cases(BISCUIT, "Biscuit"),
    *cases(PEPPER, "Pepper"),
    *cases(PARK, "in the park"),
    *cases(NOT_KNOWN, UNKNOWN),
    *cases(OPEN, None),
    *LINES,
]
LEAST_READ = 54
"""Percent of the replies with a label that are read, at least; the others are left unparsed."""
MISREAD = {
    # The only choice in words stands in a reason.
    '{"selected_option": "b", "why": "Biscuit is a cat"}',
    # One of the choices is "second".
    "The second option.",
}
"""Replies that are read as something else than their labels."""


def read(reply: str, options: tuple[str, ...], ask: str = "What is the dog of Ada called?") -> str | None:
    found: str | None = answered(load(TASK), reply, Question(ask, options[0], (), 0.7, options=options))
    return found


@pytest.mark.parametrize(("reply", "wanted"), REPLIES)
def test_replies(reply: str, wanted: str | None) -> None:
    assert is_misread(read(reply, OPTIONS), wanted) == (reply in MISREAD)


def test_most_replies_are_read() -> None:
    assert percent_read((read(reply, OPTIONS), wanted) for reply, wanted in REPLIES) >= LEAST_READ


@pytest.mark.parametrize(
    ("options", "replies", "wanted"),
    [
        (
            ("a cactus", "a kite", "a map"),
            "a kite | A kite. | kite | The answer is a kite. | A trip is told of: a kite.",
            "a kite",
        ),
        (("a cactus", "a kite", "a map"), "A shop is mentioned, but it is not said what Ada bought.", UNKNOWN),
        (
            ("seven", "twelve", "thirty"),
            "12 | Ada waited 12 minutes. | Twelve minutes | (B) 12 | There are four choices: B",
            "twelve",
        ),
        (("second", "third", "ninth"), "third | 3rd | on the third floor | The second option.", "third"),
        (
            ("red", "grey", "blue"),
            "gray | The jacket is gray. | It's grey, not blue. | Not red, not blue: grey.",
            "grey",
        ),
        (
            ("red", "grey", "blue"),
            "No colour is mentioned. | The leash is red, but the jacket's colour is not stated.",
            UNKNOWN,
        ),
        (("Mr Marlow", "Mr Plumtree", "Mr Brindle"), "Plumtree | Mr. Plumtree | B. Mr Plumtree", "Mr Plumtree"),
        (
            ("writing a letter", "ironing a shirt", "a nun"),
            "writing a letter | Ada was writing a letter.",
            "writing a letter",
        ),
    ],
)
def test_replies_to_other_choices(options: tuple[str, ...], replies: str, wanted: str) -> None:
    for reply, _ in cases(replies, wanted):
        answer = read(reply, (*options, UNKNOWN), "")
        assert (reply, is_misread(answer, wanted)) == (reply, wanted == "third" and reply in MISREAD)


@pytest.mark.slow
def test_every_way_to_tell_is_an_answer() -> None:
    """A reply that repeats the sentence that tells it answers; one that repeats the question does not."""
    answers = []
    for scene in stories.scenes():
        for attribute in scene.attributes:
            *_, value = options = attribute.values[:3]
            ask = attribute.ask.replace("{name}", "Ada")
            for way in attribute.forms:
                line = way.replace("{value}", value).replace("{name}", "Ada").replace("{Name}", "Ada")
                answer = read(line, (*options, UNKNOWN), ask)
                assert (line, is_misread(answer, value)) == (line, False)
                answers.append((answer, value))
            assert (ask, read(ask, (*options, UNKNOWN), ask)) == (ask, None)
    assert percent_read(answers) >= 96


@pytest.mark.slow
def test_a_long_reply_is_read_at_once() -> None:
    posed = questions_of(item_id())
    for text in (
        "(A) ",
        "I do not know ",
        "not ",
        "\n",
        "the park ",
        "D) ",
        '{"',
        "no ",
        "does not mention (A) ",
        "((",
    ):
        grade(posed.task, posed.questions[0], text * (1_000_000 // len(text)))

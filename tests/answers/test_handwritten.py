"""Replies written by hand, over all answer types: none is misread, and most that state an answer are read."""

from carrara.items import registry
from tests.answers.handwritten import cases, verdict

NOT_PARSED = "sentences are not parsed: the only place, person, animal or number that one names counts as the answer"
MISREAD = {
    ("babilong/qa3", "The {thing} was in the {place} before the {gold}."): NOT_PARSED,
    ("babilong/qa3", "Before the {gold}, the {thing} was in the {place}."): NOT_PARSED,
    ("babilong/qa14", "{who} was in the {place} before the {gold}."): NOT_PARSED,
    ("babilong/qa5", "{taker} gave the {gold} to {giver}."): NOT_PARSED,
    ("babilong/qa15", "{who:title} is a {gold}."): NOT_PARSED,
    ("babilong/qa15", "{gold:plural:title} are afraid of {who:title}."): NOT_PARSED,
    ("babilong/qa6", "Is {who} in the {place}?"): "the question is repeated, and read as a statement",
    ("minerva/quantity", "Performing all two hundred operations by hand would take too long."): NOT_PARSED,
}
"""Replies that are misread, by their task and as their file has them, each with the reason."""
READ = 0.9
"""The share of replies that state an answer which are read; the others are unparsed."""


def test_no_reply_is_misread() -> None:
    misread = {(case.task, case.written): case for case in cases() if case.is_misread}
    assert misread.keys() - MISREAD.keys() == set(), [
        f"{case.task} states {case.states}, read as {verdict(case.graded)} {case.graded.answer!r}: {case.reply!r}"
        for name, case in misread.items()
        if name not in MISREAD
    ]
    assert MISREAD.keys() - misread.keys() == set(), "no longer misread"


def test_most_answers_are_read() -> None:
    stated = [case for case in cases() if case.states != "nothing"]
    share = sum(not case.is_unparsed for case in stated) / len(stated)
    assert share >= READ


def test_there_are_replies_to_every_test() -> None:
    assert {case.task for case in cases()} == set(registry.names())


def test_no_reply_stands_there_twice() -> None:
    assert len({(case.task, case.asked.question.ask, case.reply) for case in cases()}) == len(cases()) >= 900

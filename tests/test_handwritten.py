"""Replies written by hand, over all kinds of answers: few of them may be misread."""

from carrara import registry
from tests.handwritten import cases, verdict

MISREAD = 2
"""Of all of them, which are more than twice four hundred."""


def test_few_are_misread() -> None:
    misread = [
        f"{case.test} states {case.states}, read as {verdict(case.graded)} {case.graded.answer!r}: {case.reply!r}"
        for case in cases()
        if case.misread
    ]
    assert len(misread) <= MISREAD, "\n".join(misread)


def test_there_are_replies_to_every_test() -> None:
    assert {case.test for case in cases()} == set(registry.names())


def test_no_reply_stands_there_twice() -> None:
    assert len({(case.test, case.asked.question.ask, case.reply) for case in cases()}) == len(cases()) >= 900

"""Replies with labels: the answer that a careful reader finds in a reply, or None."""

from collections.abc import Iterable, Sequence


def is_misread(answer: object, label: object) -> bool:
    """Return whether an answer that was read is another one than the label. A reply may always be left unparsed."""
    return answer is not None and answer != label


def check_readings(answers: Sequence[tuple[object, object]], least: int) -> None:
    """Fail where an answer is another one than its label, and where fewer percent than the least are read."""
    assert [pair for pair in answers if is_misread(*pair)] == []
    assert percent_read(answers) >= least


def percent_read(answers: Iterable[tuple[object, object]]) -> int:
    """Return the whole percent of the replies with a label that are read as labelled, from answers with labels."""
    read = [answer == label for answer, label in answers if label is not None]
    return 100 * sum(read) // len(read)

"""Replies with labels: the answer that a careful reader finds in a reply, or None."""

from collections.abc import Iterable


def is_misread(answer: object, label: object) -> bool:
    """Return whether an answer that was read is another one than the label. A reply may always be left unparsed."""
    return answer is not None and answer != label


def percent_read(answers: Iterable[tuple[object, object]]) -> int:
    """Return the whole percent of the replies with a label that are read as labelled, from answers with labels."""
    read = [answer == label for answer, label in answers if label is not None]
    return 100 * sum(read) // len(read)

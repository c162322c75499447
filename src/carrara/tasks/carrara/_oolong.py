"""Oolong's scores (arXiv:2511.02817), of its code of revision adbf1cb.

>>> oolong("FINAL ANSWER: 7", 5), oolong("FINAL ANSWER: birds", "birds"), oolong("FINAL ANSWER: b, a, c", ("a", "b"))
(0.5625, 1.0, 1.0)
"""

from carrara.answers.extraction import behind_label

SHORT = 20
"""The characters below which a reply without a colon is an answer as a whole."""


def oolong(reply: str, gold: int | str | tuple[str, ...]) -> float:
    """Return the score of a number or a label as in Oolong-synth, and of a list as in Oolong-real."""
    if isinstance(gold, tuple):
        return _score_list(behind_label(reply).partition("\n")[0].strip(), gold)
    said = _read(reply)
    if said == str(gold):
        return 1.0
    if isinstance(gold, int):
        try:
            return float(0.75 ** abs(gold - int(said)))
        except (ValueError, OverflowError):
            return 0.0
    return 0.0


def _read(reply: str) -> str:
    """Return what follows the last colon, without stars and brackets; else a short reply, or its last word."""
    if ":" in reply:
        return reply.split(":")[-1].strip().translate(str.maketrans("", "", "*[]"))
    return reply if len(reply) < SHORT else (reply.split() or [""])[-1]


def _score_list(said: str, gold: tuple[str, ...]) -> float:
    """Return the share of the names of several that are listed, however many others are. One name has to be said."""
    if len(gold) < 2:
        return float(said.lower() == (", ".join(gold) or "none"))
    listed = {name.strip() for name in said.split(",")} if "," in said else set[str]()
    return len(listed.intersection(gold)) / len(gold)

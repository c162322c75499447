"""How alike two texts are: the ratio of Python's difflib, which MRCR is scored by.

`cydifflib` gives the standard library's numbers to the last bit, and is ten times as fast where it matters. Where it is
not installed, the standard library computes them.

The option `autojunk`, on by default, ignores every character that makes up more than a hundredth of a text of 200
characters or more, which in a long text is every common letter: two drafts that differ in a few words may then score
near 0. What was published was measured so; the sound ratio is without it.
"""

try:
    from cydifflib import SequenceMatcher
except ImportError:  # it has no wheel for Python 3.14
    from difflib import SequenceMatcher

_LONGEST = 4
"""A text is compared as far as it is so many times as long as what it is compared to: what goes on and on is wrong
already, and a million characters would take minutes."""


def published_ratio(one: str, other: str) -> float:
    """As `difflib.SequenceMatcher(None, one, other).ratio()`; the order of the two can matter."""
    return float(SequenceMatcher(None, one, other).ratio())


def ratio(reply: str, gold: str) -> float:
    """The sound ratio: of all characters of both, those in common runs; 1 for equal texts, 0 beside nothing.

    >>> ratio("The sea was calm.", "The sea was warm."), ratio("", "The sea was calm.")
    (0.8823529411764706, 0.0)
    """
    if reply == gold:
        return 1.0
    matcher = SequenceMatcher(None, reply[: _LONGEST * len(gold)], gold, autojunk=False)
    common: int = sum(block.size for block in matcher.get_matching_blocks())
    return 2 * common / (len(reply) + len(gold))

"""The similarity of two texts: the ratio of Python's difflib, which is the score of MRCR.

`cydifflib` gives the standard library's numbers to the last bit, and is ten times as fast where it matters. If it is
not installed, the standard library computes them.

The option `autojunk`, on by default, ignores every character that makes up more than a hundredth of a text of 200
characters or more. In a long text these are all common letters: two drafts that differ in a few words may then score
near 0. Published scores use it; our score does not.
"""

try:
    from cydifflib import SequenceMatcher
except ImportError:  # it has no wheel for Python 3.14
    from difflib import SequenceMatcher

_LONGEST = 4
"""The factor of the other text's length up to which a text is compared. A longer text is wrong already, and a million
characters would take minutes."""


def published_ratio(first: str, second: str) -> float:
    """Return `difflib.SequenceMatcher(None, first, second).ratio()`. The order of the texts can matter."""
    return float(SequenceMatcher(None, first, second).ratio())


def ratio(reply: str, gold: str) -> float:
    """Return the ratio without `autojunk`: the share of characters in common runs, 1 for equal texts.

    >>> ratio("The sea was calm.", "The sea was warm."), ratio("", "The sea was calm.")
    (0.8823529411764706, 0.0)
    """
    if reply == gold:
        return 1.0
    matcher = SequenceMatcher(None, reply[: _LONGEST * len(gold)], gold, autojunk=False)
    common: int = sum(block.size for block in matcher.get_matching_blocks())
    return 2 * common / (len(reply) + len(gold))

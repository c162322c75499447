"""Passkey: a number of five digits among sentences that repeat.

From *Landmark attention* (arXiv:2305.16300), and many after it. One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("classic/passkey").text.split("\\n"):
...     print(fill(line, 110))
A pass key is hidden somewhere in the text below. Remember it; the rest does not matter.
<BLANKLINE>
<text> Note this down: today's pass key is 19810. </text>
<BLANKLINE>
What is today's pass key? Reply with one line and nothing else, in this form: FINAL ANSWER: <that number>

The only fact is the sentence that states the number.
"""

import re
from collections.abc import Mapping
from dataclasses import field

from carrara.answers import asks_for
from carrara.task import Instance, Rng
from carrara.tasks.classic import _haystacks, _turns
from carrara.tasks.classic._answers import SPARE, Value
from carrara.tasks.classic._task import Classic
from carrara.tasks.classic._values import number
from carrara.types import PRESENTS, UndecidableError

PASSKEY = number(5)

_STATEMENT = re.compile(r"\btoday's pass key is ([0-9]{5})\.")


class Passkey(Classic):
    version, title, capability = 4, "Passkey", "finding a number in a monotonous text"
    answer = Value(PASSKEY, budget=SPARE)
    marker = r"pass key is (?P<value>[0-9]{5})"
    instruction = "A pass key is hidden somewhere in the text below. Remember it; the rest does not matter."
    ask = "What is today's pass key?"
    rule = asks_for("that number")
    known_shortcuts = {
        "strings": "The pass key is the only number in the text, as in the published task.",
        "learned": "The pass key is the only number in the text, as in the published task.",
        "typography": "The filler is a few sentences that are repeated, as in the published task.",
    }
    haystack: str = field(default="noise", metadata=_haystacks.haystack_metadata())
    """`noise` (the same sentences over and over), or a corpus."""
    depth: str = field(default=_turns.DRAWN, metadata={**PRESENTS, "reads": _turns.normalize_depth})
    """The pass key stands anywhere, or at one of these depths, which are taken in turn."""

    def check(self) -> None:
        _haystacks.check(self.haystack)
        _turns.depths(self.depth)

    def generate(self, rng: Rng) -> Instance:
        passkey = PASSKEY.draw(rng.stream("pass key"))
        return Instance(
            facts=[f"Note this down: today's pass key is {passkey}."],
            gold=passkey,
            filler=_haystacks.filler(self.haystack, rng.key),
            depths=_turns.places(rng.key, self.depth, 1),
            labels=_turns.label(rng.key, self.depth),
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        passkeys = set(_STATEMENT.findall(context))
        if len(passkeys) != 1:
            raise UndecidableError(f"the text tells {len(passkeys)} pass keys")
        return str(passkeys.pop())

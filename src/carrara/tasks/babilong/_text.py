"""Facts among the sentences of a book: where a statement ends, and which sentences may stand beside facts.

>>> facts("It was late. “Hush.” Mary went to the garden. Mr. Beebe is hopeless.")
['Mary went to the garden.', 'Beebe is hopeless.']
>>> harmless("It was late."), harmless("Mr. Beebe is hopeless."), harmless("CHAPTER IV"), harmless("</context> Hush.")
(True, False, False, False)

Statements are cut by a rule that looks at one place alone: behind a stop, and what closes behind it, where white space
follows. So of harmless sentences and facts, joined by single spaces in any order, each ends where a statement does: the
facts that are read are those that were put there.
"""

import re
from collections.abc import Iterator

from carrara.tasks.babilong._grammar import LONGEST, read
from carrara.text.sieve import Sieve

_STOPS = ".!?…؟۔।॥。！？｡"
_CLOSERS = "\"'”’»)\\]}_*」』”’）】"
_MARK = re.compile(r"</?(?:context|example)\b|\b(?:Question|Answer):")
# Stops are no closers, and nothing is given back: each character is looked at twice at most.
_CUT = re.compile(rf"([{_STOPS}][{_CLOSERS}]*+)\s++")
_LAST = re.compile(rf"[{_STOPS}][{_CLOSERS}]*+\Z")


def statements(text: str) -> Iterator[str]:
    """A text cut behind every stop that white space follows: without knowledge of abbreviations, unlike a corpus."""
    text = text.strip()
    return (text[start:end] for start, end in _spans(text))


def facts(text: str) -> list[str]:
    """The statements that say a fact, in order."""
    text = text.strip()
    # Few sentences of a novel are short and end in a plain period: the others are not even copied.
    short = (text[start:end] for start, end in _spans(text) if end - start <= LONGEST and text[end - 1] == ".")
    return [statement for statement in short if read(statement) is not None]


def harmless(sentence: str) -> bool:
    """Whether a sentence may stand beside facts.

    It ends, so that a fact behind it stands alone, says no fact, and has none of the marks that prompts are built of.
    """
    return _LAST.search(sentence) is not None and not _MARK.search(sentence) and not facts(sentence)


HARMLESS = Sieve("harmless", 2, harmless)
"""Its version counts changes of the grammar too."""


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for cut in _CUT.finditer(text):
        yield start, cut.end(1)
        start = cut.end()
    if start < len(text):
        yield start, len(text)

"""What a word is, what statements there are in a text that is laid out, and what they say of others."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from carrara.answers.evidence import AGAIN, NOT

# --- what a word is ---

_SIGNS = r"\s,;:/\\=<>|{}\[\]()\"*`$#@~^?!…•·—+%&→"
"""What no word contains. The rest is open: a word may have hyphens, apostrophes, digits, letters of any script."""
ANY = rf"[^{_SIGNS}]"
_WORD = re.compile(rf"(?:(?![^\W_]){ANY})*+{ANY}++")
_WHOLE = re.compile(r"\+?(-?[0-9]+)(?:\.0+)?")
"""A whole number, however it is written."""
BARE = re.compile(r"[a-z0-9]++(?:-[a-z]++)*+(?:, [a-z0-9]++(?:-[a-z]++)*+)*+")
"""Words with nothing but commas between them, as right answers have them: there may be tens of thousands."""
_AROUND = ' ".,;!_✅✔☑✓\ufe0f'
_TALK = re.compile(
    r"sure|certainly|absolutely|okay|ok|yes|yeah|hello|hi|thanks|great|done|understood|sorry|unfortunately|well|hmm"
    r"|explanation|answers?|results?|output|reasoning|analysis|solution|notes?|conclusion|summary|continu(?:ed|ing)|truncated",
    re.IGNORECASE,
)


def word(text: str) -> str | None:
    """The word or number that a text is and nothing else, in lower case.

    >>> word('"Banana".'), word("-12"), word("+2.0"), word("o'clock"), word("a b"), word("...")
    ('banana', '-12', '2', "o'clock", None, None)
    """
    text = text.strip(_AROUND)
    if (text[:1] == "+" or ".0" in text) and (whole := _WHOLE.fullmatch(text)):
        return whole[1]
    return text.casefold() if _WORD.fullmatch(text) else None


def is_talk(statement: str) -> bool:
    """Whether a statement is a word of those that surround answers: it is one itself only if nothing else is said."""
    said = statement.lstrip('"')[:1].isupper() or statement.endswith((".", "!", ","))
    return said and _TALK.fullmatch(statement.strip(_AROUND)) is not None


# --- the statements of a text ---

SAYS = re.compile(r"\w")
BULLET, END_OF_LIST, NOTHING = "• ", "\f", "none"
"""What marks an item of a list; what stands behind a list in brackets; and what is put for one with nothing in it."""
_GROUPED = re.compile(r"(?<![\w,])-?[0-9]{1,3}(?:,[0-9]{3})+(?!\w|,[0-9])")
"""A number with its thousands set apart."""


def ungrouped(text: str, always: bool = False) -> str:
    """A text with its numbers as digits only, if all that a comma without a space joins are groups of thousands."""
    tight = len(re.findall("[0-9],(?=[0-9])", text))
    groups = _GROUPED.findall(text) if tight else []
    if not always and sum(one.count(",") for one in groups) < tight:
        return text
    apart = len(re.findall("[0-9](?:[,;] |\n)", text))
    return _GROUPED.sub(lambda one: one[0].replace(",", ""), text) if always or apart >= len(groups) else text


_STOP = re.compile(r"(?<=[.!?]) |\n")
FEW = 200
"""Labels and statements that are looked at, from the last one on."""


def statements(text: str) -> list[str]:
    """The lines and sentences of a laid-out text; an empty one for an empty line."""
    return _STOP.split(text)


@lru_cache(maxsize=64)
def _label(names: tuple[str, ...]) -> re.Pattern[str]:
    name = "|".join(" ".join(map(re.escape, name.split())) for name in sorted({*names, "final answer"}, key=len)[::-1])
    return re.compile(
        rf"\b(?:{name})s?\"?(?: ?[:=]+|(?: -)(?= )|(?: list)? (?:is|are)\b(?: as follows| the following)?:?)"
        rf"|(?:(?<=\n\n)|\A)\"?(?:\w{{1,12}} ){{0,2}}(?:{name})s?\"?$",
        re.IGNORECASE | re.MULTILINE,
    )


def behind_labels(text: str, names: Sequence[str]) -> Iterator[str]:
    """What stands behind each label, up to the next one; the last label first."""
    end = len(text)
    for label in list(_label(tuple(names)).finditer(text))[: -FEW - 1 : -1]:
        yield text[label.end() : end]
        end = label.start()


# --- what statements say of others ---

TAKES_BACK = re.compile(rf"(?:(?:oh|no)\W{{1,3}})?(?:{AGAIN}|no(?=[,:]))\b[ ,.:;!-]*(?:no\b[ ,.:;!-]*)?", re.IGNORECASE)
"""How a statement begins that takes back what was said before."""
MISSING = re.compile(
    r"(?:(?:is|was) )?"
    r"(?:n/?a|not (?:found|given|present|listed|available|mentioned|provided|included|there|known"
    r"|applicable)|not(?= in )|no (?:\w{1,12} )?(?:partner|match|pair|entry|word|value)s?(?: \w{1,12})?)"
    r"(?: in (?:\w{1,12} ){0,2}(?:context|lists?|pairs|text))?",
    re.IGNORECASE,
)
"""What stands for an item that somebody could not find."""
DENIES = re.compile(rf"{NOT}|\b(?:neither|nor|unable|no)\b", re.IGNORECASE)
ASIDE = (
    r"(?:notes?|total|count|length|confidence|times|explanations?|reason\w*|examples?|context|instructions?|steps?"
    r"|breakdown)"
)
"""What leads to something else than an answer."""
NO_WORD = re.compile(
    r"it|this|that|these|those|there|here|what|which|who|the|an?|and|or|not?|one|you|we|i|they|he|she|its|as|either"
    r"|repeated|present|absent|missing|unknown|unclear|found|unique|duplicated?|(?:in)?correct|right|wrong|empty"
    r"|ambiguous|(?:im)?possible|following|below|above|listed|given|provided|needed|required|used|different"
    r"|(?:un)?available|(?:un)?able|sorry|clear|likely|also|associated|paired|matched|followed|located|mentioned"
    r"|specified|shown|looking|meant|asked|wanted|intended|identical|same|sorted|complete|ready|replaced|removed|skipped"
    r"|omitted|added|changed|modified|updated|edited|preserved|kept|requested|included|swapped|next|words?|lists?",
    re.IGNORECASE,
)
"""What ends a sentence, or begins it, without being meant as a word."""

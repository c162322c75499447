"""Cue phrases that mark a statement as denied, left open or retracted."""

import re
from collections import deque
from typing import Any

from carrara.types import Question

NO_WORDS = frozenset(("yes", "no", "none", "nothing", "nil", "null", "empty", "unknown", "true", "false"))
"""Phrases in which a word of the reply is not meant as an answer."""
_PROMPT_WORDS = """
and the are not sorry word words number numbers list lists role roles agent agents partner partners answer final
context instruction order other which what that this these those there here one its also either able unable repeated
present absent missing found unclear unique duplicate duplicated correct incorrect right wrong ambiguous possible
impossible following below above listed given provided needed required used different same identical available
unavailable clear likely associated paired matched followed located mentioned specified shown looking meant asked
wanted intended sorted complete ready replaced removed skipped omitted added changed modified updated edited preserved
kept requested included swapped yeah yep nope nowhere alternatively once twice thrice zero two three four five six seven
eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty
sixty seventy eighty ninety hundred thousand
"""
_SHORT_WORDS = "is it in of to a an i you be as by for or on if next last sure certainly okay ok hello thanks"
SPOKEN_FOR = NO_WORDS.union(_PROMPT_WORDS.split())
"""Words of prompts and replies that no context contains."""
NOT_AN_ANSWER = SPOKEN_FOR.union(_SHORT_WORDS.split())
"""Words that are no answer where any word may be one."""

_DENIES = re.compile(
    r"\b(?:not|never|cannot|neither|n?or|no longer|no one|instead of|rather than|except|unless|whether|if|might|may"
    r"|could|maybe|perhaps|possibly)\b|n't\b|\?"
    r"|(?<=[\w,;] )(?:but|while|whereas|although)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:at (?:least|most)|(?:more|less|fewer) than|about|around|approximately|roughly)\b|[≥≤~]", re.IGNORECASE
)
_AT_FIRST = re.compile(r"\b(?:initially|originally|used to)\b", re.IGNORECASE)
"""Phrases about an earlier state, which answer only a question about that state."""
_TAKES_BACK = re.compile(
    r"(?:(?:^(?=[A-Z])|(?<=[.!?…-] ))(?i:(?:no,? )?wait|correction|hold on|oops|my mistake|(?:or|no,?) rather|actually"
    r"|let me (?:correct|rephrase|revise|re-?check|reconsider)|on second thoughts?)"
    r"|\b(?i:scratch that|strike that|i take that back|i meant?|i stand corrected)"
    r"|\b(?i:that(?:'s| is| was)|i was) (?i:wrong|incorrect|not right|mistaken))\b[\s,.:;!]*",
    re.MULTILINE,
)
"""Phrases that retract the text before them. A word such as `wait` does so only at the beginning of a sentence."""
_NO = re.compile(r"(?<=[.!?] )no, (?=\w)", re.IGNORECASE)
_HESITATES = re.compile(r"(?:^(?=[A-Z])|(?<=[.!?…-] ))(?i:sorry|hmm)\b[\s,.:;!]*", re.MULTILINE)
"""Phrases that retract a guess, but not an answer line: `Sorry for the long reply`."""
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\.\.)(?:(?<!\d\.)|(?<!^\d\.)(?=\s[A-Z]))\s|\n", re.MULTILINE)
_CONTRAST = re.compile(r", (?:not|rather than|instead of|unlike)\b[^.!?\n]*")
"""A rejected answer after the right one: `the kitchen, not the garden`."""
_NAME = re.compile(
    r"(?<=[\w,;:(\"] )[A-Z][a-z]+"
    r"|^\W*([A-Z][a-z]+)(?='s\b|:| (?:is|was|will|has|had|and|went|gave|got|moved|travell?ed|carrie[sd]|the)\b)"
)
"""A name: a word with a capital letter inside a sentence, or at its beginning before such a verb."""
_NO_NAMES = frozenset("it he she they that this there answer so i the and in at on to from".split())  # noqa: SIM905


def behind_retraction(text: str) -> str:
    """Return a text from the last retraction on.

    >>> behind_retraction("The garden. Wait, that is wrong: the kitchen.")
    'the kitchen.'
    """
    return _text_after_last(_TAKES_BACK, text)


def behind_hesitation(text: str, no_is_answer: bool = False) -> str:
    """Return a text without an answer line from the last retraction of a guess on.

    >>> behind_hesitation("Two. No, one."), behind_hesitation("White. Sorry, gray.")
    ('one.', 'gray.')
    """
    text = _text_after_last(_HESITATES, text)
    return text if no_is_answer else _text_after_last(_NO, text)


def _text_after_last(pattern: re.Pattern[str], text: str) -> str:
    last = deque(pattern.finditer(text), maxlen=1)
    return text[last[0].end() :] if last else text


def sentences(text: str) -> list[str]:
    """Return the lines and sentences of a text."""
    return _SENTENCE.split(text)


def denies(text: str) -> bool:
    """Return whether a text denies something or leaves it open."""
    return _DENIES.search(text) is not None


def is_vague(text: str) -> bool:
    """Return whether a text gives a number only roughly."""
    return _VAGUE.search(text) is not None


def affirmative_sentences(text: str, question: Question[Any]) -> list[str]:
    """Return the sentences of a text that deny nothing, leave nothing open, and are not about another name.

    >>> question = Question("Where is Mary?", "here", (), 0.0)
    >>> affirmative_sentences("It is not here. It is there. Or is it? John is here.", question)
    ['It is there.']
    """
    affirmative = [
        sentence
        for sentence in sentences(_CONTRAST.sub("", text))
        if not denies(sentence) and not is_about_another(sentence, question)
    ]
    return (
        affirmative
        if " before " in question.ask
        else [sentence for sentence in affirmative if not _AT_FIRST.search(sentence)]
    )


def is_about_another(sentence: str, question: Question[Any]) -> bool:
    """Return whether a sentence has only other names than the question and its options, if the question names any."""
    if not names_in(question.ask.partition(" ")[2]):
        return False
    known = f"{question.ask} {' '.join(question.options)}".lower()
    names = names_in(sentence)
    return bool(names) and not any(name.lower() in known for name in names)


def names_in(sentence: str) -> set[str]:
    """Return the names in a sentence."""
    names = {match[1] or match[0] for match in _NAME.finditer(sentence)}
    return {name for name in names if name.lower() not in _NO_NAMES}

"""Which of four choices a reply takes: by its letter, by its text, or by saying that it cannot be known.

>>> options = ("Biscuit", "Pepper", "Juniper", "I don't know")
>>> read("The answer is (B).", options), read("Juniper", options), read("The text does not say.", options)
('Pepper', 'Juniper', "I don't know")
>>> read("(A) Biscuit, (B) Pepper, (C) Juniper or (D) I don't know", options) is None
True
"""

import re
from collections.abc import Sequence

from carrara.grading.choices import Choices
from carrara.grading.reading import spoken

_LETTERS = "ABCD"
_LETTER = re.compile(
    r"\(([A-Da-d])\)|(?<![\w'’])([A-D])(?=[).:])(?![.:]\w)|(?<![\w'’])([B-D])(?![\w'’])"
    r"|\b(?:option|choice|answer(?:\s+is)?:?|letter)\s+\W{0,3}([A-Da-d])(?![\w'’])",
)
_DO = r"(?:do(?:es)?|did|is|are|was|were|can|could|has|have|had)"
_NOT = rf"(?:{_DO}\s*(?:not|n['’]t)|cannot|can['’]t|never|nowhere|no\s?where)"
_SAY = (
    r"(?:say|said|tell|told|mention(?:ed)?|state[ds]?|specif(?:y|ied)|give[ns]?|provided?|indicated?|includ(?:e|ed)"
    r"|contain(?:ed)?|reveal(?:ed)?|describe[ds]?|know|known|determined?|inferred?|answer(?:ed)?|found|clear|disclosed?"
    r"|present)"
)
_UNKNOWN = re.compile(
    rf"\b{_NOT}\s+(?:\w+\s+){{0,3}}?{_SAY}\b|\bI(?:['’]m| am) not (?:sure|certain)\b"
    r"|\b(?:there is|there['’]s|has|have|contains|with) no (?:\w+ ){0,3}?"
    r"(?:information|mention|answer|indication|way|detail)s?\b"
    r"|\b(?:insufficient|not enough|no) (?:\w+ ){0,2}?(?:information|context|details?)\b"
    r"|\b(?:unknown|unspecified|unstated|unclear|undetermined|unanswerable|impossible to (?:know|say|tell|determine))\b"
    r"|\bwithout (?:more|further|additional) (?:information|context)\b",
    re.IGNORECASE,
)
_LEADING = re.compile(r"(?:(?:in|at|on|under|behind|from|for|with|to|by|of|near|beside)\s+)?(?:(?:a|an|the)\s+)?", re.I)
_TOKEN = "unknowable"


def read(reply: str, options: Sequence[str]) -> str | None:
    """The option that a reply takes; None if it takes none, or leaves it open. The last option is not to know."""
    said = spoken(reply).strip()
    if whole := re.fullmatch(r"\W{0,6}([A-Da-d])\W{0,6}", said):
        return options[_LETTERS.index(whole[1].upper())]
    words = {_TOKEN: options[-1]}
    for option in options[:-1]:
        words[option.lower()] = option
    for option in options[:-1]:  # `park` for `in the park`, where no other option is called so
        words.setdefault(_LEADING.sub("", option.lower(), count=1), option)

    def shown(found: re.Match[str]) -> str:
        letter = next(filter(None, found.groups())).upper()
        taken = options[_LETTERS.index(letter)]
        return f" {_TOKEN if taken == options[-1] else taken} "

    said = re.sub(re.escape(options[-1]).replace("'", "['’]"), f" {_TOKEN} ", said, flags=re.IGNORECASE)
    said = _UNKNOWN.sub(f" {_TOKEN} ", _LETTER.sub(shown, said))
    return Choices(words).read(said)
